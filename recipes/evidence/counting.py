"""The table of numbers in words."""

from __future__ import annotations

from typing import Any

from num2words import num2words
from spelling import FREQUENT, LANGUAGES, frequency, is_english, key, rows

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
WHOLE = [*range(101), *range(200, 1000, 100), *range(1000, 10_000, 1000), 10_000, 20_000, 50_000, 100_000]
SPOKEN = "de fr fr_BE fr_CH es it pt pt_BR nl sv pl ru tr ar".split()  # as num2words names them; it has no Hindi
ARTICLE = 6.0  # a word for one that is this common is an article


def spoken(language: str, number: int, kind: str = "cardinal") -> str:
    """A number in words of a language; every language that has no kind of ordinals says so."""
    return key(num2words(number, lang=language, to=kind))


class Words:
    """Words and what they count, as they are collected: those that mean two things are left out."""

    def __init__(self) -> None:
        self.found: dict[str, dict[int, set[str]]] = {}

    def add(self, word: str, number: int, language: str) -> None:
        self.found.setdefault(word, {}).setdefault(number, set()).add(language[:2])

    def kept(self, english: dict[str, int]) -> dict[str, int]:
        """English words, and those of other languages that are no common word of English or of another one."""
        kept = dict(english)
        for word, numbers in self.found.items():
            languages = set().union(*numbers.values())
            article = 1 in numbers and any(frequency(word, language) >= ARTICLE for language in languages)
            elsewhere = (other for other in LANGUAGES if other not in languages)
            ambiguous = " " not in word and any(frequency(word, other) >= FREQUENT for other in elsewhere)
            if len(numbers) == 1 and not article and not ambiguous and not is_english(word):
                kept.setdefault(word, *numbers)
        return kept


def number_table() -> dict[str, Any]:
    """The table numbers.json."""
    units = {word: value for value, word in enumerate(ONES.split())}
    chosen: dict[str, dict[str, int]] = {}
    for role, value, words in rows("numbers.txt"):
        form = str if "suffixes" in role or "character" in role else key
        chosen.setdefault(role, {}).update((form(word), int(float(value))) for word in words.split())
    cardinals, ordinals, scales = Words(), Words(), Words()
    for language in SPOKEN:
        for number in WHOLE:
            cardinals.add(spoken(language, number), number, language)
            if (
                language == "tr" and 10 < number < 100 and number % 10
            ):  # "yirmi bir" is the common spelling of "yirmibir"
                parts = (spoken("tr", number // 10 * 10), spoken("tr", number % 10))
                cardinals.add(" ".join(parts), number, "tr")
        for power in (3, 6, 9, 12):
            for count in (1, 2, 5):
                *count_words, scale = spoken(language, count * 10**power).split()
                if len(count_words) == 1 and not count_words[0].isdigit():
                    scales.add(scale, 10**power, language)
    for language in SPOKEN:
        for number in range(1, 32) if language != "ar" else ():  # Arabic tens are the same as cardinals
            ordinals.add(spoken(language, number, "ordinal"), number, language)
    tens = chosen["tens"]
    parts = {word: value for word, value in chosen["ordinals"].items() if value > 2}
    chosen["denominators"] |= parts | {f"{word}s": value for word, value in parts.items()}
    return {
        "units": cardinals.kept(units | chosen["units"]),
        "alone": chosen["alone"],
        "tens": tens,
        "scales": scales.kept(chosen["scales"]),
        "scales_after_number": chosen["scales_after_number"],
        "suffixes": chosen["suffixes"],
        "money_suffixes": chosen["money_suffixes"],
        "ordinals": ordinals.kept(chosen["ordinals"]),
        "denominators": chosen["denominators"],
        "articles": ["a", "an"],
        "joiners": ["and"],
        "characters": {
            "units": chosen["character units"],
            "scales": chosen["character scales"],
            "myriads": chosen["character myriads"],
            "ordinal": ["第"],
        },
    }
