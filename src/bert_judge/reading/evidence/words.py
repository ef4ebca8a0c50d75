"""A text as tokens: words, numbers in digits, exponents; and what is known of a written word wherever it stands."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from bert_judge.reading.evidence import tables
from bert_judge.reading.evidence.values import Form, Word

_HAN = "\u3040-\u30ff\u3400-\u9fff"  # kana and han have no spaces: each character is a word
_HAN_DIGITS = "〇零一二两三四五六七八九十百千万億亿兆"
_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e"  # combining ones, which are no letters
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
_TOKEN = re.compile(  # the first two parts are for speed: most characters begin no token, most tokens are such words
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


# What a token can be part of, besides a word; bits of `Form.roles`.
STOP, NUMBER, DATE, TIME, NUMERAL, ROMAN, MONTH, CURRENCY, UNIT = (1 << bit for bit in range(9))
STARTS = NUMBER | DATE | TIME | NUMERAL | ROMAN | MONTH | CURRENCY  # a value can begin with it
_ACRONYMS = frozenset(("us", "it", "who"))  # in capitals they are no function words
_HALVES = frozenset(("am", "pm"))
MINUS = frozenset("minus negative menos moins".split())
"""Words that make the number after them negative."""
NAMED_TIMES = {"noon": 1, "midday": 1, "midnight": 0}
"""Words for twelve o'clock, and the half of the day that it begins."""
ERAS = {
    **dict.fromkeys(("BC", "BCE", "B.C.", "B.C.E.", "bc", "bce"), "BC"),
    **dict.fromkeys(("AD", "CE", "A.D.", "C.E."), "AD"),
}
"""What stands beside a year to say whether it is before or after the year 1."""
_SIGN_WORDS = {" plus": "+", " minus": "-", " sharp": "#"}
_GROUPS = {"number": NUMBER, "date": DATE, "time": TIME}
_new = tuple.__new__  # a third of the time of Word(...), of which there is one a word


def tokenise(text: str) -> list[Word]:
    """The tokens of a folded text, in order; each is a word until a recogniser makes another value of it."""
    return [
        _new(Word, ((form := form_of(found[0])).key, found.start(), found.end(), form))
        for found in _TOKEN.finditer(text)
    ]


@lru_cache(maxsize=65_536)
def form_of(written: str) -> Form:
    """What is known of a written word."""
    if written.startswith("- "):  # x = - 3
        written = f"-{written[2:]}"
    found = _TOKEN.fullmatch(written)
    if found and found.lastgroup in _GROUPS:
        return Form(written, written, False, _GROUPS[found.lastgroup], written)
    if _EXPONENT.match(written):
        return Form(_exponent(written), written, False, 0, written)
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
        | TIME * (key in _HALVES or key in NAMED_TIMES)
        | ROMAN * bool(_ROMAN.fullmatch(written))
    )
    return Form(key, key if acronym else _stem(key), acronym, roles, written)


def word_key(word: str) -> str:
    """A word without what does not count: letter case, accents, the full stops of an acronym, the "v" of a version."""
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
            return _bare(key.removesuffix(ending) + singular)
    if key.endswith("s") and not key.endswith(("ss", "us", "is")):
        return _bare(key[:-1])
    for ending in ("ing", "ed"):
        rest = key.removesuffix(ending)
        if rest != key and len(rest) > 2 and _VOWEL.search(rest) and not rest.endswith("e"):
            return _bare(rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest)
    return _bare(key)


def _bare(stem: str) -> str:
    return stem.removesuffix("e") if len(stem) > 3 else stem


def _exponent(word: str) -> str:
    digits = word.strip("^*{}()").replace("\u207b", "-")
    return "^" + "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in digits)
