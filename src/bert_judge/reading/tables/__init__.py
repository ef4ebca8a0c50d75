"""Tables that texts are read with: function words, number words, months, units, and words that identify languages.

The JSON files are made by `recipes/evidence/make_tables.py`. Keys are spelled as by `words.word_key`, several words
joined by a space.
"""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from bert_judge.reading.values import NO_UNIT, Unit


def _load(name: str) -> Any:
    return json.loads((files(__package__) / f"{name}.json").read_text(encoding="utf-8"))


def _number(written: str) -> float:
    """A factor, rounded so that units of the same size are equal."""
    return float(f"{float(Fraction(written)):.12g}")


class Language(NamedTuple):
    """A language: its name, its scripts and, where it is written in Latin letters, its words of grammar."""

    name: str
    scripts: frozenset[str]
    words: frozenset[str]


class Numeral(NamedTuple):
    """A number word: `role` is "unit" (complete in itself), "ten", "scale", "after" (a scale after a number only),
    or "ordinal".
    """

    role: str
    value: int


_words, _numbers, _months, _units, _languages = map(_load, ("words", "numbers", "months", "units", "languages"))

FUNCTION_WORDS = frozenset(chain.from_iterable(_words["function"].values()))
SINGULARS = frozenset(_words["singulars"])

LANGUAGES = {
    code: Language(raw["name"], frozenset(raw["scripts"]), frozenset(raw["words"])) for code, raw in _languages.items()
}
LANGUAGES["en"] = LANGUAGES["en"]._replace(words=FUNCTION_WORDS)

_ROLES = {
    "units": "unit",
    "tens": "ten",
    "scales": "scale",
    "scales_after_number": "after",
    "ordinals": "ordinal",
}
NUMERALS = {
    word: Numeral(role, value) for table, role in _ROLES.items() for word, value in reversed(_numbers[table].items())
}
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

UNITS = {
    name: Unit(tuple(sorted(raw[1].items())), _number(raw[0]), _number(raw[2] if len(raw) > 2 else "0"))
    for name, raw in _units["units"].items()
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
