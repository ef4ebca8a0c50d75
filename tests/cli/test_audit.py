"""`bert-judge audit` as its user meets it: what it prints, writes and refuses, and its gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bert_judge.cli.audit import GATE_MISSED
from conftest import Command
from json_lines import read_rows

CONTAINMENT = ["--judge_type", "RegexJudge", "--pattern", "none", "--metric", "containment"]
pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def audit(command: Command) -> Command:
    return partial(command, "audit")


def test_the_starter_prints_and_writes_what_it_found(audit):
    status, out, err = audit("--items", 12, "--families", "negated,cut-off_reasoning,case", "--output_dir", "out")
    assert status == 0
    assert "12 questions; plain answers judged correctly" in out
    assert "BERTJudge starter" in out
    assert "judging" in err
    record = json.loads(Path("out/audit.json").read_text(encoding="utf-8"))
    assert [family["name"] for family in record["families"]] == ["negated", "cut-off reasoning", "case"]
    assert record["plain"]["accuracy"]["n"] == 48
    assert record["signature"]["settings"]["model"].startswith("starter")
    failures = read_rows("out/audit_failures.jsonl")
    counted = sum(sum(family["failed_patterns"].values()) for family in record["families"])
    assert counted == sum(row["family"] != "plain" for row in failures)
    for row in failures:
        attack = row["family"] in ("negated", "cut-off reasoning")
        assert not attack or (row["label"], row["gold"]) == (1, 0)
        assert ("plain" in row) == (row["family"] == "case")
    page = Path("out/audit.md").read_text(encoding="utf-8")
    assert page.startswith("# Audit of BERTJudge starter\n")
    assert "`BERTJudge|model:starter" in page
    assert "| negated |" in page
    assert sorted(path.name for path in Path("out").iterdir()) == ["audit.json", "audit.md", "audit_failures.jsonl"]


def test_two_runs_find_the_same(audit):
    for name in ("a", "b"):
        audit(*CONTAINMENT, "--items", 30, "--output_dir", name, "--quiet")
    for file in ("audit_failures.jsonl", "audit.md"):
        assert Path("a", file).read_bytes() == Path("b", file).read_bytes()


def test_the_gate_ends_with_a_status_of_its_own(audit, subtests: pytest.Subtests):
    families = ["--families", "negated", "case", "look-alikes"]
    for gate, missed in [
        (["--max_accept", 0.02], "gate missed: negated: "),
        (["--min_kept", 1, "--max_accept", 1], "gate missed: look-alikes: "),
        (["--max-accept", 1, "--min-kept", 0, "--min-plain", 0.9], ""),
        ([], ""),
    ]:
        with subtests.test(gate=gate, missed=missed):
            status, out, err = audit(*CONTAINMENT, *gate, "--items", 40, *families, "--quiet", "--output_dir", "out")
            assert (status, out) == (GATE_MISSED if missed else 0, "")
            assert err.startswith(missed)
            assert err.count("\n") == bool(missed)
            assert ("The gate is missed" in Path("out/audit.md").read_text("utf-8")) == bool(missed)
            record = json.loads(Path("out/audit.json").read_text("utf-8"))
            assert len(record["gate"]["misses"]) == bool(missed)


def test_what_is_refused_before_a_judge_is_asked(complaint: Callable[..., str], subtests: pytest.Subtests):
    Path("rows.jsonl").touch()
    for arguments, sentence in [
        (["--families", "negatd"], "did you mean negated"),
        (["--max_accept", "2"], "max_accept is 2.0; a rate between 0 and 1"),
        (["--output_dir", "rows.jsonl"], "is a file"),
        (["--judge_type", "RegexJudg"], "did you mean RegexJudge"),
    ]:
        with subtests.test(arguments=arguments):
            assert sentence in complaint("audit", *arguments)
