"""An alignment as a file: a figure for papers (matplotlib), or data (JSON)."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bert_judge.bertscore.alignment import AlignedText, Alignment
from bert_judge.errors import InputError, OutputError, require_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CANDIDATE, _REFERENCE, _GREY = "#d55e00", "#333333", "#8a8a8a"  # safe for colour-blind people
_READABLE = 0.36  # inches: smaller cells have no value written in them
_BAR, _GAP, _MARGIN, _HEAD, _FOOT = 0.45, 0.1, 0.15, 0.7, 0.5  # inches
_MOST_PIXELS = 8000  # of a PNG, in each direction
_LONGEST = 24  # characters written of a token
# The metadata field for scores and signature, and the one that would make each file differ from the last.
_FIGURES = {".png": ("Description", "Software"), ".svg": ("Description", "Date"), ".pdf": ("Subject", "CreationDate")}
_SUFFIXES = (*_FIGURES, ".json")


def check_target(path: Path) -> None:
    """Raise InputError, OutputError or MissingExtraError if an alignment could not be saved at `path`."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"the file to write is {str(path)!r}; a name that ends with {', '.join(_SUFFIXES)} was expected."
        )
    if path.is_dir():
        raise OutputError(f"{path} is a folder; the name of a file was expected.")
    if not path.absolute().parent.is_dir():
        raise OutputError(f"the folder {path.parent} does not exist; make it first, or choose another for {path.name}.")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise OutputError(f"{path} can't be written; choose another file, or change its permissions.")
    if path.suffix.lower() in _FIGURES:
        require_extra("matplotlib", "the plot", "matplotlib", "plot")


def save(alignment: Alignment, path: Path) -> None:
    """Write a figure (.png, .svg, .pdf) or the data (.json); the same bytes for the same alignment."""
    check_target(path)
    suffix = path.suffix.lower()
    if suffix in _FIGURES:
        from matplotlib import rc_context

        description, changing = _FIGURES[suffix]
        metadata = {description: f"{alignment.title} {alignment.signature}", changing: None}
        file = io.BytesIO()
        with rc_context({"svg.hashsalt": "bert-judge"}):
            draw(alignment).savefig(file, format=suffix[1:], metadata=metadata)
        content = file.getvalue()
    else:
        content = f"{alignment.to_json()}\n".encode()
    try:
        path.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{path} can't be written ({error.strerror}).") from error


def draw(alignment: Alignment) -> Figure:
    """The alignment as a heat map: rows are the candidate's tokens, columns the reference's.

    A triangle that points right marks the best match of a row, one that points down that of a column; bars show the
    weights. The figure is not registered with pyplot. Raises MissingExtraError without matplotlib.
    """
    require_extra("matplotlib", "the plot", "matplotlib", "plot")
    from matplotlib.figure import Figure

    texts = alignment.candidate, alignment.reference
    families, missing = _fonts(set("".join(texts[0].tokens + texts[1].tokens)))
    names = [[_clipped(token, missing) for token in text.tokens] for text in texts]
    plan = _Plan.of(names, families)
    figure = Figure((plan.width, plan.height), dpi=min(200, _MOST_PIXELS / max(plan.width, plan.height)))
    body = plan.axes(figure, 0, 0, plan.wide, plan.high)
    _draw_cells(body, alignment, plan.cell)
    _draw_matches(body, alignment, plan.cell)
    _name_tokens(body, texts, names, plan)
    _draw_weights(plan.axes(figure, plan.wide + _GAP, 0, _BAR, plan.high), texts[0], across=True)
    _draw_weights(plan.axes(figure, 0, -_GAP - _BAR, plan.wide, _BAR), texts[1], across=False)
    scale = plan.axes(figure, plan.wide + 3 * _GAP + _BAR, max(0.0, plan.high - 2), 0.14, min(plan.high, 2.0))
    figure.colorbar(body.images[0], cax=scale, extend="min").set_label(alignment.measure, fontsize=8)
    scale.tick_params(labelsize=7)
    left, top = _MARGIN / plan.width, 1 / plan.height
    figure.text(left, 1 - 0.3 * top, alignment.title, fontsize=12, weight="bold")
    figure.text(left, 1 - 0.5 * top, alignment.remarks, fontsize=7.5, color="#555555")
    legend = ("candidate token's best match (precision)", "reference token's best match (recall)")
    style: dict[str, Any] = {"frameon": False, "fontsize": 7.5, "handletextpad": 0.2, "borderaxespad": 0.4}
    figure.legend(body.collections, legend, loc="lower left", bbox_to_anchor=(0, 0), **style)
    return figure


