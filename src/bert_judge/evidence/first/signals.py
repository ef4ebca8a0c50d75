"""What speaks for and against a candidate, as a few numbers that a person can check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from bert_judge.evidence.first.spans import compared_words, content_of, words
from bert_judge.evidence.first.word import Word
from bert_judge.evidence.options import name_option
from bert_judge.evidence.signals import Signals
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
