"""A text as tokens (words, numbers in digits, exponents), what is known of a written word, and the kinds of values.

`fold` comes first: characters that look alike, or differ in width only, become one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from bert_judge.reading import tables
from bert_judge.reading.tables import NO_UNIT, Unit

EXACT = 15  # figures that a float holds


class Amount(NamedTuple):
    """A number with its unit. `step` is the value of its last written figure, 0 if it is exact; `figures` counts them.

    `others` are further units that its word may mean: a pound is a mass or money.
    """

    number: float
    step: float = 1.0
    figures: int = 1
    unit: Unit = NO_UNIT
    others: tuple[Unit, ...] = ()


class Moment(NamedTuple):
    """A "date" (year, month, day) or a "time" (half of the day, hour, minute); None for each part that is not stated.

    `other` is a second interpretation: 05/03/1918 may be in March or in May.
    """

    kind: str
    parts: tuple[int | None, int | None, int | None]
    notation: str = ""
    other: tuple[int | None, int | None, int | None] | None = None


class OptionLetter(NamedTuple):
    """A letter that names an option."""

    letter: str


class WordForm(NamedTuple):
    """What is known of a written word (`text`) wherever it stands: `key` compares words, `stem` their inflected forms.

    `acronym`: it is written in capitals. `roles`: the kinds of values that it can be part of, as bits (`STOP` etc.).
    """

    key: str
    stem: str
    acronym: bool
    roles: int
    text: str


class Word(NamedTuple):
    """A word at characters `start` to `end` (exclusive) of a text; words of the same `key` are the same."""

    key: str
    start: int
    end: int
    content: WordForm


class Value(NamedTuple):
    """Any other value at characters `start` to `end` (exclusive) of a text; values of the same `key` are the same."""

    key: Hashable
    start: int
    end: int
    content: Amount | Moment | OptionLetter


AnyValue = Word | Value
Content = TypeVar("Content", Amount, Moment, covariant=True)


class Recognised(NamedTuple, Generic[Content]):
    """A value that was recognised among tokens: the index of the token after it, its characters, and its content."""

    next: int
    start: int
    end: int
    content: Content


# Look-alikes of Latin letters (from Unicode's confusables, UTS 39).
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁɡԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρ",
    "ABESIJKMHOPCTYXaesijopcyxhdgqwABEZHIKMNOPTYXoavp",
)
_LOOK_ALIKE = re.compile(f"[{''.join(map(chr, _ALIKE))}]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_NOT_FOLDED = frozenset(("super", "sub", "fraction"))  # x² is not x2
_PUNCTUATION = {
    **dict.fromkeys("‘’‚‛′＇", "'"),
    **dict.fromkeys("“”„‟″", '"'),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
}


def fold(text: str) -> str:
    """The text with full-width and styled letters, exotic spaces, quotation marks and dashes replaced by ASCII.

    Letters that look like Latin ones become Latin where they stand alone (an option letter in Cyrillic) or in a word
    that has Latin letters, too. Each character is replaced by one, so places in the result are places in the text.
    """
    if text.isascii():
        return text
    folded = _NOT_ASCII.sub(lambda match: _fold_character(match[0]), text)
    return _LETTERS.sub(_fold_letters, folded) if _LOOK_ALIKE.search(folded) else folded


@lru_cache(maxsize=4_096)
def _fold_character(character: str) -> str:
    kind = unicodedata.decomposition(character).partition(">")[0].lstrip("<")
    plain = unicodedata.normalize("NFKC", character)
    folded = plain if len(plain) == 1 and kind not in _NOT_FOLDED else character
    return _PUNCTUATION.get(folded, folded)


def _fold_letters(match: re.Match[str]) -> str:
    word = match[0]
    return word.translate(_ALIKE) if len(word) == 1 or _LATIN.search(word) else word


_HAN = "\u3040-\u30ff\u3400-\u9fff"  # text in kana and han has no spaces: each character is a word
_HAN_DIGITS = "〇零一二两三四五六七八九十百千万億亿兆"
_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e"  # combining marks, which are not letters
_VULGAR, _EXPONENTS = "\u00bc-\u00be\u2150-\u215e", "\u2070\u00b9\u00b2\u00b3\u2074-\u2079"  # ½ …, ² …
_TEN = rf" ?(?:[x×*·⋅]|\\times|\\cdot) ?10(?: ?(?:\^|\*\*) ?\{{?\(?[+-]?\d{{1,3}}\)?\}}?|\u207b?[{_EXPONENTS}]+)"
_GROUPED = "|".join(
    (
        r"\d{1,3}(?:,\d{3}){1,9}(?!\d)(?:\.\d+)?",
        r"\d{1,3}(?:'\d{3}){1,9}(?!\d)(?:[.,]\d+)?",
        r"(?<!\d )\d{1,3}(?: \d{3}){1,4}(?! ?\d)(?:[.,]\d+)?",  # but "100 101 102 103 104 105" is a list
        r"\d{1,3}(?:\.\d{3}){2,9}(?!\d)(?:,\d+)?",
        r"\d{1,3}(?:\.\d{3}){1,9},\d{1,2}(?![\d,.])",
        r"\d{1,2}(?:,\d{2}){1,9},\d{3}(?!\d)(?:\.\d+)?",
    )
)
_COMMA = r"(?<![\d,(\[{])(?:0,\d+|\d+,(?:\d\d?|\d{4,}))(?!\d|,\d|[)\]}])"  # but "(3,4)" and "1,2,3" are lists
_TOKEN = re.compile(  # for speed first: most characters begin no token, most tokens are plain words
    rf"(?=[\w.\\^*\-{_VULGAR}\u207b{_EXPONENTS}])(?:[A-Za-z]{{2,}}+(?![^\x00-\x7f]|\.[A-Z]\.|[+#]|-(?!\w)|\d[+-](?!\w))"
    r"|(?<!\w)(?:[A-Z][A-Za-z]?[A-Z]?\d?|c)(?:\+\+|[+#]|-(?![\w>-]))(?![\w+])"  # C++, A+, Na+, Ca2+
    r"|(?<!\w)[A-F] (?:plus plus|plus|minus|sharp)(?!\w| [A-Z\d])"
    r"|(?<![\w.])[vV]?(?!\d{1,3}(?:\.\d{3})+(?![\d.]))\d+(?:\.\d+){2,}(?!\w|\.\d)(?<!\d\.\d\d\d\d)"  # 10.0.0.1, v2.10.0
    rf"|(?<!\w)(?:[^\W\d_{_HAN}][a-z]?\.)(?:[^\W\d_{_HAN}]\.)+(?:[^\W\d_](?!\w))?"  # U.S.A., Ph.D.
    rf"|(?:[^\W\d_{_HAN}{_VULGAR}{_EXPONENTS}]+[{_MARKS}]*)+"  # a word
    rf"|[{_HAN_DIGITS}]{{2,}}|[{_HAN}]"
    r"|(?P<date>(?<![\d./-])(?:\d{4}([/-])\d\d?\2\d\d?|\d\d?([./-])\d\d?\3\d{4}|(?:0[1-9]|1[0-2])/(?:19|20)\d\d)(?!\d))"
    r"|(?P<time>(?<![\d:.])\d\d?:[0-5]\d(?::[0-5]\d)?(?![\d:]))"
    rf"|(?P<number>(?:(?<![\w)\]}}.])-|(?<=[=≈] )- (?=[\d.]))?(?:"
    r"(?<![\d/.,])(?:\d{1,3}|(?!1\d{3}/|20\d\d/)\d{4,9})/[1-9]\d{0,8}(?![/.,]?\d)"  # but 1914/15
    r"|\\[dtc]?frac(?:\{\d{1,9}\}\{[1-9]\d{0,8}\}|\d[1-9])"
    rf"|(?:{_GROUPED}|{_COMMA}|\d+(?:\.\d+)?|(?<![\w.])\.\d+)"
    rf"(?: ?[{_VULGAR}]|[eE][+-]?\d{{1,3}}(?!\w)|{_TEN}"
    rf"|(?<=10)(?:(?:\^|\*\*)\{{?-?\d\d?\}}?(?!\d)|\u207b?[{_EXPONENTS}]+))?"
    rf"|[{_VULGAR}]))"
    rf"|[\u207b]?[{_EXPONENTS}]+|\^(?:-?\d+|\{{-?\d+\}}|\(-?\d+\))|(?<=[\w)])\*\*-?\d+(?![\d*]))"  # x², x^2, x**2
)
_ROMAN = re.compile(r"(?=[IVX]{2,})X{0,3}(?:IX|IV|V?I{0,3})")
_EXPONENT = re.compile(rf"[\^*\u207b{_EXPONENTS}]")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"))
_VOWEL = re.compile("[aeiouy]")

# The kinds of values that a token can be part of, besides a word: bits of `WordForm.roles`.
STOP, NUMBER, DATE, TIME, NUMERAL, ROMAN, MONTH, CURRENCY, UNIT = (1 << bit for bit in range(9))
STARTS = NUMBER | DATE | TIME | NUMERAL | ROMAN | MONTH | CURRENCY  # a value can begin with such a token
_ACRONYMS = frozenset(("us", "it", "who"))  # function words, but names when in capitals
MINUS = frozenset("minus negative menos moins".split())
"""Words that make the number after them negative."""
NAMED_TIMES = {"noon": 1, "midday": 1, "midnight": 0}
"""Words for twelve o'clock, with the half of the day that begins then."""
BEFORE_CHRIST, AFTER_CHRIST = Unit(notation="BC"), Unit(notation="AD")
ERAS = {
    **dict.fromkeys(("BC", "BCE", "B.C.", "B.C.E.", "bc", "bce"), BEFORE_CHRIST),
    **dict.fromkeys(("AD", "CE", "A.D.", "C.E."), AFTER_CHRIST),
}
"""Abbreviations beside a year that date it before or after the year 1."""
_SIGN_WORDS = {" plus": "+", " minus": "-", " sharp": "#"}
_GROUPS = {"number": NUMBER, "date": DATE, "time": TIME}
_new = tuple.__new__  # takes a third of the time of Word(...), and there is one for each word of a text


