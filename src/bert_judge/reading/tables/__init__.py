"""Tables that texts are read with: function words, number words, months, units, and words that identify languages.

The JSON files are made by `recipes/evidence/make_tables.py`. Keys are spelled as by `words.word_key`, several words
joined by a space.
"""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from itertools import chain
from typing import NamedTuple

Dimension = tuple[tuple[str, int], ...]
"""Exponents of base dimensions, in order of their names: (("length", 1), ("time", -1)) for a speed."""


class Unit(NamedTuple):
    """A unit: its `factor` to the SI unit of its dimension, and for temperatures the SI value of its zero (`offset`).

    `notation` tells apart numbers of one unit that are written in another way: ordinals, Roman numerals, eras.
    """

    dimension: Dimension = ()
    factor: float = 1.0
    offset: float = 0.0
    notation: str = ""


NO_UNIT = Unit()


class Language(NamedTuple):
    """A language: its name, its scripts and, where it is written in Latin letters, its words of grammar."""

    name: str
    scripts: frozenset[str]
    words: frozenset[str]


_words, _numbers, _months, _units, _languages = (
    json.loads((files(__package__) / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("words", "numbers", "months", "units", "languages")
)

FUNCTION_WORDS = frozenset(chain.from_iterable(_words["function"].values()))
SINGULARS = frozenset(_words["singulars"])

LANGUAGES = {
    code: Language(raw["name"], frozenset(raw["scripts"]), frozenset(raw["words"])) for code, raw in _languages.items()
}
LANGUAGES["en"] = LANGUAGES["en"]._replace(words=FUNCTION_WORDS)

_ROLES = {"units": "unit", "tens": "ten", "scales": "scale", "scales_after_number": "after", "ordinals": "ordinal"}
NUMERALS: dict[str, tuple[str, int]] = {
    word: (role, value) for table, role in _ROLES.items() for word, value in reversed(_numbers[table].items())
}
"""Number words: the role of each, and its value. "unit" is complete in itself, "after" a scale after a number only."""
NUMERALS_ALONE: dict[str, int] = _numbers["alone"]
"""Number words of other languages that mean something else in English: numbers only where they are the whole text."""
SHARES: dict[str, int] = _numbers["denominators"]
SUFFIXES: dict[str, int] = _numbers["suffixes"]
MONEY_SUFFIXES: dict[str, int] = _numbers["suffixes"] | _numbers["money_suffixes"]
ARTICLES = frozenset(_numbers["articles"])
JOINERS = frozenset(_numbers["joiners"])
HAN: dict[str, dict[str, int]] = {name: _numbers["characters"][name] for name in ("units", "scales", "myriads")}
HAN_NUMERALS = frozenset(chain.from_iterable(HAN.values()))
NUMERAL_STARTS = {word.split()[0] for word in chain(NUMERALS, SHARES)}
LONGEST_NUMERAL = max(len(word.split()) for word in NUMERALS)

MONTHS: dict[str, int] = _months["names"] | _months["in_dates"] | _months["capitalised"]
MONTHS_ALONE = frozenset(_months["names"])
MONTHS_CAPITALISED = frozenset(_months["capitalised"])
DATE_MARKS: dict[str, str] = _months["marks"]


def _number(written: str) -> float:
    """A factor, rounded so that units of the same size are equal."""
    return float(f"{float(Fraction(written)):.12g}")


UNITS = {
    name: Unit(tuple(sorted(exponents.items())), _number(factor), _number(offset[0] if offset else "0"))
    for name, (factor, exponents, *offset) in _units["units"].items()
}
UNIT_NAMES = {spelling: UNITS[name] for spelling, name in _units["names"].items()}
UNIT_NAMES |= dict.fromkeys(("degree", "degrees", "deg"), NO_UNIT)  # angles are plain numbers
UNIT_SYMBOLS = {spelling: UNITS[name] for spelling, name in _units["symbols"].items()} | {"°": NO_UNIT}
UNIT_AMBIGUOUS = {spelling: UNITS[name] for spelling, name in _units["ambiguous"].items()}
UNIT_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
"""Words before a unit that raise it to a power."""
UNIT_STARTS = {name.split()[0] for name in UNIT_NAMES}.union(UNIT_SYMBOLS, UNIT_AMBIGUOUS, UNIT_POWERS)
UNIT_OTHERS = {spelling: tuple(UNITS[name] for name in names) for spelling, names in _units["others"].items()}
_BASES = frozenset(_units["bases"])
CURRENCIES = {
    spelling: unit
    for spelling, unit in UNIT_SYMBOLS.items()
    if len(unit.dimension) == 1 and unit.dimension[0][0] not in _BASES
}
LONGEST_UNIT = max(len(name.split()) for name in UNIT_NAMES)
