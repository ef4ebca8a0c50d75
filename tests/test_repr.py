"""What records look like at a prompt and in a notebook: short, and without markup from texts."""

from __future__ import annotations

from pathlib import Path

from bert_judge import BERTJudge, RegexJudge, Sample
from bert_judge.judges import BERTScore, Judge
from bert_judge.records import Row, Verdict
from bert_judge.results.runs import Run
from bert_judge.studies.table import VerdictTable, collect
from conftest import MakeJudge

SCRIPT = "<script>alert(1)</script>"


def test_a_verdict_shows_what_it_has() -> None:
    assert repr(Verdict(0.75, 1)) == "Verdict(score=0.75, label=1)"
    assert repr(Verdict(None, failed=True)) == "Verdict(score=None, label=None, failed=True)"
    verdict = Verdict(0.123456, 0, SCRIPT, details={"a": 1})
    assert repr(verdict) == f"Verdict(score=0.123456, label=0, explanation='{SCRIPT}', details={{'a': 1}})"
    html = verdict._repr_html_()
    assert html.startswith("<table><tr><th")
    assert html.endswith("</td></tr></table>")
    assert ">0.1235</td>" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_texts_are_clipped_and_never_markup() -> None:
    row = Row.of(Sample(SCRIPT * 1000, ('"<b>',), "q\x00&", "1", meta={SCRIPT: "x"}), Verdict(1.0, 1))
    assert repr(row).startswith("Row(id='1', score=1.0, label=1, ")
    assert len(repr(row)) < 500
    html = row._repr_html_()
    assert len(html) < 4000
    assert "\x00" not in html
    assert {"<script>", "<b>"}.isdisjoint(html.replace("<th", "").split("&"))
    assert "<script" not in html
    assert "&quot;&lt;b&gt;" in html


def test_a_judge_says_what_it_is(make_judge: MakeJudge) -> None:
    assert repr(BERTJudge()) == "<BERTJudge starter: probability, correct from 0.5>"
    assert repr(RegexJudge()) == "<RegexJudge EM: decision, correct from 0.5>"
    assert repr(BERTScore()) == "<BERTScore starter: score>"

    class Bare(Judge):
        def assess(self, samples):
            yield from ()

    assert repr(Bare()) == "<Bare>"


def test_what_holds_many_rows_counts_them() -> None:
    rows = [Row.of(Sample("a", ("a",), f"q{number}", str(number)), Verdict(1.0, 1)) for number in range(1200)]
    run = Run(Path("out"), rows, {"identity": {"signature": "Mine"}})
    assert repr(run) == "<Run out: 1,200 rows by Mine>"
    table = collect([run])
    assert isinstance(table, VerdictTable)
    assert repr(table) == "<VerdictTable: 1,200 answers by Mine>"
    assert len(repr(table.judges[0])) < 100
