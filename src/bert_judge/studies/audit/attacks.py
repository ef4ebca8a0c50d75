"""Attacks: candidates that a person calls wrong, whatever the judge makes of them.

`attacks.json` holds their frames. A frame belongs there only if a person calls every candidate that it makes wrong:
what names the correct answer must deny it, leave it open or settle on another. A frame has places such as `{value}`,
which stand for what an item has; a frame with a place that the item can't fill is left out.

    {value} {sentence}            the correct answer, alone and as a sentence
    {near} {near_sentence}        a wrong one of the same kind
    {first} {second} {third}      the correct one and one or two wrong ones, in any order
    {wrong}                       a wrong answer, alone or as a sentence
    {question} {type} {about}     the question, the kind of the answer, something beside the point
    {letters} {options} …         the options of a multiple-choice question
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from bert_judge.studies.audit.items import AuditItem, Trial, read_data

Filled = Iterable[tuple[str, str | None]]
"""Patterns with their candidates; None where the item can't fill the frame."""

_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attack does (`about`), and how: an entry of `attacks.json`.

    `how` names the function that fills the frames for an item. `draws` candidates are drawn from what it makes (None:
    all are taken, in order), for items of `kinds` (None: any) that are not of `not_kinds`. With `hidden`, a candidate
    in which a reference happens to stand is left out.
    """

    about: str
    frames: Sequence[str] = ()
    how: str = "framed"
    draws: int | None = None
    hidden: bool = False
    kinds: Sequence[str] | None = None
    not_kinds: Sequence[str] = ()

    def trials(self, name: str, items: Iterable[AuditItem]) -> Iterator[Trial]:
        """The trials of this attack, called `name`: the pattern of each is its frame, or a few words."""
        for item in items:
            if item.kind in self.not_kinds or (self.kinds is not None and item.kind not in self.kinds):
                continue
            chance = Random(f"{name}|{item.id}")
            filled = _HOW[self.how](self.frames, item, chance)
            candidates = [(pattern, text) for pattern, text in filled if text is not None]
            if self.draws is not None:
                candidates = chance.sample(candidates, len(candidates))[: self.draws]
            for pattern, text in candidates:
                if not (self.hidden and item.gives_away(text)):
                    yield Trial(name, pattern, item.sample(text, right=False))


def _framed(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    places = _places(item, chance)
    return [(frame, _fill(frame, places)) for frame in frames]


def _instructed(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """A bare "correct" could answer a yes/no question: there the frame has to hold the wrong answer."""
    return _framed([frame for frame in frames if item.kind != "yesno" or "{wrong}" in frame], item, chance)


def _refused(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    return [] if item.has_no_answer else _framed(frames, item, chance)


def _several(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """The correct answer beside one wrong one or two, in any order."""
    if not (item.is_short and item.near):
        return
    wrong = chance.sample(item.near, len(item.near))
    for frame in frames:
        values = [str(item.value), *wrong[: 2 if "{third}" in frame else 1]]
        order = chance.sample(values, len(values))
        yield frame, _fill(frame, dict(zip(("first", "second", "third"), order, strict=False)))


def _exchanged(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """Every wrong value, alone or in a sentence."""
    for near in item.near:
        frame = chance.choice(frames)
        yield frame, _fill(frame, {"near": near, "near_sentence": item.sentence(near)})


def _list_changed(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """A list without one of its members, and one with a member exchanged."""
    for left_out in range(len(item.parts)):
        parts = [part for number, part in enumerate(item.parts) if number != left_out]
        text = ", ".join(chance.sample(parts, len(parts)))
        yield "one is missing", chance.choice((text, item.sentence(text)))
    for near in item.near if item.parts else ():
        yield "one is exchanged", chance.choice((near, item.sentence(near)))


def _all_options(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """Every option of a multiple-choice question, none of them chosen."""
    if not item.options:
        return []
    letters = [option[0] for option in item.options]
    texts = [option[3:] for option in item.options]
    places = {
        "letters": ", ".join(letters),
        "last": " or ".join([", ".join(letters[:-1]), *letters[-1:]]),
        "options": "\n".join(item.options),
        "inline": "; ".join(item.options),
        "texts": ", ".join(texts),
        "either": " or ".join(texts),
    }
    return [(frame, _fill(frame, places)) for frame in frames]


_HOW: dict[str, Callable[[Sequence[str], AuditItem, Random], Filled]] = {
    "framed": _framed,
    "instructed": _instructed,
    "refused": _refused,
    "several": _several,
    "exchanged": _exchanged,
    "list changed": _list_changed,
    "all options": _all_options,
}


def _places(item: AuditItem, chance: Random) -> dict[str, str]:
    """What an item fills into frames, its wrong values in random order."""
    near = chance.sample(item.near, len(item.near))
    places = {"question": item.question, "type": item.type, "about": item.about}
    if item.value is not None:
        places["sentence"] = item.sentence(item.value)
    if near:
        places["near_sentence"] = item.sentence(near[0])
    if item.is_short:
        places["value"] = item.value
        places |= {"near": near[0]} if near else {}
    wrong = [places[name] for name in ("near", "near_sentence") if name in places] or item.wrong
    if wrong:
        places["wrong"] = chance.choice(wrong)
    return {name: text for name, text in places.items() if text is not None}


def _fill(frame: str, places: dict[str, str]) -> str | None:
    """A frame with its places filled; None if one of them is missing."""
    if any(name not in places for name in _PLACE.findall(frame)):
        return None
    return _PLACE.sub(lambda match: places[match[1]], frame)


def _load() -> dict[str, Attack]:
    """The attacks by name; those that share the frames of another name it in the place of their own."""
    entries = read_data("attacks.json")
    for entry in entries.values():
        if isinstance(entry.get("frames"), str):
            entry["frames"] = entries[entry["frames"]]["frames"]
    return {name: Attack(**entry) for name, entry in entries.items()}


ATTACKS = _load()
"""Every attack, by its name. A judge should accept none of their candidates."""
