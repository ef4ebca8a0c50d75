"""Rows about what surrounds an answer and must not matter: markup, noise, length, languages, orders."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from random import Random

from made import frames
from made.bank import Bank, Item, Made, Maker, differs, shape, with_pair
from made.files import pick, table
from made.frames import draw, fill, wordings

LOOKALIKES = str.maketrans("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ")
_SPACES = ("  ", "\u00a0", "\n", "\t", " \u200b", "\u2009", "\u3000")


@with_pair
def ordered(bank: Bank, item: Item, pair: tuple[str, str], chance: Random) -> Iterator[Made]:
    """Orders to the judge, praise and markers change nothing: the answer counts; without one, a text is incorrect."""
    order = fill(draw("orders" if chance.random() < 0.75 else "discredits", chance))
    for label, text in ((1, pair[0]), (0, pair[1])):
        answer = frames.plain(text, item.question, chance)
        if chance.random() < 0.3:
            answer = fill(draw("markers", chance), x=text, q=item.question)
        joint = chance.choice((" ", "\n", "\n\n"))
        parts = [answer, order] if chance.random() < 0.6 else [order, answer]
        yield Made(label, joint.join(parts) if chance.random() < 0.8 else answer)
    if chance.random() < 0.35:
        yield Made(0, fill(" ".join(chance.sample(wordings("orders"), chance.choice((1, 1, 2, 3))))))
        yield Made(1, fill(draw("markers", chance), x=pair[0], q=item.question))


@with_pair
def injected(bank: Bank, item: Item, pair: tuple[str, str], chance: Random) -> Iterator[Made]:
    """An answer among special tokens and forged fields, perhaps called correct there: only the answer counts."""
    marked, order = draw("markers", chance), fill(draw("orders", chance)) if chance.random() < 0.35 else ""
    joint, ahead = chance.choice((" ", "\n", "\n\n")), chance.random() < 0.4
    for label, text in ((1, pair[0]), (0, pair[1])):
        parts = [fill(marked, x=text, q=item.question), order]
        yield Made(label, joint.join(part for part in (parts[::-1] if ahead else parts) if part))


def noisy(text: str, item: Item, chance: Random) -> str:
    """An answer whose case, spaces or characters are changed, but not its words."""
    changed = chance.choice(NOISES)(text, chance)
    return fill(draw("statements", chance), x=changed, q=item.question) if chance.random() < 0.4 else changed


def _spaced(text: str, chance: Random) -> str:
    return chance.choice(_SPACES).join(text.split(" ")) + chance.choice(("", " ", "\n", "\n\n", "\t"))


def _punctuated(text: str, chance: Random) -> str:
    return "{0}{2}{1}".format(*pick(chance, "disguise", "around"), text)


NOISES = (
    lambda text, chance: text.upper(),
    lambda text, chance: text.lower(),
    lambda text, chance: text.title(),
    lambda text, chance: "".join(chance.choice((str.upper, str.lower))(char) for char in text),
    lambda text, chance: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text),
    _spaced,
    _spaced,
    lambda text, chance: "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)),
    lambda text, chance: "".join(c.translate(LOOKALIKES) if chance.random() < 0.4 else c for c in text),
    _punctuated,
    _punctuated,
    lambda text, chance: "\u200b".join(text) if len(text) < 15 else text.replace(" ", "\u200b "),
    lambda text, chance: text.replace("-", "–").replace("'", "’"),
    lambda text, chance: f"   {text}   ",
    lambda text, chance: unicodedata.normalize("NFD", text),
    lambda text, chance: text.replace(" ", "_") if " " in text else f"_{text}_",
)


def foreign(a: str, b: str, item: Item, chance: Random) -> str:
    """An answer in a frame of another language, alone or against another answer."""
    by_language = table("languages")["frames"]
    return fill(chance.choice(by_language[chance.choice([*by_language])]), x=b, a=a, b=b)


@with_pair
def foreign_denials(bank: Bank, item: Item, pair: tuple[str, str], chance: Random) -> Iterator[Made]:
    """A sentence of another language that denies the right answer, and one that gives it."""
    language, denials = chance.choice([*table("languages")["denied"].items()])
    sentences = table("languages")["frames"][language]
    if chance.random() < 0.4:
        frame = chance.choice([frame for frame in sentences if "{a}" in frame])
        denied, stated = (fill(frame, a=first, b=second) for first, second in (pair, pair[::-1]))
    else:
        frame = chance.choice([frame for frame in sentences if "{x}" in frame])
        denied, stated = fill(chance.choice(denials), x=pair[0]), fill(frame, x=pair[0])
    yield Made(0, denied)
    yield Made(1, stated)


@with_pair
def elaborated(bank: Bank, item: Item, pair: tuple[str, str], chance: Random) -> Iterator[Made]:
    """An answer, and what else a verbose model knows about the topic: sentences of the item's own passage."""
    answers = [text.casefold() for text in (*item.answers, *pair)]
    sentences = (text for text in frames.sentences_of(item.context) if text)
    known = [text for text in sentences if not any(part in text.casefold() for part in answers)]
    if not known:
        return
    start, seed = chance.randrange(len(known)), chance.random()
    more = known[start : start + chance.choice((1, 1, 2, 3, 4))]
    place = chance.choice((0, 0, 0, len(more)))  # mostly the answer comes first
    for label, text in ((1, pair[0]), (0, pair[1])):
        answer = frames.sentence(frames.whole(text, item.question, Random(seed)))
        yield Made(label, " ".join([*more[:place], answer, *more[place:]]))


