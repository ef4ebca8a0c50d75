"""What two strings have in common, as spans of characters.

Words are compared by a *key*: case, accents, thousands separators, trailing zeros, a plural *s* and the spelling of
numbers, months and units do not count ("1,000.0" = "1000", "Cafés" = "cafe", "fifty-two" = "52", "seventh" = "7th",
"1/2" = "½" = "0.5", "III" = "3", "Sept" = "September", "1969-07-20" = "20 July 1969", "5 km" = "5
kilometres", "x²" = "x^2"), and neither do characters that look alike. Function words and punctuation are no evidence,
unless a text has nothing else; but the sign of a number is. A lone letter counts where it names an option ("(B)",
"A.", "**A**", "<b>A</b>", "option A", or "a" and nothing else), and in a list of letters where the other side has one,
too. Where both texts have quantities of one kind, a number counts with its unit: "1 km" = "1,000 m". Where the other
text has the number, "25 %" and "one quarter" are 0.25.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from bert_judge.evidence.first.numbers import ORDINALS, SMALL, TENS, numbers_in_words
from bert_judge.evidence.first.quantities import DATE, MONTHS, Quantity, find_quantities, find_shares, in_full
from bert_judge.evidence.first.word import Span, Word
from bert_judge.evidence.folding import fold

_FRACTIONS, _EXPONENTS = "\u00bc-\u00be\u2150-\u215e", "\u2070\u00b9\u00b2\u00b3\u2074-\u2079"  # ½ …, ² …
_SIGN = r"(?:(?<![\w)\]}])-)?"  # no dash between words, and no minus between numbers
_WORD = re.compile(
    rf"{_SIGN}(?<![\d/.,])\d{{1,2}}/[1-9]\d{{0,2}}(?![/.,]?\d)"  # fractions, but no dates
    rf"|{_SIGN}\\[dt]?frac(?:\{{\d{{1,9}}\}}\{{[1-9]\d{{0,8}}\}}|\d[1-9])"  # fractions in LaTeX
    rf"|{_SIGN}\d+(?:,\d{{3}})*(?:\.\d+)?"  # numbers, with thousands separators and decimals
    rf"|[{_FRACTIONS}]|\u207b?[{_EXPONENTS}]+|\^(?:-?\d+|\{{-?\d+\}}|\(-?\d+\))"  # and exponents: x², x^2
    r"|(?<=[\w)])\*\*-?\d+(?![\d*])"  # x**2, which is not bold
    r"|[\u3040-\u30ff\u3400-\u9fff]"  # kana and han have no spaces: each character is a word
    rf"|(?:[^\W\d_{_FRACTIONS}{_EXPONENTS}][\u0300-\u036f]*)+"  # letters of any script
)
_SPELLINGS = {
    **{word: str(value) for word, value in (SMALL | TENS | ORDINALS).items()},
    **dict(zip("ii iii iv vi vii viii ix".split(), "2346789", strict=True)),
    **{month[:3]: month for month in MONTHS},
    "sept": "september",
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
    "billion": "1000000000",
    "feet": "foot",
    "inche": "inch",
}
# After a number only: "6 ft", but not "ft. Shakira"; single letters stand for too much.
_UNITS = dict(
    part.split(":")
    for part in (
        "km:kilometer cm:centimeter mm:millimeter kg:kilogram mg:milligram lb:pound lbs:pound oz:ounce ft:foot yd:yard "
        "mi:mile hr:hour hrs:hour min:minute sec:second secs:second yr:year yrs:year ml:milliliter"
    ).split()
)
_NUMBER = re.compile(rf"[-\\\d{_FRACTIONS}]")
_EXPONENT = re.compile(rf"[\^*\u207b{_EXPONENTS}]")
_JOINED = 6  # letters that a word of several has at least
_ISO_DATE = re.compile(r"(?<![\d-])\d{4}-(0[1-9]|1[0-2])-\d\d(?![\d-])")
_OPTION = re.compile(
    r"(?<!\w)([A-J])(?=\s*[).:\]]|\s*$)|(?<=\()([A-J])(?=\))|(?<=[Oo]ption )([A-J])(?!\w)"
    r"|(?<![^\s>])([A-J])(?=</|<\|)|(?<=[*{\"])(?<!\w\*)([A-J])(?=[*}\"])"  # <answer>A</answer>, **A**, \boxed{A}, "A"
)
_OPTIONS = frozenset("abcdefghij")
_WHOLE_OPTION = re.compile(r"\(([A-J])\)\s+\S")  # a reference with letter and words
_CHOSEN = re.compile(r"(?<![\w'’])(?<!\d )([A-J])\)?[\s\"'*}\])]*(?:\.(?=\s|$)|$)")  # "the answer is (F)."
_AND = r"[,;/&+|•*-]|\b(?:and|or)\b"
_LETTERS = re.compile(rf"(?<![\w'’])[A-Z](?:\s*(?:{_AND})(?:\s|{_AND})*[A-Z](?![\w'’]))+")  # "A, E and I"
_ASKED = "asked "  # before the key of a value that only repeats the question
_START = attrgetter("start")


class Evidence(NamedTuple):
    """What a candidate shares with its references.

    `candidate` holds the spans of the candidate's words that also stand in a reference; `references` holds, for each
    reference, the spans of its words that also stand in the candidate; `recall` is, for each reference, the share of
    its words that do, in [0, 1]. `added` holds the spans of the candidate's words that stand neither in a reference nor
    in the question, `missing`, for each reference, those of its words that the candidate lacks.
    """

    candidate: tuple[Span, ...]
    references: tuple[tuple[Span, ...], ...]
    recall: tuple[float, ...]
    added: tuple[Span, ...]
    missing: tuple[tuple[Span, ...], ...]

    @property
    def best_reference(self) -> int:
        """Index of the reference whose words the candidate covers best; the first of equals."""
        return max(range(len(self.recall)), key=self.recall.__getitem__)


def find_evidence(candidate: str, references: Sequence[str], question: str | None = None) -> Evidence:
    """Compare a candidate with its references, word by word; linear in the length of the texts."""
    candidate_words, every = compared_words(candidate, references, question)
    reference_words = [content_of(found) for found in every]
    candidate_keys = {word.key for word in candidate_words}
    reference_keys = {word.key for kept in reference_words for word in kept}
    shared = [tuple(word.span for word in kept if word.key in candidate_keys) for kept in reference_words]
    asked = words(question or "")
    expected = reference_keys | _STOP_WORDS | {word.key for word in asked}
    expected |= {quantity.key for quantity in find_quantities(asked, question or "")}
    expected |= {word.key for word in candidate_words if word.key.startswith(_ASKED)}
    return Evidence(
        candidate=tuple(word.span for word in candidate_words if word.key in reference_keys),
        references=tuple(shared),
        recall=tuple(len(spans) / max(len(kept), 1) for spans, kept in zip(shared, reference_words, strict=True)),
        added=tuple(word.span for word in candidate_words if word.key not in expected),
        missing=tuple(tuple(word.span for word in kept if word.key not in candidate_keys) for kept in reference_words),
    )


def words(text: str) -> list[Word]:
    """All words of a text. An "A", "D" or "I" that names an option has the key "(a)" and so on, unlike the word."""
    text = fold(text)
    found = [Word(word_key(match[0]), *match.span()) for match in _WORD.finditer(text)]
    for start, end, key in numbers_in_words(text):
        first, last = bisect_left(found, start, key=_START), bisect_left(found, end, key=_START)
        found[first:last] = [Word(key, start, end)]
    if not _UNITS.keys().isdisjoint(word.key for word in found):
        found = [_unit(before, word) for before, word in pairwise([Word("", 0, 0), *found])]
    months = {match.start(1): MONTHS[int(match[1]) - 1] for match in _ISO_DATE.finditer(text)}
    if months:
        found = [word._replace(key=months.get(word.start, word.key)) for word in found]
    options = {match.start(match.lastindex or 0) for match in _OPTION.finditer(text)}
    if len(found) == 1 and found[0].key in _OPTIONS:
        options.add(found[0].start)  # "a" alone is no article
    if not options:
        return found
    return [
        word._replace(key=f"({word.key})") if word.start in options and word.key in _STOP_WORDS else word
        for word in found
    ]


def _unit(before: Word, word: Word) -> Word:
    """A word, with a unit's full name where it is the short one of a number's unit."""
    follows = word.start - before.end <= 1 and before.key[-1:].isdigit()
    return word._replace(key=_UNITS.get(word.key, word.key)) if follows else word


def content_words(text: str) -> list[Word]:
    """The words of a text that can be evidence; all of its words if they are function words only."""
    return content_of(words(text))


def content_of(found: list[Word]) -> list[Word]:
    """Those of the words that can be evidence, as in `content_words`."""
    return [word for word in found if word.key not in _STOP_WORDS] or found


def compared_words(
    candidate: str, references: Sequence[str], question: str | None = None
) -> tuple[list[Word], list[list[Word]]]:
    """The words of a candidate and of each reference.

    "Sea water" is one word where the other side has "seawater", and so is a number with its unit where the other side
    has a quantity of the kind: "1 km" is "1,000 m", and "5 km" has nothing in common with "5 miles"; so are dates of
    day, month and year, where no reference has less of a date. Where both sides list letters, an "A" or "I" among them
    is no article or pronoun. Where the references name options, the letter of another one that is chosen at last is no
    symbol or unit in their words: "(F)" is not the f of "(G) f = 5 Hz". A value that stands so in the question is no
    answer where all references convert it ("3 days" to "72 hours").
    """
    said, wanted = _chosen(words(candidate), candidate, references), [words(reference) for reference in references]
    if _LETTERS.search(candidate) and any(map(_LETTERS.search, references)):
        said = _listed(said, candidate)
        wanted = [_listed(found, text) for found, text in zip(wanted, references, strict=True)]
    keys, others = {word.key for word in said}, {word.key for found in wanted for word in found}
    ours = find_quantities(said, candidate)
    theirs = [find_quantities(found, text) if ours else [] for found, text in zip(wanted, references, strict=True)]
    kinds = {one.kind for one in ours} & {one.kind for quantities in theirs for one in quantities}
    if DATE in kinds and not all(map(in_full, wanted, theirs)):
        kinds.discard(DATE)  # "1918" or "May 1918" may be enough
    joined = _joined(_valued(said, candidate, [one for one in ours if one.kind in kinds], others), others)
    every = [
        _joined(_valued(found, text, [one for one in quantities if one.kind in kinds], keys), keys)
        for found, text, quantities in zip(wanted, references, theirs, strict=True)
    ]
    return _answering(joined, candidate, every, references, question or ""), every


def _answering(
    found: list[Word], candidate: str, every: list[list[Word]], references: Sequence[str], question: str
) -> list[Word]:
    """The words of a candidate, with names of their own for values that the question has and all references convert."""
    given: dict[str, set[str]] = {}
    for kept, text in zip(every, references, strict=True):
        for word in kept:
            if any(map(str.isdigit, word.key)):
                given.setdefault(word.key, set()).add(text[slice(*word.span)])
    if not given or not question:
        return found
    told = {(word.key, candidate[slice(*word.span)]) for word in found if word.key in given}
    asked = {
        (key, text)
        for key, text in told
        if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question, re.IGNORECASE)
        and all(_figures(text) != _figures(other) for other in given[key])
    }
    return [
        word._replace(key=_ASKED + word.key) if (word.key, candidate[slice(*word.span)]) in asked else word
        for word in found
    ]


def _figures(text: str) -> list[str]:
    """The numbers that a value is written with: 3 of "three days", 72 of "72 hours", 3 and 8 of "3/8"."""
    fraction = re.fullmatch(r"\s*(-?\d+)\s*/\s*(\d+)\s*", text)
    return [*fraction.groups()] if fraction else [word.key for word in words(text)[:1]]


def _chosen(found: list[Word], candidate: str, references: Sequence[str]) -> list[Word]:
    """The words of a candidate, with a chosen letter that no reference begins with as a name of its own.

    A letter that ends one of the references, repeated whole, is not chosen: the B of "(A) B".
    """
    options = [_WHOLE_OPTION.match(reference) for reference in references]
    letters = {option[1] for option in options if option}
    *_, last = (None, *_CHOSEN.finditer(candidate)) if all(options) else (None,)
    if last is None or last[1] in letters or any(candidate.endswith(reference) for reference in references):
        return found
    return [word._replace(key=f"option {word.key}") if word.start == last.start(1) else word for word in found]


def _listed(found: list[Word], text: str) -> list[Word]:
    """The words, with letters of an enumeration as names of their own."""
    runs = [Span(*run.span()) for run in _LETTERS.finditer(text)]
    return [
        word._replace(key=f"({word.key})") if word.key in _LONE and touches(word.span, runs) else word for word in found
    ]


def _valued(found: list[Word], text: str, quantities: Sequence[Quantity], others: Set[str]) -> list[Word]:
    """The words, with these quantities as one word each, and shares as numbers that the others have."""
    values = [
        (one.first, one.last, Word(one.key, found[one.first].start, found[one.last - 1].end)) for one in quantities
    ]
    values += [
        (first, last, Word(key, found[first].start, end)) for first, last, end, key in find_shares(found, text, others)
    ]
    valued: list[Word] = []
    place = 0
    for first, last, value in sorted(values):
        if first >= place:
            valued += [*found[place:first], value]
            place = last
    return [*valued, *found[place:]]


def _joined(found: list[Word], keys: Set[str]) -> list[Word]:
    """The words, with two or three in a row as one where together they are one of `keys`."""
    wanted = {key for key in keys if len(key) >= _JOINED and key.isalpha()}.difference(word.key for word in found)
    if not wanted:
        return found
    joined: list[Word] = []
    place = 0
    while place < len(found):
        for count in (2, 3):
            run = found[place : place + count]
            key = "".join(word.key for word in run)
            if key in wanted:
                joined.append(Word(key, run[0].start, run[-1].end))
                break
        else:
            run = found[place : place + 1]
            joined += run
        place += len(run)
    return joined


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """The key that a word is compared by; see the module's first lines."""
    if _NUMBER.match(word):
        return _number_key(word)
    if _EXPONENT.match(word):
        return f"^{_digits(word.strip('^*{}()').replace('⁻', '-'))}"
    key = word.casefold()
    if not key.isascii():
        key = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c))
    if len(key) > 3 and key.endswith("s") and not key.endswith("ss"):
        key = key[:-1]
    if key.endswith(("metre", "litre")):
        key = f"{key[:-2]}er"
    return _SPELLINGS.get(key, key)


