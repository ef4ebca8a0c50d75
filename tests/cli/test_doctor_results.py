"""`bert-judge doctor`: a whole result is whole, and whatever happened to one is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.cli import doctor, main
from bert_judge.errors import InputError
from conftest import Command
from json_lines import write_rows

ROWS = [{"question": f"Where is {n}?", "reference": "Paris", "candidate": f"Paris {n}"} for n in range(20)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_rows(tmp_path_factory.mktemp("input") / "answers.jsonl", ROWS))


@pytest.fixture(scope="module")
def again(answers: Path) -> list[object]:
    """The command that makes the result out of the answers, but for its folder."""
    return ["score", answers, "--judge", "containment", "--quiet", "--no_report", "--output_dir"]


@pytest.fixture(scope="module")
def scored(answers: Path, again: list[object]) -> Path:
    folder = answers.with_name("out")
    assert main([*map(str, again), str(folder)]) == 0
    return folder


@pytest.fixture
def out(scored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored, tmp_path / "out"))


def test_a_whole_result(out: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main([str(out), "--input", str(answers)]) == 0
    assert doctor.main([str(out.parent)]) == 0
    said = capsys.readouterr()
    assert said.out == f"{out}: 20 rows, whole, by RegexJudge containment-none\n" * 2
    assert said.err == ""


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda out: flip(out / "verdicts.jsonl"), "verdicts.jsonl has other bytes than were written."),
        (lambda out: flip(out / "scores.json"), "scores.json has other bytes than were written."),
        (lambda out: cut(out / "verdicts.jsonl"), "bytes; "),
        (lambda out: (out / "scores.json").unlink(), "scores.json is missing."),
        (lambda out: (out / "verdicts.jsonl").unlink(), "verdicts.jsonl is missing."),
    ],
)
def test_what_happened_to_it_is_said(
    out: Path, harm: Callable[[Path], object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    harm(out)
    assert doctor.main([str(out)]) == 1
    found = capsys.readouterr()
    assert said in found.err
    assert len(found.err.splitlines()) == 1
    assert found.out == ""


def test_another_input_is_said(out: Path, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grown = tmp_path / "grown.jsonl"
    grown.write_text(answers.read_text() + "\n")
    assert doctor.main([str(out), "--input", str(grown)]) == 1
    assert f"{out} is of another input than {grown}: of {answers}, as it was then." in capsys.readouterr().err


def test_an_unfinished_result_is_said(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = out.parent / "begun"
    begun.mkdir()
    shutil.copy(out / "verdicts.jsonl", begun / "verdicts.jsonl.partial")
    assert doctor.main([str(out.parent)]) == 1
    said = capsys.readouterr()
    assert f"{begun} is unfinished and left out; start its command again to finish it." in said.err
    assert f"{out}: 20 rows, whole" in said.out
    with pytest.raises(InputError, match="holds an unfinished run"):
        doctor.main([str(begun)])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def test_figures_are_counted_again(
    out: Path, again: list[object], command: Command, complaint: Callable[..., str]
) -> None:
    record = json.loads((out / "run.json").read_text())
    record["summary"]["accuracy"]["value"] = 0.99
    (out / "run.json").write_text(json.dumps(record))
    message = "run.json says accuracy 0.99, and the verdicts give 1.0"
    status, _, err = command("doctor", out)
    assert (status, message in err) == (1, True)
    assert f"{message}: it was changed after it was written; judge again with --overwrite." in complaint(*again, out)
    assert command(*again, out, "--overwrite")[0] == 0
    assert command("doctor", out)[0] == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("summary", ["x", 7, [], {}, {"rows": "x", "agreement": 3}])
def test_a_record_of_the_wrong_shape_ends_in_a_sentence(
    out: Path, again: list[object], complaint: Callable[..., str], command: Command, summary: object
) -> None:
    record = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**record, "summary": summary}))
    for line in (("show", out), ("report", out), ("gate", out, "--min_accuracy", "0.5"), ("doctor", out)):
        status, _, err = command(*line)
        assert "Traceback" not in err
        assert status in (0, 1, 4)
    assert "run.json" in complaint(*again, out)