def _clipped(token: str, missing: set[str]) -> str:
    """A token as it is written, with a box for characters that no font has."""
    clipped = token if len(token) <= _LONGEST else token[: _LONGEST - 1] + "…"
    return clipped.translate(dict.fromkeys(map(ord, missing), "□"))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The layout, in inches: the heat map is `wide` by `high`, its lower left corner at `left`, `below`."""

    cell: float
    left: float
    below: float
    wide: float
    high: float
    width: float
    height: float
    turn: int
    font: Mapping[str, Any]

    @classmethod
    def of(cls, names: Sequence[Sequence[str]], families: Sequence[str]) -> _Plan:
        """A layout for rows and columns with these names: the more there are, the smaller the cells."""
        cell = min(0.5, max(0.17, 11 / max(map(len, names))))
        font = {"fontsize": min(10.0, max(6.5, 38 * cell)), "family": list(families), "parse_math": False}
        turn = 45 if cell >= _READABLE else 90
        longest = [_longest(side, font) for side in names]
        left, below = _MARGIN + 0.3 + longest[0], _FOOT + 0.2 + 2 * _GAP + _BAR
        wide, high = len(names[1]) * cell, len(names[0]) * cell
        tilted = longest[1] * math.sin(math.radians(turn)) + 0.15
        width = max(left + wide + _BAR + 3 * _GAP + 0.95, 4.4)
        return cls(cell, left, below, wide, high, width, below + high + tilted + 0.2 + _HEAD, turn, font)

    def axes(self, figure: Figure, x: float, y: float, wide: float, high: float) -> Axes:
        """Axes placed relative to the corner of the heat map."""
        place = (self.left + x) / self.width, (self.below + y) / self.height, wide / self.width, high / self.height
        return figure.add_axes(place)


def _draw_cells(axes: Axes, alignment: Alignment, cell: float) -> None:
    """The heat map with white lines between cells, and values if they are readable.

    Colours begin at the median of the similarities, as most pairs of tokens are unrelated.
    """
    middle = median(value for row in alignment.similarity for value in row)
    low = min(0.9, math.floor(middle * 10) / 10)
    axes.imshow(alignment.similarity, cmap="Blues", vmin=low, vmax=1, aspect="auto", interpolation="nearest")
    for line, count in ((axes.axhline, len(alignment.similarity)), (axes.axvline, len(alignment.similarity[0]))):
        for place in range(1, count):
            line(place - 0.5, color="white", linewidth=0.5)
    if cell < _READABLE:
        return
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 16 * cell}
    for row, values in enumerate(alignment.similarity):
        for column, value in enumerate(values):
            colour = "white" if (value - low) / (1 - low) > 0.6 else "#333333"
            axes.text(column + 0.03, row + 0.06, f"{value:.2f}", color=colour, **style)


def _draw_matches(axes: Axes, alignment: Alignment, cell: float) -> None:
    """Triangles at the edges of cells, two in a cell whose tokens match each other."""
    rows = [(row, column) for row, column in enumerate(alignment.candidate.matches) if column is not None]
    columns = [(row, column) for column, row in enumerate(alignment.reference.matches) if row is not None]
    part, shift = (0.17, 0.39) if cell >= _READABLE else (0.36, 0.3)
    size = (72 * cell * part) ** 2
    style: dict[str, Any] = {"s": size, "edgecolors": "white", "linewidths": 0.4, "clip_on": False, "zorder": 3}
    axes.scatter([c - shift for _, c in rows], [r for r, _ in rows], marker=">", color=_CANDIDATE, **style)
    axes.scatter([c for _, c in columns], [r - shift for r, _ in columns], marker="v", color=_REFERENCE, **style)


def _name_tokens(axes: Axes, texts: Iterable[AlignedText], names: Sequence[Sequence[str]], plan: _Plan) -> None:
    """Tokens on the left and on top, special ones in grey."""
    for axis, text, side in zip((axes.yaxis, axes.xaxis), texts, names, strict=True):
        axis.set_ticks(range(len(side)), side, **plan.font)
        for label, special in zip(axis.get_ticklabels(), text.special, strict=True):
            label.set(color=_GREY if special else "black", fontstyle="italic" if special else "normal")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0, pad=3)
    upright = plan.turn == 90
    for label in axes.get_xticklabels():
        label.set(ha="left", va="center" if upright else "baseline", rotation=plan.turn, rotation_mode="anchor")
    axes.set_xlabel("reference", fontsize=9, color=_REFERENCE, weight="bold")
    axes.set_ylabel("candidate", fontsize=9, color=_CANDIDATE, weight="bold")
    axes.spines[:].set_visible(False)


def _draw_weights(axes: Axes, text: AlignedText, across: bool) -> None:
    """A bar for each token, in line with the heat map: `across` beside the rows, otherwise below the columns."""
    places, ends = range(len(text.weights)), (-0.5, len(text.weights) - 0.5)
    if across:
        axes.barh(places, text.weights, 0.7, color=_CANDIDATE)
        axes.set(ylim=ends[::-1], yticks=[], xlabel="weight")
    else:
        axes.bar(places, text.weights, 0.7, color=_REFERENCE)
        axes.set(xlim=ends, xticks=[], ylabel="weight")
        axes.invert_yaxis()
    values = axes.xaxis if across else axes.yaxis
    values.set_ticks([max(text.weights)], [f"{max(text.weights):.2g}"], fontsize=7)
    values.label.set(size=7, color="#555555")
    axes.spines[:].set_visible(False)
    axes.spines["left" if across else "top"].set_visible(True)


def _fonts(characters: set[str]) -> tuple[list[str], set[str]]:
    """Fonts for the characters, and the characters that no font of this machine has."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

    def lacking(file: str, characters: set[str]) -> set[str]:
        font = get_font(file)
        return {character for character in characters if not font.get_char_index(ord(character))}

    families = list(rcParams["font.family"])
    missing = lacking(findfont(FontProperties(family=families)), characters)
    for font in fontManager.ttflist:
        plain = font.style == "normal" and font.weight == 400 and not font.name.startswith("Last Resort")
        if missing and plain and len(still_missing := lacking(font.fname, missing)) < len(missing):
            families.append(font.name)
            missing = still_missing
    return families, missing


def _longest(names: Iterable[str], font: Mapping[str, Any]) -> float:
    """The width of the widest name, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(dpi=72)
    FigureCanvasAgg(figure)  # caches the renderer, which the figure alone would make again for each name
    return max(figure.text(0, 0, name, **font).get_window_extent().width for name in names) / 72
