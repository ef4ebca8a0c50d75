"""Numbers and dates: read from a text, written in other forms, and changed a little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from made.files import table

MONTHS: list[str] = table("dates")["months"]["month"]
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER = re.compile(
    r"(?P<money>\\?\$)?\s?(?P<sign>-)?(?:"
    r"\\[dt]?frac\{(?P<above>\d+)\}\{(?P<below>[1-9]\d*)\}"
    r"|(?P<over>\d+)/(?P<under>[1-9]\d*)"
    r"|(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+))"
    r"(?:\s(?P<scale>thousand|million|billion))?"
    r"(?P<percent>\s?\\?%|\spercent|\sper cent)?"
)
_FIRST_DIGITS = (0x0660, 0x06F0, 0x0966, 0xFF10)  # Arabic, Persian, Devanagari, full width
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = rf"(?P<m>{'|'.join(MONTHS)})"
_YEAR = r"(?P<y>1[0-9]\d\d|20\d\d)"
_DATES = [
    re.compile(rf"(?:on |in |the )?{form}")
    for form in (rf"{_DAY} {_MONTH},? {_YEAR}", rf"{_MONTH} {_DAY},? {_YEAR}", rf"{_MONTH},? {_YEAR}", _YEAR)
]
_DATES += [re.compile(rf"(?:on |the )?{form}") for form in (rf"{_MONTH} {_DAY}", rf"{_DAY}(?: of)? {_MONTH}")]


class Number(NamedTuple):
    """A number; `unit` is "$", "%" or nothing."""

    value: Fraction
    unit: str = ""

    def spellings(self) -> list[str]:
        """Ways to write the number, all of the same value."""
        bare = [*_bare(self.value)]
        if self.unit == "$":
            word = "dollar" if self.value == 1 else "dollars"
            return [form for text in bare for form in (f"${text}", f"{text} {word}", f"USD {text}", text)]
        if self.unit == "%":
            rate = [text for text in _bare(self.value / 100) if not text.endswith("%")]
            forms = [form for text in bare for form in (f"{text}%", f"{text} percent", f"{text} per cent", f"{text} %")]
            return [*forms, *rate] if 0 < self.value < 100 else forms
        return bare

    def other(self, chance: Random) -> Number:
        """Another number: a digit changed, one more or less, digits swapped, ten times as much, a fraction inverted."""
        below = self.value.denominator
        if re.fullmatch(r"[1-9]\d{0,2}", str(below)) and 10**6 % below:  # such as a third or a seventh
            ways = [1 / self.value if self.value else Fraction(1), self.value + Fraction(1, below), -self.value]
            return self._replace(value=chance.choice([way for way in ways if way != self.value]))
        text = decimal(self.value).lstrip("-")
        places = [n for n, char in enumerate(text) if char.isdigit()]
        ways = [self.value + 1, self.value - 1, self.value * 10, *(self.value + n for n in (2, 10, -2))]
        if len(text.replace(".", "")) > 1:
            place = chance.choice(places)
            digit = chance.choice([d for d in "123456789" if d != text[place]])
            swap = chance.choice(places[:-1])
            turned = [*text]
            later = next(n for n in places if n > swap)
            turned[swap], turned[later] = turned[later], turned[swap]
            changed = [Fraction(text[:place] + digit + text[place + 1 :])] * 4 + [Fraction("".join(turned))]
            ways += [-way if self.value < 0 else way for way in changed]
        if self.value and self.value.denominator > 1:
            ways += [self.value / 10]
        kept = [way for way in ways if way != self.value and (way >= 0 or self.value < 0)]
        return self._replace(value=chance.choice(kept))

    def like(self, text: str) -> str:
        """The number in the form that `text` has."""
        if re.search(r"[a-z]", text, re.IGNORECASE) and not re.search(r"\d", text) and self.value.denominator == 1:
            written = in_words(int(self.value)) if self.value >= 0 else decimal(self.value)
            return written.capitalize() if text[:1].isupper() else written
        scale = re.search(r"\s(thousand|million|billion)", text)
        value = self.value / _SCALES[scale[1]] if scale else self.value
        written = decimal(value, commas="," in text)
        shell = re.sub(r"[\d.,]*\d(?:/\d+)?|\\[dt]?frac\{\d+\}\{\d+\}", "{}", text.replace("-", ""), count=1)
        return shell.replace("{}", written, 1)


class Date(NamedTuple):
    """A date, or the parts of it that are known (0: not known)."""

    year: int
    month: int = 0
    day: int = 0

    @property
    def shape(self) -> str:
        """Which parts are known."""
        return "".join(letter for letter, part in zip("ymd", self, strict=True) if part)

    def spellings(self) -> list[str]:
        """Ways to write the date, all the same day, month or year."""
        if self.shape != "ymd":
            return self._in([self.shape])
        return self._in(["ymd", *["day after the 12th"] * (self.day > 12), "ymd, too"])

    def abroad(self) -> list[str]:
        """Ways to write the date in other languages and notations, as many for all dates of the same shape."""
        return self._in([f"{self.shape} abroad"])

    def _in(self, kinds: Sequence[str]) -> list[str]:
        y, m, d = self
        months = {language: names[m - 1] for language, names in table("dates")["months"].items()}
        slots = months | {"short": months["month"][:3], "th": ordinal(d), "words": year_in_words(y)}
        return [form.format(y=y, m=m, d=d, **slots) for kind in kinds for form in table("dates")[kind]]

    def other(self, chance: Random) -> Date:
        """Another date: the day, month or year changed."""
        part = chance.choice([name for name in ("year", "year", "month", "day") if getattr(self, name)])
        if part == "year":
            digit = chance.choice((1, 1, 1, 2, 3, 10, 100))
            later = self.year + chance.choice((-1, 1)) * digit
            return self._replace(year=later if 1000 <= later <= 2025 else self.year - digit)
        top = 12 if part == "month" else 28
        return self._replace(**{part: chance.choice([n for n in range(1, top + 1) if n != getattr(self, part)])})

    def like(self, text: str) -> str:
        """The date in the form that `text` has."""
        old = parse_date(text)
        if old and old.year and self.year:
            text = text.replace(str(old.year), "\0")
        if old and old.month and self.month:
            text = text.replace(MONTHS[old.month - 1], MONTHS[self.month - 1])
        if old and old.day and self.day:
            text = re.sub(rf"\b{old.day}(st|nd|rd|th)?\b", lambda m: ordinal(self.day) if m[1] else str(self.day), text)
        return text.replace("\0", str(self.year))


def parse_number(text: str) -> Number | None:
    """The number that the whole text is; None if there is more in it."""
    text = text.strip().removesuffix(".")
    word = _WORDS.get(text.casefold().replace("-", " "))
    if word is not None:
        return Number(Fraction(word))
    match = _NUMBER.fullmatch(text)
    if not match or (match["scale"] and (match["over"] or match["above"])) or len(text) > 25:
        return None
    over, under = match["above"] or match["over"], match["below"] or match["under"]
    value = Fraction(int(over), int(under)) if over else Fraction(match["digits"].replace(",", ""))
    value *= _SCALES[match["scale"]] if match["scale"] else 1
    unit = "$" if match["money"] else "%" if match["percent"] else ""
    return Number(-value if match["sign"] else value, unit)


def parse_date(text: str) -> Date | None:
    """The date that the whole text is; a number from 1000 to 2099 counts as a year."""
    for form in _DATES:
        if match := form.fullmatch(text.strip()):
            parts = match.groupdict()
            month = MONTHS.index(parts["m"]) + 1 if parts.get("m") else 0
            return Date(int(parts.get("y") or 0), month, int(parts.get("d") or 0))
    return None


def decimal(value: Fraction, commas: bool = False) -> str:
    """A number in digits; a fraction without a short decimal as "a/b"."""
    if value.denominator == 1:
        return f"{int(value):,}" if commas else str(int(value))
    if 10**6 % value.denominator:
        return f"{value.numerator}/{value.denominator}"
    text = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return f"{float(text):,}" if commas and abs(value) >= 1000 else text


def abroad(value: Fraction) -> list[str]:
    """A number of digits as it is written in other languages: a comma before decimals, other groups, other digits."""
    text = decimal(value)
    whole, _, part = text.partition(".")
    if "/" in text or not whole.isdigit():
        return []
    forms = [text.translate({ord("0") + n: first + n for n in range(10)}) for first in _FIRST_DIGITS]
    # "1,234" and "1.234" are read as a decimal by some and as a thousand by others.
    gaps = (" ", "\u202f", "'", *"." * (value >= 10**6 or len(part) in (1, 2)))
    groups = [f"{int(whole):,}".replace(",", gap) for gap in gaps]
    if part:
        forms += [f"{start},{part}" for start in dict.fromkeys([whole, *groups]) if len(part) != 3 or whole == "0"]
    return forms + groups if not part and value >= 1000 else forms


def in_words(n: int) -> str:
    """A whole number from 0 to 999,999,999 in English words."""
    if n < 20:
        return _SMALL[n]
    if n < 100:
        return _TENS[n // 10 - 2] + (f"-{in_words(n % 10)}" if n % 10 else "")
    for name, size in (("million", 1_000_000), ("thousand", 1_000), ("hundred", 100)):
        if n >= size:
            rest = n % size
            joint = " and " if rest < 100 and name == "hundred" else " "
            return f"{in_words(n // size)} {name}" + (joint + in_words(rest) if rest else "")
    raise AssertionError(n)


def year_in_words(year: int) -> str:
    """A year as it is read aloud."""
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return "two thousand" + (f" and {in_words(rest)}" if rest else "")
    end = "hundred" if not rest else f"oh {in_words(rest)}" if rest < 10 else in_words(rest)
    return f"{in_words(century)} {end}"


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th …"""
    return f"{n}{'th' if n // 10 % 10 == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def _bare(value: Fraction) -> list[str]:
    """Spellings of a number without its unit."""
    forms = [decimal(value)] * 2
    size = abs(value)
    if value.denominator == 1:
        forms += [f"{int(value)}.0"] if size < 10_000 else []
        if size >= 1000:
            forms += [f"{int(value):,}"] * 2 + [f"{int(value):,}".replace(",", " "), _scientific(value)]
        if 0 <= value < 10**9 and len(in_words(int(value)).split()) <= 6:
            forms += [in_words(int(value)), in_words(int(value)).capitalize()]
        for name, scale in _SCALES.items():
            if size >= scale and 1000 % (value / scale).denominator == 0 and size < scale * 1000:
                forms += [f"{decimal(value / scale)} {name}"]
        return forms
    if 10**6 % value.denominator == 0:
        forms += [f"{decimal(value)}0"]
        forms += [f"{decimal(value * 100)}%"] if 0 < value < 1 and value.denominator <= 100 else []
    if value.denominator <= 100:
        above, below = value.numerator, value.denominator
        forms += [f"{above}/{below}", f"\\frac{{{above}}}{{{below}}}"]
        if 1 < above / below < 100 and below <= 16:
            forms += [f"{above // below} {above % below}/{below}"]
        spoken = {"1/2": "a half", "1/3": "one third", "1/4": "a quarter", "3/4": "three quarters"}.get(str(value))
        forms += [spoken] if spoken else []
    return forms


def _scientific(value: Fraction) -> str:
    digits, power = f"{float(value):.6e}".split("e")
    digits = digits.rstrip("0").rstrip(".")
    exact = Fraction(digits) * 10 ** int(power) == value
    return f"{digits} × 10^{int(power)}" if exact and len(digits) < 6 else decimal(value)


_WORDS = {
    form: n
    for n in range(1, 1000)
    for form in (in_words(n).replace("-", " "), in_words(n).replace("-", " ").replace(" and ", " "))
} | {"zero": 0, "one thousand": 1000}
