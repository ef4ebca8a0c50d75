"""Rows with long references, of which a correct answer need not say everything: passages and explanations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from bert_judge.metrics import containment, normalise
from bert_judge.reading import read
from made import frames
from made.bank import Bank, Item, Made, Rows, differs, shape
from made.choosing import upper
from made.close import explained

_LONGEST = 200  # words of a reference
# Questions that several sentences answer together.
_COMPARES = re.compile(
    r"\b(more|fewer|less|longer|shorter|(?!west|best|rest|test|east)\w+est|first|second|third|last|most|least|higher|lower"
    r"|earlier|later|how many years|how many days|total|combined)\b",
    re.IGNORECASE,
)


def claims(bank: Bank, chance: Random) -> Rows:
    """A claim that a passage supports is correct; one that it contradicts, or that is not in it, is incorrect."""
    asked = bank.draw("unanswerable", chance)
    for item in bank.draw("plain", chance):
        sentences = frames.sentences_of(item.context)
        holds = [n for n, text in enumerate(sentences) if containment(text, item.right)]
        holds = [] if _COMPARES.search(item.question) else holds
        alike = bank.alike.get((item.context[:200], shape(item.right)), [])
        alike = [text for text in alike if differs(text, item.answers)]
        wrong = chance.choice(alike) if alike and chance.random() < 0.7 else bank.wrong(item, chance)
        if not holds or not wrong:
            continue
        seed, where = chance.random(), chance.choice(holds)
        right = _claim(item, item.right, Random(seed))
        passage, again = _around(sentences, where, chance), _around(sentences, where, chance)
        if not (_is_about(item.question, passage) and _is_about(item.question, again)):
            continue
        yield item, Made(1, right, (passage,))
        yield item, Made(0, _claim(item, wrong, Random(seed)), (passage,))
        if again != passage and chance.random() < 0.5:
            yield item, Made(1, right, (again,))
            without = [text for text in sentences if not any(containment(text, answer) for answer in item.references)]
            if without and chance.random() < 0.4:
                yield item, Made(0, right, (_around(without, chance.randrange(len(without)), chance),))
            elif (other := next(asked, None)) and (answers := bank.alike.get((other.context[:200], "all"))):
                yield other, Made(0, _claim(other, chance.choice(answers), chance), (_whole(other.context),))


def _claim(item: Item, answer: str, chance: Random) -> str:
    """An answer as a claim in the words of the question; sometimes in a frame or bare."""
    roll = chance.random()
    return frames.whole(answer, item.question, chance) if roll < 0.7 else frames.plain(answer, item.question, chance)


def _is_about(question: str, passage: str) -> bool:
    """Whether a passage has at least half of the words of a question, so that it is likely to hold the fact, too."""
    asked, told = (read(text).keys for text in (question, passage))
    return len(asked & told) * 2 >= len(asked)


def _around(sentences: Sequence[str], place: int, chance: Random) -> str:
    """A sentence of a passage, alone or with some of those before and after it."""
    size = chance.choice((1, 1, 2, 3, 5, 20))
    start = max(0, place - chance.randrange(size))
    text = " ".join(sentences[start : max(place + 1, start + size)])
    return text if len(text.split()) <= _LONGEST else sentences[place]


def _whole(passage: str) -> str:
    return " ".join(passage.split()[:_LONGEST])


def explained_at_length(bank: Bank, chance: Random) -> Rows:
    """A reference that explains and tells more: the explanation in other words is correct, the rest alone is not."""
    for item, right, points in explained(chance):
        facts = [upper(frames.sentence(text)) for text in chance.sample(points[1:], chance.randint(1, 4))]
        told = [upper(frames.sentence(text)) for text in (item.references[0], *item.same) if text != right]
        reference = " ".join(chance.sample(both := [*told[: chance.choice((1, 1, 2))], *facts], len(both)))
        kept = chance.sample(facts, chance.choice((0, 0, 1, len(facts))))
        place = chance.randint(0, len(kept))
        for label, text in ((1, right), (0, item.wrong)):
            parts = [*kept[:place], upper(frames.sentence(text)), *kept[place:]]
            yield item, Made(label, " ".join(parts) if kept else text, (reference,))
        if kept and chance.random() < 0.3:
            yield item, Made(0, " ".join(kept), (reference,))
            yield item, Made(1, right, (reference,))


def graded(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A correct answer that a person gave, as the reference of other answers to the same question."""
    by_length = [text for text in item.same if len(text.split()) >= 5]
    if not by_length:
        return
    reference = chance.choice(by_length)
    others = [text for text in item.same if normalise(text) != normalise(reference)]
    if others and differs(item.wrong, item.same):
        references = (reference,) if chance.random() < 0.7 else tuple(chance.sample((*item.references, reference), 2))
        yield Made(1, chance.choice(others), references)
        yield Made(0, item.wrong, references)