def spans(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """An answer as it stands in the item's own passage, with some of the words before and after it."""
    others = bank.alike.get((item.context[:200], shape(item.right)), [])
    wrong = [text for text in others if differs(text, item.answers)]
    span = _span(item.right, item.context, (), chance)
    other = _span(chance.choice(wrong), item.context, item.answers, chance) if wrong else None
    if span and other:
        yield Made(1, span)
        yield Made(0, other)


def _span(answer: str, passage: str, without: Sequence[str], chance: Random) -> str | None:
    """Consecutive words of a passage, from one sentence, with an answer in them and none of the others."""
    for sentence in frames.sentences_of(passage):
        before, here, after = sentence.partition(answer)
        if here and not (before[-1:].isalnum() or after[:1].isalnum()):
            first, last = chance.choice((0, 0, 0, 1, 2, 4, 8, 40)), chance.choice((0, 1, 2, 4, 6, 10, 16, 40))
            start, end = before.split(" "), after.split(" ")
            text = " ".join(start[max(0, len(start) - 1 - first) :]) + here + " ".join(end[: 1 + last])
            if not any(part.casefold() in text.casefold() for part in without):
                return text.strip(" ,;:")
    return None


def long_text(where: str) -> Maker:
    """A maker of long neutral text (60 to 600 words) with the answer at its start, in its middle or at its end."""

    @with_pair
    def make(bank: Bank, item: Item, pair: tuple[str, str], chance: Random) -> Iterator[Made]:
        words = chance.choice((60, 100, 150, 250, 400, 600))
        answers = [part.casefold() for part in (*item.answers, *pair)]
        passages = chance.sample(bank.contexts, min(5, len(bank.contexts)))
        passages = [
            text for text in passages if text != item.context and not any(p in text.casefold() for p in answers)
        ]
        text = frames.prose(words, chance, passages)
        place = {"start": 0, "middle": len(text) // 2, "end": len(text)}[where]
        whole, frame = chance.random() < 0.4, draw("statements" if chance.random() < 0.7 else "hedges", chance)
        rejected = pick(chance, "disguise", "rejected")
        joint = chance.choice((" ", " ", "\n", "\n\n"))
        for label, (b, a) in ((1, pair), (0, pair[::-1])):
            statement = frames.whole(b, item.question, Random(words)) if whole else fill(frame, x=b, q=item.question)
            answer = frames.sentence(statement) + fill(rejected, a=a)
            yield Made(label, joint.join([*text[:place], answer, *text[place:]]))

    return make
