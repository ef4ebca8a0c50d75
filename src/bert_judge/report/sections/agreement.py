"""The judges against human labels: reliability of probabilities, and how labels go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bert_judge.measures import Agreement
from bert_judge.measures.arrays import np
from bert_judge.measures.calibration import Bin, reliability
from bert_judge.report import charts
from bert_judge.report.document import Chart, Content, Table
from bert_judge.report.sections.base import Findings, Section
from bert_judge.studies.table import JudgeColumn, VerdictTable
from bert_judge.wording import interval, number, percent


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One judge against human labels, with the bins of its scores where these are probabilities."""

    judge: str
    agreement: Agreement
    bins: Sequence[Bin]


@dataclass(frozen=True, slots=True)
class ConfusionPanel:
    """Labels of a judge against human labels."""

    judge: str
    agreement: Agreement
    macro: ClassVar[str] = "confusion"

    def text(self) -> str:
        """As lines of a terminal."""
        return self._table().text()

    def markdown(self) -> str:
        """As a table of Markdown."""
        return self._table().markdown()

    def _table(self) -> Table:
        counts = self.agreement.counts
        head = ["", "judge: correct", "judge: incorrect"]
        body: list[list[Content]] = [
            ["human: correct", counts.true_positive, counts.false_negative],
            ["human: incorrect", counts.false_positive, counts.true_negative],
        ]
        return Table("Labels", head, body, of=self.judge)


def agreement_section(findings: Findings) -> Section | None:
    """Reliability diagrams, then a table of labels for each judge."""
    judges = [
        JudgeAgreement(judge.name, agreement, _bins(judge, findings.table))
        for judge in findings.table.judges
        if (agreement := findings.agreements.get(judge.name))
    ]
    diagrams = [_chart(judge) for judge in judges if judge.bins]
    panels = [ConfusionPanel(judge.judge, judge.agreement) for judge in judges]
    return Section("agreement", judges, [*diagrams, *panels]) if judges else None


def reliability_table(bins: Sequence[Bin], judge: str) -> Table:
    """The mean score and the rate labelled correct of each bin."""
    body: list[list[Content]] = [
        [f"{part.low:.1f} to {part.high:.1f}", part.rows, number(part.mean_score), percent(part.right.value)]
        for part in bins
    ]
    return Table("Reliability", ["score", "rows", "mean score", "labelled correct"], body, of=judge)


def _bins(judge: JudgeColumn, table: VerdictTable) -> list[Bin]:
    scored = (table.golds >= 0) & np.isfinite(judge.scores) & judge.probable
    if not scored.any():
        return []
    return reliability(judge.scores[scored], table.golds[scored], clusters=table.clusters[scored])


def _chart(judge: JudgeAgreement) -> Chart:
    ece, brier = judge.agreement.ece, judge.agreement.brier
    key = f"rate labelled correct, by mean score · ECE {number(ece.value if ece else None)}"
    key += f" · Brier {number(brier.value if brier else None)}"
    table = reliability_table(judge.bins, judge.judge)
    return Chart("Reliability", judge.judge, _drawing(judge.bins, judge.judge), key, data=table)


def _drawing(bins: Sequence[Bin], judge: str) -> str:
    """Mean score against the rate labelled correct, with 95 % intervals; a calibrated judge is on the diagonal."""
    parts = [charts.across(charts.y(value, 1), f"{value:.0%}") for value in (0, 0.25, 0.5, 0.75, 1)]
    parts += [charts.below(charts.x(value), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)]
    parts.append(f'<path class="diagonal" d="M{charts.x(0)} {charts.y(0, 1)}L{charts.x(1)} {charts.y(1, 1)}"/>')
    points = [(charts.x(part.mean_score), charts.y(part.right.value or 0.0, 1)) for part in bins]
    parts.append(f'<path class="line" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>')
    most = max(part.rows for part in bins)
    for part, (x, y) in zip(bins, points, strict=True):
        low, high = part.right.interval or (0.0, 1.0)
        radius = 2.5 + 4 * math.sqrt(part.rows / most)
        parts.append(
            f'<g class="point"><title>{part.rows:,} rows with a mean score of {part.mean_score:.2f}: '
            f"{interval(part.right)} correct</title>"
            f'<path d="M{x:.1f} {charts.y(low, 1):.1f}V{charts.y(high, 1):.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/></g>'
        )
    return charts.svg(parts, f"Reliability of {judge}: {len(bins)} bins of scores")
