"""Numbers that are written in words: "fifty-two", "1.5 million", "twenty-first", "three quarters", "2 and a half"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
SMALL = {name: value for value, name in enumerate(_NAMES.split())}
TENS = {name: 10 * n for n, name in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_NTH = {name: n for n, name in enumerate("first second third fourth fifth sixth seventh eighth ninth".split(), 1)}
# "Second" is a unit of time, too, and "third" a fraction: alone they are words like others.
ORDINALS = {
    **{name: n for name, n in _NTH.items() if n > 3},
    **{f"{name}th": value for name, value in SMALL.items() if value > 9 and value != 12},
    "twelfth": 12,
    **{f"{name.removesuffix('y')}ieth": value for name, value in TENS.items()},
}
_VALUES = SMALL | TENS | _NTH
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ANY = "|".join([*SMALL, *TENS, "hundred", *_SCALES])
_LAST = rf"-(?:{'|'.join(_NTH)})"
_WRITTEN = re.compile(
    rf"(?<![\w.,-])(?:(?:\d+(?:,\d{{3}})*(?:\.\d+)?|{_ANY})(?:(?:-| +)(?:and(?:-| +))?(?:{_ANY}))+(?:{_LAST})?"
    rf"|(?:{'|'.join(TENS)}){_LAST})(?!\w)",
    re.IGNORECASE,
)

_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "hundredth": 100, "thousandth": 1000}
_PARTS |= {name: value for name, value in ORDINALS.items() if value < 21}
_SMALL = "|".join(SMALL)
_SHARE = re.compile(
    rf"(?<![\w.,/-])(?:(?:(?P<whole>\d{{1,9}}|{_SMALL})[ -]and[ -])?(?P<above>an?|\d{{1,3}}|{_SMALL})[ -])?"
    rf"(?P<below>{'|'.join(_PARTS)})s?(?!\w)",
    re.IGNORECASE,
)


def numbers_in_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Where numbers of several words stand in a text, and their value in digits: ("fifty-two" is 0, 9, "52")."""
    for match in _WRITTEN.finditer(text):
        value = _value(re.split(r"[ -]+", match[0].casefold()))
        if value is not None:
            digits = f"{value:f}"
            yield *match.span(), digits.rstrip("0").rstrip(".") if "." in digits else digits


def shares_in_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Where words can be read as a fraction, and its value: 0, 14, "0.75" for "three quarters"; it may be a count."""
    for match in _SHARE.finditer(text):
        whole, above, below = (part.casefold() for part in match.groups(""))
        if above or below in ("half", "quarter"):
            parts = 1 if above in ("", "a", "an") else _count(above)
            value = _count(whole or "0") + parts / _PARTS[below]
            yield *match.span(), f"{value:.6f}".rstrip("0").rstrip(".")


def _count(word: str) -> int:
    return SMALL[word] if word in SMALL else int(word)


def _value(words: list[str]) -> Decimal | None:
    """The number that words say together; None where they are several numbers, such as "one two three"."""
    # `room` is what the next word has to stay below: 1,000 at first, 100 after hundreds, 10 after tens.
    whole, part, room, scale = Decimal(0), Decimal(0), 1_000, 10**15
    for place, word in enumerate(words):
        if word == "and":
            if room != 100 and not (whole and not part):  # only after hundreds or thousands
                return None
            continue
        if word in _SCALES:
            if not part or _SCALES[word] >= scale:
                return None
            scale = _SCALES[word]
            whole, part, room = whole + part * scale, Decimal(0), 1_000
        elif word == "hundred":
            part = part or Decimal(not place)
            if not 0 < part < 100:
                return None
            part, room = part * 100, 100
        else:
            size = _VALUES.get(word, -1)
            value = Decimal(word.replace(",", "")) if size < 0 else Decimal(size)
            needed = 1_000 if size < 0 else 10 if size < 10 else 100
            if room < needed or (size < 0 and place):
                return None
            part, room = part + value, 10 if size in TENS.values() else 0
    return whole + part
