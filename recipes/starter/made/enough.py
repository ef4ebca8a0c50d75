"""Rows about lists: how many members a question asks for, and whether it asks for their order."""

from __future__ import annotations

from random import Random

from made import frames
from made.bank import Bank, Made, Rows
from made.files import table
from made.lists import in_a_sentence, kinds_of
from made.twins import ROUNDS, framed, item_of
from made.values import in_words

_SOME = (
    *("Name {n} {k} that are on the list.", "Give {n} of the {k}.", "Can you name {n} of the {k}?"),
    *("Mention {n} of the {k}.", "Which {n} {k} could one name?", "List any {n} of the {k}."),
)
_ONE = ("Name one of the {k}.", "Give an example from the {k}.", "Which is one of the {k}?", "Name any of the {k}.")
_ALL = (
    *("Name all {k}.", "List all of the {k}.", "Which are the {n} {k}?", "Name every one of the {k}."),
    *("What are all the {k}?", "Give the complete list of the {k}."),
)
_SORTED = ("in order", "in the right order", "from first to last", "in sequence", "in the order in which they come")
_UNSORTED = ("in any order", "in no particular order", "whatever their order")


def enough(bank: Bank, chance: Random) -> Rows:
    """Some members are enough where the question asks for some; where it asks for all, they are not."""
    kinds = [kind for kind in kinds_of(bank) if kind[0] not in ("numbers", "letters", "notes")]
    for _ in range(ROUNDS):
        name, _, members = chance.choice(kinds)
        size = min(chance.choice((3, 4, 5, 6)), len(members) - 2)
        if size < 3:
            continue
        *right, other = chance.sample(members, size + 1)
        wanted = chance.choice((1, 2, 2, 3, size)) if size > 3 else chance.choice((1, 2, size))
        questions = _ALL if wanted == size else _ONE if wanted == 1 else _SOME
        asked = frames.fill(chance.choice(questions), k=name, n=in_words(wanted))
        some = chance.sample(right, wanted)
        place = chance.randrange(wanted)
        exchanged = [*some[:place], other, *some[place + 1 :]]
        fewer = [*some[:place], *some[place + 1 :]]
        wrong = fewer if fewer and chance.random() < 0.5 else exchanged
        right_told = right if wanted < size and chance.random() < 0.1 else some
        joint, seed = chance.random(), chance.random()
        reference = in_a_sentence(right, Random(joint)) if chance.random() < 0.5 else ", ".join(right)
        item = item_of(asked, reference, chance, in_a_sentence(wrong, Random(joint)))
        for label, told in ((1, right_told), (0, wrong)):
            yield item, Made(label, framed(in_a_sentence(told, Random(joint)), item, Random(seed)))


def ordered(bank: Bank, chance: Random) -> Rows:
    """The same members in another order: incorrect where the question asks for an order, correct where it does not."""
    steps = [kind for kind in table("lists")["collections"] if kind[0] in ("steps", "months")]
    for _ in range(ROUNDS):
        name, question, members = chance.choice(steps) if chance.random() < 0.4 else chance.choice(kinds_of(bank))
        size = min(chance.choice((3, 3, 4, 5)), len(members))
        right = chance.sample(members, size)
        if name in ("steps", "months"):
            right.sort(key=members.index)
        turned = chance.sample(right, size)
        if turned == right:
            continue
        asks = chance.random() < 0.5
        words = chance.choice(_SORTED if asks else _UNSORTED)
        asked = f"{question.rstrip('?. ')}, {words}?" if chance.random() < 0.5 else f"{question} Give them {words}."
        joint, seed = chance.random(), chance.random()
        item = item_of(asked, ", ".join(right), chance, in_a_sentence(turned, Random(joint)))
        for told, label in ((right, 1), (turned, 0 if asks else 1)):
            yield item, Made(label, framed(in_a_sentence(told, Random(joint)), item, Random(seed)))
        if not asks:
            for fewer in (turned[1:], right[:-1]):
                yield item, Made(0, framed(in_a_sentence(fewer, Random(joint)), item, Random(seed)))
