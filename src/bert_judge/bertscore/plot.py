"""The tokens that BERTScore matches with each other: as data (JSON), or as a figure for papers (matplotlib)."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bert_judge.bertscore.pairs import PairScorer, Text, TextReader, harmonic_mean
from bert_judge.errors import InputError, OutputError, require_extra
from bert_judge.records import Signature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CANDIDATE, _REFERENCE, _GREY = "#d55e00", "#333333", "#8a8a8a"  # safe for colour-blind people
_READABLE = 0.36  # inches: smaller cells have no value written in them
_MOST_PIXELS = 8000  # of a PNG, in each direction
_LONGEST = 24  # characters written of a token
# The metadata field for scores and signature, and the one that would make each file differ from the last.
_FIGURES = {".png": ("Description", "Software"), ".svg": ("Description", "Date"), ".pdf": ("Subject", "CreationDate")}
_SUFFIXES = (*_FIGURES, ".json")


@dataclass(frozen=True, slots=True)
class AlignedText:
    """The tokens of a text, with the special ones ([CLS] …) that the tokenizer added.

    `weights` add up to 1. `matches` has the index of the most similar token in the other text; None for special
    tokens, which have no weight.
    """

    tokens: tuple[str, ...]
    weights: tuple[float, ...]
    special: tuple[bool, ...]
    matches: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """How BERTScore aligns a candidate with a reference (arXiv 1904.09675, figure 1).

    `similarity` holds cosines, candidate tokens by reference tokens. Precision is the sum over the candidate's tokens
    of weight times best similarity; recall is the same over the reference's. If the scorer rescales, `baseline` holds
    the b of precision, recall and F1: each of these is (x - b) / (1 - b), and so are the similarities with the b of F1,
    as in bert-score. `truncated` maps "candidate" and "reference", if they did not fit, to the number of characters
    cut. `signature` is the scorer's.
    """

    candidate: AlignedText
    reference: AlignedText
    similarity: tuple[tuple[float, ...], ...]
    precision: float
    recall: float
    f1: float
    baseline: tuple[float, float, float] | None
    truncated: Mapping[str, int]
    signature: Signature

    @property
    def title(self) -> str:
        """The three scores on one line."""
        return f"P {self.precision:.3f}   R {self.recall:.3f}   F1 {self.f1:.3f}"


def align_texts(scorer: PairScorer, candidate: str, reference: str, signature: Signature) -> Alignment:
    """Align two texts with a scorer of one layer; `signature` is that of the scorer.

    Raises InputError for a text without tokens or without weight (possible with the defects of bert-score), and for a
    scorer of all layers.
    """
    if scorer.layers != 1:
        raise InputError("the scorer reads all layers, but an alignment shows one; make it without all_layers.")
    texts = [_read(scorer.reader, "candidate", candidate), _read(scorer.reader, "reference", reference)]
    vectors, weights, (_, second), _ = scorer.embed(texts)
    if not np.isfinite(weights).all():
        raise InputError("the tokens of a text all have the weight 0; give other idf weights, or leave out compat.")
    similarity = vectors[:second, 0] @ vectors[second:, 0].T
    precision = np.array((weights[:second] * similarity.max(axis=1)).sum())
    recall = np.array((weights[second:] * similarity.max(axis=0)).sum())
    scores = np.stack([precision, recall, harmonic_mean(precision, recall)])
    aligned = [
        _aligned(scorer.reader, texts[0], weights[:second], similarity),
        _aligned(scorer.reader, texts[1], weights[second:], similarity.T),
    ]
    baseline = None
    if scorer.baseline is not None:
        base = scorer.baseline[0]
        scores, similarity = (scores - base) / (1 - base), (similarity - base[2]) / (1 - base[2])
        baseline = (float(base[0]), float(base[1]), float(base[2]))
    return Alignment(
        candidate=aligned[0],
        reference=aligned[1],
        similarity=tuple(map(tuple, np.round(similarity.astype(float), 6).tolist())),
        precision=float(scores[0]),
        recall=float(scores[1]),
        f1=float(scores[2]),
        baseline=baseline,
        truncated={name: text.cut for name, text in zip(("candidate", "reference"), texts, strict=True) if text.cut},
        signature=signature,
    )


def _read(reader: TextReader, name: str, text: str) -> Text:
    if not isinstance(text, str):
        raise InputError(f"the {name} is {text!r} ({type(text).__name__}); one text was expected.")
    [tokenised] = reader.read([text])
    if not tokenised.counted.any():
        raise InputError(f"the {name} is {text!r}, which has no tokens; a text with a word in it was expected.")
    return tokenised


def _aligned(
    reader: TextReader, text: Text, weights: NDArray[np.float32], similarity: NDArray[np.float32]
) -> AlignedText:
    """A text with the matches of its tokens, from their similarities (tokens by tokens of the other text)."""
    matched = np.logical_or(text.counted, weights)
    return AlignedText(
        tokens=tuple(_printable(reader.decode([token])) for token in text.tokens.ids),
        weights=tuple(weights.tolist()),
        special=tuple((~text.counted).tolist()),
        matches=tuple(
            int(best) if has_match else None for best, has_match in zip(similarity.argmax(axis=1), matched, strict=True)
        ),
    )


def _printable(text: str) -> str:
    """The text without spaces around it, control characters (also of writing direction) as escapes."""
    stripped = text.replace("\u2581", " ").strip(" ")  # SentencePiece's space remains if a tokenizer has no decoder
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in stripped) or "␣"


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
        content = f"{json.dumps(asdict(alignment), ensure_ascii=False, allow_nan=False)}\n".encode()
    try:
        path.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{path} can't be written ({error.strerror}).") from error


def draw(alignment: Alignment) -> Figure:
    """The alignment as a heat map: rows are the candidate's tokens, columns the reference's.

    A triangle that points right marks the best match of a row, one that points down that of a column. The figure is not
    registered with pyplot. Raises MissingExtraError without matplotlib.
    """
    require_extra("matplotlib", "the plot", "matplotlib", "plot")
    from matplotlib.figure import Figure

    rows, columns = len(alignment.candidate.tokens), len(alignment.reference.tokens)
    cell = min(0.5, max(0.17, 11 / max(rows, columns)))  # inches: the more tokens, the smaller
    size = max(3.5 + columns * cell, 4.4), 2.5 + rows * cell
    figure = Figure(size, dpi=min(200, _MOST_PIXELS / max(size)), layout="constrained")
    axes = figure.add_subplot()
    _draw_cells(axes, alignment, cell)
    _draw_matches(axes, alignment, cell)
    _name_tokens(axes, alignment, cell)
    measure = "rescaled similarity" if alignment.baseline else "cosine similarity"
    figure.colorbar(axes.images[0], extend="min").set_label(measure, fontsize=8)
    figure.suptitle(alignment.title, fontsize=12, weight="bold")
    cut = [f"{name} cut by {count} characters" for name, count in alignment.truncated.items()]
    model = alignment.signature.settings.get("model", "").partition("@")[0]
    figure.supxlabel(" · ".join(["BERTScore", model, *cut]), fontsize=7.5, color="#555555")
    legend = ("candidate token's best match (precision)", "reference token's best match (recall)")
    figure.legend(axes.collections, legend, loc="outside lower left", frameon=False, fontsize=7.5)
    return figure


def _draw_cells(axes: Axes, alignment: Alignment, cell: float) -> None:
    """The heat map, with values if they are readable.

    Colours begin at the median of the similarities, as most pairs of tokens are unrelated.
    """
    middle = median(value for row in alignment.similarity for value in row)
    low = min(0.9, math.floor(middle * 10) / 10)
    axes.imshow(alignment.similarity, cmap="Blues", vmin=low, vmax=1, interpolation="nearest")
    if cell < _READABLE:
        return
    for row, values in enumerate(alignment.similarity):
        for column, value in enumerate(values):
            colour = "white" if (value - low) / (1 - low) > 0.6 else "#333333"
            axes.text(column, row, f"{value:.2f}", color=colour, ha="center", va="center", fontsize=16 * cell)


def _draw_matches(axes: Axes, alignment: Alignment, cell: float) -> None:
    """Triangles at the edges of cells, two in a cell whose tokens match each other."""
    rows = [(row, column) for row, column in enumerate(alignment.candidate.matches) if column is not None]
    columns = [(row, column) for column, row in enumerate(alignment.reference.matches) if row is not None]
    style: dict[str, Any] = {"s": (14 * cell) ** 2, "edgecolors": "white", "linewidths": 0.4, "zorder": 3}
    axes.scatter([c - 0.38 for _, c in rows], [r for r, _ in rows], marker=">", color=_CANDIDATE, **style)
    axes.scatter([c for _, c in columns], [r - 0.38 for r, _ in columns], marker="v", color=_REFERENCE, **style)


def _name_tokens(axes: Axes, alignment: Alignment, cell: float) -> None:
    """Tokens on the left and on top, special ones in grey."""
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    font: dict[str, Any] = {"fontsize": min(10.0, max(6.5, 38 * cell)), "parse_math": False}
    for axis, text in ((axes.yaxis, alignment.candidate), (axes.xaxis, alignment.reference)):
        axis.set_ticks(range(len(text.tokens)), [token[:_LONGEST] for token in text.tokens], **font)
        for label, special in zip(axis.get_ticklabels(), text.special, strict=True):
            label.set_color(_GREY if special else "black")
    axes.tick_params("x", rotation=90)
    axes.set_xlabel("reference", fontsize=9, color=_REFERENCE, weight="bold")
    axes.set_ylabel("candidate", fontsize=9, color=_CANDIDATE, weight="bold")
    axes.spines[:].set_visible(False)
