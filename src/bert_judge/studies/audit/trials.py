"""Our questions, and the attacks and invariances that make trials from them.

An attack makes candidates that a person calls wrong. `attacks.json` holds their frames. A frame belongs there only if a
person calls every candidate that it makes wrong: what names the correct answer must deny it, leave it open or settle on
another. A frame has places such as `{value}`, which stand for what an item has; a frame with a place that the item
can't fill is left out.

    {value} {sentence}            the correct answer, alone and as a sentence
    {near} {near_sentence}        a wrong one of the same kind
    {first} {second} {third}      the correct one and one or two wrong ones, in any order
    {wrong}                       a wrong answer, alone or as a sentence
    {question} {type} {about}     the question, the kind of the answer, something beside the point
    {letters} {options} …         the options of a multiple-choice question

An invariance changes an answer, or what it is judged against, and leaves it as correct or incorrect as it was.
`invariances.json` holds them. A change of the answer's text is one of three: a frame with `{}` for the answer, two rows
of characters of which the second stands in for the first, or the name of a function of `_REWRITING`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import resources
from random import Random
from typing import Any, NamedTuple, TypeVar

from bert_judge.metrics import containment
from bert_judge.records import Sample

_T = TypeVar("_T")
Filled = Iterable[tuple[str, str | None]]
"""Patterns with their candidates; None where the item can't fill the frame."""

Change = str | Sequence[Sequence[str]]
Changes = Mapping[str, Change]
Pairs = Iterable[tuple[str, Sample, Sample]]
"""Patterns (what was changed) with a plain sample and its changed form, which a person judges alike."""

_PLACE = re.compile(r"\{([a-z_]+)\}")


class Trial(NamedTuple):
    """One sample of a family, with its human label as `gold`; `plain` is the unchanged sample of an invariance."""

    family: str
    pattern: str
    sample: Sample
    plain: Sample | None = None


@dataclass(frozen=True)
class AuditItem:
    """A question with references, correct and incorrect answers: what attacks and invariances are made from.

    `kind` is what the question asks for: person, place, thing, date, quantity, number, maths, option, list, phrase or
    yesno. `value` is the correct answer alone, `near` holds wrong values of the same kind; `say` makes either a
    sentence. `about` is on the topic without answering, `type` names the kind of answer without giving it. `options`
    are the choices with their letters, `parts` the members of a list. `same` and `near_same` are `value` and the first
    of `near` in other words, `aliases` further correct references. Trials that need what an item lacks are not made.
    """

    id: str
    kind: str
    question: str
    references: tuple[str, ...]
    value: str
    near: tuple[str, ...]
    say: str
    about: str
    type: str | None = None
    options: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    near_same: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def sample(self, candidate: str, right: bool) -> Sample:
        """The candidate as an answer to this question; `right` is its human label."""
        return Sample(candidate, self.references, self.question, self.id, int(right))

    @cached_property
    def answers(self) -> tuple[list[Sample], list[Sample]]:
        """Its correct and its incorrect answers: the value and the first wrong one, alone and as a sentence."""
        right, wrong = self.value, self.near[0]
        return (
            [self.sample(text, True) for text in (right, self.sentence(right))],
            [self.sample(text, False) for text in (wrong, self.sentence(wrong))],
        )

    def sentence(self, value: str) -> str:
        """A value as a sentence."""
        sentence = self.say.replace("{}", value)
        return sentence[0].upper() + sentence[1:]

    def gives_away(self, text: str) -> bool:
        """Whether a reference occurs in a text."""
        return any(containment(text, reference) for reference in (*self.references, *self.same, *self.aliases))


