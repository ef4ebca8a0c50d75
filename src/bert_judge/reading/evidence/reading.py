"""Reading one text alone: which values it holds, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from bert_judge.reading.evidence import tables
from bert_judge.reading.evidence.dates import date_at, time_at
from bert_judge.reading.evidence.folding import fold
from bert_judge.reading.evidence.options import letters_in
from bert_judge.reading.evidence.quantities import amount_at
from bert_judge.reading.evidence.values import EXACT, NO_UNIT, Amount, Form, Found, Option, Parts, Value, Word
from bert_judge.reading.evidence.words import (
    CURRENCY,
    DATE,
    MONTH,
    NUMBER,
    NUMERAL,
    ROMAN,
    STARTS,
    STOP,
    TIME,
    tokenise,
)

RECOGNISERS: tuple[tuple[int, Callable[[Sequence[Word], int, str], Found[Any] | None]], ...] = (
    (DATE | MONTH, date_at),
    (TIME, time_at),
    (NUMBER | NUMERAL | ROMAN | CURRENCY, amount_at),
)
"""One a kind of value, with the roles of tokens one of which it needs; of what they find at a place the longest counts,
and the first of equals."""

_LABEL = re.compile(
    r"(?<![^\s,;:])(?:\(?(?:([A-Za-z])|([ivx]{1,4})|(\d\d?))\)|(?<![^\n])[ \t]*(?:(\d\d?)|([A-Z]))\.)(?=\s)"
)
_SECOND_LABEL = re.compile(r"\)(?<=[Bbi\d]\))\s|\n[ \t]*(?:\d\d?|[A-Z])\.\s")  # quick to look for; no list lacks it
_LATEX = re.compile(  # commands that say how a text looks are no words; a fraction stays
    r"\\[dtc]?frac(?:\{\d+\}\{\d+\}|\d\d)|\\(?:math|text)[a-z]*\b|\\(?:left|right|boxed|fbox|quad|rm|bf|it|displaystyle)\b"
    r"|\\[ ,;:!%$()\[\]{}]|[{}~]"
)
_FORMULA = re.compile(r"(\${1,2})(?=\S)([^$\n]{0,400}?)(?<=\S)(\${1,2})(?!\d)")  # no amounts of dollars
_SHORT = 300  # characters of a text that is likely to come again: a question, a reference
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_LONG = 3  # letters of an acronym that is unlikely to stand for words by chance
_JOINED = 6  # letters that a word of two has at least


def _blank(found: re.Match[str]) -> str:
    """Spaces for a command, as many as it has characters; "\\%" is a sign."""
    if "frac" in found[0]:
        return found[0]
    return f" {found[0][1]}" if found[0] in (r"\%", r"\$") else " " * len(found[0])


def _without_dollars(found: re.Match[str]) -> str:
    return f"{' ' * len(found[1])}{found[2]}{' ' * len(found[3])}"


class _Lazy:
    """As functools.cached_property, without the lock that takes longer there than what is computed here."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __get__(self, one: Any, _: type) -> Any:
        value = one.__dict__[self._make.__name__] = self._make(one)
        return value


