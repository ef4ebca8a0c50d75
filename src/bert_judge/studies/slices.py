"""Rows by kind: their source, task, length, language, who labelled them, and columns that a user names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bert_judge.records import Row
from bert_judge.studies.table import check_columns

SMALL_ROWS, SMALL_CLASS = 50, 10
"""A slice with fewer rows than this, or with fewer correct or incorrect ones, is small: its figures say little."""

MOST_LEVELS = 20
"""The most slices of one kind; rows of the others, which are the smallest, are taken together."""

_NOTHING = "(none)"
_MOST = (0, 20, 80, 300, 1000)
_LENGTHS = ("empty", "1–20 characters", "21–80", "81–300", "301–1,000", "over 1,000", _NOTHING)


class Slice(NamedTuple):
    """Rows of one kind: `kind` is a property (length, source …), `level` its value, `rows` their places."""

    kind: str
    level: str
    rows: Sequence[int]


def slices(rows: Sequence[Row], by: Sequence[str] = ()) -> Iterator[Slice]:
    """The slices of rows, kind by kind; a kind of which all rows are the same is left out.

    `by` names further columns of the input. Raises InputError as `check_columns` does.
    """
    check_columns(rows, by)
    for kind, level_of in {**_KINDS, **{name: _column(name) for name in by}}.items():
        levels: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            levels.setdefault(level_of(row), []).append(place)
        ranked = sorted(levels.items(), key=lambda item: (-len(item[1]), item[0]))
        if kind == "length":
            ranked.sort(key=lambda item: _LENGTHS.index(item[0]))
        if len(levels) > 1:
            yield from (Slice(kind, level, places) for level, places in ranked[:MOST_LEVELS])
        if rest := ranked[MOST_LEVELS:]:
            yield Slice(kind, f"(others, {len(rest)})", sorted(place for _, places in rest for place in places))


def is_small(golds: Sequence[int]) -> bool:
    """Whether rows with these gold labels are too few to say much."""
    right = sum(golds)
    return len(golds) < SMALL_ROWS or min(right, len(golds) - right) < SMALL_CLASS


def _length(row: Row) -> str:
    """How long the candidate is, in characters."""
    return _NOTHING if row.candidate is None else _LENGTHS[bisect_left(_MOST, len(row.candidate.strip()))]


def _column(*names: str) -> Callable[[Row], str]:
    """The first of some columns that a row has."""
    return lambda row: next((str(row.meta[name]) for name in names if row.meta.get(name) is not None), _NOTHING)


_KINDS: Mapping[str, Callable[[Row], str]] = {
    "source": _column("source", "dataset", "input"),
    "task": _column("task"),
    "length": _length,
    "language": _column("language"),
    "label by": _column("label_by", "label_source", "annotator"),
    "candidate model": _column("candidate_model", "model"),
}
"""The kinds of slices that are always looked at, and which level of each a row has."""