def split_words(text: str) -> list[Word]:
    """The tokens of a folded text, in order; all are words until a recogniser makes other values of some."""
    return [
        _new(Word, ((form := word_form(match[0])).key, match.start(), match.end(), form))
        for match in _TOKEN.finditer(text)
    ]


def gap_before(tokens: Sequence[Word], i: int, text: str) -> str:
    """The characters between token `i` and the one before it; after the last token a line break, which ends a value."""
    return text[tokens[i - 1].end : tokens[i].start] if i < len(tokens) else "\n"


def is_function_word(value: AnyValue) -> bool:
    """Whether a value is a word of grammar."""
    return isinstance(value.content, WordForm) and bool(value.content.roles & STOP)


@lru_cache(maxsize=65_536)
def word_form(written: str) -> WordForm:
    """What is known of a written word."""
    if written.startswith("- "):  # x = - 3
        written = f"-{written[2:]}"
    match = _TOKEN.fullmatch(written)
    if match and match.lastgroup in _GROUPS:
        return WordForm(written, written, False, _GROUPS[match.lastgroup], written)
    if _EXPONENT.match(written):  # ², ^2 and **2 are one word
        exponent = written.strip("^*{}()").replace("\u207b", "-")
        key = "^" + "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in exponent)
        return WordForm(key, written, False, 0, written)
    key = word_key(written)
    acronym = len(key) > 1 and written.replace(".", "").isupper() and written[-1] not in "+-#"
    grammar = key in tables.FUNCTION_WORDS and not (acronym and key in _ACRONYMS)
    stops = grammar and (len(key) > 1 or written in "AI" or written.islower())
    roles = (
        STOP * stops
        | NUMERAL * (key in tables.NUMERAL_STARTS or key in MINUS or written[0] in tables.HAN_NUMERALS)
        | NUMERAL * (written in ERAS)
        | MONTH * (key in tables.MONTHS or written in tables.DATE_MARKS)
        | CURRENCY * (written in tables.CURRENCIES or f"{written}$" in tables.CURRENCIES)
        | UNIT * (written in tables.UNIT_STARTS or key in tables.UNIT_STARTS)
        | TIME * (key in ("am", "pm") or key in NAMED_TIMES)
        | ROMAN * bool(_ROMAN.fullmatch(written))
    )
    return WordForm(key, key if acronym else _stem(key), acronym, roles, written)


def word_key(word: str) -> str:
    """A word without letter case and accents, the full stops of an acronym and the "v" of a version."""
    key = word.casefold()
    if "." in key:
        key = key.removeprefix("v") if key[-1].isdigit() else key.replace(".", "")
    if " " in key:
        for name, sign in _SIGN_WORDS.items():
            key = key.replace(name, sign)
    if not key.isascii():
        key = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c))
    return key


def _stem(key: str) -> str:
    """A word without its inflection: "apples" and "apple" are "appl", "making" and "make" are "mak"."""
    if len(key) < 4 or key in tables.SINGULARS:
        return key
    for ending, singular in _ENDINGS:
        if key.endswith(ending) and len(key) > len(ending) + 1:
            return _without_e(key.removesuffix(ending) + singular)
    if key.endswith("s") and not key.endswith(("ss", "us", "is")):
        return _without_e(key[:-1])
    for ending in ("ing", "ed"):
        rest = key.removesuffix(ending)
        if rest != key and len(rest) > 2 and _VOWEL.search(rest) and not rest.endswith("e"):
            return _without_e(rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest)
    return _without_e(key)


def _without_e(stem: str) -> str:
    return stem.removesuffix("e") if len(stem) > 3 else stem
