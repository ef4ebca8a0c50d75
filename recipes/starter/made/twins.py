"""A correct and an incorrect answer to a made-up question, in the same words but for a small difference."""

from __future__ import annotations

import re
from random import Random

from made import frames
from made.bank import Item, Made, Rows
from made.files import pick

ROUNDS = 8_000  # the most pairs of rows that a maker gives


def item_of(question: str, reference: str, chance: Random, wrong: str) -> Item:
    """A made-up question in some wording, with its answer and a similar incorrect one."""
    return Item("made", frames.fill(pick(chance, "twins", "questions"), q=question), (reference,), wrong=wrong)


def framed(text: str, item: Item, chance: Random) -> str:
    """An answer as systems give it."""
    told = frames.plain(text, item.question, chance)
    return text if f" - {text}" in told else told  # a dash before a number could be its sign


def twins(item: Item, right: str, wrong: str, chance: Random, stated: str = "") -> Rows:
    """The correct and the incorrect answer in the same words; some rows have them in the sentence `stated`."""
    seed, roll = chance.random(), chance.random()
    instead = pick(chance, "twins", "instead")
    for label, text, other in ((1, right, wrong), (0, wrong, right)):
        if stated and roll < 0.4:
            told = frames.fill(stated, x=text)
        elif roll > 0.9:
            told = frames.fill(instead, a=other, b=text)
        else:
            told = framed(text, item, Random(seed)) if roll < 0.75 else text
        told = re.sub(r"^(the|an?) (?=.* )", lambda article: article[0].capitalize(), told) if told != text else text
        yield item, Made(label, re.sub(r"(\.[mC]\.)\.", r"\1", told))


def other_digit(text: str, chance: Random, places: range) -> str:
    """A digit of a number changed, or two of them swapped."""
    place = chance.choice(places)
    if place + 1 in places and text[place] != text[place + 1] != "0" and chance.random() < 0.4:
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    off = chance.choice([digit for digit in "0123456789" if digit != text[place] and (place or digit != "0")])
    return text[:place] + off + text[place + 1 :]
