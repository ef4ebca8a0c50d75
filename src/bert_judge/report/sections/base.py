"""What sections of a report are made from, and what they share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bert_judge.measures import Agreement, Estimate, rate
from bert_judge.measures.agreement import agreements
from bert_judge.measures.arrays import Integers, Truths, np
from bert_judge.report.document import BarCell, Block, Content
from bert_judge.studies.table import Facet, JudgeColumn, VerdictTable
from bert_judge.wording import interval, number, percent

MOST_SHOWN = 25
"""The most levels of a kind, and the most tasks or models, that a table has; the largest are taken."""

MODELS = ("model", "candidate_model")
"""The columns that name models; the first one that is there counts."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What sections are made from: the table of verdicts, and the agreement of each judge, by its name, that has rows
    with a human label.
    """

    table: VerdictTable
    agreements: Mapping[str, Agreement]

    @classmethod
    def of(cls, table: VerdictTable) -> Findings:
        """Compare each judge with the human labels of the answers that it judged."""
        by_judge = {}
        for judge in table.judges:
            places = np.flatnonzero(judge.judged & (table.golds >= 0))
            (agreement,) = agreements(table.golds[places], [judge.part(places)], table.clusters[places])
            if agreement.counts.n:
                by_judge[judge.name] = agreement
        return cls(table, by_judge)

    def facet(self, *names: str) -> Facet | None:
        """The first of some columns of the input that is a kind of rows."""
        facets = {facet.name: facet for facet in self.table.facets}
        return next((facets[name] for name in names if name in facets), None)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report: its name and data in JSON, its blocks for Markdown and the page, and where these stand."""

    name: str
    data: Any
    blocks: Sequence[Block]
    place: Literal["overview", "figures", "origin"] = "figures"


def correct_rate(labels: Integers, questions: Integers) -> Estimate:
    """The rate of correct ones among labels, where -1 is none."""
    labelled = labels >= 0
    return rate(labels[labelled] == 1, questions[labelled])


def judged_correct(judge: JudgeColumn, chosen: Truths, questions: Integers) -> Estimate:
    """The rate that a judge labels correct of the chosen rows; where it labels none, its mean score, without an
    interval.
    """
    labels, scores = judge.labels[chosen], judge.scores[chosen]
    if (labels >= 0).any():
        return correct_rate(labels, questions[chosen])
    scores = scores[np.isfinite(scores)]
    return Estimate(math.fsum(scores) / len(scores), n=len(scores)) if len(scores) else Estimate(None)


def estimate_cell(estimate: Estimate | None, brackets: bool = True) -> Content:
    """A rate with a bar and its interval, which stands in the tooltip without `brackets`; a mean score as a number."""
    if estimate is None or estimate.interval is None:
        return number(estimate.value if estimate else None)
    if brackets:
        return BarCell(interval(estimate), estimate)
    return BarCell(percent(estimate.value), estimate, f"{estimate.n:,} rows, {interval(estimate)}")
