"""The table of months."""

from __future__ import annotations

from typing import Any

from babel import Locale
from spelling import ALL_LANGUAGES, is_english, key
from vocabulary import FUNCTION_WORDS

FURTHER = "uk cs da nb fi el he hu ro id vi fa bg hr ca".split()  # names of months cost little
MARKS = {"年": "year", "月": "month", "日": "day", "号": "day", "년": "year", "월": "month", "일": "day"}


def spellings(language: str) -> dict[str, dict[int, set[str]]]:
    """The names of the months of a language and their abbreviations, in all forms, without a full stop."""
    found: dict[str, dict[int, set[str]]] = {}
    for forms in Locale.parse(language).months.values():
        for width in ("wide", "abbreviated"):
            for month, name in forms.get(width, {}).items():
                spelling = key(name.rstrip("."))
                if len(spelling) > 1 and not any(character.isdigit() for character in spelling):
                    found.setdefault(width, {}).setdefault(month, set()).add(spelling)
    return found


def month_table() -> dict[str, Any]:
    """The table months.json."""
    english = {spelling: month for widths in spellings("en").values() for month, names in widths.items() for spelling in names}
    english["sept"] = 9
    found: dict[str, set[int]] = {}
    short: set[str] = set()
    for language in [*ALL_LANGUAGES, *FURTHER]:
        for width, months in spellings(language).items():
            for month, names in months.items():
                for name in names - english.keys():
                    found.setdefault(name, set()).add(month)
                    short |= {name} if width == "abbreviated" else set()
    foreign = {name: month for name, (month, *more) in found.items() if not more and name not in FUNCTION_WORDS}
    bounded = {name for name in foreign if is_english(name) or (name in short and name.isascii() and len(name) < 4)}
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
