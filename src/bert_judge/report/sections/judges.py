"""The judges side by side: how many answers each one judged, labelled correct and left undecided, and its costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bert_judge.measures import Agreement, Estimate
from bert_judge.measures.arrays import np
from bert_judge.records import Row, Signature
from bert_judge.report.document import Table
from bert_judge.report.sections.base import Findings, Section, correct_rate
from bert_judge.results import BAD_ROWS
from bert_judge.results.runs import Run
from bert_judge.studies.pairing import judge_kinds
from bert_judge.studies.table import JudgeColumn, VerdictTable
from bert_judge.wording import INTERVALS, duration, interval, number, percent, rows_out_of_scope

_IN_CHARTS = ("precision", "recall", "F1", "Brier score", "ECE", "false positives", "false negatives")
_WARNINGS = ("undecided", "truncated", "out of scope", "bad rows set aside")


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """The figures of one judge.

    `right` is the rate that it labels correct, None where it gives no labels; `right_all` counts undecided rows as
    incorrect; `out_of_scope` counts rows out of scope, by reason. Times and tokens are sums over its runs as far as
    these record them; `money` is in the unit of the prices that the user set.
    """

    name: str
    kind: str
    signature: Signature
    rows: int
    judged: int
    undecided: int
    truncated: int
    out_of_scope: Mapping[str, int]
    bad_rows: int
    mean_score: float | None
    right: Estimate | None
    right_all: Estimate | None
    seconds: float | None
    timed_rows: int
    tokens_in: int
    tokens_out: int
    money: float | None
    folders: Sequence[str]


@dataclass(frozen=True, slots=True)
class Card:
    """A judge at a glance: its main figure, and the others by name."""

    judge: JudgeFigures
    main: str
    facts: Mapping[str, str]

    def warns(self, name: str) -> bool:
        """Whether a figure needs a second look."""
        return name in _WARNINGS and self.facts[name] != "0"


@dataclass(frozen=True, slots=True)
class Cards:
    """A card for each judge on the page; elsewhere a table."""

    table: Table
    cards: Sequence[Card]
    macro: ClassVar[str] = "cards"

    def text(self) -> str:
        """As lines of a terminal."""
        return self.table.text()

    def markdown(self) -> str:
        """As a table of Markdown."""
        return self.table.markdown()


def judges_section(findings: Findings) -> Section:
    """A card for each judge."""
    table = findings.table
    kinds = judge_kinds([judge.signature for judge in table.judges])
    judges = [_figures(judge, kind, table) for judge, kind in zip(table.judges, kinds, strict=True)]
    facts = [_facts(judge, findings.agreements.get(judge.name)) for judge in judges]
    return Section("judges", judges, [Cards(_table(judges, facts), [*map(_card, judges, facts)])], "overview")


def _figures(judge: JudgeColumn, kind: str, table: VerdictTable) -> JudgeFigures:
    rows = [row for row in judge.verdicts if row is not None]
    scores = judge.scores[np.isfinite(judge.scores)]
    labelled, undecided = bool((judge.labels >= 0).any()), judge.judged & ~np.isfinite(judge.scores)
    all_labels = np.where(undecided & (judge.labels < 0), 0, judge.labels)
    timings = [run.record["timings"] for run in judge.runs if "timings" in run.record]
    costs = [run.record.get("costs", {}).get("money") for run in judge.runs]
    money = [cost for cost in costs if cost is not None]
    return JudgeFigures(
        name=judge.name,
        kind=kind,
        signature=judge.signature,
        rows=len(rows),
        judged=len(scores),
        undecided=int(undecided.sum()),
        truncated=sum(bool(row.verdict.truncated) for row in rows),
        out_of_scope=dict(Counter(row.verdict.out_of_scope for row in rows if row.verdict.out_of_scope)),
        bad_rows=sum(map(_bad_rows, judge.runs)),
        mean_score=math.fsum(scores) / len(scores) if len(scores) else None,
        right=correct_rate(judge.labels, table.clusters) if labelled else None,
        right_all=correct_rate(all_labels, table.clusters) if labelled else None,
        seconds=math.fsum(timing["seconds"] for timing in timings) if timings else None,
        timed_rows=sum(timing["rows"] for timing in timings),
        tokens_in=_tokens(rows, "prompt_tokens"),
        tokens_out=_tokens(rows, "completion_tokens"),
        money=math.fsum(money) if money else None,
        folders=[str(run.folder) for run in judge.runs],
    )


def _tokens(rows: Iterable[Row], name: str) -> int:
    counts = (row.verdict.details.get(name) for row in rows)
    return sum(count for count in counts if isinstance(count, int))


def _bad_rows(run: Run) -> int:
    path = run.folder / BAD_ROWS
    if not path.exists():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _facts(judge: JudgeFigures, agreement: Agreement | None) -> dict[str, str]:
    """The figures of a judge by name; `-` for those that it lacks."""
    counts = agreement.counts if agreement else None
    speed = f" · {judge.timed_rows / judge.seconds:,.0f} rows/s" if judge.seconds else ""
    tokens = f"{judge.tokens_in:,} in · {judge.tokens_out:,} out" if judge.tokens_in or judge.tokens_out else "-"
    return {
        "judged": f"{judge.judged:,} of {judge.rows:,}",
        "judged correct": interval(judge.right),
        "undecided as incorrect": interval(judge.right_all) if judge.undecided else "-",
        "mean score": number(judge.mean_score),
        "agreement with human labels": interval(agreement.accuracy if agreement else None),
        "Cohen's kappa": number(agreement.kappa.value if agreement else None),
        "precision": percent(agreement.precision.value if agreement else None),
        "recall": percent(agreement.recall.value if agreement else None),
        "F1": number(agreement.f1.value if agreement else None),
        "Brier score": number(agreement.brier.value if agreement and agreement.brier else None),
        "ECE": number(agreement.ece.value if agreement and agreement.ece else None),
        "false positives": f"{counts.false_positive:,}" if counts else "-",
        "false negatives": f"{counts.false_negative:,}" if counts else "-",
        "undecided": f"{judge.undecided:,}",
        "truncated": f"{judge.truncated:,}",
        "out of scope": rows_out_of_scope(judge.out_of_scope),
        "bad rows set aside": f"{judge.bad_rows:,}" if judge.bad_rows else "-",
        "time": "-" if judge.seconds is None else f"{duration(judge.seconds)}{speed}",
        "tokens": tokens,
        "cost": "-" if judge.money is None else f"{judge.money:.4f}",
    }


def _table(judges: Sequence[JudgeFigures], facts: Sequence[Mapping[str, str]]) -> Table:
    """The judges side by side; lines that none of them has are left out."""
    lines = [[name, *(column[name] for column in facts)] for name in facts[0]]
    body = [line for line in lines if any(text != "-" for text in line[1:])]
    return Table("Judges", ["", *(judge.name for judge in judges)], body, INTERVALS)


def _card(judge: JudgeFigures, facts: Mapping[str, str]) -> Card:
    """A card without what charts show."""
    shown = {name: text for name, text in facts.items() if text != "-" and name not in _IN_CHARTS}
    more = f" and {len(judge.folders) - 1:,} more" if len(judge.folders) > 1 else ""
    shown["result"] = judge.folders[0] + more
    return Card(judge, "judged correct" if judge.right else "mean score", shown)