def _number_key(word: str) -> str:
    """A number as a decimal, without zeros that say nothing."""
    number = _digits(word.lstrip("-"))
    number = number.replace(",", "." if number.startswith("0,") else "")  # "0,375" has no thousands
    if "/" in number or "frac" in number:
        parts = re.findall(r"\d+", number)
        above, below = map(int, parts if len(parts) == 2 else parts[0])
        number = f"{above / below:.6f}"
    elif not number.isascii():
        number = f"{unicodedata.numeric(number):.6f}"
    number = (number.rstrip("0").rstrip(".") if "." in number else number).lstrip("0")
    number = number if number[:1].isdigit() else f"0{number}"
    return f"-{number}" if word[0] == "-" and number != "0" else number


def _digits(number: str) -> str:
    """A number with digits of ASCII."""
    return "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in number)


def touches(span: Span, spans: Sequence[Span]) -> bool:
    """Whether a span overlaps one of `spans`, which are in order and do not overlap each other."""
    after = bisect_left(spans, (span.end,))
    return after > 0 and spans[after - 1].end > span.start


_STOP_WORDS = frozenset(  # as keys: "this" is compared as "thi"
    word_key(word)
    for word in (
        "a an the of in on at to for from by with as and or but is are was were be been being am it its this "
        "that these those he she they we you i his her their our your my me him them us do does did done have "
        "has had will would can could should may might must shall not no so if than then there here which who "
        "whom whose what when where why how into about over under out up down s t re ve ll d m answer final "
        "st nd rd th percent"
    ).split()
)
_LONE = frozenset(word for word in _STOP_WORDS if len(word) == 1)
