"""What speaks for and against a candidate, as a few numbers that a person can check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from bert_judge.evidence.matching import AGREEING, Mark, Match, Relation, match
from bert_judge.evidence.reading import Reading, read
from bert_judge.evidence.values import Form, Value, Word

_NEGATIONS = re.compile(r"\b(?:not|never|neither|nor|cannot|no|\w+n['’]t)\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:do(?:es)? ?n[o']?t know|(?:can ?not|can'?t|unable to) (?:answer|determine|say|find)|not (?:sure|enough)"
    r"|no (?:information|idea)|unanswerable|unknown|sorry|as an ai)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS = 2  # a reference of so many values is a number if it has one: "42 apples"


@dataclass(frozen=True, slots=True)
class Signals:
    """What a candidate and its references have in common, for the reference that fits best.

    Shares are in [0, 1]; a signal that says yes, no or nothing is 1, -1 or 0. Values agree as in `match`.
    """

    equal: float
    """The values are those of a reference, in order."""
    contains: float
    """The values of a reference stand in the candidate, in a row."""
    inside: float
    """The candidate's values stand in a reference, in a row."""
    precision: float
    """The share of the candidate's values that agree with a reference."""
    recall: float
    """The share of the reference's values that the candidate agrees with."""
    option: float
    """1: the candidate chooses the reference's option; -1: another one; 0: there are no options, or none is chosen."""
    number: float
    """Where the reference is a number: 1 if the candidate's last number agrees with it, -1 if not."""
    numbers: float
    """Where the reference has numbers: 1 if the candidate agrees with all of them, else -1."""
    other_numbers: float
    """1 where the candidate has numbers that the reference has not, and the reference has some."""
    added: float
    """The share of the candidate's values that stand neither in a reference nor in the question."""
    negation: float
    """1 where the candidate has a word such as *not*."""
    refusal: float
    """1 where the candidate says that it does not know."""
    options: tuple[str | None, str | None] = (None, None)
    """The options that candidate and reference name."""
    last_numbers: tuple[str | None, str | None] = (None, None)
    """The last number of the candidate, and the reference where that is a number, as they are written."""

    def describe(self) -> str:
        """The signals that tell most, in words: "last number 42 = 42", "option B, not C", "60% of the reference"."""
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
    found = match(candidate, references, question)
    best = found.best_reference
    said, wanted = read(candidate), [read(text) for text in references]
    row, rows = _in_a_row(said), [_in_a_row(one) for one in wanted]
    relations = [mark.relation for mark in found.candidate]
    option, options = _option(said, wanted[best], found, best)
    last = _last_numbers(candidate, references[best], found, best)
    theirs = _numbers(wanted[best], found.references[best])
    ours = _numbers(said, found.candidate)
    return Signals(
        equal=float(row in rows),
        contains=float(any(text in row for text in rows if text)),
        inside=float(bool(row) and any(row in text for text in rows)),
        precision=_share(relations, AGREEING),
        recall=found.recall[best],
        option=option,
        options=options,
        number=0.0 if None in last else _speaks(ours[-1]),
        last_numbers=last,
        numbers=0.0 if not theirs else 1.0 if all(relation in AGREEING for relation in theirs) else -1.0,
        other_numbers=float(bool(theirs) and any(relation not in AGREEING for relation in ours)),
        added=_share(relations, {Relation.ALONE, Relation.OTHER}),
        negation=float(bool(_NEGATIONS.search(candidate))),
        refusal=float(bool(_REFUSAL.search(candidate))),
    )


def _in_a_row(one: Reading) -> str:
    return "".join(f"\n{value.key}\n" for value in one.values)


def _share(relations: Sequence[int], which: frozenset[Relation] | set[Relation]) -> float:
    return sum(relation in which for relation in relations) / max(len(relations), 1)


def _option(said: Reading, wanted: Reading, found: Match, best: int) -> tuple[float, tuple[str | None, str | None]]:
    """Whether the option that the candidate names last is that of the reference, and both options."""
    told = {mark.start: mark.relation for mark in found.candidate}
    here = {mark.start for mark in found.references[best]}
    right = next((value.what.letter for value in wanted.letters[:1] if value.start in here and value.start < 2), None)
    named = [value.what.letter for value in said.letters if value.start in told]
    if right is None or not named:
        return 0.0, (None, right)
    return 1.0 if named[-1] == right else -1.0, (named[-1], right)


def _speaks(relation: int) -> float:
    """What a relation speaks for: 1 for correct, -1 for incorrect, 0 for neither."""
    return 1.0 if relation in AGREEING else -1.0 if relation in (Relation.OTHER, Relation.ALONE) else 0.0


def _values(one: Reading) -> list[Word | Value]:
    """The numbers, quantities and dates of a text."""
    return [value for value in one.values if type(value.what) is not Form]


def _numbers(one: Reading, marks: Sequence[Mark]) -> list[int]:
    """The relations of a text's numbers, quantities and dates."""
    return [next(m.relation for m in marks if m.start < value.end and value.start < m.end) for value in _values(one)]


def _last_numbers(candidate: str, reference: str, found: Match, best: int) -> tuple[str | None, str | None]:
    """The last number of each, as written; None for a reference that is more than a number."""
    ours, theirs = _values(read(candidate)), _values(read(reference))
    short = len(found.references[best]) <= _NUMBER_WORDS
    return (
        candidate[ours[-1].start : ours[-1].end] if ours else None,
        reference[theirs[-1].start : theirs[-1].end] if theirs and short else None,
    )
