"""The scores of each judge as a histogram, stacked by human labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.measures.arrays import Integers, np
from bert_judge.report import charts
from bert_judge.report.document import Chart
from bert_judge.report.sections.base import Findings, Section
from bert_judge.studies.table import JudgeColumn

BARS = 20
"""The bars of a histogram."""

_STACK = {"right": " labelled correct", "wrong": " labelled incorrect", "other": ""}


@dataclass(frozen=True, slots=True)
class Bar:
    """Scores in [`low`, `high`): how many candidates with them are labelled correct, incorrect, and not at all."""

    low: float
    high: float
    right: int
    wrong: int
    other: int

    @property
    def total(self) -> int:
        """How many candidates there are."""
        return self.right + self.wrong + self.other


@dataclass(frozen=True, slots=True)
class Histogram:
    """The scores of one judge."""

    judge: str
    bars: Sequence[Bar]


def scores_section(findings: Findings) -> Section | None:
    """A histogram for each judge that has scores."""
    table = findings.table
    histograms = [Histogram(judge.name, bars) for judge in table.judges if (bars := _bars(judge, table.golds))]
    blocks = [_chart(histogram, table.labels is not None) for histogram in histograms]
    return Section("scores", histograms, blocks) if histograms else None


def _bars(judge: JudgeColumn, golds: Integers) -> list[Bar]:
    """Bars of equal width, on [0, 1] where all scores lie in it, else between round numbers."""
    scored = np.isfinite(judge.scores)
    scores = judge.scores[scored]
    if not len(scores):
        return []
    low, high = float(scores.min()), float(scores.max())
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else _round_ends(low, high)
    width = (high - low) / BARS
    places = np.minimum(BARS - 1, ((scores - low) / width).astype(int))
    counts = Counter(zip(places.tolist(), golds[scored].tolist(), strict=True))
    return [Bar(low + i * width, low + (i + 1) * width, counts[i, 1], counts[i, 0], counts[i, -1]) for i in range(BARS)]


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """The nearest multiples of a power of ten outside; they differ."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6)))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return low, high if high > low else low + step


def _chart(histogram: Histogram, labelled: bool) -> Chart:
    key = '<i class="right"></i>labelled correct <i class="wrong"></i>labelled incorrect'
    key += ' <i class="other"></i>no label' if any(bar.other for bar in histogram.bars) else ""
    return Chart("Scores", histogram.judge, _drawing(histogram), key if labelled else "")


def _drawing(histogram: Histogram) -> str:
    bars = histogram.bars
    top, step = charts.steps(max(bar.total for bar in bars))
    low, high = bars[0].low, bars[-1].high
    parts = [
        *(charts.across(charts.y(value, top), charts.count(value)) for value in range(0, top + 1, step)),
        *(charts.below(charts.x(part), f"{low + (high - low) * part:.3g}") for part in (0, 0.25, 0.5, 0.75, 1)),
    ]
    width = (charts.x(1) - charts.x(0)) / len(bars)
    for place, bar in enumerate(bars):
        base = 0
        for kind, words in _STACK.items():
            if count := getattr(bar, kind):
                y, bottom = charts.y(base + count, top), charts.y(base, top)
                parts.append(
                    f'<rect class="{kind}" x="{charts.x(0) + place * width + 0.5:.1f}" y="{y:.1f}" '
                    f'width="{width - 1:.1f}" height="{max(bottom - y, 0.7):.1f}">'
                    f"<title>{bar.low:.2f} to {bar.high:.2f}: {count:,}{words}</title></rect>"
                )
                base += count
    return charts.svg(parts, f"Histogram of {sum(bar.total for bar in bars):,} scores of {histogram.judge}")
