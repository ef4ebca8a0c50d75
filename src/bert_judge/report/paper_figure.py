"""Reliability and risk-coverage of judges as a figure for papers."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import cycle
from typing import TYPE_CHECKING

from bert_judge.errors import MissingExtraError
from bert_judge.studies.evaluate import Evaluation, JudgeEvaluation
from bert_judge.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
)  # for the colour-blind, too
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":")
_UNDATED = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
_LARGEST = 160.0  # points squared, of the mark of a bin with all rows
_Styles = Mapping[str, tuple[str, str, str]]  # colour, mark and line of each judge


def require_matplotlib() -> None:
    """Raise MissingExtraError where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("the figure", "matplotlib", "plot")


def figure_bytes(evaluation: Evaluation, suffix: str) -> bytes:
    """A file (svg, png or pdf) with reliability, where a judge gives probabilities, and risk-coverage; the same bytes
    for the same evaluation. Raises MissingExtraError without matplotlib.
    """
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    probable = [judge for judge in evaluation.judges if judge.bins]
    names = [judge.name for judge in evaluation.judges]
    styles = dict(zip(names, zip(cycle(_COLOURS), cycle(_MARKS), cycle(_LINES), strict=False), strict=False))
    figure = Figure((9.0 if probable else 4.8, 4.2), layout="constrained")  # one that pyplot does not know
    panels = figure.subplots(1, 2 if probable else 1, squeeze=False)[0]
    if probable:
        _draw_reliability(panels[0], probable, styles, evaluation.rows)
    _draw_risk(panels[-1], evaluation.judges, styles)
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "bert-judge"}):
        figure.savefig(content, format=suffix, dpi=160, metadata=_UNDATED[suffix])
    return content.getvalue()


def _draw_reliability(axes: Axes, judges: Sequence[JudgeEvaluation], styles: _Styles, rows: int) -> None:
    """The rate that is labelled correct against the mean score of each bin; larger marks are more rows."""
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=(0, (4, 3)))
    for judge in judges:
        colour, mark, line = styles[judge.name]
        scores, correct = [part.mean_score for part in judge.bins], [part.right.value or 0.0 for part in judge.bins]
        sizes = [max(8.0, _LARGEST * part.rows / rows) for part in judge.bins]
        axes.plot(scores, correct, color=colour, linewidth=1, linestyle=line)
        axes.scatter(scores, correct, sizes, color=colour, marker=mark, alpha=0.75, linewidths=0)
        axes.plot([], [], color=colour, marker=mark, markersize=5, label=_legend(judge))
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="mean score of a bin", ylabel="rate labelled correct", aspect="equal")
    _finish(axes, "Reliability")


def _legend(judge: JudgeEvaluation) -> str:
    ece = judge.agreement.ece
    return _plain(judge.name) + (f" (ECE {number(ece.value)})" if ece else "")


def _draw_risk(axes: Axes, judges: Sequence[JudgeEvaluation], styles: _Styles) -> None:
    """The error rate of the rows that are kept against their rate, the most confident ones first."""
    for judge in judges:
        if judge.curve:
            curve, (colour, _, line) = judge.curve.thinned(), styles[judge.name]
            label = f"{_plain(judge.name)} (area {curve.area:.3f})"
            x, y = [0.0, *curve.coverage], [curve.risk[0], *curve.risk]
            axes.plot(x, y, color=colour, linestyle=line, label=label)
    axes.set(xlim=(0, 1), xlabel="coverage, the most confident rows first", ylabel="error rate")
    axes.set_ylim(bottom=0)
    _finish(axes, "Risk and coverage")


def _plain(name: str) -> str:
    """A name that matplotlib takes as it stands: no formula, and no label that it would hide."""
    return name.replace("$", r"\$").lstrip("_")


def _finish(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=10)
    axes.legend(loc="upper left", fontsize=8, frameon=False)
    axes.tick_params(labelsize=8)
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