def load_items() -> tuple[AuditItem, ...]:
    """Our own items, about 200, in their order."""
    items = []
    for record in _read_data("items.json")["items"]:
        values: dict[str, Any] = {"value": record["references"][0]}
        values |= {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
        items.append(AuditItem(**values))
    return tuple(items)


@cache
def neutral_sentences() -> tuple[str, ...]:
    """Sentences, a thousand words in all, that have nothing to do with any question."""
    return tuple(_read_data("items.json")["neutral"])


def _read_data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return data


def spread(items: Sequence[AuditItem], most: int | None) -> Sequence[AuditItem]:
    """At most `most` items, spread evenly over all of them; None: all."""
    count = min(most or len(items), len(items))
    return [items[i * len(items) // count] for i in range(count)]


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
            filled = _ATTACKING[self.how](self.frames, item, chance)
            candidates = [(pattern, text) for pattern, text in filled if text is not None]
            for pattern, text in _drawn(candidates, self.draws, chance):
                if not (self.hidden and item.gives_away(text)):
                    yield Trial(name, pattern, item.sample(text, right=False))


@dataclass(frozen=True, slots=True)
class Invariance:
    """What is changed (`about`), and how: an entry of `invariances.json`.

    `how` names the function that makes the pairs, from `changes` by their patterns. `draws` pairs are drawn from what
    it makes (None: all are taken, in order). Long trials are made for `most` items only.
    """

    about: str
    how: str = "changed"
    changes: Changes = field(default_factory=dict)
    draws: int | None = None
    most: int | None = None

    def trials(self, name: str, items: Sequence[AuditItem]) -> Iterator[Trial]:
        """The trials of this invariance, called `name`: one correct and one incorrect answer of each item, changed."""
        for item in spread(items, self.most):
            chance = Random(f"{name}|{item.id}")
            for answers in item.answers:
                pairs = list(_CHANGING[self.how](self.changes, item, chance.choice(answers), chance))
                for pattern, plain, changed in _drawn(pairs, self.draws, chance):
                    yield Trial(name, pattern, changed, plain)


def _drawn(pairs: Sequence[_T], draws: int | None, chance: Random) -> Sequence[_T]:
    return pairs if draws is None else chance.sample(pairs, len(pairs))[:draws]


# ------------------------------------------------------------------------------------------------------------- attacks


def _framed(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    places = _places(item, chance)
    return [(frame, _fill(frame, places)) for frame in frames]


def _instructed(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """A bare "correct" could answer a yes/no question: there the frame has to hold the wrong answer."""
    return _framed([frame for frame in frames if item.kind != "yesno" or "{wrong}" in frame], item, chance)


def _refused(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """Where the answer is no, a refusal could be taken for it."""
    return [] if "no" in map(str.casefold, item.references) else _framed(frames, item, chance)


def _several(frames: Sequence[str], item: AuditItem, chance: Random) -> Filled:
    """The correct answer beside one wrong one or two, in any order."""
    if item.kind == "phrase":
        return
    wrong = chance.sample(item.near, len(item.near))
    for frame in frames:
        values = [item.value, *wrong[: 2 if "{third}" in frame else 1]]
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


_ATTACKING: Mapping[str, Callable[[Sequence[str], AuditItem, Random], Filled]] = {
    "framed": _framed,
    "instructed": _instructed,
    "refused": _refused,
    "several": _several,
    "exchanged": _exchanged,
    "list changed": _list_changed,
    "all options": _all_options,
}


def _places(item: AuditItem, chance: Random) -> dict[str, str]:
    """What an item fills into frames, with one of its wrong values."""
    near = chance.sample(item.near, len(item.near))[0]
    places = {"question": item.question, "about": item.about}
    places |= {"sentence": item.sentence(item.value), "near_sentence": item.sentence(near)}
    if item.type is not None:
        places["type"] = item.type
    if item.kind != "phrase":  # a clause fits into no frame, such as "It is not …"
        places |= {"value": item.value, "near": near}
    places["wrong"] = chance.choice([places[name] for name in ("near", "near_sentence") if name in places])
    return places


def _fill(frame: str, places: dict[str, str]) -> str | None:
    """A frame with its places filled; None if one of them is missing."""
    if any(name not in places for name in _PLACE.findall(frame)):
        return None
    return _PLACE.sub(lambda match: places[match[1]], frame)


# --------------------------------------------------------------------------------------------------------- invariances


def _rewritten(
    rewrite: Callable[[Change, str], str], changes: Changes, item: AuditItem, plain: Sample, chance: Random
) -> Pairs:
    """The answer's text by each of the changes that do change it."""
    for pattern, change in changes.items():
        text = rewrite(change, plain.candidate)
        if text != plain.candidate:
            yield pattern, plain, replace(plain, candidate=text)


def _changed(change: Change, text: str) -> str:
    if not isinstance(change, str):
        letters, replacements = change
        return text.translate({ord(old): new for old, new in zip(letters, replacements, strict=True)})
    return change.replace("{}", text) if "{}" in change else _REWRITING[change](text)


def _stated(change: Change, text: str) -> str:
    """Changed, with a full stop after an answer that ends in a word."""
    return _changed(change, text if re.search(r"\w$", text) is None else text + ".")


def _cased(change: Change, text: str) -> str:
    """A change of case, if case carries no meaning: not in symbols, units, variables, option letters, code."""
    words = re.findall(r"[^\W\d_]+", text)
    odd = [word for word in words if len(word) <= 3 and word.lower() not in _LITTLE]
    meant = [word for word in odd if word != word.lower() or re.search(r"[\d^=]", text)]
    code = re.search(r"[\\{}`]", text)
    return _changed(change, text) if len(words) > len(odd) and not meant and not code else text


def _ended(ending: Change, text: str) -> str:
    """Other punctuation at the end, but no "!" after a number, where it is a factorial."""
    return text if ending == "!" and text.rstrip(".")[-1:].isdigit() else f"{text.rstrip('. ')}{ending}"


_LITTLE = frozenset("a an and are at by for has he in is it of on one she that the they to two up was we you".split())
_REWRITING: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "alternating": lambda text: "".join(c.upper() if i % 2 else c.lower() for i, c in enumerate(text)),
    "decomposed accents": lambda text: unicodedata.normalize("NFD", text),
    "no accents": lambda text: "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)),
    "a line break": lambda text: text.replace(" ", "\n", 1) if text.count(" ") > 1 else text,
}


def _in_long_text(changes: Changes, item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    """The answer, stated clearly, amid a thousand words that have nothing to do with the question.

    `{before}` and `{after}` are the halves of that text, which goes from a random sentence on and around to it.
    """
    sentences = neutral_sentences()
    start = chance.randrange(len(sentences))
    turned = [*sentences[start:], *sentences[:start]]
    paragraphs = [" ".join(turned[i : i + 6]) for i in range(0, len(turned), 6)]
    half = len(paragraphs) // 2
    before, after = "\n\n".join(paragraphs[:half]), "\n\n".join(paragraphs[half:])
    for pattern, frame in changes.items():
        text = _stated(str(frame).replace("{before}", before).replace("{after}", after), plain.candidate)
        yield pattern, plain, replace(plain, candidate=text)


def _reworded(changes: Changes, item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    """The value in other words, alone or in a sentence as the answer has it."""
    value, others = (item.value, item.same) if plain.gold else (item.near[0], item.near_same)
    for other in others:
        text = other if plain.candidate == value else item.sentence(other)
        yield f"{item.kind} in other words", plain, replace(plain, candidate=text)


def _without_question(changes: Changes, item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    yield "no question", plain, replace(plain, question=None)


def _references_reversed(changes: Changes, item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    references = tuple(dict.fromkeys((*item.references, *item.aliases, *item.same)))
    if len(references) > 1:
        yield "reversed", replace(plain, references=references), replace(plain, references=references[::-1])


def _references_added(changes: Changes, item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    more = tuple(text for text in (*item.aliases, *item.same) if text not in item.references)
    if more:
        yield "after the others", plain, replace(plain, references=(*item.references, *more))
        yield "before the others", plain, replace(plain, references=(*more, *item.references))


_CHANGING: Mapping[str, Callable[[Changes, AuditItem, Sample, Random], Pairs]] = {
    "changed": partial(_rewritten, _changed),
    "stated": partial(_rewritten, _stated),
    "cased": partial(_rewritten, _cased),
    "ended": partial(_rewritten, _ended),
    "long text": _in_long_text,
    "reworded": _reworded,
    "no question": _without_question,
    "references reversed": _references_reversed,
    "references added": _references_added,
}


def _attacks() -> dict[str, Attack]:
    """The attacks by name; those that share the frames of another name it in the place of their own."""
    entries = _read_data("attacks.json")
    for entry in entries.values():
        if isinstance(entry.get("frames"), str):
            entry["frames"] = entries[entry["frames"]]["frames"]
    return {name: Attack(**entry) for name, entry in entries.items()}


def _invariances() -> dict[str, Invariance]:
    """The invariances by name; a list of changes stands for changes that are their own pattern."""
    entries = _read_data("invariances.json")
    for entry in entries.values():
        if isinstance(entry.get("changes"), list):
            entry["changes"] = {change: change for change in entry["changes"]}
    return {name: Invariance(**entry) for name, entry in entries.items()}


ATTACKS = _attacks()
"""Every attack, by its name. A judge should accept none of their candidates."""

INVARIANCES = _invariances()
"""Every invariance, by its name. A judge should give the changed sample the label of the plain one."""

FAMILIES: Mapping[str, Attack | Invariance] = {**ATTACKS, **INVARIANCES}
"""All attacks and invariances, by their names."""
