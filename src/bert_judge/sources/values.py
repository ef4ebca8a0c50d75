"""From one row of a file, whatever its format, to one `Sample`, or to the reason why the row is no sample."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from bert_judge.sources.columns import MISSING, lookup
from bert_judge.types import Sample, whole_text

META_COLUMNS: Final = (
    *("task", "source", "dataset", "subset", "category", "model", "candidate_model", "language", "split"),
    *("label_by", "label_source"),
)
"""The further columns that a `Sample` keeps as `meta`, where they hold a single value; all others are dropped."""

_LABELS: Final[Mapping[str, int | None]] = {
    **dict.fromkeys(("1", "1.0", "true", "correct", "yes"), 1),
    **dict.fromkeys(("0", "0.0", "false", "incorrect", "no"), 0),
    "": None,
}
_SHOWN_TEXT = 60


class NumberText(str):
    """A JSON number, spelled as in the file, which a `float` would not keep (0.10)."""

    __slots__ = ()


class RawRow(NamedTuple):
    """One row as it was read: its line (or row) number, and its values or the reason why there are none.

    `text` is the row as it stands in the file, and empty where it has no text of its own there.
    """

    line: int
    values: Mapping[str, object] | None
    reason: str = ""
    text: str = ""


class BadRow(NamedTuple):
    """A row that was set aside.

    `line` is the line of the file where the row starts (JSON lines, CSV, TSV) or else the number of the row, from 1.
    `reason` says what is wrong with it, and `text` is the row itself: as it stands in the file, or as JSON.
    """

    line: int
    reason: str
    text: str


class RowError(Exception):
    """Why a row is no sample; never leaves this package."""


def _is_nan(value: object) -> bool:
    """Whether a number is none that JSON can write."""
    return isinstance(value, float) and not math.isfinite(value)


class RowReader:
    """Makes samples from rows, by the columns chosen for each role."""

    def __init__(self, columns: Mapping[str, str], *, numbers_as_text: bool, cells: bool) -> None:
        # `columns` may still gain roles while the first pass learns them, so it is looked at anew for every row.
        self._columns = columns
        self._numbers_as_text = numbers_as_text
        self._cells = cells

    def read(self, raw: RawRow, number: int) -> Sample | BadRow:
        """Return the sample of the `number`th row, or the bad row that it is."""
        if raw.values is None:
            return BadRow(raw.line, raw.reason, raw.text)
        try:
            return self._sample(raw.values, number)
        except RowError as error:
            return BadRow(raw.line, str(error), raw.text or as_json(raw.values))

    def _sample(self, row: Mapping[str, object], number: int) -> Sample:
        return Sample(
            candidate=self._candidate(row),
            references=self._references(row),
            question=self._question(row),
            id=self._id(row, number),
            gold=self._gold(row),
            meta=self._meta(row),
        )

    def _value(self, row: Mapping[str, object], role: str) -> object:
        column = self._columns.get(role)
        return MISSING if column is None else lookup(row, column)

    def _candidate(self, row: Mapping[str, object]) -> str:
        value = self._value(row, "candidate")
        if value is MISSING:
            raise RowError(f"has no candidate: the column {self._columns['candidate']!r} is missing")
        # No answer at all is the candidate's fault, and is judged like any other.
        return "" if value is None else self._text(value, "candidate")

    def _references(self, row: Mapping[str, object]) -> tuple[str, ...]:
        column, value = self._columns["reference"], self._value(row, "reference")
        if value is MISSING:
            raise RowError(f"has no reference: the column {column!r} is missing")
        if isinstance(value, Mapping) and "text" in value:
            value = value["text"]
        if self._cells and isinstance(value, str):
            value = _cell_list(value)
        values = value if isinstance(value, list) else [] if value is None else [value]
        texts = tuple(self._text(each, "reference") for each in values)
        if not texts:
            raise RowError(f"has no reference: the column {column!r} holds {_show(value)}")
        if not all(map(str.strip, texts)):
            raise RowError(f"has an empty reference in the column {column!r}")
        return texts

    def _question(self, row: Mapping[str, object]) -> str | None:
        value = self._value(row, "question")
        if value is MISSING or value is None:
            return None
        if isinstance(value, list):
            value = self._last_user_message(value)
        text = self._text(value, "question")
        return text if text.strip() else None

    def _last_user_message(self, messages: list[object]) -> object:
        for message in reversed(messages):
            if isinstance(message, Mapping) and message.get("role") == "user":
                content = message.get("content")
                if not isinstance(content, list):
                    return content
                parts = [part.get("text") for part in content if isinstance(part, Mapping)]
                return "\n".join(part for part in parts if isinstance(part, str))
        column = self._columns["question"]
        raise RowError(f"has a list in the column {column!r}, in which no message of a user was found as the question")

    def _id(self, row: Mapping[str, object], number: int) -> str:
        value = self._value(row, "id")
        if value is MISSING or value is None or value == "":
            return str(number)
        if isinstance(value, list | Mapping):
            raise RowError(f"has {_show(value)} in the column {self._columns['id']!r}, where an id was expected")
        return whole_text(str(value))

    def _gold(self, row: Mapping[str, object]) -> int | None:
        value = self._value(row, "gold")
        if value is MISSING or value is None:
            return None
        # str() makes one spelling of numbers, truth values and text: 1, 1.0, True, "true".
        label = _LABELS.get(str(value).strip().lower(), MISSING)
        if label is None or isinstance(label, int):
            return label
        raise RowError(
            f"has {_show(value)} in the column {self._columns['gold']!r}, where a label was expected (0/1, true/false, "
            "correct/incorrect or yes/no; `--map label=` reads no label)"
        )

    def _meta(self, row: Mapping[str, object]) -> dict[str, object]:
        meta: dict[str, object] = {}
        for name in META_COLUMNS:
            value = row.get(name)
            if isinstance(value, str | int | float) and name not in self._columns.values():
                meta[name] = json.loads(value) if isinstance(value, NumberText) else value
        return {name: value for name, value in meta.items() if not _is_nan(value)}

    def _text(self, value: object, role: str) -> str:
        if type(value) is str:
            return value
        column = self._columns[role]
        if isinstance(value, NumberText | int | float | Decimal) and not isinstance(value, bool):
            if self._numbers_as_text:
                return str(value)
            raise RowError(
                f"has the number {value} in the column {column!r}, where text was expected "
                "(--numbers_as_text takes numbers as the text that stands in the file)"
            )
        hint = f" (a text inside it can be named, as in --map {role}={column}.0)" if isinstance(value, list) else ""
        raise RowError(f"has {_show(value)} in the column {column!r}, where text was expected{hint}")


def as_json(values: object) -> str:
    """Return a row of a table as one line of JSON."""
    return json.dumps(values, ensure_ascii=False, default=str)


def _cell_list(cell: str) -> object:
    """Return the texts of a cell that is a JSON list of texts, else the cell."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return cell
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return values if all(isinstance(value, str) for value in values) else cell


def _show(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    text = str(value) if isinstance(value, NumberText) else repr(value)
    return text if len(text) <= _SHOWN_TEXT else text[:_SHOWN_TEXT] + "…"
