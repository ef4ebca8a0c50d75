"""References that may be wrong: those against which several models, or several answers of one, agree.

for doubted in doubted_references(lambda: map(Row.read, result.records())):
    print(doubted.question, doubted.references, doubted.answer, doubted.models)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bert_judge.metrics import normalise
from bert_judge.metrics.extraction import find_boxed, strip_markup
from bert_judge.reading import (
    AGREEING,
    Match,
    OptionLetter,
    Relation,
    TextValues,
    Value,
    Word,
    match,
    read,
    split_trace,
)
from bert_judge.records import Row
from bert_judge.studies.harness import REPEATED

_NEGATION = re.compile(r"\b(?:not|never|neither|nor|cannot|no|\w+n['’]t)\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:do(?:es)? ?n[o']?t know|(?:can ?not|can'?t|unable to) (?:answer|determine|say|find)|not (?:sure|enough)"
    r"|no (?:information|idea)|unanswerable|unknown|sorry|as an ai)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS = 2  # a reference of so many values is a number if it has one: "42 apples"
_STATED = re.compile(
    r"(?:####|\banswer(?: to (?:the|this) question)?(?:\s*:|\s+is:?))[ \t*]*(.+?)(?:[.!?](?=\s|$)|$)",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST = 300
"""Characters of an answer whose values are compared; a longer one is the same only as another one of the same words."""


@dataclass(frozen=True, slots=True)
class DoubtedReference:
    """A question with incorrect answers that agree: `rows`, two or more, of these different `models`.

    `answer` is the answer of the first of them, as far as it can be told from the rest of its text. `correct` and
    `incorrect` count all answers to the question, by the judge.
    """

    question: str | None
    references: tuple[str, ...]
    answer: str
    models: tuple[str, ...]
    rows: Sequence[Row]
    correct: int
    incorrect: int


def doubted_references(read: Callable[[], Iterable[Row]]) -> list[DoubtedReference]:
    """The references against which incorrect answers agree, those with the most models first.

    Listed are answers of two or more models that are the same (`same_answer`), and those of a single one if they are
    more than half of all answers to the question. Rows of one question and references belong together, in whatever
    tasks and files they are; where there is no model, the file is taken for it. `read` is called twice, so that only
    rows that can be listed are held in memory. Rows without texts are passed over.
    """
    counts: dict[_Key, list[int]] = {}
    for row in read():
        if row.label is not None and row.candidate is not None:
            counts.setdefault(_key(row), [0, 0])[row.label] += 1
    groups: dict[_Key, list[Row]] = {}
    for row in read():
        if row.label == 0 and (row.candidate or "").strip() and counts[key := _key(row)][0] > 1:
            groups.setdefault(key, []).append(row)
    doubted = []
    for key, rows in groups.items():
        incorrect, correct = counts[key]
        for answer, agreeing in _by_answer(rows):
            models = tuple(dict.fromkeys(map(_model, agreeing)))
            if len(models) > 1 or (len(agreeing) > 1 and 2 * len(agreeing) > incorrect + correct):
                first = agreeing[0]
                doubted.append(
                    DoubtedReference(first.question, first.references, answer, models, agreeing, correct, incorrect)
                )
    return sorted(doubted, key=lambda one: (-len(one.models), one.correct - len(one.rows)))


def final_answer(row: Row) -> str:
    r"""The final answer: the last `\boxed{…}`, else what follows "the answer is" or "####", else all.

    Of that only the last number where the reference is a number, and the letter where it names an option; nothing where
    it refuses to answer.
    """
    text = split_trace(row.candidate or "")[1] or ""
    boxed, stated = find_boxed(text), [match[1] for match in _STATED.finditer(text)]
    text = strip_markup((boxed or stated or [text])[-1])
    if _REFUSAL.search(text):
        return ""
    compared = match(text, row.references, row.question)
    reference = row.references[compared.best_reference]
    return _option(read(text), read(reference), compared) or _number(text, reference, compared) or text


def same_answer(one: str, other: str, question: str | None = None) -> bool:
    """Whether two answers to a question agree: the same words once normalised, or values that all agree.

    Values (words, numbers, dates …) that only repeat the question are passed over; one that denies is not the same as
    one that does not.
    """
    if normalise(one) == normalise(other):
        return bool(normalise(one))
    if max(len(one), len(other)) > _LONGEST:
        return False
    matched = match(one, [other], question)
    marks = (matched.candidate, matched.references[0])
    sides = [{mark.relation for mark in side} - {Relation.ASKED} for side in marks]
    if not all(side and side <= AGREEING for side in sides):
        return False
    return bool(_NEGATION.search(one)) == bool(_NEGATION.search(other))


def _option(candidate: TextValues, reference: TextValues, compared: Match) -> str | None:
    """The option that a candidate names last, where its reference begins with one."""
    places = {mark.start for mark in compared.references[compared.best_reference]}
    begins = any(value.start in places and value.start < 2 for value in reference.letters[:1])
    places = {mark.start for mark in compared.candidate}
    named = [value.content for value in candidate.letters if value.start in places]
    letters = [content.letter for content in named if isinstance(content, OptionLetter)]
    return letters[-1] if begins and letters else None


def _number(candidate: str, reference: str, compared: Match) -> str | None:
    """The last number of a candidate as it is written, where the reference is a number: "42", or "42 apples"."""
    numbers = _numbers(candidate)
    short = len(compared.references[compared.best_reference]) <= _NUMBER_WORDS
    return candidate[numbers[-1].start : numbers[-1].end] if numbers and short and _numbers(reference) else None


def _numbers(text: str) -> list[Word | Value]:
    """The numbers, quantities and dates of a text."""
    return [value for value in read(text).values if type(value) is not Word]


def doubted_record(doubted: DoubtedReference) -> Mapping[str, object]:
    """A line of `doubted_references.jsonl`: the question once, and each of the answers that agree."""
    return {
        "question": doubted.question,
        "references": list(doubted.references),
        "answer": doubted.answer,
        "models": list(doubted.models),
        "correct": doubted.correct,
        "incorrect": doubted.incorrect,
        "rows": [
            {
                "id": row.id,
                **{name: row.meta[name] for name in ("task", "model", "file", *REPEATED) if name in row.meta},
                "score": row.score,
                "candidate": row.candidate,
            }
            for row in doubted.rows
        ],
    }


class _Key(NamedTuple):
    """What answers to one question have in common."""

    cluster: str
    references: tuple[str, ...]


def _key(row: Row) -> _Key:
    return _Key(row.cluster, tuple(sorted(map(normalise, row.references))))


def _model(row: Row) -> str:
    return str(row.meta.get("model") or row.meta.get("file") or "")


def _by_answer(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows by their final answers: each joins the first group whose first answer is the same as its own."""
    groups: list[tuple[str, list[Row]]] = []
    group_of: dict[str, list[Row]] = {}  # by the text, so that equal texts are compared with the groups once
    for row in rows:
        answer = final_answer(row)
        if not answer:
            continue
        if answer not in group_of:
            same = (group for first, group in groups if same_answer(first, answer, row.question))
            group = next(same, None)
            if group is None:
                group = []
                groups.append((answer, group))
            group_of[answer] = group
        group_of[answer].append(row)
    return groups
