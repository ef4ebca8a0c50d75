"""Rows of quantities as people grade them: converted and rounded ones are correct, but not to too few figures, by a wrong
factor, in a wrong unit, or to another precision than the question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor, log10
from random import Random

from made import frames
from made.bank import Bank, Item, Made, Rows
from made.files import pick, table
from made.forms import COUNTRY, framed
from made.twins import ROUNDS, twins
from made.values import Number, decimal, parse_number

_SYSTEMS = [{unit: Fraction(size) for unit, size in units.items()} for units in table("measures")["units"].values()]
_SYSTEM = {unit: system for system in _SYSTEMS for unit in system}
_SYMBOLS: dict[str, str] = table("measures")["symbols"]
_PLURALS = {unit: table("measures")["plurals"].get(unit, unit + "s") for unit in _SYSTEM}
_LINEAR = {pair: Fraction(size) for a, b, size in table("measures")["linear"] for pair in ((a, b), (b, a))}
_BRITISH = re.compile(r"(met|lit)er")
_NAMED = {_BRITISH.sub(end, form): unit for unit in _SYSTEM for form in (unit, _PLURALS[unit]) for end in (r"\1er", r"\1re")}
_NAMED |= {symbol: unit for unit, symbol in _SYMBOLS.items() if unit != "inch"}
_MEASURE = re.compile(r"([\d.,]+) ?([A-Za-z]+)")
_ASKED = re.compile(r"\bhow many(?: more| fewer| less| total)? ([a-z]+s|feet|dozen)\b", re.IGNORECASE)
_Size = tuple[Fraction, str]  # a number, and its unit or nothing


def units(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A quantity in its own unit, or in another one if the reference has one; incorrect: another number or unit."""
    size = _measure(item)
    if not size:
        return
    written = _written(size, chance)
    references = (written,) if item.task in ("gsm8k", "svamp", "mawps") and chance.random() < 0.6 else ()
    bare = not references and parse_number(item.right) is not None
    right = size if bare else _same(size, chance)
    for _ in range(2 if chance.random() < 0.3 else 1):
        wrong = _other(size, right, 200, chance)
        others = (number.value for text in item.references[1:] if (number := parse_number(text)))
        if not any(_equal(wrong, (number, size[1]), 200) for number in others):
            yield Made(1, framed(_written(right, chance), item, chance), references)
            yield Made(0, framed(_written(wrong, chance), item, chance), references)


def measured(bank: Bank, chance: Random) -> Rows:
    """Made-up quantities, with and without a precision that is asked for, and quotients of whole numbers."""
    for _ in range(ROUNDS):
        place = chance.choice([*COUNTRY])
        if chance.random() < 0.25:
            yield from _quotient(place, chance)
            continue
        question, stated, unit, low, high = pick(chance, "measures", "questions")
        item = Item("measured", frames.fill(question, p=place), ("",))
        stated = frames.fill(stated, p=place)
        size = rounded(Fraction(chance.uniform(low, high)), chance.choice((1, 2, 2, 3, 3, 4, 5, 6))), unit
        if chance.random() < 0.35:
            yield from _precise(item, rounded(Fraction(chance.uniform(low, high)), 6), unit, stated, chance)
            continue
        same, about = _same(size, chance), pick(chance, "measures", "about")
        # What is about right is not clearly wrong.
        other = _other(size, same, 200 if about == "{x}" else 40, chance)
        right, wrong = (frames.fill(about, x=_written(one, chance)) for one in (same, other))
        yield from _paired(item, _written(size, chance), right, wrong, stated, chance)


def rounded(value: Fraction, figures: int) -> Fraction:
    """A number to so many significant figures; a half is rounded up."""
    return _to_step(value, Fraction(10) ** (floor(log10(abs(value))) - figures + 1))


def _to_step(value: Fraction, step: Fraction) -> Fraction:
    return floor(value / step + Fraction(1, 2)) * step


