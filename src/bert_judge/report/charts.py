"""What charts of a page share: their frame, axes and scales, as SVG. The page sets the colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT = 340, 200
_LEFT, _RIGHT, _TOP, _FOOT = 40, 8, 8, 30


def svg(parts: Sequence[str], label: str) -> str:
    """A chart of these parts; `label` is what a screen reader says of it."""
    box = f"0 0 {_WIDTH} {_HEIGHT}"
    return f'<svg class="chart" viewBox="{box}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def x(part: float) -> float:
    """The place of a part, in [0, 1], of the width."""
    return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)


def y(value: float, top: float) -> float:
    """The place of a value on a scale from 0 to `top`."""
    return _HEIGHT - _FOOT - value / top * (_HEIGHT - _FOOT - _TOP)


def across(y: float, text: str) -> str:
    """A line of the grid with its number."""
    return (
        f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text class="left" x="{_LEFT - 5}" y="{y + 3.5:.1f}">{text}</text>'
    )


def below(x: float, text: str) -> str:
    """A number below the axis."""
    return f'<text class="below" x="{x:.1f}" y="{_HEIGHT - _FOOT + 15}">{text}</text>'


def steps(highest: int) -> tuple[int, int]:
    """The top of a scale of counts, and the step between its about four lines: 1, 2 or 5 times a power of ten."""
    power = 10 ** max(0, math.floor(math.log10(max(highest, 1))) - 1)
    step = next(power * factor for factor in (1, 2, 5, 10, 20, 50) if power * factor * 4 >= highest)
    return max(1, math.ceil(highest / step)) * step, step


def count(value: int) -> str:
    """A count as an axis has it: `12k`."""
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:,}"
