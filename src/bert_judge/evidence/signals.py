"""What speaks for and against a candidate, as a few numbers that a person can check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from bert_judge.evidence.options import name_option
from bert_judge.evidence.spans import compared_words, content_of, words
from bert_judge.evidence.word import Word
from bert_judge.metrics import find_choice

_NEGATIONS = frozenset("not never neither nor cannot no isn aren wasn weren doesn don didn".split())
_REFUSAL = re.compile(
    r"\b(?:do(?:es)? ?n[o']?t know|(?:can ?not|can'?t|unable to) (?:answer|determine|say|find)|not (?:sure|enough)"
    r"|no (?:information|idea)|unanswerable|unknown|sorry|as an ai)\b",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\s*(?:\(?[A-J][).:]|[A-J]\s*$)")
_ENDING = 1_500  # characters: a choice is stated at the end of a long text
_NUMBER_WORDS = 2  # a reference of so many words is a number if it has one: "42 apples"


@dataclass(frozen=True, slots=True)
class Signals:
    """What a candidate and its references have in common, for the reference that fits best.

    Shares are in [0, 1]; a signal that says yes, no or nothing is 1, -1 or 0. Words are compared as in `find_evidence`.
    """

    equal: float
    """The words are those of a reference, in order."""
    contains: float
    """The words of a reference stand in the candidate, in a row."""
    inside: float
    """The candidate's words stand in a reference, in a row."""
    precision: float
    """The share of the candidate's words that stand in the reference."""
    recall: float
    """The share of the reference's words that stand in the candidate."""
    option: float
    """1: the candidate chooses the reference's option; -1: another one; 0: there are no options, or none is chosen."""
    number: float
    """Where the reference is a number: 1 if it is the candidate's last number, -1 if another one is."""
    numbers: float
    """Where the reference has numbers: 1 if all of them stand in the candidate, else -1."""
    other_numbers: float
    """1 where the candidate has numbers that the reference has not, and the reference has some."""
    added: float
    """The share of the candidate's words that stand neither in the reference nor in the question."""
    negation: float
    """1 where the candidate has a word such as *not*."""
    refusal: float
    """1 where the candidate says that it does not know."""
    options: tuple[str | None, str | None] = (None, None)
    """The options that candidate and reference name."""
    last_numbers: tuple[str | None, str | None] = (None, None)
    """The last number of the candidate, and the reference where that is a number."""

    def describe(self) -> str:
        """The signals that tell most, in words: "last number 42 = 42", "option B, not C", "3 of 4 words of …"."""
        phrases = [
            (self.refusal, "refuses to answer"),
            (self.option, "option {} chosen" if self.option > 0 else "option {}, not {}"),
            (self.number, "last number {} = {}" if self.number > 0 else "last number {}, not {}"),
        ]
        values = [(), self.options, self.last_numbers]
        told = [phrase.format(*given) for (signal, phrase), given in zip(phrases, values, strict=True) if signal]
        return ", ".join([*told, self._overlap()])

    def _overlap(self) -> str:
        if self.equal:
            return "the same words as the reference"
        if self.contains:
            return "contains the reference"
        if self.inside:
            return "a part of the reference"
        return f"{self.recall:.0%} of the reference's words"

    def vector(self) -> tuple[float, ...]:
        """The values, in the order of `SIGNALS`."""
        return tuple(getattr(self, name) for name in SIGNALS)


SIGNALS = tuple(field.name for field in fields(Signals) if field.type == "float")
"""The names of the signals, in the order of `Signals.vector`."""


def find_signals(candidate: str, references: Sequence[str], question: str | None = None) -> Signals:
    """Compare a candidate with one or more references; about linear in the length of the texts."""
    said, every = compared_words(candidate, references, question)
    keys = [word.key for word in said]
    known = set(keys)
    row = _in_a_row(said)
    wanted = [[word.key for word in content_of(found)] for found in every]
    best = max(range(len(references)), key=lambda i: (_share(wanted[i], known), -len(wanted[i])))
    target, whole = set(wanted[best]), [_in_a_row(found) for found in every]
    content = [word.key for word in content_of(said)]
    expected = target.union(word.key for word in words(question or ""))
    return Signals(
        equal=float(row in whole),
        contains=float(any(text in row for text in whole if text.strip())),
        inside=float(bool(keys) and any(row in text for text in whole)),
        precision=_share(content, target),
        recall=_share(wanted[best], known),
        added=_share(content, set(content) - expected),
        negation=float(not _NEGATIONS.isdisjoint(known)),
        refusal=float(bool(_REFUSAL.search(candidate))),
        **_option(candidate, references[best], question),
        **_numbers(keys, wanted[best]),
    )


def _in_a_row(found: Sequence[Word]) -> str:
    return " " + "".join(f"{word.key} " for word in found)


def _share(keys: Sequence[str], known: Iterable[str]) -> float:
    return sum(key in known for key in keys) / max(len(keys), 1)


def _option(candidate: str, reference: str, question: str | None) -> dict[str, Any]:
    """Whether the candidate chooses the option that the reference names, and both options."""
    wanted = name_option(reference, question)
    right = find_choice(wanted[:_ENDING]) if _OPTION.match(wanted) else None
    chosen = find_choice(name_option(candidate[-_ENDING:], question)) if right else None
    known = right is not None and chosen is not None
    return {"option": 0.0 if not known else 1.0 if chosen == right else -1.0, "options": (chosen, right)}


def _numbers(keys: Sequence[str], wanted: Sequence[str]) -> dict[str, Any]:
    """The signals of numbers, and the last ones."""
    ours, theirs = ([key for key in each if key.lstrip("-")[:1].isdigit()] for each in (keys, wanted))
    if not theirs:
        return dict.fromkeys(("number", "numbers", "other_numbers"), 0.0)
    last = (ours[-1] if ours else None, theirs[-1] if len(wanted) <= _NUMBER_WORDS else None)
    return {
        "number": 0.0 if None in last else 1.0 if last[0] == last[1] else -1.0,
        "numbers": 1.0 if set(theirs) <= set(ours) else -1.0,
        "other_numbers": float(not set(ours) <= set(theirs)),
        "last_numbers": last,
    }
