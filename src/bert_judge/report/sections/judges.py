"""The judges side by side: how many answers each one judged, labelled correct and left undecided, what they cost, and
how its verdicts were made.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bert_judge.measures import Agreement, Estimate
from bert_judge.measures.arrays import np
from bert_judge.records import Row, Signature
from bert_judge.report.document import Facts, PagePanel, Table
from bert_judge.report.sections import Card, Findings, Section, correct_rate
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
    incorrect; `out_of_scope` counts the rows out of its scope, by reason. Times and tokens are sums over its runs, as
    far as these record them; `money` is in the unit of the prices that the user set.
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
class Origin:
    """Where the verdicts of a judge come from; versions and machine are those of its last run."""

    judge: str
    kind: str
    signature: Signature
    commands: Sequence[str]
    inputs: Sequence[str]
    folders: Sequence[str]
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    started: str

    @property
    def facts(self) -> list[tuple[str, str]]:
        """When, where and on what the verdicts were made."""
        facts = [
            ("started", self.started),
            ("input", ", ".join(self.inputs)),
            ("result", ", ".join(self.folders)),
            ("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
            ("machine", ", ".join(f"{name} {value}" for name, value in self.machine.items())),
        ]
        return [(name, text) for name, text in facts if text]


def judges_section(findings: Findings) -> Section:
    """A card for each judge."""
    table = findings.table
    kinds = judge_kinds([judge.signature for judge in table.judges])
    judges = [_figures(judge, kind, table) for judge, kind in zip(table.judges, kinds, strict=True)]
    facts = [_facts(judge, findings.agreements.get(judge.name)) for judge in judges]
    whose = "all models' " if findings.comparisons else ""
    cards = [_card(judge, of_judge, whose) for judge, of_judge in zip(judges, facts, strict=True)]
    return Section("judges", judges, [PagePanel("cards", cards, _table(judges, facts))], "overview")


def origin_section(findings: Findings) -> Section:
    """How the verdicts of each judge were made: commands, inputs, versions, machine and signature."""
    judges = findings.table.judges
    kinds = judge_kinds([judge.signature for judge in judges])
    origins = [_origin(judge, kind) for judge, kind in zip(judges, kinds, strict=True)]
    panels = []
    for origin in origins:
        commands = [("command", command) for command in origin.commands]
        facts = Facts([*commands, *origin.facts], f"How {origin.judge} was made")
        panels.append(PagePanel("origin", origin, facts))
    return Section("origin", origins, panels, "origin")


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


def _card(judge: JudgeFigures, facts: Mapping[str, str], whose: str) -> Card:
    """A card without what charts show."""
    shown = {name: text for name, text in facts.items() if text != "-" and name not in _IN_CHARTS}
    more = f" and {len(judge.folders) - 1:,} more" if len(judge.folders) > 1 else ""
    shown["result"] = judge.folders[0] + more
    warnings = [name for name in _WARNINGS if shown.get(name, "0") != "0"]
    main = "judged correct" if judge.right else "mean score"
    caption = f"of {whose}decided answers judged correct" if judge.right else main
    return Card(judge.name, judge.kind, judge.right, main, caption, shown, warnings)


def _origin(judge: JudgeColumn, kind: str) -> Origin:
    """From the records of a judge's runs; each command and each input once."""
    runs, last = judge.runs, judge.runs[-1].record
    commands = (shlex.join(run.record["command"]) for run in runs if run.record.get("command"))
    return Origin(
        judge=judge.name,
        kind=kind,
        signature=judge.signature,
        commands=list(dict.fromkeys(commands)),
        inputs=list(dict.fromkeys(str(run.input.get("path", "")) for run in runs)),
        folders=[str(run.folder) for run in runs],
        versions=last.get("versions", {}),
        machine=last.get("machine", {}),
        started=min((run.record["timings"]["started"] for run in runs if "timings" in run.record), default=""),
    )
