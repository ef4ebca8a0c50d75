"""Rows whose right answers share no word with the reference: symbols, abbreviations, other names, definitions, idioms.

`other_words.txt` has classes of entries. A line that begins with "? " starts a class: two questions and a statement.
Each further line has forms of one thing, which mean the same; the things of a class are plausible wrong answers to
each other's questions.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import NamedTuple

from made.bank import Bank, Rows
from made.files import lines
from made.twins import ROUNDS, item_of, twins


class WordClass(NamedTuple):
    """Things of one kind, each in several forms, and the words to ask for them."""

    questions: tuple[str, str]
    statement: str
    things: list[list[str]]


@cache
def word_classes() -> list[WordClass]:
    """The classes of `other_words.txt`."""
    classes: list[WordClass] = []
    for line in lines("other_words"):
        if line.startswith("? "):
            first, second, statement = line[2:].split(" | ")
            classes.append(WordClass((first, second), statement, []))
        else:
            classes[-1].things.append(line.split(" = "))
    return classes


def other_words(bank: Bank, chance: Random) -> Rows:
    """One thing by two of its names, and another thing of the same class."""
    classes = word_classes()
    sizes = [len(one.things) for one in classes]
    for _ in range(ROUNDS):
        one = chance.choices(classes, sizes)[0]
        thing, other = chance.sample(one.things, 2)
        reference, right = chance.sample(thing, 2) if len(thing) > 1 else thing * 2
        wrong = chance.choice(other)
        item = item_of(chance.choice(one.questions), reference, chance, wrong)
        yield from twins(item, right, wrong, chance, one.statement)


def inflected(bank: Bank, chance: Random) -> Rows:
    """A verb in another form, and another verb in that form."""
    verbs = [line.split()[:3] for line in lines("verbs")]
    for _ in range(ROUNDS):
        verb, other = chance.sample(verbs, 2)
        forms = [_forms(*verb), _forms(*other)]
        reference, style = chance.sample(range(len(forms[0])), 2)
        right, wrong = (form[style] for form in forms)
        question = chance.choice(("Which activity is meant?", "What did they do there?", "Which verb is it about?"))
        yield from twins(item_of(question, forms[0][reference], chance, wrong), right, wrong, chance)


def _forms(base: str, past: str, participle: str) -> list[str]:
    return [base, f"to {base}", _gerund(base), f"they {past}", f"the verb “{base}”", f"it was {participle}"]


def _gerund(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    short = len(base) > 2 and base[-1] in "bdgmnprt" and base[-2] in "aeiou" and base[-3] not in "aeiou"
    return base + (base[-1] if short and sum(letter in "aeiou" for letter in base) == 1 else "") + "ing"
