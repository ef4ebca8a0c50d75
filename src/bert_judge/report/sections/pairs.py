"""Judges against each other: how often they give the same label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from bert_judge.measures import Confusion, Estimate, rate
from bert_judge.report.document import Content, Table
from bert_judge.report.sections.base import Findings, Section, estimate_cell
from bert_judge.wording import number


@dataclass(frozen=True, slots=True)
class SameLabels:
    """Two judges: the rate of equal labels among the rows that have both (`share`), and Cohen's kappa."""

    first: str
    second: str
    share: Estimate
    kappa: float | None
    confusion: Confusion


def pairs_section(findings: Findings) -> Section | None:
    """A line for each two judges with labels of the same rows."""
    table = findings.table
    pairs = []
    for first, second in combinations(table.judges, 2):
        both = (first.labels >= 0) & (second.labels >= 0)
        if both.any():
            one, two = first.labels[both], second.labels[both]
            counts = Confusion.count(zip(one.tolist(), two.tolist(), strict=True))
            pairs.append(
                SameLabels(first.name, second.name, rate(one == two, table.clusters[both]), counts.kappa, counts)
            )
    return Section("pairs", pairs, [_table(pairs, int(table.disagree.sum()))]) if pairs else None


def _table(pairs: Sequence[SameLabels], disagreements: int) -> Table:
    body: list[list[Content]] = [
        [f"{pair.first} / {pair.second}", pair.share.n, estimate_cell(pair.share), number(pair.kappa)] for pair in pairs
    ]
    below = f"{disagreements:,} answers have different labels; the page lists them with its filter “judges disagree”"
    return Table("Agreement of judges", ["judges", "rows", "same label", "kappa"], body, below)
