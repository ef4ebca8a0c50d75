"""`bert-judge report` as its user meets it: from results that `score` made to the files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bert_judge.cli import main as bert_judge
from bert_judge.cli.report import main
from bert_judge.errors import BertJudgeError
from conftest import Refused
from json_lines import EXAMPLES, read_rows, write_rows

METRICS = ("containment", "exact_match")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result of each metric."""
    folder = tmp_path_factory.mktemp("results")
    for metric in METRICS:
        line = ["score", str(EXAMPLES), "--judge", metric, "--output_dir", str(folder / metric), "--quiet"]
        assert bert_judge(line) == 0
    return folder


def test_two_results_side_by_side(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "new" / "both.html"
    assert main([*(str(results / metric) for metric in METRICS), "-o", str(path), "--title", "Two <rules>"]) == 0
    assert {each.name for each in path.parent.iterdir()} == {"both.html", "both.md", "both.json"}
    told = capsys.readouterr().out
    assert all(name in told for name in (*METRICS, "agreement with human labels", str(path)))
    assert "<h1>Two &lt;rules&gt;</h1>" in path.read_text(encoding="utf-8")
    judges = json.loads(path.with_suffix(".json").read_text())["judges"]
    assert [judge["name"] for judge in judges] == [*METRICS]
    assert main([str(results), "-o", str(tmp_path / "r.html"), "--quiet"]) == 0  # the folder above will do
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "r.json").read_text())["judges"] == judges


def test_what_is_unfinished_below_is_told(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    shutil.copytree(results / "containment", tmp_path / "suite" / "a")
    (tmp_path / "suite" / "boom").mkdir()
    (tmp_path / "suite" / "boom" / "verdicts.jsonl.partial").write_text("")
    assert main([str(tmp_path / "suite"), "-o", str(tmp_path / "r.html")]) == 0
    told = f"{tmp_path / 'suite' / 'boom'} is unfinished and left out"
    assert f"\nnote: {told}" in capsys.readouterr().out
    assert told in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_labels_of_another_file(results: Path, tmp_path: Path):
    rows = read_rows(EXAMPLES)[:10]
    labels = write_rows(tmp_path / "human.jsonl", [{"id": row["id"], "human": 1 - row["label"]} for row in rows])
    run, page = str(results / "containment"), str(tmp_path / "r.html")
    assert main([run, "-o", page, "--labels", str(labels), "--map", "label=human", "--quiet"]) == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["gold"]["n"], found["labels"]) == (10, str(labels))
    right = sum(1 - row["label"] for row in rows) / 10
    assert found["gold"]["value"] == right


def test_mistakes_are_told_in_a_sentence(results: Path, tmp_path: Path, refused: Refused):
    (tmp_path / "other.jsonl").write_text('{"id": "x", "label": 1}\n')
    (tmp_path / "empty").mkdir()
    shutil.copytree(results / "containment", tmp_path / "damaged" / "out")
    (tmp_path / "damaged" / "out" / "verdicts.jsonl").write_text("{}\nno json\n")
    for arguments, told in [
        (["{results}/nothing"], "nothing is not there"),
        (["{here}/empty"], "holds no result"),
        (["{here}/damaged"], "damaged in line 1"),
        (["{results}/containment", "-o", "report.pdf"], "ends with .html"),
        (["{results}/containment", "--labels", "{here}/other.jsonl"], "belong to none of the 98 judged rows"),
        (["{results}/containment", "--labels", "{here}/missing.jsonl"], "missing.jsonl"),
    ]:
        filled = [each.format(results=results, here=tmp_path) for each in arguments]
        with refused(match=told, error=BertJudgeError, arguments=arguments):
            main([*filled, *([] if "-o" in filled else ["-o", str(tmp_path / "r.html")])])
        assert not list(tmp_path.glob("*.html"))
