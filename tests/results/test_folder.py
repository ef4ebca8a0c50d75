"""A result appears whole or not at all, and nothing that was there is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bert_judge.errors import InputError, OutputError
from bert_judge.measures.questions import cluster_hash
from bert_judge.records import Row, Sample, Signature, Verdict
from bert_judge.results import Identity, ResultFolder, check_folder
from conftest import NO_RECORDS, Refused

OURS = Identity(Signature.make("Judge", model="a", dtype="float32"), "1234", {"limit": None, "map": {"id": "x"}})
ROWS = [{"id": str(number), "score": number / 10, "label": 0} for number in range(5)]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def complete(folder: Path, identity: Identity = OURS, rows: list = ROWS, overwrite: bool = False) -> ResultFolder:
    result = ResultFolder(folder, identity, overwrite)
    with result.writing():
        append(result, rows[result.rows_done :])
        result.finish({"scale": "score"})
    return result


def append(result: ResultFolder, rows: Iterable[dict]) -> None:
    list(result.write(0, range(len(ROWS)), rows))


def begin(folder: Path, rows: Iterable[dict], identity: Identity = OURS) -> None:
    """A run that stops after these rows."""
    result = ResultFolder(folder, identity)
    with result.writing():
        append(result, rows)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_result_is_three_files(tmp_path: Path):
    result = complete(tmp_path / "a" / "b")
    assert names(tmp_path / "a" / "b") == {"verdicts.jsonl", "scores.json", "run.json"}
    assert list(result.records()) == ROWS
    assert json.loads((tmp_path / "a/b/scores.json").read_text()) == [row["score"] for row in ROWS]
    run = json.loads((tmp_path / "a/b/run.json").read_text())
    assert run == result.run
    assert run["summary"]["rows"] == result.summary.rows == len(ROWS)
    assert run["identity"]["signature"] == asdict(OURS.signature)
    assert ResultFolder(tmp_path / "a/b", OURS).finished
    ResultFolder(tmp_path / "new", OURS)
    assert not (tmp_path / "new").exists()
    for rows in ([], [{"id": "1", "score": None, "label": None}]):
        complete(tmp_path / f"{len(rows)}", rows=rows)
        assert json.loads((tmp_path / f"{len(rows)}/scores.json").read_text()) == [None] * len(rows)
    # Before the judge is known only the rest is compared.
    assert ResultFolder(tmp_path / "a/b", Identity(None, "1234", OURS.options)).finished


def test_what_was_written_before_an_exception_stays(tmp_path: Path):
    def failing() -> Iterator[dict]:
        yield from ROWS[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path / "r", failing())
    assert names(tmp_path / "r") == {"verdicts.jsonl.partial", "run.json.partial"}
    again = ResultFolder(tmp_path / "r", OURS)
    assert (again.finished, again.rows_done) == (False, 3)
    assert list(complete(tmp_path / "r").records()) == ROWS


@pytest.mark.parametrize("rest", [b'{"id": "3", "sco', b"\x00\x00", b'{"id": "\xc3'])
def test_half_a_line_is_cut(tmp_path: Path, rest: bytes):
    begin(tmp_path, ROWS[:3])
    with (tmp_path / "verdicts.jsonl.partial").open("ab") as file:
        file.write(rest)
    assert ResultFolder(tmp_path, OURS).rows_done == 3
    assert list(complete(tmp_path).records()) == ROWS


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"signature": Signature.make("Judge", model="b", dtype="float32")}, r"another judge \(model a, not b\)"),
        ({"signature": Signature("Other")}, r"another judge \(Judge a, not Other\)"),
        ({"input_sha256": "5678"}, "a result of another input;"),
        ({"options": {"limit": 5, "map": {"id": "x"}}}, r"other options \(limit: null, not 5\)"),
        ({"signature": Signature("Other"), "input_sha256": "5678"}, "another judge .* and another input"),
        ({"signature": None, "input_sha256": "5678"}, "a result of another input;"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_another_result_is_refused_and_untouched(tmp_path: Path, other: dict, message: str, whole: bool):
    if whole:
        complete(tmp_path)
    else:
        begin(tmp_path, ROWS[:3])
    before = contents(tmp_path)
    with pytest.raises(OutputError, match=message) as error:
        ResultFolder(tmp_path, replace(OURS, **other))
    assert "choose another folder, or pass overwrite=True" in str(error.value)
    assert contents(tmp_path) == before


def test_overwrite_keeps_the_old_result_until_the_new_one_is_whole(tmp_path: Path):
    complete(tmp_path)
    before = contents(tmp_path)
    other = Identity(Signature("Other"), "5678", {})
    new = ResultFolder(tmp_path, other, overwrite=True)
    assert (new.finished, new.rows_done) == (False, 0)
    with new.writing():
        append(new, ROWS[:2])
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    again = ResultFolder(tmp_path, other, overwrite=True)
    assert again.rows_done == 2  # the same command goes on, though it says --overwrite
    with again.writing():
        again.finish({})
    assert list(ResultFolder(tmp_path, other).records()) == ROWS[:2]
    assert names(tmp_path) == {"verdicts.jsonl", "scores.json", "run.json"}


def test_overwrite_makes_the_same_result_anew_and_drops_the_begun_one_of_another(tmp_path: Path):
    complete(tmp_path)
    assert not ResultFolder(tmp_path, OURS, overwrite=True).finished
    begin(tmp_path / "o", ROWS, Identity(Signature("Other"), "1", {}))
    complete(tmp_path / "o", rows=ROWS[:1], overwrite=True)
    assert list(ResultFolder(tmp_path / "o", OURS).records()) == ROWS[:1]


def test_bad_rows_belong_to_the_result(tmp_path: Path):
    result = ResultFolder(tmp_path, OURS)
    with result.writing():
        append(result, ROWS)
        assert "bad_rows.jsonl" not in names(tmp_path)
        result.finish({}, [{"line": 2, "reason": "is broken", "row": "{"}])
    assert json.loads((tmp_path / "bad_rows.jsonl").read_text())["line"] == 2
    complete(tmp_path, Identity(Signature("Other"), "1", {}), overwrite=True)
    assert "bad_rows.jsonl" not in names(tmp_path)


def test_an_unreadable_run_record_is_told(tmp_path: Path, refused: Refused):
    for text in [*NO_RECORDS, '{"identity": 3}', '{"identity": {}}', '{"identity": null}']:
        (tmp_path / "run.json").write_text(text)
        with refused("run.json can't be read as the record of a run; remove it", error=OutputError, text=text):
            ResultFolder(tmp_path, OURS)
        assert (tmp_path / "run.json").read_text() == text
        complete(tmp_path, overwrite=True)


def test_a_result_without_verdicts_is_made_anew_and_a_damaged_line_is_told(tmp_path: Path):
    complete(tmp_path)
    (tmp_path / "verdicts.jsonl").unlink()
    assert not ResultFolder(tmp_path, OURS).finished
    result = complete(tmp_path)
    assert list(result.records()) == ROWS
    (tmp_path / "verdicts.jsonl").write_text('{"id": "1"}\n\x00\n')
    with pytest.raises(InputError, match=r"verdicts.jsonl is damaged in line 2 .*; remove it"):
        list(result.records())


def test_a_folder_that_can_not_be_one_is_told_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("mine")
    for path in ("file", "file/deep/er"):
        with pytest.raises(OutputError, match="file is a file; a folder for the results was expected"):
            check_folder(tmp_path / path)
    assert (tmp_path / "file").read_text() == "mine"
    check_folder(tmp_path / "new" / "er")
    monkeypatch.chdir(tmp_path)
    check_folder(Path("relative"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OutputError, match="can't be written to; choose another folder"):
        check_folder(tmp_path / "new")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}])
def test_a_verdict_that_is_no_json_is_told_and_the_rest_stays(tmp_path: Path, value: object):
    rows = [*ROWS[:2], {"id": "odd", "score": value, "label": None}]
    with pytest.raises(OutputError, match=r"^the verdict of row odd can't be written"):
        begin(tmp_path, rows)
    assert ResultFolder(tmp_path, OURS).rows_done == 2


def test_half_characters_are_written_as_json_has_them(tmp_path: Path):
    complete(tmp_path, rows=[{"id": "1", "score": 1.0, "label": 1, "explanation": "\ud83d!"}])
    assert next(ResultFolder(tmp_path, OURS).records())["explanation"] == "\ud83d!"


def test_a_record_with_everything_and_with_nothing():
    columns = {"model": "m", "topic": "t", "score": 3, "candidate": "x", "gold": 1}
    sample = Sample("c", ("r", "s"), "q", "7", 0, columns)
    verdict = Verdict(0.5, 1, "why", 1, {"candidate": 3}, {"logit": 0.0})
    fields = {"id": "7", "score": 0.5, "label": 1, "gold": 0, "explanation": "why", "matched_reference": 1}
    fields |= {"truncated": {"candidate": 3}, "details": {"logit": 0.0}}
    more = {"model": "m", "input_score": 3, "input_gold": 1}
    texts = {"topic": "t", "input_candidate": "x", "question": "q", "references": ["r", "s"], "candidate": "c"}
    row = Row.of(sample, verdict)
    assert row.record() == fields | more | texts
    assert Row.read(row.record()).verdict == verdict
    assert row.record(texts=False) == fields | more | {"question_hash": cluster_hash("q", "7")}
    plain = Row.of(Sample("c", ("r",))).record()
    assert plain == {"id": None, "score": None, "label": None, "references": ["r"], "candidate": "c"}


def test_the_folder_is_held_until_the_result_is_whole(tmp_path: Path):
    begin(tmp_path, ROWS[:2])
    first, second = ResultFolder(tmp_path, OURS), ResultFolder(tmp_path, OURS)
    with first.writing():
        append(first, ROWS[2:])
        with pytest.raises(OutputError, match=r"^another run.* is writing"), second.writing():
            pass
        first.finish({})
    with pytest.raises(OutputError, match=r"^another run.* is writing"), second.writing():
        pass  # what it saw when it was made is gone
    assert list(ResultFolder(tmp_path, OURS).records()) == ROWS