def _same(size: _Size, chance: Random) -> _Size:
    """The same quantity in this or another unit, exactly or rounded to three figures or more."""
    value, unit = size
    system = _SYSTEM[unit]
    equal = [(value * system[unit] / other, name) for name, other in system.items()]
    exact = [(n, name) for n, name in equal if n >= Fraction(1, 100) and n == rounded(n, 6) and name != unit]
    rough = [(n, name) for n, name in equal if Fraction(1, 10) < n < 10**6 and name in _SYMBOLS and n != rounded(n, 4)]
    roll = chance.random()
    if rough and roll < 0.45:
        n, name = chance.choice(rough)
        return rounded(n, chance.choice((3, 3, 4))), name
    if value != rounded(value, 3) and roll < 0.75:
        return rounded(value, chance.choice((3, 4) if value != rounded(value, 4) else (3,))), unit
    return chance.choice(exact) if exact and roll < 0.9 else size


def _other(size: _Size, same: _Size, nearest: int, chance: Random) -> _Size:
    """A quantity that is not `size` and differs by more than 1 / `nearest` from it, like `same`, which is correct."""
    (value, unit), (n, name) = size, same
    system = _SYSTEM[unit]
    step = Fraction(10) ** (floor(log10(n)) - 2)
    ways = [
        (n * chance.choice((10, Fraction(1, 10))), name),
        (abs(Number(n).other(chance).value) or Fraction(7), name),
        (_to_step(n, step) + chance.choice((-9, -4, -3, -2, 2, 3, 4, 9)) * step, name),  # wrongly rounded
        (value, chance.choice([other for other in system if other != unit])),
        (n, chance.choice([other for other in system if other != name])),
    ]
    ways += [(n, chance.choice(alike))] * 2 if (alike := table("measures")["look-alikes"].get(name)) else []
    ways += [(value * chance.choice((by, 1 / by)), other) for (one, other), by in _LINEAR.items() if one == unit] * 2
    crude = rounded(n, 1)
    ways += [(crude, name)] if abs(crude - n) * 20 > n else []
    ways = [way for way in ways if way[0] > 0 and not any(_equal(way, one, nearest) for one in (size, same))]
    n, name = chance.choice(ways)
    return n if n == rounded(n, 6) else rounded(n, 4), name


def _equal(one: _Size, two: _Size, nearest: int) -> bool:
    """Whether two quantities are of one dimension and differ by less than a part in `nearest`."""
    if one[1] not in (system := _SYSTEM[two[1]]):
        return False
    a, b = one[0] * system[one[1]], two[0] * system[two[1]]
    return abs(a - b) * nearest < b


def _precise(item: Item, value: Fraction, unit: str, stated: str, chance: Random) -> Rows:
    """A precision is asked for: the value to that precision is correct; to another one, or wrongly rounded, it is not."""
    ask, decimals = pick(chance, "measures", "precisions")
    step = Fraction(10) ** -decimals
    best = _to_step(value, step)
    if best == 0 or abs(value / step % 1 - Fraction(1, 2)) < Fraction(1, 50) or not (best / step) % 10 or best == value:
        return
    off = best + step * chance.choice((-1, 1, 1 if value > best else -1))
    wrong = chance.choice((value, _to_step(value, step * 10), off, off, _to_step(value, step / 10), best * 10))
    if wrong in (0, best):
        return
    ask = frames.fill(ask, u=unit, s=_PLURALS[unit])
    item = replace(item, question=f"{item.question} {ask}")
    seed = chance.random()
    right, other = (_written((n, unit), Random(seed), sums=False) for n in (best, wrong))
    raw = wrong != value and chance.random() < 0.3
    yield from _paired(item, _written((value if raw else best, unit), chance, sums=False), right, other, stated, chance)


