"""The questions that trials are made from, with correct and incorrect answers: ours, or a user's labelled rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, NamedTuple

from bert_judge.errors import InputError
from bert_judge.metrics import containment
from bert_judge.records import Sample

_SHORT = 5  # words: a longer reference does not fit into "It is …"
_YES_NO = frozenset("yes no true false correct incorrect right wrong".split())
_NOTHING = re.compile(
    r"\b(?:none|nothing|unknown|unanswerable|n/?a|cannot|can't|no (?:answer|one)|not|no|never)\b", re.IGNORECASE
)


class Trial(NamedTuple):
    """One sample of a family, with its human label as `gold`; `plain` is the unchanged sample of an invariance."""

    family: str
    pattern: str
    sample: Sample
    plain: Sample | None = None


@dataclass(frozen=True)
class AuditItem:
    """A question with references, correct and incorrect answers: what attacks and invariances are made from.

    `kind` is what the question asks for: person, place, thing, date, quantity, number, maths, option, list, phrase,
    yesno, or "" if unknown. `right` and `wrong` are whole answers, labelled by a person. `value` is the correct answer
    alone, `near` holds wrong values of the same kind; `say` makes either a sentence. `type` names the kind of answer
    without giving it, `about` is on the topic without answering. `options` are the choices with their letters, `parts`
    the members of a list. `same` and `near_same` are `value` and the first of `near` in other words, `aliases` further
    correct references. Trials that need what an item lacks are not made.
    """

    id: str
    question: str | None
    references: tuple[str, ...]
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    kind: str = ""
    value: str | None = None
    near: tuple[str, ...] = ()
    say: str = "The answer is {}."
    type: str | None = None
    about: str | None = None
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
        """Its correct and its incorrect answers, as samples."""
        return [self.sample(text, True) for text in self.right], [self.sample(text, False) for text in self.wrong]

    def sentence(self, value: str) -> str:
        """A value as a sentence."""
        sentence = self.say.replace("{}", value)
        return sentence[0].upper() + sentence[1:]

    @property
    def is_short(self) -> bool:
        """Whether the value fits into any frame, such as "It is not …", as clauses do not."""
        return self.value is not None and self.kind != "phrase" and len(self.value.split()) <= 2 * _SHORT

    @property
    def has_no_answer(self) -> bool:
        """Whether a reference says that there is no answer, so that a refusal could be correct."""
        return any(_NOTHING.search(reference) for reference in self.references)

    def gives_away(self, text: str) -> bool:
        """Whether a reference occurs in a text."""
        return any(containment(text, reference) for reference in (*self.references, *self.same, *self.aliases))


@cache
def load_items() -> tuple[AuditItem, ...]:
    """Our own items, about 200, in their order: a value and a wrong one are answers alone and as a sentence."""
    items = []
    for record in read_data("items.json")["items"]:
        values: dict[str, Any] = {"value": record["references"][0]}
        values |= {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
        bare = AuditItem(right=(), wrong=(), **values)
        right, wrong = ((text, bare.sentence(text)) for text in (values["value"], values["near"][0]))
        items.append(AuditItem(right=right, wrong=wrong, **values))
    return tuple(items)


@cache
def neutral_sentences() -> tuple[str, ...]:
    """Sentences, a thousand words in all, that have nothing to do with any question."""
    return tuple(read_data("items.json")["neutral"])


def read_data(name: str) -> dict[str, Any]:
    """A data file of this package."""
    data: dict[str, Any] = json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return data


def items_of(samples: Iterable[Sample]) -> tuple[AuditItem, ...]:
    """Items from labelled rows, one for each question with its references; rows without a label are left out.

    The short ones among a question's incorrect answers are its wrong values. InputError if no row has a label.
    """
    rows: dict[tuple[str | None, tuple[str, ...]], dict[int, dict[str, None]]] = {}
    for sample in samples:
        if sample.gold is not None and sample.candidate.strip():
            answers = rows.setdefault((sample.question, sample.references), {0: {}, 1: {}})
            answers[int(sample.gold)][sample.candidate] = None
    if not rows:
        raise InputError(
            "no row has a label; a column label with 0 or 1 was expected, or a map that names it (label=COLUMN)."
        )
    items = []
    for number, ((question, references), answers) in enumerate(rows.items(), 1):
        right = tuple(text for text in answers[1] if text not in answers[0])
        wrong = tuple(text for text in answers[0] if text not in answers[1])
        value = references[0] if len(references[0].split()) <= _SHORT else None
        kind = _kind(value) if value else ""
        near = [text.strip(" .") for text in wrong if value and len(text.split()) <= _SHORT]
        near = [text for text in near if not any(containment(text, reference) for reference in references)]
        say = "The answer is this: {}." if kind == "phrase" else "The answer is {}."
        items.append(AuditItem(str(number), question, references, right, wrong, kind, value, tuple(near), say))
    return tuple(items)


def spread(items: Sequence[AuditItem], most: int | None) -> Sequence[AuditItem]:
    """At most `most` items, spread evenly over all of them."""
    if most is None or len(items) <= most:
        return items
    return [items[i * len(items) // most] for i in range(most)]


def _kind(value: str) -> str:
    """The kind of a user's short reference, as far as it shows: four words or more without a capital are a phrase."""
    if value.strip(" .").casefold() in _YES_NO:
        return "yesno"
    if any(map(str.isdigit, value)):
        return "number"
    return "phrase" if len(value.split()) > 3 and value == value.lower() else "thing"
