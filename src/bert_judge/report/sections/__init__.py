"""The sections of a report: each module makes some from the verdicts, with their data, text and figures.

This one has what they share: the findings, rates as cells of tables, and the frame of charts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from bert_judge.errors import InputError
from bert_judge.measures import Agreement, Estimate, rate
from bert_judge.measures.agreement import agreements
from bert_judge.measures.arrays import Integers, Truths, np
from bert_judge.report.document import BarCell, Block, Content
from bert_judge.studies.compare import ModelComparison, compare_models
from bert_judge.studies.table import JudgeColumn, VerdictTable
from bert_judge.wording import counted, interval, number, percent

_WIDTH, _HEIGHT = 340, 200
_LEFT, _RIGHT, _TOP, _FOOT = 40, 8, 8, 30


@dataclass(frozen=True, slots=True)
class Findings:
    """What sections are made from: the table of verdicts; the agreement of each judge, by its name, that has rows with
    a human label; its models by each judge and by human labels, with a note where they can't be compared.
    """

    table: VerdictTable
    agreements: Mapping[str, Agreement]
    comparisons: Sequence[ModelComparison]
    notes: Sequence[str]

    @classmethod
    def of(cls, table: VerdictTable) -> Findings:
        """Compare each judge with the human labels of the answers that it judged."""
        by_judge = {}
        for judge in table.judges:
            places = np.flatnonzero(judge.judged & (table.golds >= 0))
            (agreement,) = agreements(table.golds[places], [judge.part(places)], table.clusters[places])
            if agreement.counts.n:
                by_judge[judge.name] = agreement
        return cls(table, by_judge, *_compared(table))


def _compared(table: VerdictTable) -> tuple[Sequence[ModelComparison], Sequence[str]]:
    """The models of a table against each other, if it has several, with notes."""
    if table.lineup is None:
        return (), ()
    try:
        return compare_models(table.of_models(table.lineup)), ()
    except InputError as error:
        return (), [f"The models are not compared: {error}"]


@dataclass(frozen=True, slots=True)
class Card:
    """A judge, or a model, at a glance: its main figure, the others by name, and which of these need a second look.

    `kind` says more of it, `caption` says what the figure is, `right` is the rate correct where that is it.
    """

    name: str
    kind: str
    right: Estimate | None
    main: str
    caption: str
    facts: Mapping[str, str]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report: its name, its data (a record, a dataclass, for each line of JSON), its blocks for Markdown
    and the page, and where these stand. The terminal shows those of "overview".
    """

    name: str
    data: Sequence[Any]
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
    return BarCell(percent(estimate.value), estimate, f"{counted(estimate.n, 'row')}, {interval(estimate)}")


def chart(label: str, lines: Mapping[float, str], ticks: Mapping[float, str], marks: Sequence[str]) -> str:
    """A chart as SVG: lines of the grid and numbers below the axis by their places in [0, 1], and marks on them.

    `label` is what a screen reader says. The page sets the colours.
    """
    grid = [
        f'<path class="grid" d="M{_LEFT} {y(part):.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text class="left" x="{_LEFT - 5}" y="{y(part) + 3.5:.1f}">{text}</text>'
        for part, text in lines.items()
    ]
    numbers = [
        f'<text class="below" x="{x(part):.1f}" y="{_HEIGHT - _FOOT + 15}">{text}</text>'
        for part, text in ticks.items()
    ]
    content = "".join([*grid, *numbers, *marks])
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">{content}</svg>'
    )


def x(part: float) -> float:
    """The place of a part, in [0, 1], of a chart's width."""
    return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)


def y(part: float) -> float:
    """The place of a part, in [0, 1], of a chart's height, from below."""
    return _HEIGHT - _FOOT - part * (_HEIGHT - _FOOT - _TOP)
