"""Rows about texts that do not answer: refusals, the question again, empty frames, a type, vague text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from bert_judge.metrics import containment
from made import frames
from made.bank import Bank, Item, Made, differs, shape, with_pair
from made.choosing import beside, filled, upper
from made.files import pick, table
from made.frames import draw, fill

TYPES: dict[str, list[str]] = table("hollow")["types"]
_ASKED = re.compile(r"\b(whose|who|when|where|how does|how|why|purpose|function|difference|mean)\b")
_TYPED = re.compile(
    r"\b(?:what|which)(?: (?:type|kind|sort|name) of)? "
    r"(?!is|are|was|were|did|does|do|of|has|have|the|two|three|four|five|first|other|last)([a-z]{3,})\b"
)

_LIKE_A_REFUSAL = re.compile(r"\b(cannot|can't|not|none|no|unknown|determin\w+|unclear|nothing)\b", re.IGNORECASE)
_HOLES = re.compile(r"\{\}(?=\$?$)|(?<=>)(?=</)|(?<=\")(?=\")|null$")


def refused(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A refusal is incorrect where there is an answer; an answer after words of refusal counts."""
    if _LIKE_A_REFUSAL.search(item.right):
        return
    refusal = draw("refusals", chance) if chance.random() < 0.85 else pick(chance, "languages", "refusals")
    start = draw("reserved", chance) if chance.random() < 0.7 else f"{refusal} But if I had to guess,"
    middle = chance.choice(("it is ", "the answer is ", "I would say ", "it should be ", ""))
    yield from beside(refusal, lambda answer: f"{start} {middle}{answer}.", bank.pair(item, chance), chance)


def unanswerable(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Where a question cannot be answered, a refusal is correct and every answer is incorrect."""
    references = (pick(chance, "hollow", "no answer"),)
    yield Made(1, draw("unanswerable", chance), references)
    if answers := bank.alike.get((item.context[:200], "all"), []):
        wrong = chance.choice(answers)
        text = frames.plain(wrong, item.question, chance) if chance.random() < 0.7 else frames.hedge(wrong, chance)
        yield Made(0, text, references)


def restated(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Repeating the question is incorrect; an answer after it counts."""
    text = fill(draw("restated", chance), q=item.question)
    yield from beside(
        text, lambda answer: f"{text} {frames.plain(answer, '', chance)}", bank.pair(item, chance), chance
    )


def empty(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A frame without an answer is incorrect; with one in it, the answer counts."""
    frame = "" if chance.random() < 0.03 else fill(draw("empty", chance))

    def filled(answer: str) -> str:
        inside = _HOLES.sub(lambda hole: f"{{{answer}}}" if hole[0] == "{}" else answer, frame, count=1)
        return inside if inside != frame else f"{frame} {answer}"

    yield from beside(frame, filled, bank.pair(item, chance), chance)


def type_only(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """The kind of thing that is asked for is not an answer; an answer beside it counts."""
    kind = chance.choice(_kinds(item))
    # A word of the reference that is not an answer ("a river" for "the Amazon River") misleads most.
    if kind.split()[-1] not in item.right.casefold() and chance.random() < 0.6:
        return
    text = upper(fill(draw("typed", chance), x=kind, q=item.question))
    joint = chance.choice((", namely", ":", " -", ", that is", ", and that is", ", to be exact"))
    yield from beside(text, lambda answer: f"{text.rstrip('.')}{joint} {answer}", bank.pair(item, chance), chance)


def _kinds(item: Item) -> list[str]:
    """The kind of thing that a question asks for, in some words."""
    question = item.question.split("\n")[0].casefold()
    match = _TYPED.search(question)
    if not match:
        word = _ASKED.search(question)
        return TYPES[word[1] if word else ""]
    kind = match[1].removesuffix("s") if not match[1].endswith("ss") else match[1]
    return [f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}", f"some {kind}", f"a certain {kind}", f"the {kind}"]


@with_pair
def repetitive(bank: Bank, item: Item, pair: tuple[str, str], chance: Random) -> Iterator[Made]:
    """Words that answer nothing, said to be correct and said again, are incorrect; an answer in their place counts."""
    repeated = "{x}"
    for _ in range(chance.choice((1, 1, 2, 3))):
        kind = chance.choice(("said_correct", "said_correct", "statements", "affirmed", "empty"))
        frame = draw(kind, chance)
        repeated = fill(f"{frame} {{x}}" if kind == "empty" else frame, x=repeated, X=repeated, q=item.question)
    text = chance.choice(("", " ", " ", "\n", "..", ", ")).join([repeated] * chance.choice((1, 1, 2, 3, 5)))
    if item.choices or len(text) > 700 or _LIKE_A_REFUSAL.search(item.right):
        return
    word = pick(chance, "hollow", "no answers")
    said_by_chance = any(containment(word, right) or containment(right, word) for right in item.answers)
    if said_by_chance or not differs(word, item.answers) or item.right.casefold() in ("0", "yes", "true", "false"):
        return
    yield Made(0, fill(text, x=word))
    yield Made(1, fill(text, x=pair[0]))
    if chance.random() < 0.3:
        yield Made(0, fill(text, x=pair[1]))
        yield Made(1, pair[0])


def vague(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Text on the topic without an answer is incorrect; with one somewhere in it, the answer counts."""
    lines = [filled(draw("vague", chance), item, chance) for _ in range(chance.randint(1, 4))]
    lines += [draw("neutral", chance) for _ in range(chance.randint(0, 2))]
    chance.shuffle(lines)
    place, as_sentence, frame = chance.randint(0, len(lines)), chance.random() < 0.4, draw("statements", chance)

    def answered(answer: str) -> str:
        text = frames.whole(answer, item.question, chance) if as_sentence else fill(frame, x=answer, q=item.question)
        return " ".join([*lines[:place], frames.sentence(text), *lines[place:]])

    yield from beside(" ".join(lines), answered, bank.pair(item, chance), chance)


def another_question(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """The right answer to another question, in a whole sentence, is incorrect."""
    pool = bank.pools["plain"]
    others = [chance.choice(pool[chance.choice([*pool])]) for _ in range(12)]
    other = next((one for one in others if shape(one.right) == shape(item.right)), others[0])
    if not differs(other.right, item.answers) or other.question == item.question:
        return
    told = [(frames.stated(one.question.split("\n")[0], one.right), label) for one, label in ((item, 1), (other, 0))]
    before, after = draw("openers", chance), draw("closers", chance)
    frame = chance.choice(("{x}", f"{before} {{x}}", f"{{x}} {after}"))
    if all(text for text, _ in told):
        yield from (Made(label, fill(frame, x=text or "")) for text, label in told)
