"""Kinds of rows, such as source, length or model: which rows are of each, so that judges can be looked at by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.reading import script_of
from bert_judge.records import Row

SMALL_ROWS, SMALL_CLASS = 50, 10
"""A slice with fewer rows than this, or with fewer correct or incorrect ones, is small: its figures say little."""

MOST_LEVELS = 20
"""The most slices of one kind; rows of the others, which are the smallest, are taken together."""

MOST_VALUES = 200
"""A column of the input with more different values than this is not taken as a kind of rows."""

OTHERS = "(others)"
NOTHING = "(none)"

_LENGTHS = ((0, "empty"), (20, "1–20 characters"), (80, "21–80"), (300, "81–300"), (1000, "301–1,000"))
_LONGEST = "over 1,000"
_FIRST = (
    *("task", "model", "candidate_model", "source", "dataset", "subset", "category", "language", "split"),
    *("input", "file"),
)
_SCANNED = 400  # characters of a text by which its script is known


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of one kind: `kind` is a property (length, source …), `level` its value, `rows` their places."""

    kind: str
    level: str
    rows: Sequence[int]


@dataclass(frozen=True, slots=True)
class Facet:
    """A column of the input (task, model …): its values, and the place of each row's among them (-1: it has none)."""

    name: str
    levels: Sequence[str]
    codes: Sequence[int]


def slices(rows: Sequence[Row], by: Sequence[str] = ()) -> Iterator[Slice]:
    """The slices of rows, kind by kind; a kind of which all rows are the same is left out.

    `by` names further columns of the input. Raises InputError as `check_columns` does.
    """
    check_columns(rows, by)
    kinds: dict[str, Callable[[Row], str]] = {**KINDS, **{name: _column(name) for name in by}}
    for kind, level_of in kinds.items():
        levels: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            levels.setdefault(level_of(row), []).append(place)
        if len(levels) > 1:
            yield from (Slice(kind, level, places) for level, places in _largest(levels, ORDERS.get(kind, ())))


def facets(rows: Sequence[Row]) -> list[Facet]:
    """The columns of the input that are kinds of rows: with more than one value, but not one a row."""
    names = sorted({name for row in rows for name in row.meta})
    columns = [*(name for name in _FIRST if name in names), *(name for name in names if name not in _FIRST)]
    kinds = []
    for name in columns:
        values = [row.meta.get(name) for row in rows]
        if all(value is None or isinstance(value, str | int | float) for value in values):
            levels = sorted({str(value) for value in values if value is not None})
            several = len(levels) > 1 or (levels and None in values)
            if several and len(levels) <= MOST_VALUES and (name in _FIRST or 2 * len(levels) <= len(rows)):
                codes = {level: code for code, level in enumerate(levels)}
                of_rows = [-1 if value is None else codes[str(value)] for value in values]
                kinds.append(Facet(name, levels, of_rows))
    return kinds


def check_columns(rows: Sequence[Row], by: Sequence[str]) -> None:
    """Raise InputError for a column that no row has."""
    for column in by:
        if not any(column in row.meta for row in rows):
            names = sorted({name for row in rows for name in row.meta})
            raise InputError(f"no row has a column {column!r}; there is {', '.join(names) or 'no column'}.")


def is_small(golds: Sequence[int]) -> bool:
    """Whether rows with these gold labels are too few to say much."""
    right = sum(golds)
    return len(golds) < SMALL_ROWS or min(right, len(golds) - right) < SMALL_CLASS


def length(row: Row) -> str:
    """How long the candidate is, in characters."""
    if row.candidate is None:
        return NOTHING
    size = len(row.candidate.strip())
    return next((name for most, name in _LENGTHS if size <= most), _LONGEST)


def language(row: Row) -> str:
    """The column `language`, or else the script in which most letters of question, references and candidate are."""
    if "language" in row.meta:
        return str(row.meta["language"])
    texts = [row.question or "", *row.references[:1], row.candidate or ""]
    counts: Counter[str] = Counter()
    for text in texts:
        if text.isascii():
            counts["Latin"] += sum(map(str.isalpha, text[:_SCANNED]))
        else:
            counts.update(script_of(letter) for letter in text[:_SCANNED] if letter.isalpha())
    script, letters = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return f"{script} script" if letters else "no letters"


def _column(*names: str) -> Callable[[Row], str]:
    """The first of some columns that a row has."""
    return lambda row: next((str(row.meta[name]) for name in names if row.meta.get(name) is not None), NOTHING)


KINDS: Mapping[str, Callable[[Row], str]] = {
    "source": _column("source", "dataset", "input"),
    "task": _column("task"),
    "length": length,
    "language": language,
    "label by": _column("label_by", "label_source", "annotator"),
    "candidate model": _column("candidate_model", "model"),
}
"""The kinds of slices that are always looked at, and which level of each a row has."""

ORDERS: Mapping[str, Sequence[str]] = {"length": [*(name for _, name in _LENGTHS), _LONGEST]}
"""The order of levels that have one; others come with the largest first."""


def _largest(levels: Mapping[str, list[int]], order: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The levels in their order; the smallest of too many become one."""
    ranked = sorted(levels.items(), key=lambda item: (-len(item[1]), item[0]))
    kept, rest = ranked[:MOST_LEVELS], ranked[MOST_LEVELS:]
    if order:
        kept.sort(key=lambda item: order.index(item[0]) if item[0] in order else len(order))
    others = sorted(place for _, places in rest for place in places)
    return [*kept, (f"{OTHERS[:-1]}, {len(rest)})", others)] if rest else kept
