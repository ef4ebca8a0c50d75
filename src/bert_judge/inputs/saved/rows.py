"""What the rows of every tool's logs have in common: their columns, what can't be judged, and the tool's own scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from bert_judge.inputs.values import RawRow

HARNESS: Final = "harness:"
"""The columns with the tool's own scores begin so; a metric's name follows, and its filter where there are several."""

LOG_LIKELIHOOD: Final = "of log-likelihoods, without a generated answer"
NO_REFERENCE: Final = "without a reference"
INSTRUCTIONS: Final = "of instructions that a program checks, without a right answer"
CODE: Final = "of code that tests check, without a right answer"
ERRORED: Final = "that ended with an error"
OTHER_SCORE: Final = "with another score of the same answer, which is kept"
TWICE: Final = "that are there a second time"
SEVERAL_TURNS: Final = "of several turns"

_LETTERS = "ABCDEFGHIJ"  # those that the judge's evidence reads as names of options
_TESTS = frozenset(("test_list", "test_setup_code", "challenge_test_list", "public_test_cases", "private_test_cases"))
_GRADES = {**dict.fromkeys(("c", "yes", "true"), 1.0), **dict.fromkeys(("i", "n", "no", "false"), 0.0), "p": 0.5}


class Whose(NamedTuple):
    """The task that was run, and the model that answered, as far as the log says so."""

    task: str | None = None
    model: str | None = None


def answers(
    line: int,
    whose: Whose,
    *,
    sample_id: object,
    question: str | None,
    references: Iterable[str],
    candidates: Sequence[str],
    scores: Mapping[str, float],
    more: Mapping[str, object] | None = None,
) -> list[RawRow]:
    """A document's rows: one for each candidate, or one that says that there is no reference.

    Several candidates are told apart by the column `repeat`, from 1; the scores are then those of all together.
    """
    references = [text for text in dict.fromkeys(references) if text.strip()]
    if not references:
        return [aside(line, whose, NO_REFERENCE)]
    rows = []
    for number, candidate in enumerate(candidates, 1):
        repeat = {"repeat": number} if len(candidates) > 1 else {}
        values = {
            "id": f"{sample_id}_repeat_{number}" if repeat else str(sample_id),
            "question": question,
            "reference": references,
            "candidate": candidate,
            "task": whose.task,
            "model": whose.model,
            **repeat,
            **(more or {}),
        }
        rows.append(_scored(RawRow(line, values), scores))
    return rows


def aside(line: int, whose: Whose, reason: str) -> RawRow:
    """A row that no judge can judge: `reason` follows the number of such rows."""
    return RawRow(line, whose._asdict(), reason, aside=True)


def no_answer(document: Mapping[str, object], metrics: Iterable[str]) -> str:
    """Why the target of a document is no right answer, by its fields and how it was scored; empty where it may be one.

    ifeval's is a placeholder; those of humaneval, mbpp and the like are tests that the candidate's code has to pass.
    """
    names = list(metrics)
    if "instruction_id_list" in document or any(name.startswith(("prompt_level_", "inst_level_")) for name in names):
        return INSTRUCTIONS
    has_tests = {"entry_point", "test"} <= document.keys() or not _TESTS.isdisjoint(document)
    return CODE if has_tests or any(name.startswith(("pass@", "pass_at_")) for name in names) else ""


class Entry(NamedTuple):
    """A line of a log that has a line for each answer and score.

    `key` is what lines of the same answer share (None for a line that is no answer), `part` names what the scores are
    of (a filter, say).
    """

    key: Hashable
    part: str
    scores: Mapping[str, float]
    rows: Sequence[RawRow]


def merged(read: Callable[[], Iterator[Entry]]) -> Iterator[RawRow]:
    """The rows of a log, each answer once, with the scores of all of its lines. The log is read twice."""
    scores: dict[Hashable, dict[tuple[str, str], float]] = {}
    parts: set[str] = set()
    for entry in read():
        if entry.key is not None:
            parts.add(entry.part)
            own = scores.setdefault(entry.key, {})
            for name, value in entry.scores.items():
                own.setdefault((name, entry.part), value)
    named = len(parts) > 1
    seen: set[Hashable] = set()
    for entry in read():
        first = entry.rows[0]
        if entry.key is None:
            yield from entry.rows
        elif (entry.key, entry.part) in seen:
            yield first._replace(values=_whose(first), reason=TWICE, aside=True)
        elif entry.key in seen:
            yield first._replace(values=_whose(first), reason=OTHER_SCORE, aside=True)
        else:
            found = {f"{name}:{part}" if named else name: value for (name, part), value in scores[entry.key].items()}
            yield from (_scored(row, found) for row in entry.rows)
        seen |= {entry.key, (entry.key, entry.part)}


def grade(value: object) -> float | None:
    """A tool's score as a number: a number, a truth value, or a letter or word as inspect writes it; else None."""
    if isinstance(value, str) and value.strip().lower() in _GRADES:
        return _GRADES[value.strip().lower()]
    if isinstance(value, str | int | float):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return None


def grades(values: Mapping[str, object]) -> dict[str, float]:
    """Those of some values that are scores."""
    return {name: number for name, value in values.items() if (number := grade(value)) is not None}


def mapping(value: object) -> Mapping[str, object]:
    """An object of the log; an empty one where there is something else."""
    return value if isinstance(value, Mapping) else {}


def listed(value: object) -> list[object]:
    """A list of the log; of anything else a list with that, or an empty one of nothing."""
    return value if isinstance(value, list) else [] if value is None else [value]


def texts(value: object) -> list[str]:
    """The texts (and numbers, as they are spelled) of a list, or the one that the value is."""
    return [str(each) for each in listed(value) if isinstance(each, str | int | float) and not isinstance(each, bool)]


def content_text(content: object) -> str:
    """The text of a message: a text, or the text parts of a list."""
    if isinstance(content, str):
        return str(content)
    parts = [mapping(part) for part in listed(content)]
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))


def last_message(messages: object, *roles: str) -> str | None:
    """The text of the last message of one of these roles that has one."""
    for message in map(mapping, reversed(listed(messages))):
        if str(message.get("role")).lower() in roles:
            text = content_text(message.get("content", message.get("prompt")))
            if text.strip():
                return text
    return None


def first_text(values: Mapping[str, object], names: Iterable[str]) -> str | None:
    """The first of some columns that holds a text that is not blank."""
    found = (values.get(name) for name in names)
    return next((str(value) for value in found if isinstance(value, str) and value.strip()), None)


def with_options(question: str | None, options: Sequence[str]) -> str | None:
    """A question with its options below it as `A) …`; one that shows them already stays as it is."""
    if question is None or not 1 < len(options) <= len(_LETTERS) or all(each.strip() in question for each in options):
        return question
    lines = [f"{letter}) {option.strip()}" for letter, option in zip(_LETTERS, options, strict=False)]
    return "\n".join([question.rstrip(), "", *lines])


def _scored(row: RawRow, scores: Mapping[str, float]) -> RawRow:
    """The row with the tool's scores; one that is set aside, or bad, stays as it is."""
    if row.values is None or row.aside:
        return row
    return row._replace(values={**row.values, **{HARNESS + name: value for name, value in scores.items()}})


def _whose(row: RawRow) -> dict[str, object]:
    return {name: (row.values or {}).get(name) for name in Whose._fields}
