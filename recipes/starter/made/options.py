"""Rows about questions with options, and about yes and no."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from made import frames
from made.bank import LETTERS, Bank, Item, Made, option
from made.choosing import beside
from made.files import pick, table

_LISTED = re.compile(r"^\(([A-J])\) (.*)", re.MULTILINE)


def letter_and_text(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Letter and text of one option are as correct as the option; a letter with the text of another is incorrect."""
    frame, form = pick(chance, "options", "around both"), pick(chance, "options", "letter with text")
    right, other = item.place, item.other_place(chance)
    mixed = chance.choice(((right, other), (other, right), (other, other)))
    for label, (letter, text) in ((1, (right, right)), (0, mixed)):
        chosen = frames.fill(form, l=LETTERS[letter], t=option(item, text))
        yield Made(label, frames.fill(frame, x=chosen))


def written(item: Item, chance: Random) -> tuple[str, tuple[str, ...]]:
    """Question and references as different data sets write them: "(A) iron", "A) iron", "A. iron", "A" or "iron"."""
    if not item.choices:
        return item.question, item.references
    style, roll = pick(chance, "options", "styles"), chance.random()
    question = _LISTED.sub(lambda option: frames.fill(style, l=option[1], t=option[2]), item.question)
    style = "{l}" if roll < 0.2 else "({l})" if roll < 0.25 else "{t}" if roll < 0.4 else style
    return question, (option(item, item.place, style),)


def all_options(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Listing or discussing every option is incorrect; a choice at the end counts."""
    style = chance.choice(("{t}", "{t}", "{l}", *table("options")["styles"]))
    places = [*range(len(item.choices))]
    if chance.random() < 0.4:
        chance.shuffle(places)
    listed = [option(item, place, style) for place in places]
    joint, start = pick(chance, "options", "between all"), pick(chance, "options", "before all")
    text = start + joint.join(listed)
    if chance.random() < 0.3:
        text = " ".join(f"{part[:1].upper()}{part[1:]} {pick(chance, 'options', 'notes')}." for part in listed)
    rest = pick(chance, "options", "after all")
    named = chance.choice(("({l}) {t}", "{t}", "({l})"))
    other = chance.choice([place for place in places if place != item.place])
    choice = frames.draw("concluded", chance)

    def chosen(answer: str) -> str:
        return f"{frames.sentence(text)} {frames.fill(choice, b=answer)}"

    pair = option(item, item.place, named), option(item, other, named)
    yield from beside(f"{text} {rest}".strip(), chosen, pair, chance)


def said_yes_no(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Yes or no in some wording."""
    yes, no = pick(chance, "options", "yes and no")
    references = ()
    if chance.random() < 0.1:
        references = (chance.choice(("True", "true")) if _is_yes(item) else "False",)
    for label in (1, 0):
        yield Made(label, yes if _is_yes(item) == bool(label) else no, references)


def _is_yes(item: Item) -> bool:
    return item.right.casefold().startswith("yes")
