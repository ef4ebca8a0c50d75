"""Reliability and risk-coverage of judges as a figure for papers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bert_judge.analysis.evaluate import Evaluation, JudgeEvaluation
from bert_judge.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = ("svg", "png", "pdf")
"""The formats that a figure can have."""

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # colour-blind people see them
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":")
_UNDATED = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
_LARGEST = 160.0  # points squared, of the mark of a bin with all rows


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise MissingExtraError where matplotlib is not installed."""
    if not can_draw():
        raise MissingExtraError("the figure", "matplotlib", "plot")


def draw(found: Evaluation) -> Figure:
    """A new figure that pyplot does not know: reliability where a judge gives probabilities, and risk-coverage.

    Raises MissingExtraError without matplotlib.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    probable = [judge for judge in found.judges if judge.bins]
    figure = Figure((9.0 if probable else 4.8, 4.2), layout="constrained")
    panels = figure.subplots(1, 2 if probable else 1, squeeze=False)[0]
    styles = {judge.name: place for place, judge in enumerate(found.judges)}
    if probable:
        _draw_reliability(panels[0], probable, styles, found.rows)
    _draw_risk(panels[-1], found.judges, styles)
    return figure


def figure_bytes(found: Evaluation, suffix: str) -> bytes:
    """The figure as a file, one of `FIGURES`: the same bytes for the same evaluation."""
    require_matplotlib()
    from matplotlib import rc_context

    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "bert-judge"}):
        draw(found).savefig(content, format=suffix, dpi=160, metadata=_UNDATED[suffix])
    return content.getvalue()


def _draw_reliability(axes: Axes, judges: Sequence[JudgeEvaluation], styles: dict[str, int], rows: int) -> None:
    """The rate that is labelled correct against the mean score of each bin; larger marks are more rows."""
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=(0, (4, 3)))
    for judge in judges:
        place = styles[judge.name]
        colour = _COLOURS[place % len(_COLOURS)]
        scores, right = [each.mean_score for each in judge.bins], [each.right for each in judge.bins]
        sizes = [max(8.0, _LARGEST * each.rows / rows) for each in judge.bins]
        axes.plot(scores, right, color=colour, linewidth=1, linestyle=_LINES[place % len(_LINES)])
        axes.scatter(scores, right, sizes, color=colour, marker=_MARKS[place % len(_MARKS)], alpha=0.75, linewidths=0)
        axes.plot([], [], color=colour, marker=_MARKS[place % len(_MARKS)], markersize=5, label=_legend(judge))
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="mean score of a bin", ylabel="rate labelled correct", aspect="equal")
    axes.set_title("Reliability", fontsize=10)
    _finish(axes, "upper left")


def _legend(judge: JudgeEvaluation) -> str:
    ece = judge.estimates.get("ece")
    return _plain(judge.name) + (f" (ECE {ece.value:.3f})" if ece else "")


def _draw_risk(axes: Axes, judges: Sequence[JudgeEvaluation], styles: dict[str, int]) -> None:
    """The error rate of the rows that are kept against their rate, the most confident ones first."""
    for judge in judges:
        if judge.curve:
            curve = judge.curve.thinned()
            place = styles[judge.name]
            axes.plot(
                [0.0, *curve.coverage],
                [curve.risk[0], *curve.risk],
                color=_COLOURS[place % len(_COLOURS)],
                linestyle=_LINES[place % len(_LINES)],
                label=f"{_plain(judge.name)} (area {curve.area:.3f})",
            )
    axes.set(xlim=(0, 1), xlabel="coverage, the most confident rows first", ylabel="error rate")
    axes.set_ylim(bottom=0)
    axes.set_title("Risk and coverage", fontsize=10)
    _finish(axes, "upper left")


def _plain(name: str) -> str:
    """A name that matplotlib takes as it stands: no formula, and no label that it would hide."""
    return name.replace("$", r"\$").lstrip("_")


def _finish(axes: Axes, place: str) -> None:
    axes.legend(loc=place, fontsize=8, frameon=False)
    axes.tick_params(labelsize=8)
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
