"""Rows in which one mark decides: ≤ or ≥, at least or at most, the charge of an ion, the inches of a height."""

from __future__ import annotations

from random import Random

from made import frames
from made.bank import Bank, Rows
from made.files import asked_lines, pick, table
from made.twins import ROUNDS, item_of, twins

_OPPOSITE = {"least": "most", "most": "least", "more": "less", "less": "more"}
_OR_EQUAL = {"least": "more", "more": "least", "most": "less", "less": "most"}  # with the number itself, or without


def bounds(bank: Bank, chance: Random) -> Rows:
    """A bound in other words or signs, and another one: turned round, with or without its number, or near it."""
    for _ in range(ROUNDS):
        side = chance.choice([*_OPPOSITE])
        number = chance.randint(2, 20) if chance.random() < 0.5 else 5 * chance.randint(4, 200)
        other, near = side, number
        roll = chance.random()
        if roll < 0.6:
            other = _OPPOSITE[side]
        elif roll < 0.8:
            other = _OR_EQUAL[side]
        else:
            near = number + chance.choice((-1, 1, 10))
        in_signs = chance.random() < 0.5
        name, question, statement = chance.choice(table("exact")["asked in signs" if in_signs else "asked in words"])
        forms = table("exact")["signs" if in_signs else "words"]
        style, told = chance.randrange(len(forms[side])), chance.randrange(len(forms[side]))
        reference, right = (frames.fill(forms[side][form], n=str(number), v=name) for form in (style, told))
        wrong = frames.fill(forms[other][told], n=str(near), v=name)
        item = item_of(question, reference, chance, wrong)
        yield from twins(item, right, wrong, chance, statement if not in_signs else "")


def signs(bank: Bank, chance: Random) -> Rows:
    """A thing of `exact.txt` in one of its forms, and one that looks nearly the same.

    A line that begins with "? " has questions; each line below has things that differ, and the forms of each.
    """
    for _ in range(ROUNDS):
        questions, line = chance.choice(asked_lines("exact"))
        thing, other = chance.sample([forms.split(" = ") for forms in line.split(" | ")], 2)
        reference, right = chance.choice(thing), chance.choice(thing)
        wrong = chance.choice([form for form in other if len(form) <= len(right) + 2] or other)
        yield from twins(item_of(chance.choice(questions), reference, chance, wrong), right, wrong, chance)


def heights(bank: Bank, chance: Random) -> Rows:
    """A height in feet and inches in another spelling, and one that differs by an inch or a foot."""
    for _ in range(ROUNDS):
        inches = chance.randint(3 * 12 + 1, 7 * 12 + 11)
        if inches % 12 == 0:
            continue
        other = inches + chance.choice((-12, -2, -1, 1, 2, 12))
        if other % 12 == 0:
            continue
        forms, style = table("exact")["heights"], chance.randrange(len(table("exact")["heights"]))
        right, wrong = (_height(forms[style], size) for size in (inches, other))
        question, statement = pick(chance, "exact", "how tall")
        item = item_of(question, _height(chance.choice(forms), inches), chance, wrong)
        yield from twins(item, right, wrong, chance, statement)


def _height(form: str, inches: int) -> str:
    return frames.fill(form, f=str(inches // 12), i=str(inches % 12), t=str(inches))