def _quotient(place: str, chance: Random) -> Rows:
    """A quotient as a fraction, a decimal, a share in per cent: exact or to three figures or more."""
    question, stated, is_share = pick(chance, "measures", "quotients")
    below = chance.choice((3, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 21, 23, 24, 27, 32, 37, 40))
    above = chance.choice([n for n in range(1, below if is_share else 5 * below) if n % below])
    value, seed = Fraction(above, below), chance.random()
    item = Item("measured", frames.fill(question, p=place, a=str(above), b=str(below)), ("",))

    def write(n: Fraction, chance: Random) -> str:
        if is_share and chance.random() < 0.5:
            return decimal(rounded(n * 100, chance.choice((3, 4)))) + chance.choice(("%", " %", " percent", " per cent"))
        return decimal(rounded(n, chance.choice((3, 3, 4, 5))))

    step = Fraction(10) ** (floor(log10(value)) - 2)
    ways = [value * 10, value / 10, 1 / value, rounded(value, 3) + step * chance.choice((-4, -3, -2, 2, 3, 4))]
    ways += [crude := rounded(value, 1)] * (abs(rounded(value, 1) - value) * 20 > value)
    ways = [way for way in ways if way > 0 and abs(way - value) * 200 > value and not (is_share and way > 1)]
    wrong = chance.choice(ways)
    told = decimal(wrong) if wrong == rounded(value, 1) else write(wrong, Random(seed))
    reference = chance.choice((f"{above}/{below}", str(value), write(value, chance), decimal(rounded(value, 6))))
    right = str(value) if chance.random() < 0.1 else write(value, Random(seed))
    yield from _paired(item, reference, right, told, frames.fill(stated, p=place, a=str(above), b=str(below)), chance)


def _paired(item: Item, reference: str, right: str, wrong: str, stated: str, chance: Random) -> Rows:
    yield from twins(replace(item, references=(reference,), wrong=wrong), right, wrong, chance, stated)


def _measure(item: Item) -> _Size | None:
    """The quantity that an item's reference is, with its unit; a bare number takes the unit of its question."""
    found = _MEASURE.fullmatch(item.right)
    number = parse_number(found[1] if found else item.right)
    asked = _ASKED.search(item.question)
    unit = _NAMED.get(found[2]) if found else _NAMED.get(asked[1].casefold()) if asked else None
    if number and number.unit == "$":
        unit = "dollar"
    if not number or not unit or number.value <= 0 or number.unit == "%":
        return None
    return number.value, unit


def _written(size: _Size, chance: Random, sums: bool = True) -> str:
    """A quantity with the name or the symbol of its unit, or (`sums`) as a sum of two units."""
    value, unit = size
    plural = unit if value == 1 else _PLURALS[unit]
    plural = _BRITISH.sub(r"\1re", plural) if chance.random() < 0.3 else plural
    digits, roll = decimal(value, commas=chance.random() < 0.5), chance.random()
    if unit == "dollar":
        cents = f"{float(value):.2f}" if value.denominator != 1 or roll < 0.3 else digits
        return chance.choice((f"${cents}", f"{cents} dollars", f"{digits} dollars" if value.denominator == 1 else f"${cents}"))
    if sums and roll < 0.3 and (text := _sum(value, unit, short=roll < 0.15)):
        return text
    symbol = _SYMBOLS.get(unit)
    if not symbol or roll < 0.5:
        return f"{digits} {plural}"
    symbol = symbol.translate({178: "^2", 179: "^3"}) if roll < 0.65 else symbol
    return f"{digits}{'' if symbol.isascii() and symbol.isalpha() and roll > 0.85 else ' '}{symbol}"


def _sum(value: Fraction, unit: str, short: bool) -> str | None:
    """A quantity as whole units and the rest in a smaller one: "1 hour 30 minutes"."""
    for big, small in table("measures")["sums"]:
        rest = value % 1 * _SYSTEM[unit][big] / _SYSTEM[unit][small] if unit == big else Fraction(0)
        if value > 1 and rest and rest.denominator == 1:
            parts = [(int(value), big), (int(rest), small)]
            if short and big in _SYMBOLS and small in _SYMBOLS:
                return " ".join(f"{n} {_SYMBOLS[name]}" for n, name in parts)
            return " and ".join(f"{n} {name if n == 1 else _PLURALS[name]}" for n, name in parts)
    return None
