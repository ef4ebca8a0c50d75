"""How a spelling is written in the tables, and whether it is a common word."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from wordfreq import zipf_frequency

LANGUAGES = "de fr es it pt nl sv pl ru tr ar hi".split()  # whose words wordfreq counts without further packages
ALL_LANGUAGES = [*LANGUAGES, "zh", "ja", "ko"]
COMMON = 3.0  # a word of English: once in a million words
FREQUENT = 4.5  # a word of another language that no reader of it overlooks


def key(text: str) -> str:
    """A spelling without case, accents and hyphens; one space between words."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    return " ".join(re.split(r"[\s\-‐‑]+", plain.strip()))


def symbol(text: str) -> str:
    """A symbol: letter case and accents count; the micro sign is a mu, the ohm sign an omega."""
    return unicodedata.normalize("NFC", text.translate({0xB5: "μ", 0x2126: "Ω", 0x212B: "Å"})).strip()


@cache
def frequency(word: str, language: str = "en") -> float:
    """How common a word is: the logarithm of its count in a thousand million words."""
    return zipf_frequency(word, language)


def is_english(*spellings: str) -> bool:
    """Whether any of the spellings is a common English word."""
    return any(" " not in spelling and frequency(spelling) >= COMMON for spelling in spellings)


def rows(name: str) -> list[list[str]]:
    """The rows of a text file beside this one; a hash begins a comment."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [[field.strip() for field in line.split("|")] for line in lines]
