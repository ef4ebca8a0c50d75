"""Charts as SVG: the page sets their colours, and every number is in a title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from bert_judge.measures.calibration import Bin
from bert_judge.report.figures import Bar
from bert_judge.wording import bracketed

_WIDTH, _HEIGHT = 340, 200
_LEFT, _RIGHT, _TOP, _FOOT = 40, 8, 8, 30
_PARTS = {"right": " labelled correct", "wrong": " labelled incorrect", "other": ""}


def histogram(bars: Sequence[Bar], name: str) -> str:
    """The scores of a judge; bars are stacked by human labels."""
    total = sum(each.right + each.wrong + each.other for each in bars)
    top, step = _steps(max(each.right + each.wrong + each.other for each in bars))
    low, high = bars[0].low, bars[-1].high
    parts = [
        *(_across(_y(value, top), _count(value)) for value in range(0, top + 1, step)),
        *(_below(_x(part), f"{low + (high - low) * part:.3g}") for part in (0, 0.25, 0.5, 0.75, 1)),
    ]
    wide = (_WIDTH - _LEFT - _RIGHT) / len(bars)
    for i, each in enumerate(bars):
        base = 0
        for kind, words in _PARTS.items():
            if count := getattr(each, kind):
                y, bottom = _y(base + count, top), _y(base, top)
                parts.append(
                    f'<rect class="{kind}" x="{_LEFT + i * wide + 0.5:.1f}" y="{y:.1f}" width="{wide - 1:.1f}" '
                    f'height="{max(bottom - y, 0.7):.1f}">'
                    f"<title>{each.low:.2f} to {each.high:.2f}: {count:,}{words}</title></rect>"
                )
                base += count
    return _svg(parts, f"Histogram of {total:,} scores of {name}")


def reliability(bins: Sequence[Bin], name: str) -> str:
    """Mean score against the rate labelled correct, with 95 % intervals; a calibrated judge is on the diagonal."""
    parts = [_across(_y(value, 1), f"{value:.0%}") for value in (0, 0.25, 0.5, 0.75, 1)]
    parts += [_below(_x(value), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)]
    parts.append(f'<path class="diagonal" d="M{_x(0)} {_y(0, 1)}L{_x(1)} {_y(1, 1)}"/>')
    line = "L".join(f"{_x(each.mean_score):.1f} {_y(each.right, 1):.1f}" for each in bins)
    parts.append(f'<path class="line" d="M{line}"/>')
    most = max(each.rows for each in bins)
    for each in bins:
        low, high = each.right_interval
        x, radius = _x(each.mean_score), 2.5 + 4 * math.sqrt(each.rows / most)
        parts.append(
            f'<g class="point"><title>{each.rows:,} rows with a mean score of {each.mean_score:.2f}: '
            f"{bracketed(each.right, (low, high))} correct</title>"
            f'<path d="M{x:.1f} {_y(low, 1):.1f}V{_y(high, 1):.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{_y(each.right, 1):.1f}" r="{radius:.1f}"/></g>'
        )
    return _svg(parts, f"Reliability of {name}: {len(bins)} bins of scores")


def _svg(parts: Sequence[str], label: str) -> str:
    box = f"0 0 {_WIDTH} {_HEIGHT}"
    return f'<svg class="chart" viewBox="{box}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _x(part: float) -> float:
    return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _FOOT - value / top * (_HEIGHT - _FOOT - _TOP)


def _across(y: float, text: str) -> str:
    """A line of the grid with its number."""
    return (
        f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text class="left" x="{_LEFT - 5}" y="{y + 3.5:.1f}">{text}</text>'
    )


def _below(x: float, text: str) -> str:
    return f'<text class="below" x="{x:.1f}" y="{_HEIGHT - _FOOT + 15}">{text}</text>'


def _steps(highest: int) -> tuple[int, int]:
    """The top of a scale of counts, and the step between its about four lines: 1, 2 or 5 times a power of ten."""
    power = 10 ** max(0, math.floor(math.log10(max(highest, 1))) - 1)
    step = next(power * factor for factor in (1, 2, 5, 10, 20, 50) if power * factor * 4 >= highest)
    return max(1, math.ceil(highest / step)) * step, step


def _count(value: int) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:,}"
