"""Whether a text is in a language that one knows, as far as its letters and its words of grammar tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from bert_judge.reading.evidence.tables import LANGUAGES, Language

_READ = 300  # characters of a text that tell its language
_WORDS = 8  # of a text that tell its language; fewer may be a name or a title
_LEAD = 3  # words of grammar that it has more of another language than of those that are known
# Letters that are not Latin, nor signs of mathematics: these are Greek, one or two at a time, or blocks of their own.
_OTHERS = re.compile(
    r"[\u0370-\u03ff]{3,}|[^\W\d_\x00-\u03ff\u1e00-\u1eff\u2000-\u2dff\ua720-\ua7ff\uff21-\uff5a\U0001d400-\U0001d7ff]+"
)
_LATIN = re.compile("[A-Za-z]{3}")
_SCRIPTS = {"CJK": "Han", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "FULLWIDTH": "Latin"}


@cache
def script_of(letter: str) -> str:
    """The script of a letter, by the first word of its Unicode name; those of one language together."""
    first = unicodedata.name(letter, "OTHER").split(" ")[0].split("-")[0]
    return _SCRIPTS.get(first, first.capitalize())


def find_foreign(text: str, languages: Sequence[str]) -> str | None:
    """The language or script of a text that is in none of these languages, in words ("German", "Cyrillic script").

    `languages` are codes of `tables.LANGUAGES`. None where the text is in one of them, or does not tell: numbers, code,
    names and a few words don't. Only the start of the text is read.
    """
    return _find_foreign(text[:_READ], tuple(languages))


@lru_cache(maxsize=8_192)
def _find_foreign(text: str, codes: tuple[str, ...]) -> str | None:
    known = _Known.of(codes)
    if not (text.isascii() and "Latin" in known.scripts):
        script = _script(text)
        if script is None or script not in known.scripts:
            return script and f"{script} script"
    words = (text[:1].lower() + text[1:]).split()  # capitals are of names, but for the first
    found = set(words)
    if len(words) < _WORDS or len(found & known.foreign) < _LEAD:
        return None
    other = max(known.others, key=lambda language: len(found & language.words))
    own = max(len(found & words) for words in known.words)
    return other.name if len(found & other.words) >= own + _LEAD else None


class _Known(NamedTuple):
    """What tells languages from all others; `foreign` are the words that only these have."""

    scripts: frozenset[str]
    words: list[frozenset[str]]
    others: list[Language]
    foreign: frozenset[str]

    @staticmethod
    @cache
    def of(codes: tuple[str, ...]) -> _Known:
        own = [LANGUAGES[code] for code in codes]
        words = [language.words for language in own]
        others = [language for code, language in LANGUAGES.items() if code not in codes]
        foreign = frozenset().union(*(language.words for language in others)).difference(*words)
        return _Known(frozenset().union(*(language.scripts for language in own)), words, others, foreign)


def _script(text: str) -> str | None:
    """The script of most letters; None for hardly any letters."""
    letters = "".join(_OTHERS.findall(text))
    if 2 * len(letters) > sum(map(str.isalpha, text)):
        return Counter(map(script_of, letters)).most_common(1)[0][0]
    return "Latin" if _LATIN.search(text) else None
