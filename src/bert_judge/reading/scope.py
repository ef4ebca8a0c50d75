"""What a judge knows, and which samples are out of scope: by their language, their script or the reference's length."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache

from bert_judge.errors import InputError
from bert_judge.reading.tables import LANGUAGES, Language
from bert_judge.records import Sample

_START = 300  # characters of a text from which its language is told
_LEAST_WORDS = 8  # that tell a language; fewer may be a name or a title
_LEAD = 3  # more words of grammar of another language than of a known one
# Letters of other scripts, without Latin ones and signs of mathematics: three Greek letters in a row or more, as fewer
# are symbols, and letters outside the blocks of Latin, punctuation, full-width and mathematical letters.
_OTHER_LETTERS = re.compile(
    r"[\u0370-\u03ff]{3,}|[^\W\d_\x00-\u03ff\u1e00-\u1eff\u2000-\u2dff\ua720-\ua7ff\uff21-\uff5a\U0001d400-\U0001d7ff]+"
)
_LATIN = re.compile("[A-Za-z]{3}")
_SCRIPTS = {"CJK": "Han", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "FULLWIDTH": "Latin"}


@dataclass(frozen=True, slots=True)
class Scope:
    """What a judge knows: stored in `judge.json`; it changes no score.

    `languages` are the codes of the languages that it reads ("en"); with none, any language is in scope.
    `reference_words` is the most words of a reference (None: any number). Raises InputError for a language that can't
    be told from others, or fewer than one word.
    """

    languages: tuple[str, ...] = ()
    reference_words: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", tuple(self.languages))
        unknown = [code for code in self.languages if code not in LANGUAGES]
        if unknown:
            raise InputError(f"the language {unknown[0]!r} can't be told from others; known: {', '.join(LANGUAGES)}.")
        if self.reference_words is not None and self.reference_words < 1:
            raise InputError(f"reference_words is {self.reference_words}; a number of at least 1 was expected.")

    def reason(self, sample: Sample) -> str | None:
        """Why a sample is out of scope ("in German", "in Cyrillic script"); None if it is in scope.

        Several references are alternatives: all of them have to be out of scope.
        """
        if self.languages:
            texts = (sample.candidate, sample.question or "", *sample.references)
            candidate, question, *references = [_foreign(text[:_START], self.languages) for text in texts]
            language = candidate or (all(references) and references[0]) or question
            if language:
                return f"in {language}"
        most = self.reference_words
        if most and all(len(text) > 2 * most and len(text.split()) > most for text in sample.references):
            return f"with a reference of over {most} words"
        return None


@cache
def script_of(letter: str) -> str:
    """The script of a letter, from its Unicode name; scripts of one language count as one."""
    first = unicodedata.name(letter, "OTHER").split(" ")[0].split("-")[0]
    return _SCRIPTS.get(first, first.capitalize())


@lru_cache(maxsize=8_192)
def _foreign(text: str, codes: tuple[str, ...]) -> str | None:
    """The language or script of a text in none of these languages ("German", "Cyrillic script").

    None where the text is in one of them, or does not tell, as numbers, code, names and a few words don't.
    """
    languages, others, foreign_words = _known_languages(codes)
    scripts = [script for language in languages for script in language.scripts]
    if not (text.isascii() and "Latin" in scripts):
        script = _script(text)
        if script is None or script not in scripts:
            return script and f"{script} script"
    words = (text[:1].lower() + text[1:]).split()  # but for the first, words with capitals are names
    distinct = set(words)
    if len(words) < _LEAST_WORDS or len(distinct & foreign_words) < _LEAD:
        return None
    likeliest = max(others, key=lambda language: len(distinct & language.words))
    in_known = max(len(distinct & language.words) for language in languages)
    return likeliest.name if len(distinct & likeliest.words) >= in_known + _LEAD else None


@cache
def _known_languages(codes: tuple[str, ...]) -> tuple[list[Language], list[Language], frozenset[str]]:
    """The known languages, all others, and the words that only these have."""
    languages = [LANGUAGES[code] for code in codes]
    others = [language for code, language in LANGUAGES.items() if code not in codes]
    foreign_words = frozenset().union(*(language.words for language in others))
    return languages, others, foreign_words.difference(*(language.words for language in languages))


def _script(text: str) -> str | None:
    """The script of most letters; None where there are hardly any."""
    letters = "".join(_OTHER_LETTERS.findall(text))
    if 2 * len(letters) > sum(map(str.isalpha, text)):
        return Counter(map(script_of, letters)).most_common(1)[0][0]
    return "Latin" if _LATIN.search(text) else None
