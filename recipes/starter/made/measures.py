"""Rows of quantities as people grade them: converted or rounded ones are correct, not to too few figures or other ones
than the question asks for, nor with a wrong factor or unit."""

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
_BY_NAME = [(form, unit) for unit in _SYSTEM for form in (unit, _PLURALS[unit])]
_NAMED = {_BRITISH.sub(end, form): unit for form, unit in _BY_NAME for end in (r"\1er", r"\1re")}
_NAMED |= {symbol: unit for unit, symbol in _SYMBOLS.items() if unit != "inch"}
_MEASURE = re.compile(r"(?!\d+0s)([\d.,]+) ?([A-Za-z]+)")  # "1980s" are no seconds
_ASKED = re.compile(r"\bhow many(?: more| fewer| less| total)? ([a-z]+s|feet|dozen)\b", re.IGNORECASE)
_NO_UNIT = ("number", "part")
_Size = tuple[Fraction, str]  # a number, and its unit


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
        place, about = chance.choice([*COUNTRY]), pick(chance, "measures", "about")
        if chance.random() < 0.25:
            question, stated, unit = pick(chance, "measures", "quotients")
            below = chance.randint(3, 40)
            above = chance.choice([n for n in range(1, below if unit == "part" else 5 * below) if n % below])
            slots, size = {"p": place, "a": str(above), "b": str(below)}, (Fraction(above, below), unit)
        else:
            question, stated, unit, low, high = pick(chance, "measures", "questions")
            figures = chance.choice((1, 2, 2, 3, 3, 4, 5, 6, 6, 6, 6))
            slots, size = {"p": place}, (rounded(Fraction(chance.uniform(low, high)), figures), unit)
        item, stated = Item("measured", frames.fill(question, **slots), ("",)), frames.fill(stated, **slots)
        if unit in _SYMBOLS and size[0] == rounded(size[0], 6) != rounded(size[0], 5) and chance.random() < 0.8:
            yield from _precise(item, size, stated, chance)
            continue
        same = _same(size, chance)
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
    exact = [(n, name) for n, name in equal if Fraction(1, 100) <= n < 10**7 and n == rounded(n, 6) and name != unit]
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
    ]
    for number, own_unit in ((value, unit), (n, name)) if len(system) > 1 else ():
        ways += [(number, chance.choice([other for other in system if other != own_unit]))]
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


def _precise(item: Item, size: _Size, stated: str, chance: Random) -> Rows:
    """A precision is asked for: a value to that precision is correct, to another one or wrongly rounded it is not."""
    (value, unit), (ask, decimals) = size, pick(chance, "measures", "precisions")
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


def _paired(item: Item, reference: str, right: str, wrong: str, stated: str, chance: Random) -> Rows:
    yield from twins(replace(item, references=(reference,), wrong=wrong), right, wrong, chance, stated)


def _measure(item: Item) -> _Size | None:
    """The quantity that an item's reference is, with its unit; a bare number takes the unit of its question."""
    match = _MEASURE.fullmatch(item.right)
    number = parse_number(match[1] if match else item.right)
    asked = _ASKED.search(item.question)
    unit = _NAMED.get(match[2]) if match else _NAMED.get(asked[1].casefold()) if asked else None
    if number and number.unit == "$":
        unit = "dollar"
    if not number or not unit or number.value <= 0 or number.unit == "%" or 10**6 % number.value.denominator:
        return None
    return number.value, unit


def _written(size: _Size, chance: Random, sums: bool = True) -> str:
    """A quantity with the name or the symbol of its unit, or (`sums`) as a sum of two units."""
    value, unit = size
    plural = unit if value == 1 else _PLURALS[unit]
    plural = _BRITISH.sub(r"\1re", plural) if chance.random() < 0.3 else plural
    digits, roll = decimal(value, commas=chance.random() < 0.5), chance.random()
    if unit in _NO_UNIT:
        return digits
    if unit == "dollar":
        cents = f"{float(value):.2f}" if value.denominator != 1 or roll < 0.3 else digits
        return f"${cents}" if roll < 0.6 else f"{cents} dollars"
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
