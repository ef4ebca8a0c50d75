"""`score` of saved runs of other tools: what it prints of their own scores, writes and refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from bert_judge.judges import Judge
from bert_judge.records import JudgeInfo, Sample, Verdict
from conftest import Command
from json_lines import read_rows, write_rows

pytestmark = pytest.mark.usefixtures("folder")
LOGS = Path(__file__).parents[1] / "logs"
SAMPLE = {"doc_id": 0, "doc": {"question": "Q?"}, "target": "r", "resps": [["c"]], "filtered_resps": ["c"]}
BY_WORDS = ("--judge", "containment")


class Unlabelled(Judge):
    """Gives scores that mean nothing more."""

    info = JudgeInfo("unlabelled", "Unlabelled")

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        return (Verdict(0.5) for _ in samples)


def test_score_says_what_a_folder_holds_and_keeps_the_scores_of_the_tool(command: Command) -> None:
    Path("runs").mkdir()
    shutil.copytree(LOGS / "inspect", "runs/a")
    Path("runs/notes.csv").write_text("a,b\n1,2\n")
    status, out, _ = command("score", "runs", *BY_WORDS, "--output_dir", "out")
    assert status == 0
    assert "inspect  local_graded  canned/m     8" in out
    assert "inspect  local_graded  hf/tiny      0  8 that ended with an error" in out
    assert "not read: 1 other file there (runs/notes.csv)" in out
    assert "read   " not in out
    words = [line.split() for line in out.splitlines()]
    assert ["canned/m", "local_graded", "model_graded_qa", "8", "25.0%", "50.0%"] in [line[:6] for line in words]
    assert "Several answers to a question" in out
    assert ["canned/m", "local_graded", "4", "2", "50.0%"] in [line[:5] for line in words]
    rows = read_rows(Path("out/verdicts.jsonl"))
    assert len(rows) == 12
    meta = {"task": "local_graded", "model": "canned/m", "epoch": 1, "harness:includes": 1.0}
    assert rows[0] == rows[0] | meta
    runs = json.loads(Path("out/run.json").read_text())["input"]["found"]
    assert [(run["tool"], run["rows"], run["aside"]) for run in runs] == [
        ("inspect", 0, {"that ended with an error": 8}),
        ("inspect", 8, {}),
        ("inspect", 4, {}),
    ]


def test_where_there_is_nothing_to_compare_nothing_is_compared(complaint: Callable[..., str], command: Command) -> None:
    assert "holds nothing to judge, only 8 rows that ended" in complaint("score", LOGS / "inspect" / "errored.eval")
    unlabelled = ("--judge", "test_own_scores:Unlabelled", "--output_dir", "scores")
    outputs = [command("score", LOGS / "inspect" / "mc.json", *unlabelled)]
    write_rows("samples.jsonl", [{**SAMPLE, "metrics": ["bleu"], "bleu": 31.0}])
    outputs.append(command("score", "samples.jsonl", *BY_WORDS, "--output_dir", "bleu"))
    outputs.append(command("score", LOGS / "inspect" / "mc.json", *BY_WORDS, "--no_texts", "--output_dir", "bare"))
    assert [status for status, _, _ in outputs] == [0, 0, 0]
    assert not [out for _, out, _ in outputs if "The tool" in out]
    Path("x.csv").write_text("answer,output\na,a\n")
    assert command("score", "x.csv", *BY_WORDS, "--output_dir", "out", "--quiet")[0] == 0
    assert "out has no row with a label and a score of another tool" in complaint("show", "out", "--tool_disagrees")


def test_disagreements_are_shown_and_there_is_a_page(command: Command) -> None:
    answers = [("Lima", 0)] * 4 + [("Cusco", 1)] * 4 + [("Lima", 1), ("Cusco", 0)]
    rows = [
        {
            **SAMPLE,
            "doc_id": number,
            "doc": {"question": f"Capital {number}?"},
            "target": "Lima",
            "resps": [[text]],
            "metrics": ["exact", "f1"],
            "exact": score,
            "f1": score if number else 1 - score,
        }
        for number, (text, score) in enumerate(answers)
    ]
    write_rows("samples.jsonl", rows)
    status, out, _ = command("score", "samples.jsonl", *BY_WORDS, "--output_dir", "out")
    assert status == 0
    assert "The tool and the judge differ on 8 answers:" in out
    shown = [line.strip() for line in out.splitlines() if "; the tool: " in line and "judged" in line]
    assert shown == [
        "0: judged correct (1.000); the tool: exact 0",
        "4: judged incorrect (0.000); the tool: exact 1, f1 1",
        "1: judged correct (1.000); the tool: exact 0, f1 0",
        "5: judged incorrect (0.000); the tool: exact 1, f1 1",
        "2: judged correct (1.000); the tool: exact 0, f1 0",
    ]
    assert "question   Capital 0?" in out
    assert "(3 more: bert-judge show out --tool_disagrees)" in out
    assert "run.json, report.html" in out
    assert Path("out/report.html").stat().st_size > 10_000
    status, out, _ = command("show", "out", "--tool_disagrees")
    assert status == 0
    assert out.startswith("out: 8 of 10 rows (tool disagrees)")
    assert "tool        exact 0, f1 0" in out
    wrong = command("show", "out", "--tool_disagrees", "--wrong")[1]
    assert wrong.startswith("out: 4 of 10 rows (wrong, tool disagrees)")
    write_rows("half.jsonl", [row | {"f1": 0.5} for row in rows])
    half = command("score", "half.jsonl", *BY_WORDS, "--output_dir", "half")[1]
    assert "; partial: rows that the tool scores between 0 and 1\n" in half
    assert "partial" not in out
    assert command("score", "samples.jsonl", *BY_WORDS, "--output_dir", "bare", "--no_report", "--quiet")[1] == ""
    assert not Path("bare/report.html").exists()
