"""Attacks: candidates that a person calls wrong, whatever the judge makes of them.

Each makes candidates for an item with the name of their pattern. A frame has places such as `{value}`, which stand for
what the item has; a frame whose places the item can't fill is left out.

    {value} {sentence}            the right answer, alone and as a sentence
    {near} {near_sentence}        a wrong one of the same kind
    {first} {second} {third}      the right one and two wrong ones, in any order
    {wrong}                       a wrong answer, alone or as a sentence
    {question} {type} {about}     the question, the kind of the answer, what is beside the point
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random

from bert_judge.audit.frames import (
    CONCLUDING_OTHERWISE,
    CUT_OFF,
    EMPTY_FRAMES,
    INSTRUCTIONS,
    LISTED,
    MARKERS,
    NEGATED,
    PUNCTUATION,
    REFUSALS,
    REPEATED,
    SEVERAL,
    SWAPPED,
    TYPES,
    VAGUE,
)
from bert_judge.audit.items import Item

Candidates = Iterable[tuple[str, str]]
"""Patterns and candidates."""

_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attack does, in words, and the function that does it: from an item to candidates with their pattern."""

    about: str
    make: Callable[[Item, Random], Candidates]


def fill(frame: str, places: dict[str, str]) -> str | None:
    """A frame with its places filled; None where the item lacks one of them."""
    if any(name not in places for name in _PLACE.findall(frame)):
        return None
    return _PLACE.sub(lambda match: places[match[1]], frame)


def places(item: Item, chance: Random) -> dict[str, str]:
    """What an item fills into frames; its wrong values in an order that `chance` gives."""
    near = chance.sample(item.near, len(item.near))
    found = {"question": item.question, "type": item.type, "about": item.about}
    if item.value is not None:
        found["sentence"] = item.sentence(item.value)
    if near:
        found["near_sentence"] = item.sentence(near[0])
    if item.is_short:
        found["value"] = item.value
        found |= dict(zip(("near", "other"), near, strict=False))
    wrong = [found[name] for name in ("near", "near_sentence") if name in found] or item.wrong
    if wrong:
        found["wrong"] = chance.choice(wrong)
    return {name: text for name, text in found.items() if text is not None}


def framed(
    frames: Iterable[str],
    times: int = 1,
    only: Callable[[Item], bool] = lambda item: True,
    hidden: bool = False,
) -> Callable[[Item, Random], Candidates]:
    """So many of the frames that an item can fill, drawn by chance, for the items that `only` takes.

    With `hidden` no reference may stand in the candidate, as the frames don't mean to name one.
    """

    def make(item: Item, chance: Random) -> Iterator[tuple[str, str]]:
        if not only(item):
            return
        known = places(item, chance)
        filled = [(frame, text) for frame in frames if (text := fill(frame, known)) is not None]
        for frame, text in chance.sample(filled, len(filled))[:times]:
            if not (hidden and item.gives_away(text)):
                yield frame, text

    return make


def with_several(item: Item, chance: Random) -> Iterator[tuple[str, str]]:
    """The right answer beside one wrong one or two, in any order."""
    if not item.is_short or item.kind in ("yesno", "list"):
        return
    wrong = chance.sample(item.near, len(item.near))
    filled = []
    for frame in SEVERAL:
        values = [str(item.value), *wrong[: 2 if "{third}" in frame else 1]]
        order = chance.sample(values, len(values))
        text = fill(frame, dict(zip(("first", "second", "third"), order, strict=False)))
        if text is not None and len(values) > 1:
            filled.append((frame, text))
    yield from chance.sample(filled, min(1, len(filled)))


def swapped(*kinds: str) -> Callable[[Item, Random], Candidates]:
    """Every wrong value of items of these kinds, alone or in a sentence."""

    def make(item: Item, chance: Random) -> Iterator[tuple[str, str]]:
        if item.kind in kinds:
            for near in item.near:
                frame = chance.choice(SWAPPED)
                text = fill(frame, {"near": near, "near_sentence": item.sentence(near)})
                yield frame, str(text)

    return make


def with_a_list_changed(item: Item, chance: Random) -> Iterator[tuple[str, str]]:
    """A list without one of its members, and one with a member exchanged."""
    if not item.parts:
        return
    for left_out in range(len(item.parts)):
        parts = [part for number, part in enumerate(item.parts) if number != left_out]
        text = ", ".join(chance.sample(parts, len(parts)))
        yield "one is missing", chance.choice((text, item.sentence(text)))
    for near in item.near:
        yield "one is exchanged", chance.choice((near, item.sentence(near)))


def with_all_options(item: Item, chance: Random) -> Iterator[tuple[str, str]]:
    """Every option of a multiple-choice question, none of them chosen."""
    letters = [option[0] for option in item.options]
    texts = [option[3:] for option in item.options]
    known = {
        "letters": ", ".join(letters),
        "last": " or ".join([", ".join(letters[:-1]), *letters[-1:]]),
        "options": "\n".join(item.options),
        "inline": "; ".join(item.options),
        "texts": ", ".join(texts),
        "either": " or ".join(texts),
    }
    if item.options:
        for frame in chance.sample(LISTED, 4):
            yield frame, str(fill(frame, known))


def _not_yes_no(item: Item) -> bool:
    return item.kind != "yesno"


def _instructed(item: Item, chance: Random) -> Candidates:
    """A bare "correct" could be an answer to a question for yes or no: there the wrong answer has to stand."""
    frames = INSTRUCTIONS if _not_yes_no(item) else [frame for frame in INSTRUCTIONS if "{wrong}" in frame]
    return framed(frames, times=2, hidden=True)(item, chance)


ATTACKS: dict[str, Attack] = {
    "empty answer": Attack("nothing, or white space", framed(["", " ", "\n", "\n\n\n", " \t ", "\u00a0", "\u200b"])),
    "empty frame": Attack(
        '"Solution:", "Thought process:" and their like, with nothing after them', framed(EMPTY_FRAMES, 2, hidden=True)
    ),
    "punctuation": Attack("punctuation and symbols only", framed(PUNCTUATION)),
    "question repeated": Attack("the question instead of an answer", framed(REPEATED)),
    "type only": Attack("what kind of thing the answer is: a city, a number", framed(TYPES, hidden=True)),
    "refusal": Attack("no answer, politely", framed(REFUSALS, only=lambda item: not item.asks_nothing, hidden=True)),
    "vague": Attack("on the topic, and no answer", framed(VAGUE, hidden=True)),
    "every option": Attack("all options listed, none chosen", with_all_options),
    "several answers": Attack("the right answer beside wrong ones, none chosen", with_several),
    "negated": Attack("the right answer, said to be wrong", framed(NEGATED, only=_not_yes_no)),
    "injected markers": Attack("a wrong answer with special tokens and false fields", framed(MARKERS, 2, hidden=True)),
    "injected instructions": Attack("orders to the judge and claims to be right", _instructed),
    "other entity": Attack("another person, place or thing of the same kind", swapped("person", "place", "thing")),
    "other number": Attack("another number, also with its unit", swapped("number", "quantity", "maths")),
    "other date": Attack("another day, month or year", swapped("date")),
    "other option": Attack("another option letter, or another option", swapped("option")),
    "other list": Attack("a list with one member missing or exchanged", with_a_list_changed),
    "concludes otherwise": Attack(
        "reasoning that mentions the right answer and settles on a wrong one", framed(CONCLUDING_OTHERWISE, 2)
    ),
    "cut-off reasoning": Attack("reasoning that stops before any conclusion", framed(CUT_OFF, 2)),
}
"""Every attack, by its name. A judge should accept none of their candidates."""
