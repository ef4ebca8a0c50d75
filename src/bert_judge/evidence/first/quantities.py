"""Numbers with a unit, and percentages, as values: "1 km" is "1,000 m", "90 min" is "1 h 30 min", "50 %" is "1/2"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from bert_judge.evidence.first.numbers import shares_in_words
from bert_judge.evidence.first.word import Word

# Units of one kind, and how many of what all of them are told in, by the keys that words have: no plural s.
_UNITS = {
    "m": "m 1 meter 1 km 1000 kilometer 1000 cm 0.01 centimeter 0.01 mm 0.001 millimeter 0.001 "
    "mile 1609.344 yard 0.9144 foot 0.3048 inch 0.0254",
    "g": "g 1 gram 1 gramme 1 kg 1000 kilogram 1000 mg 0.001 milligram 0.001 tonne 1000000 "
    "pound 453.59237 ounce 28.349523125",
    "s": "second 1 minute 60 h 3600 hour 3600 day 86400 week 604800",
    "month": "month 1 year 12 decade 120 century 1200 centurie 1200",
    "l": "l 1 liter 1 ml 0.001 milliliter 0.001 cl 0.01 centiliter 0.01",
}
_SIZES = {
    unit: (kind, Fraction(size))
    for kind, sizes in _UNITS.items()
    for unit, size in zip(sizes.split()[::2], sizes.split()[1::2], strict=True)
}
_SCALES = {"c", "f", "celsiu", "fahrenheit", "degree"}
_DEGREES = re.compile(r"\s?(?:(?:°|degrees?)\s?[cf]|(?:(?:°|degrees?)\s?)?(?:celsius|fahrenheit))\b", re.IGNORECASE)
DATE = "date"  # a kind
MONTHS = "january february march april may june july august september october november december".split()
_MONTH = {month: number for number, month in enumerate(MONTHS, 1)}
_DAYS = {str(day) for day in range(1, 32)}
_IN_DATES = {"the", "of", "in", "st", "nd", "rd", "th"}
_ORDERS = ((0, 1, 2), (1, 0, 2), (2, 1, 0))  # where day, month and year stand
_YEAR = re.compile(r"[12]\d{3}")
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?")  # of any sensible size
_PERCENT = ("%", " %", " percent", " per cent")


class Quantity(NamedTuple):
    """Words `first` to `last` (exclusive) of a text are a number with a unit or a date; `kind` says of what."""

    first: int
    last: int
    kind: str
    value: Fraction

    @property
    def key(self) -> str:
        """The same for equal quantities, whatever their units."""
        return f"{float(self.value):.9g} {self.kind}"


def find_quantities(found: Sequence[Word], text: str) -> list[Quantity]:
    """The numbers with a unit, and the dates of day, month and year, among the words of a text."""
    return [*_measures(found, text), *_dates(found, text)]


def _dates(found: Sequence[Word], text: str) -> Iterator[Quantity]:
    """Dates as "11 November 1918", "November 11th, 1918" and "1918-11-11": their value is 19181111."""
    if not any(word.key in _MONTH for word in found):
        return
    kept = [place for place, word in enumerate(found) if word.key not in _IN_DATES]
    for places in zip(kept, kept[1:], kept[2:], strict=False):
        for order in _ORDERS:
            day, month, year = (found[places[part]] for part in order)
            if month.key not in _MONTH or day.key not in _DAYS or not _YEAR.fullmatch(year.key):
                continue
            if order[0] < 2 or text[year.end : month.start] == "-":  # not "in 1918. November 11"
                value = int(year.key) * 10_000 + _MONTH[month.key] * 100 + int(day.key)
                yield Quantity(places[0], places[2] + 1, DATE, Fraction(value))


def in_full(found: Sequence[Word], quantities: Sequence[Quantity]) -> bool:
    """Whether a text names no month and no year but in these dates."""
    inside = {place for one in quantities if one.kind == DATE for place in range(one.first, one.last)}
    loose = (word.key for place, word in enumerate(found) if place not in inside)
    return not any(key in _MONTH or _YEAR.fullmatch(key) for key in loose)


def _measures(found: Sequence[Word], text: str) -> list[Quantity]:
    """The numbers with a unit; "1 hour and 30 minutes" is one."""
    quantities: list[Quantity] = []
    for place, (number, unit) in enumerate(pairwise(found)):
        if (unit.key not in _SIZES and unit.key not in _SCALES) or not _NUMBER.fullmatch(number.key):
            continue
        if unit.key in _SCALES:
            if degrees := _DEGREES.match(text, number.end):
                last = place + 2 + (unit.end < degrees.end())  # "degrees Celsius" are two words
                quantities.append(Quantity(place, last, "°C", _celsius(Fraction(number.key), degrees[0])))
        elif unit.start - number.end <= 1:
            kind, size = _SIZES[unit.key]
            here = Quantity(place, place + 2, kind, Fraction(number.key) * size)
            before = quantities[-1] if quantities else None
            between = [word.key for word in found[before.last : place]] if before else ["none"]
            if before and between in ([], ["and"]) and before.kind == kind and 0 < here.value < before.value:
                quantities[-1] = Quantity(before.first, here.last, kind, before.value + here.value)
            else:
                quantities.append(here)
    return quantities


def _celsius(value: Fraction, degrees: str) -> Fraction:
    """A temperature in degrees Celsius."""
    return (value - 32) * 5 / 9 if "f" in degrees.casefold() else value


def find_shares(found: Sequence[Word], text: str, others: Set[str]) -> Iterator[tuple[int, int, int, str]]:
    """Percentages and fractions in words whose value the other side has as a number: their places, end and key.

    Where it has not, "3 quarters" are three of something.
    """
    for place, word in enumerate(found):
        if not _NUMBER.fullmatch(word.key) or word.key in others:
            continue
        sign = next((sign for sign in _PERCENT if text.startswith(sign, word.end)), "")
        value = f"{float(Fraction(word.key) / 100):.6f}".rstrip("0").rstrip(".")
        if sign and value in others:
            yield place, place + 1, word.end + len(sign), value
    if any("." in key for key in others):
        starts = [word.start for word in found]
        for start, end, value in shares_in_words(text):
            if value in others:
                yield bisect_left(starts, start), bisect_left(starts, end), end, value
