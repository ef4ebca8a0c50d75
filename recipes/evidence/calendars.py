"""The table of months."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from babel import Locale
from spelling import ALL_LANGUAGES, is_english, key
from vocabulary import FUNCTION_WORDS

FURTHER = "uk cs da nb fi el he hu ro id fa bg hr".split()  # names in full only
MARKS = {"年": "year", "月": "month", "日": "day", "号": "day", "년": "year", "월": "month", "일": "day"}


def spellings(language: str, widths: Sequence[str] = ("wide", "abbreviated")) -> dict[str, dict[int, set[str]]]:
    """The names of the months of a language and their abbreviations, in all forms, without a full stop."""
    months: dict[str, dict[int, set[str]]] = {}
    for forms in Locale.parse(language).months.values():
        for width in widths:
            for month, name in forms.get(width, {}).items():
                spelling = key(name.rstrip("."))
                if len(spelling) > 1 and re.fullmatch(r"[^\W\d_]+", spelling):
                    months.setdefault(width, {}).setdefault(month, set()).add(spelling)
    return months


def month_table() -> dict[str, Any]:
    """The table months.json."""
    english = {
        spelling: month for widths in spellings("en").values() for month, names in widths.items() for spelling in names
    }
    english["sept"] = 9
    numbers: dict[str, set[int]] = {}
    short, full = set[str](), set[str]()
    for language in [*ALL_LANGUAGES, *FURTHER]:
        widths = ("wide",) if language in FURTHER else ("wide", "abbreviated")
        for width, months in spellings(language, widths).items():
            for month, names in months.items():
                for name in names - english.keys():
                    numbers.setdefault(name, set()).add(month)
                    (full if width == "wide" else short).add(name)
    short -= full
    words = {name for name in numbers if is_english(name)}
    foreign = {
        name: month
        for name, (month, *more) in numbers.items()
        if not more and name not in FUNCTION_WORDS | (words & short)
    }
    bounded = {name for name in foreign if name in words or (name in short and name.isascii() and len(name) < 4)}
    return {
        "names": {name: month for name, month in english.items() if not ambiguous(name)}
        | {name: month for name, month in foreign.items() if name not in bounded},
        "capitalised": {name: month for name, month in english.items() if ambiguous(name)},
        "in_dates": {name: month for name, month in foreign.items() if name in bounded},
        "marks": MARKS,
    }


def ambiguous(name: str) -> bool:
    """Whether an English month is a word or a name as well."""
    return name in ("may", "march", "august") or len(name) == 3
