"""What a text says, as values where they stand: words, numbers, quantities, dates, times and options."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

Dimension = tuple[tuple[str, int], ...]
"""Exponents of base dimensions, in order of their names: (("length", 1), ("time", -1)) for a speed."""


class Form(NamedTuple):
    """What is known of a written word, wherever it stands: `key` compares words, `stem` their inflected forms.

    `acronym` says that it is written in capitals, `roles` what values it can be part of (see `words.py`), `text` how it
    is written.
    """

    key: str
    stem: str
    acronym: bool
    roles: int
    text: str


class Unit(NamedTuple):
    """A unit: how many SI units of its dimension it is, and for temperatures where its scale begins in SI.

    `notation` tells apart what counts in the same unit but is written in another way: ordinals and Roman numerals.
    """

    dimension: Dimension = ()
    factor: float = 1.0
    offset: float = 0.0
    notation: str = ""


NO_UNIT = Unit()

EXACT = 15
"""Figures that a float holds."""


class Amount(NamedTuple):
    """A number with its unit. `step` is the value of its last written figure, 0 where it is exact; `figures` how many
    figures are written."""

    number: float
    step: float = 1.0
    figures: int = 1
    unit: Unit = NO_UNIT
    others: tuple[Unit, ...] = ()
    """Other units that the same word may mean: a pound is a mass or money."""


class Parts(NamedTuple):
    """A date (year, month, day) or a time (half of the day, hour, minute), each part a number or absent."""

    kind: str
    parts: tuple[int | None, int | None, int | None]
    notation: str = ""
    other: tuple[int | None, int | None, int | None] | None = None
    """A second reading: 05/03/1918 may be in March or in May."""


class Option(NamedTuple):
    """A letter that names an option."""

    letter: str


class Word(NamedTuple):
    """A word of a text: two of the same `key` are the same. It stands at characters `start` to `end` (exclusive)."""

    key: str
    start: int
    end: int
    what: Form


class Value(NamedTuple):
    """Any other value of a text; as a word."""

    key: Hashable
    start: int
    end: int
    what: Amount | Parts | Option


T = TypeVar("T", Amount, Parts, covariant=True)


class Found(NamedTuple, Generic[T]):
    """What a recogniser found: the token after it, the characters that it stands at, and what it is."""

    place: int
    start: int
    end: int
    what: T
