"""What the figure and the page of an alignment have in common: what they mark, and what they say."""

from __future__ import annotations

import math
from statistics import median

from bert_judge.bertscore.alignment import Alignment

LEGEND = ("candidate token's best match (precision)", "reference token's best match (recall)")
_LONGEST = 24  # characters of a token that are written


def matches(alignment: Alignment) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The cells (row, column) that candidate tokens chose, and those that reference tokens chose."""
    rows = [(row, column) for row, column in enumerate(alignment.candidate.matches) if column is not None]
    columns = [(row, column) for column, row in enumerate(alignment.reference.matches) if row is not None]
    return rows, columns


def scores(alignment: Alignment) -> str:
    """The three scores in a line."""
    return f"P {alignment.precision:.3f}   R {alignment.recall:.3f}   F1 {alignment.f1:.3f}"


def measure(alignment: Alignment) -> str:
    """What the colours measure."""
    return "cosine similarity" if alignment.baseline is None else "rescaled similarity"


def lowest(alignment: Alignment) -> float:
    """Where the colours begin: the middle of the similarities, as most tokens have nothing to do with each other."""
    middle = median(value for row in alignment.similarity for value in row)
    return min(0.9, math.floor(middle * 10) / 10)


def remarks(alignment: Alignment) -> list[str]:
    """What a reader has to know about the numbers."""
    model = alignment.signature.settings.get("model", "")
    rescaled = ["rescaled with baseline"] if alignment.baseline else []
    cut = [f"{name} cut by {count} characters" for name, count in alignment.truncated.items()]
    return ["BERTScore", model.partition("@")[0], *rescaled, *cut]


def clip(token: str) -> str:
    """A token, shortened where it is very long."""
    return token if len(token) <= _LONGEST else token[: _LONGEST - 1] + "…"
