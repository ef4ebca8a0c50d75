"""Numbers with a unit: "5 km/h", "$5 million", "12-inch", "1 hour and 30 minutes", "3 m²", "50 %"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bert_judge.reading.evidence import tables
from bert_judge.reading.evidence.numbers import number_at, scaled
from bert_judge.reading.evidence.values import NO_UNIT, Amount, Found, Unit, Word
from bert_judge.reading.evidence.words import CURRENCY, NUMBER, NUMERAL, UNIT

_POWERS = {"^2": 2, "^3": 3, "^-1": -1, "^-2": -2, "^-3": -3, "squared": 2, "cubed": 3, "2": 2, "3": 3}
_SIGNS = {spelling[0] for spelling in tables.UNIT_SYMBOLS if not spelling[0].isalnum()}
_FEET_AND_INCHES = re.compile(r"'\s?(\d{1,2}(?:\.\d+)?)\s?(?:\"|'')")  # 5'10"
_FOOT, HOUR = tables.UNIT_NAMES["foot"], tables.UNIT_NAMES["hour"]
_MINUTE = tables.UNIT_NAMES["minute"]
_MINUTES = re.compile(r"[0-5]\d(?!\w)")
_UNDER, _ZERO = ("below", "under"), ("zero", "0")  # twelve degrees below zero
_TIMES = frozenset(("·", "⋅", "*", "-", " * ", " · "))


def amount_at(tokens: Sequence[Word], i: int, text: str) -> Found[Amount] | None:
    """The number that begins with token `i`, with its unit if it has one; a currency may stand before it."""
    prefix, start = _currency_before(tokens, i, text)
    named = tokens[i].what.roles & CURRENCY > 0
    if named and not prefix:
        return None
    first = i + named
    found = number_at(tokens, first, text) if first < len(tokens) else None
    if found is None:
        return None
    place, amount = found.place, found.what
    if prefix:
        return _money(tokens, place, text, start, amount, prefix)
    if amount.unit != NO_UNIT:
        return found
    if feet := _FEET_AND_INCHES.match(text, found.end):
        inches = float(feet[1])
        place = next((n for n in range(place, len(tokens)) if tokens[n].start >= feet.end()), len(tokens))
        whole = Amount(amount.number + inches / 12, 1 / 12, amount.figures + len(feet[1]), _FOOT)
        return Found(place, tokens[i].start, feet.end(), whole)
    read = _unit_at(tokens, place, text)
    place, end, unit, others = read or (place, found.end, NO_UNIT, ())
    whole = amount._replace(unit=unit, others=others)
    while read and (more := _smaller(tokens, place, text, whole)):
        place, end, whole = more
    if place + 1 < len(tokens) and tokens[place].key in _UNDER and tokens[place + 1].key in _ZERO:
        place, end, whole = place + 2, tokens[place + 1].end, whole._replace(number=-whole.number)
    return Found(place, tokens[i].start, end, whole)


def _currency_before(tokens: Sequence[Word], i: int, text: str) -> tuple[Unit | None, int]:
    """The currency before a number, and where it begins: "$5", "US$ 5", "USD 5"."""
    token = tokens[i]
    if token.what.roles & CURRENCY:
        gap = text[token.end : tokens[i + 1].start] if i + 1 < len(tokens) else "."
        spelling = token.what.text + gap.strip(" ")
        return (tables.CURRENCIES.get(spelling), token.start) if len(gap) < 3 else (None, 0)
    at = token.start - 1 if token.start and text[token.start - 1] != " " else token.start - 2
    return (tables.CURRENCIES.get(text[at]), at) if at >= 0 else (None, 0)


def _money(tokens: Sequence[Word], place: int, text: str, start: int, amount: Amount, unit: Unit) -> Found[Amount]:
    """An amount of a currency, which may be in "m" or "b": "$5m"."""
    end = tokens[place - 1].end
    if place < len(tokens) and tokens[place].start == end and tokens[place].what.text in tables.MONEY_SUFFIXES:
        scale = tables.MONEY_SUFFIXES[tokens[place].what.text]
        amount = scaled(amount, scale)
        end, place = tokens[place].end, place + 1
    if start and text[start - 1] == "-" and (start == 1 or text[start - 2].isspace()):
        amount, start = amount._replace(number=-amount.number), start - 1
    return Found(place, start, end, amount._replace(unit=unit))


def _smaller(tokens: Sequence[Word], place: int, text: str, whole: Amount) -> tuple[int, int, Amount] | None:
    """A quantity and a smaller one of the same dimension after it, as their sum: "1 hour and 30 minutes"."""
    if place < len(tokens) and tokens[place].key in tables.JOINERS:
        place += 1
    if place >= len(tokens) or not tokens[place].what.roles & (NUMBER | NUMERAL):
        return None
    if text[tokens[place - 1].end : tokens[place].start] not in (" ", ", ", ""):
        return None
    found = number_at(tokens, place, text)
    if found is None:
        return None
    read = _unit_at(tokens, found.place, text)
    if read is None and whole.unit == HOUR and _MINUTES.match(text, found.start) and text[found.start - 1] == "h":
        read = (found.place, found.end, _MINUTE, ())  # 1h30
    if read is None:
        return None
    number, (after, end, unit, _) = found.what, read
    smaller = unit.dimension == whole.unit.dimension and 0 < unit.factor < whole.unit.factor and unit.dimension
    if not smaller or not 0 < number.number * unit.factor < whole.unit.factor:
        return None
    ratio = unit.factor / whole.unit.factor
    total = whole.number + number.number * ratio
    return after, end, Amount(total, number.step * ratio, whole.figures + number.figures, whole.unit)


def _unit_at(tokens: Sequence[Word], place: int, text: str) -> tuple[int, int, Unit, tuple[Unit, ...]] | None:
    """The unit after a number: the token after it, the character where it ends, what it is, what else it may be."""
    before = tokens[place - 1].end
    sign = _sign_after(text, before)
    if sign:
        end, unit = sign
        return place + sum(token.start < end for token in tokens[place : place + 2]), end, unit, ()
    read = None if _is_decade(tokens, place) else _simple(tokens, place, text)
    if read is None:
        return None
    place, end, unit, others = read
    while place < len(tokens):
        gap, token = text[end : tokens[place].start], tokens[place]
        per = token.key == "per" and gap == " "
        if per or gap in ("/", " / "):
            more = _simple(tokens, place + per, text, joined=not per)
            sign_of_power = -1
        elif gap in _TIMES or (gap == " " and token.what.text in ("m", "h") and text[end - 1].isalpha()):
            more, sign_of_power = _simple(tokens, place, text, joined=True), 1
        else:
            break
        if more is None:
            break
        place, end, unit, others = more[0], more[1], _product(unit, more[2], sign_of_power), ()
    return place, end, unit, others


def _sign_after(text: str, at: int) -> tuple[int, Unit] | None:
    """A unit that is no word: %, ‰, € or °C, after a space or none."""
    begin = at
    while text.startswith(" ", begin):
        begin += 1
    if text[begin : begin + 1] not in _SIGNS:
        return None
    for length in (2, 1):
        end = begin + len(text[begin : begin + length])
        unit = tables.UNIT_SYMBOLS.get(text[begin:end])
        after = text[end : end + 2].lstrip(" ") if text[begin:end] in tables.CURRENCIES else text[end : end + 1]
        if unit and not after[:1].isalnum():  # but "100 $5" is 100, and five dollars
            return end, unit
    return None


def _is_decade(tokens: Sequence[Word], place: int) -> bool:
    """Whether an s that stands right after a number makes it a decade: "the 1940s", "the 60s"."""
    number, after = tokens[place - 1], tokens[place] if place < len(tokens) else None
    tens = number.what.text.endswith("0") and len(number.what.text) in (2, 4)
    return tens and after is not None and after.what.text == "s" and after.start == number.end


def _simple(
    tokens: Sequence[Word], place: int, text: str, *, joined: bool = False
) -> tuple[int, int, Unit, tuple[Unit, ...]] | None:
    """One unit with its power: "square metres", "m²", "cm^3"."""
    if (
        place >= len(tokens)
        or not tokens[place].what.roles & UNIT
        or (not joined and not _near(text[tokens[place - 1].end : tokens[place].start]))
    ):
        return None
    power = tables.UNIT_POWERS.get(tokens[place].key, 1)
    if power > 1:
        place += 1
    length, unit, others = _named(tokens, place, text)
    if unit is None:
        return None
    place += length
    end = tokens[place - 1].end
    if power == 1 and place < len(tokens):
        raised = _POWERS.get(tokens[place].key, 1)
        gap = text[end : tokens[place].start]
        if raised != 1 and gap == (" " if tokens[place].key.isalpha() else ""):
            power, place, end = raised, place + 1, tokens[place].end
    if power != 1:
        unit, others = _raised(unit, power), ()
    return place, end, unit, others


def _near(gap: str) -> bool:
    """Whether what stands between a number and a word lets that be its unit."""
    return not gap or gap == "-" or (gap.isspace() and "\n" not in gap)


def _named(tokens: Sequence[Word], place: int, text: str) -> tuple[int, Unit | None, tuple[Unit, ...]]:
    """The unit of the longest name that begins with a token, how many tokens the name has, and other readings."""
    if place >= len(tokens):
        return 0, None, ()
    token = tokens[place]
    found: tuple[int, Unit | None, tuple[Unit, ...]] = (0, None, ())
    if token.what.text in tables.UNIT_SYMBOLS:
        found = (1, tables.UNIT_SYMBOLS[token.what.text], tables.UNIT_OTHERS.get(token.what.text, ()))
    elif token.what.text in tables.UNIT_AMBIGUOUS and (
        _nothing_follows(text, token.end) or _is_symbol(tokens, place + 1)
    ):
        found = (1, tables.UNIT_AMBIGUOUS[token.what.text], tables.UNIT_OTHERS.get(token.what.text, ()))
    key = ""
    for length, other in enumerate(tokens[place : place + tables.LONGEST_UNIT], 1):
        if length > 1 and text[tokens[place + length - 2].end : other.start] not in (" ", "-"):
            break
        key = f"{key} {other.key}" if key else other.key
        if key in tables.UNIT_NAMES:
            found = (length, tables.UNIT_NAMES[key], tables.UNIT_OTHERS.get(key, ()))
    return found


def _is_symbol(tokens: Sequence[Word], place: int) -> bool:
    return place < len(tokens) and tokens[place].what.text in tables.UNIT_SYMBOLS


def _nothing_follows(text: str, end: int) -> bool:
    """Whether the text ends there, or something else than a word follows."""
    return not text[end : end + 2].strip(" ").isalnum()


@lru_cache(maxsize=4_096)
def _raised(unit: Unit, power: int) -> Unit:
    return _unit({base: exponent * power for base, exponent in unit.dimension}, unit.factor**power)


@lru_cache(maxsize=4_096)
def _product(one: Unit, other: Unit, power: int) -> Unit:
    """One unit times the other to a power."""
    exponents = dict(one.dimension)
    for base, exponent in other.dimension:
        exponents[base] = exponents.get(base, 0) + exponent * power
    return _unit(exponents, one.factor * other.factor**power)


def _unit(exponents: dict[str, int], factor: float) -> Unit:
    """A unit; to so many figures that 5 dm³ and 5 litres are of one."""
    return Unit(tuple(sorted((base, e) for base, e in exponents.items() if e)), float(f"{factor:.12g}"))
