"""What a text states, as values with their places: words, numbers, quantities, dates, times and option letters."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

Dimension = tuple[tuple[str, int], ...]
"""Exponents of base dimensions, in order of their names: (("length", 1), ("time", -1)) for a speed."""

EXACT = 15
"""Figures that a float holds."""


class Unit(NamedTuple):
    """A unit: its `factor` to the SI unit of its dimension, and for temperatures the SI value of its zero (`offset`).

    `notation` tells apart numbers of one unit that are written in another way: ordinals, Roman numerals, eras.
    """

    dimension: Dimension = ()
    factor: float = 1.0
    offset: float = 0.0
    notation: str = ""


NO_UNIT = Unit()


class Amount(NamedTuple):
    """A number with its unit. `step` is the value of its last written figure, 0 where it is exact; `figures` counts the
    written figures. `others` are further units that its word may mean: a pound is a mass or money."""

    number: float
    step: float = 1.0
    figures: int = 1
    unit: Unit = NO_UNIT
    others: tuple[Unit, ...] = ()


class Moment(NamedTuple):
    """A "date" (year, month, day) or a "time" (half of the day, hour, minute); None for each part that is not stated.

    `other` is a second interpretation: 05/03/1918 may be in March or in May.
    """

    kind: str
    parts: tuple[int | None, int | None, int | None]
    notation: str = ""
    other: tuple[int | None, int | None, int | None] | None = None


class OptionLetter(NamedTuple):
    """A letter that names an option."""

    letter: str


class WordForm(NamedTuple):
    """What is known of a written word wherever it stands: `key` compares words, `stem` their inflected forms.

    `acronym`: it is written in capitals. `roles`: the kinds of values that it can be part of, as bits (see `words`).
    `text`: the word as written.
    """

    key: str
    stem: str
    acronym: bool
    roles: int
    text: str


class Word(NamedTuple):
    """A word at characters `start` to `end` (exclusive) of a text; words of the same `key` are the same."""

    key: str
    start: int
    end: int
    content: WordForm


class Value(NamedTuple):
    """Any other value at characters `start` to `end` (exclusive) of a text; values of the same `key` are the same."""

    key: Hashable
    start: int
    end: int
    content: Amount | Moment | OptionLetter


Content = TypeVar("Content", Amount, Moment, covariant=True)


class Recognised(NamedTuple, Generic[Content]):
    """A value that was recognised among tokens: the index of the token after it, its characters, and its content."""

    next: int
    start: int
    end: int
    content: Content
