"""The scores of each judge as a histogram, stacked by human labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bert_judge.measures.arrays import Integers, np
from bert_judge.report.document import Chart
from bert_judge.report.rows import DIGITS
from bert_judge.report.sections import Findings, Section, chart, x, y
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
    scores = judge.scores[scored].round(DIGITS)  # as the page has them, whose filters count the same
    if not len(scores):
        return []
    low, high = float(scores.min()), float(scores.max())
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else _round_ends(low, high)
    width = (high - low) / BARS
    places = np.minimum(BARS - 1, ((scores - low) / width + 1e-9).astype(int))
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
    top, step = _scale(max(bar.total for bar in bars))
    low, high = bars[0].low, bars[-1].high
    lines = {
        count / top: f"{count / 1000:g}k" if count >= 10_000 else f"{count:,}" for count in range(0, top + 1, step)
    }
    ticks = {part: f"{low + (high - low) * part:.3g}" for part in (0, 0.25, 0.5, 0.75, 1)}
    width = (x(1) - x(0)) / len(bars)
    marks = []
    for place, bar in enumerate(bars):
        below = 0
        high_end = bar.high if place == len(bars) - 1 else bar.high - 10**-DIGITS
        marks.append(
            f'<g class="scores" data-judge="{escape(histogram.judge)}" data-low="{bar.low:.{DIGITS}f}" '
            f'data-high="{high_end:.{DIGITS}f}" data-count="{bar.total}">'
            f'<rect class="all" x="{x(0) + place * width:.1f}" y="{y(1):.1f}" width="{width:.1f}" '
            f'height="{y(0) - y(1):.1f}"/>'
        )
        for kind, words in _STACK.items():
            if count := getattr(bar, kind):
                upper, lower = y((below + count) / top), y(below / top)
                marks.append(
                    f'<rect class="{kind}" x="{x(0) + place * width + 0.5:.1f}" y="{upper:.1f}" '
                    f'width="{width - 1:.1f}" height="{max(lower - upper, 0.7):.1f}">'
                    f"<title>{bar.low:.2f} to {bar.high:.2f}: {count:,}{words}</title></rect>"
                )
                below += count
        marks.append("</g>")
    return chart(f"Histogram of {sum(bar.total for bar in bars):,} scores of {histogram.judge}", lines, ticks, marks)


def _scale(highest: int) -> tuple[int, int]:
    """The top of a scale of counts, and the step between its about four lines: 1, 2 or 5 times a power of ten."""
    power = 10 ** max(0, math.floor(math.log10(max(highest, 1))) - 1)
    step = next(power * factor for factor in (1, 2, 5, 10, 20, 50) if power * factor * 4 >= highest)
    return max(1, math.ceil(highest / step)) * step, step
