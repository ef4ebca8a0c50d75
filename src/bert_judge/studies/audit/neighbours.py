"""Dates, numbers and option letters: which of them a text is, wrong values near to it, and other ways to write it.

This module shares no code with `bert_judge.reading` on purpose: what a judge is made of must not audit it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from contextlib import suppress

_DATES = ("%d %B %Y", "%B %d %Y", "%Y-%m-%d")
_NO_DATE = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b|,(?= )| of\b")  # what a date may have besides its parts
_YEAR = re.compile(r"1\d{3}|20\d\d")
_TIME = re.compile(r"\b(?:when|year|date|day)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"([-−]?[$€£]? ?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?((?!(?:s|st|nd|rd|th)\b) ?[^\d\s]+(?: [a-zA-Z]+)?)?"
)
_LETTER = re.compile(r"([(\[]?)([A-J])([)\].:]?)")
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LARGE = ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred"))


def kind_of(value: str, question: str | None = None) -> str | None:
    """ "date", "number" (also with a unit) or "option" (a letter) if the text is nothing else, None otherwise.

    Four digits alone are a date if the question asks for a time, and a number otherwise.
    """
    text = value.strip().rstrip(".")
    if read_date(text) or (_YEAR.fullmatch(text) and _TIME.search(question or "")):
        return "date"
    if _NUMBER.fullmatch(text):
        return "number"
    return "option" if _LETTER.fullmatch(value.strip()) else None


def read_date(text: str) -> datetime.date | None:
    """The date that a text is: `20 July 1969`, `July 20, 1969` or `1969-07-20`; None for anything else."""
    for style in _DATES:
        with suppress(ValueError):  # another style, or 31 February
            return datetime.datetime.strptime(_NO_DATE.sub("", text.strip()), style).date()
    return None


def neighbours(value: str, kind: str | None) -> list[str]:
    """Wrong values near to a date, number or option letter, written like it; none for other texts.

    A number keeps its unit and changes by at least a tenth, so that no rounding makes it correct.
    """
    text = value.strip().rstrip(".")
    if date := read_date(text):
        return [_as(text, near) for near in _near_dates(date)]
    if kind == "date":
        return [str(int(text) + step) for step in (-10, 1, 10, -1)]
    if match := _NUMBER.fullmatch(text):
        return list(_near_numbers(match))
    if match := _LETTER.fullmatch(value.strip()):
        return [f"{match[1]}{letter}{match[3]}" for letter in "ABCD" if letter != match[2]]
    return []


def spellings(value: str) -> list[str]:
    """Other ways to write the same date or whole number; none for other texts."""
    text = value.strip().rstrip(".")
    if date := read_date(text):
        others = [_as(style, date) for style in ("1 May 2000", "May 1, 2000", "2000-05-01")]
        ending = "th" if 10 <= date.day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(date.day % 10, "th")
        others += [f"{date.day}{ending} of {date:%B} {date.year}", f"{date.day} {date:%b} {date.year}"]
    elif re.fullmatch(r"\d{1,3}(,\d{3})*|\d{1,7}", text) and not _YEAR.fullmatch(text):
        number = int(text.replace(",", ""))
        others = [str(number), f"{number:,}", in_words(number), f"{number}.0"]
    else:
        return []
    return [other for other in dict.fromkeys(others) if other != text]


def in_words(number: int) -> str:
    """A whole number below a thousand million in English words: 206 is "two hundred and six"."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")
    size, name = next((size, name) for size, name in _LARGE if number >= size)
    above, rest = divmod(number, size)
    joint = " and " if rest < 100 else " "
    return f"{in_words(above)} {name}" + (joint + in_words(rest) if rest else "")


def _near_dates(date: datetime.date) -> Iterator[datetime.date]:
    year, month, day = date.year, date.month, date.day
    yield date.replace(day=day + 10 if day <= 18 else day - 10)
    yield date.replace(year=year + 2, day=min(day, 28))
    yield date.replace(month=month + 1 if month < 12 else 10, day=min(day, 28))
    yield date.replace(day=day + 1 if day < 28 else day - 1)


def _as(style: str, date: datetime.date) -> str:
    """A date in the style of another: day first, month first or ISO."""
    if style[:4].isdigit():
        return date.isoformat()
    return f"{date.day} {date:%B} {date.year}" if style[0].isdigit() else f"{date:%B} {date.day}, {date.year}"


def _near_numbers(match: re.Match[str]) -> Iterator[str]:
    """Another first digit, the first two digits swapped, and one more digit, in the format of the number."""
    sign, whole, decimals, unit = (part or "" for part in match.groups())
    digits = whole.replace(",", "")
    first = int(digits[0])
    changed = [f"{first + 1 if first < 9 else 7}{digits[1:]}"]
    if len(digits) > 1 and digits[0] != digits[1] != "0":
        changed.append(digits[1] + digits[0] + digits[2:])
    if digits != "0":
        changed.append(digits + "0")
    for other in changed:
        yield sign + (f"{int(other):,}" if "," in whole else other) + decimals + unit