class Reading:
    """The values of a text, in order, which do not overlap; function words are none unless there is nothing else."""

    def __init__(self, text: str) -> None:
        text = fold(text)
        if "$" in text:
            text = _FORMULA.sub(_without_dollars, text)
        self.text = _LATEX.sub(_blank, text) if "\\" in text else text
        self.tokens = tokenise(self.text)
        self.values: tuple[Word | Value, ...] = tuple(_values(self.tokens, self.text) or self.tokens)
        self.keys: frozenset[Hashable] = frozenset([value[0] for value in self.values])

    @_Lazy
    def _forms(self) -> list[Form]:
        return [value[3] for value in self.values if type(value[3]) is Form]

    @_Lazy
    def stems(self) -> frozenset[str]:
        """The words without their inflection."""
        return frozenset([form[1] for form in self._forms])

    @_Lazy
    def told(self) -> dict[Hashable, Amount | Parts]:
        """The values that are no words, by their keys."""
        if len(self._forms) == len(self.values):
            return {}
        return {value.key: value.what for value in self.values if isinstance(value.what, Amount | Parts)}

    @_Lazy
    def words(self) -> tuple[str, ...]:
        """The keys of its words, in order."""
        return tuple([form[0] for form in self._forms])

    def spells(self, acronym: str) -> int:
        """Where words in a row begin with the letters of an acronym, the index of the first, else -1.

        A short one stands only for words with capitals.
        """
        initials: str = self._initials
        return initials.find(acronym.upper()) if len(acronym) < _LONG else initials.lower().find(acronym)

    @_Lazy
    def _initials(self) -> str:
        text = self.text
        return "".join([text[value.start] for value in self.values if type(value.what) is Form])

    @_Lazy
    def acronyms(self) -> frozenset[str]:
        """Its words in capitals, of two letters and more."""
        return frozenset([form.key for form in self._forms if form[2]])

    @_Lazy
    def long_words(self) -> frozenset[str]:
        """Its words that could be written as two."""
        return frozenset([word for word in self.words if len(word) >= _JOINED])

    @_Lazy
    def pairs(self) -> dict[str, tuple[str, str]]:
        """Its words that could be written as one, two in a row, by what they were then."""
        return {one + two: (one, two) for one, two in pairwise(self.words)}

    @_Lazy
    def letters(self) -> tuple[Value, ...]:
        """The letters that can name options."""
        return tuple(Value(Option(letter), start, start + 1, Option(letter)) for letter, start in letters_in(self.text))


def read(text: str) -> Reading:
    """The values of a text; remembered, short texts for longer."""
    return _read_short(text) if len(text) <= _SHORT else _read_long(text)


_read_short = lru_cache(maxsize=8_192)(Reading)
_read_long = lru_cache(maxsize=64)(Reading)


def _values(tokens: Sequence[Word], text: str) -> list[Word | Value]:
    """The values among the tokens, without function words."""
    if len(tokens) == 1 and (number := tables.NUMERALS_ALONE.get(tokens[0].key)):
        return [Value(str(number), tokens[0].start, tokens[0].end, Amount(float(number), figures=len(str(number))))]
    labels = _labels(text)
    if labels:
        tokens = [token for token in tokens if token.start not in labels]
    every = 0
    for token in tokens:
        every |= token[3].roles
    if not every & STARTS:
        return [token for token in tokens if not token[3].roles & STOP]
    return _recognised(tokens, text, [recognise for needed, recognise in RECOGNISERS if every & needed])


def _recognised(
    tokens: Sequence[Word], text: str, recognisers: Sequence[Callable[..., Found[Any] | None]]
) -> list[Word | Value]:
    """The values among tokens some of which begin a number or a date."""
    found: list[Word | Value] = []
    place, count = 0, len(tokens)
    while place < count:
        token = tokens[place]
        roles = token[3].roles
        place += 1
        if roles & STARTS:
            best = None
            for recognise in recognisers:
                value = recognise(tokens, place - 1, text)
                if value and (best is None or value.end > best.end):
                    best = value
            if best:
                found.append(Value(_key(best, text), best.start, best.end, best.what))
                place = best.place
                continue
        if not roles & STOP:
            found.append(token)
    return found


def _key(found: Found[Any], text: str) -> Hashable:
    """What the same values have in common: the number and its unit, or the parts of a date."""
    what = found.what
    if isinstance(what, Parts):
        return what
    number = f"{what.number:.12g}" if what.figures <= EXACT else text[found.start : found.end]
    return number if what.unit == NO_UNIT else (number, what.unit)


def _labels(text: str) -> frozenset[int]:
    """Where the labels of a list's parts stand: "a) … b) …", "(i) … (ii) …", "1. …" at the start of lines."""
    if not _SECOND_LABEL.search(text):
        return frozenset()
    runs: dict[int, list[int]] = {}
    for match in _LABEL.finditer(text):
        kind, label = match.lastindex or 0, match[match.lastindex or 0]
        number = int(label) if label.isdecimal() else ord(label.lower()) - 96 if kind != 2 else 0
        if kind == 2 or (label == "i" and not runs.get(1)):
            kind, number = 2, _ROMAN.index(label) + 1 if label in _ROMAN else 0
        run = runs.setdefault(kind, [])
        if number == len(run) + 1:
            run.append(match.start(match.lastindex or 0))
    return frozenset(start for run in runs.values() if len(run) > 1 for start in run)
