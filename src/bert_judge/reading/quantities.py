"""Numbers with a unit: "5 km/h", "$5 million", "12-inch", "1 hour and 30 minutes", "3 m²", "50 %"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from bert_judge.reading import tables
from bert_judge.reading.numbers import number_at, scaled
from bert_judge.reading.tables import NO_UNIT, Unit
from bert_judge.reading.words import CURRENCY, NUMBER, NUMERAL, UNIT, Amount, Recognised, Word, gap_before

_POWERS = {"^2": 2, "^3": 3, "^-1": -1, "^-2": -2, "^-3": -3, "squared": 2, "cubed": 3, "2": 2, "3": 3}
_SIGNS = {spelling[0] for spelling in tables.UNIT_SYMBOLS if not spelling[0].isalnum()}
_FEET_AND_INCHES = re.compile(r"'\s?(\d{1,2}(?:\.\d+)?)\s?(?:\"|'')")  # 5'10"
_FOOT, HOUR, _MINUTE = (tables.UNIT_NAMES[name] for name in ("foot", "hour", "minute"))
_HOUR_AND_MINUTES = re.compile(r"(?<=h)[0-5]\d(?!\w)")  # 1h30
_BELOW_ZERO = [[under, zero] for under in ("below", "under") for zero in ("zero", "0")]
_TIMES = frozenset(("·", "⋅", "*", "-", " * ", " · "))


class _WrittenUnit(NamedTuple):
    """A unit among tokens: the index of the token after it, where it ends, and further units that its word may mean."""

    next: int
    end: int
    unit: Unit
    others: tuple[Unit, ...] = ()


def amount_at(tokens: Sequence[Word], i: int, text: str) -> Recognised[Amount] | None:
    """The number that begins with token `i`, with its unit if it has one; a currency may stand before it."""
    currency, start = _currency_before(tokens, i, text)
    is_currency = tokens[i].content.roles & CURRENCY > 0
    if is_currency and not currency:
        return None
    first = i + is_currency
    number = number_at(tokens, first, text) if first < len(tokens) else None
    if number is None:
        return None
    place, amount = number.next, number.content
    if currency:
        return _money(tokens, place, text, start, amount, currency)
    if amount.unit != NO_UNIT:
        return number
    if feet := _FEET_AND_INCHES.match(text, number.end):
        place = next((n for n in range(place, len(tokens)) if tokens[n].start >= feet.end()), len(tokens))
        height = Amount(amount.number + float(feet[1]) / 12, 1 / 12, amount.figures + len(feet[1]), _FOOT)
        return Recognised(place, tokens[i].start, feet.end(), height)
    written = _unit_at(tokens, place, text)
    end = number.end
    if written:
        place, end = written.next, written.end
        amount = amount._replace(unit=written.unit, others=written.others)
        while smaller := _add_smaller(tokens, place, text, amount):
            place, end, amount = smaller
    if [token.key for token in tokens[place : place + 2]] in _BELOW_ZERO:  # twelve degrees below zero
        place, end, amount = place + 2, tokens[place + 1].end, amount._replace(number=-amount.number)
    return Recognised(place, tokens[i].start, end, amount)


def _currency_before(tokens: Sequence[Word], i: int, text: str) -> tuple[Unit | None, int]:
    """The currency before a number, and where it begins: "$5", "US$ 5", "USD 5"."""
    token = tokens[i]
    if token.content.roles & CURRENCY:
        gap = gap_before(tokens, i + 1, text)
        return (tables.CURRENCIES.get(token.content.text + gap.strip(" ")), token.start) if len(gap) < 3 else (None, 0)
    at = token.start - 1 if token.start and text[token.start - 1] != " " else token.start - 2
    return (tables.CURRENCIES.get(text[at]), at) if at >= 0 else (None, 0)


def _money(tokens: Sequence[Word], place: int, text: str, start: int, amount: Amount, unit: Unit) -> Recognised[Amount]:
    """An amount of a currency, which may be in "m" or "b": "$5m"."""
    end = tokens[place - 1].end
    if place < len(tokens) and tokens[place].start == end and tokens[place].content.text in tables.MONEY_SUFFIXES:
        amount = scaled(amount, tables.MONEY_SUFFIXES[tokens[place].content.text])
        end, place = tokens[place].end, place + 1
    if start and text[start - 1] == "-" and (start == 1 or text[start - 2].isspace()):
        amount, start = amount._replace(number=-amount.number), start - 1
    return Recognised(place, start, end, amount._replace(unit=unit))


def _add_smaller(tokens: Sequence[Word], place: int, text: str, amount: Amount) -> tuple[int, int, Amount] | None:
    """The sum with a smaller quantity of the same dimension after it: "1 hour and 30 minutes"; with its end."""
    if place < len(tokens) and tokens[place].key in tables.JOINERS:
        place += 1
    if gap_before(tokens, place, text) not in (" ", ", ", "") or not tokens[place].content.roles & (NUMBER | NUMERAL):
        return None
    number = number_at(tokens, place, text)
    written = number and _unit_at(tokens, number.next, text)
    if number and not written and amount.unit == HOUR and _HOUR_AND_MINUTES.match(text, number.start):
        written = _WrittenUnit(number.next, number.end, _MINUTE)
    if number is None or written is None:
        return None
    smaller, unit, larger = number.content, written.unit, amount.unit
    if not unit.dimension or unit.dimension != larger.dimension or not 0 < unit.factor < larger.factor:
        return None
    if not 0 < smaller.number * unit.factor < larger.factor:
        return None
    ratio = unit.factor / larger.factor
    total = amount.number + smaller.number * ratio
    return written.next, written.end, Amount(total, smaller.step * ratio, amount.figures + smaller.figures, larger)


def _unit_at(tokens: Sequence[Word], place: int, text: str) -> _WrittenUnit | None:
    """The unit after a number, which may be a product or quotient of units: "km", "%", "kg m/s^2"."""
    before = tokens[place - 1].end
    if sign := _sign_after(text, before):
        end, unit = sign
        return _WrittenUnit(place + sum(token.start < end for token in tokens[place : place + 2]), end, unit)
    written = None if _is_decade(tokens, place) else _simple_unit(tokens, place, text)
    while written and written.next < len(tokens):
        token = tokens[written.next]
        gap = text[written.end : token.start]
        per = token.key == "per" and gap == " "
        if per or gap in ("/", " / "):
            factor, exponent = _simple_unit(tokens, written.next + per, text, joined=not per), -1
        elif gap in _TIMES or (gap == " " and token.content.text in ("m", "h") and text[written.end - 1].isalpha()):
            factor, exponent = _simple_unit(tokens, written.next, text, joined=True), 1
        else:
            break
        if factor is None:
            break
        written = _WrittenUnit(factor.next, factor.end, _product(written.unit, factor.unit, exponent))
    return written


def _sign_after(text: str, at: int) -> tuple[int, Unit] | None:
    """A unit that is not a word, after spaces or none, and where it ends: %, ‰, € or °C."""
    begin = at
    while text.startswith(" ", begin):
        begin += 1
    if text[begin : begin + 1] not in _SIGNS:
        return None
    for sign in (text[begin : begin + 2], text[begin : begin + 1]):
        end = begin + len(sign)
        after = text[end : end + 2].lstrip(" ") if sign in tables.CURRENCIES else text[end : end + 1]
        if sign in tables.UNIT_SYMBOLS and not after[:1].isalnum():  # but "100 $5" is 100, and five dollars
            return end, tables.UNIT_SYMBOLS[sign]
    return None


def _is_decade(tokens: Sequence[Word], place: int) -> bool:
    """Whether an s right after a number makes it a decade: "the 1940s", "the 60s"."""
    number, after = tokens[place - 1], tokens[place] if place < len(tokens) else None
    tens = number.content.text.endswith("0") and len(number.content.text) in (2, 4)
    return tens and after is not None and after.content.text == "s" and after.start == number.end


def _simple_unit(tokens: Sequence[Word], place: int, text: str, *, joined: bool = False) -> _WrittenUnit | None:
    """One unit with its power: "square metres", "m²", "cm^3". `joined`: whatever stands before it is allowed."""
    if place >= len(tokens) or not tokens[place].content.roles & UNIT:
        return None
    before = gap_before(tokens, place, text)
    if not joined and before not in ("", "-") and not (before.isspace() and "\n" not in before):
        return None
    power = tables.UNIT_POWERS.get(tokens[place].key, 1)
    if power > 1:
        place += 1
    length, unit, others = _longest_name(tokens, place, text)
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
        unit, others = _product(NO_UNIT, unit, power), ()
    return _WrittenUnit(place, end, unit, others)


def _longest_name(tokens: Sequence[Word], place: int, text: str) -> tuple[int, Unit | None, tuple[Unit, ...]]:
    """The longest unit name that begins with a token: its number of tokens, its unit, and others that it may mean."""
    longest: tuple[int, Unit | None, tuple[Unit, ...]] = (0, None, ())
    key = ""
    for length, other in enumerate(tokens[place : place + tables.LONGEST_UNIT], 1):
        if length == 1:
            longest = (1, _symbol(tokens, place, text), tables.UNIT_OTHERS.get(other.content.text, ()))
        elif gap_before(tokens, place + length - 1, text) not in (" ", "-"):
            break
        key = f"{key} {other.key}".lstrip()
        if key in tables.UNIT_NAMES:
            longest = (length, tables.UNIT_NAMES[key], tables.UNIT_OTHERS.get(key, ()))
    return longest


def _symbol(tokens: Sequence[Word], place: int, text: str) -> Unit | None:
    """The unit that a symbol stands for; one that may be a word ("in") where no word follows, or another symbol."""
    symbol, end = tokens[place].content.text, tokens[place].end
    follows = text[end : end + 2].strip(" ").isalnum()
    if follows and not (place + 1 < len(tokens) and tokens[place + 1].content.text in tables.UNIT_SYMBOLS):
        return tables.UNIT_SYMBOLS.get(symbol)
    return tables.UNIT_SYMBOLS.get(symbol) or tables.UNIT_AMBIGUOUS.get(symbol)


@lru_cache(maxsize=4_096)
def _product(one: Unit, other: Unit, power: int) -> Unit:
    """One unit times the other to a power; the factor is rounded, so that dm³ and litres are equal units."""
    exponents = dict(one.dimension)
    for base, exponent in other.dimension:
        exponents[base] = exponents.get(base, 0) + exponent * power
    dimension = tuple(sorted((base, exponent) for base, exponent in exponents.items() if exponent))
    return Unit(dimension, float(f"{one.factor * other.factor**power:.12g}"))
