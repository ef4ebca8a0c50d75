"""Which rows are the same answer, and which runs are on the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path, PurePath
from typing import TypeVar

from bert_judge.errors import InputError
from bert_judge.judges.naming import distinct
from bert_judge.records import Row, Signature
from bert_judge.results.runs import Run

SAME_ANSWERS = 0.9
"""Two judges' runs are on the same answers where at least this rate of the answers to shared questions is equal."""

FEWEST_QUESTIONS = 10
"""Sides are not compared where fewer questions, and under half of the smaller one's rows, match."""

_FEW = 0.5
_MOST_SETTINGS = 3
_WHOSE = ("task", "model", "candidate_model")  # answers that differ in one of these are not the same answer
_T = TypeVar("_T", bound=Hashable)
_Key = Hashable
_Name = tuple[_Key, int]  # what rows of the same answer have in common, and how often it was in its run before


def answer_sets(runs: Sequence[Run]) -> list[int]:
    """The number of the set of answers (one model's, say) that each run is on.

    Runs on one input are on the same answers, and so are runs with equal answers to the questions that both have: all
    of them where the judge is the same, as two models' answers can be much alike, else at least `SAME_ANSWERS`.
    """
    if len({run.answers for run in runs}) == 1:
        return [0] * len(runs)
    runs = described(runs)
    names = [set(own) for own in row_names(runs)]
    whose = _whose(runs)
    questions = [Counter((question_of(row), *whose(row)) for row in run.rows) for run in runs]
    holders: dict[_Key, list[int]] = {}
    for place, run in enumerate(runs):
        for key in (run.answers, *questions[place]):
            holders.setdefault(key, []).append(place)
    same: dict[tuple[int, int], bool] = {}
    # Of many runs most share neither input nor question: only pairs that do are looked at.
    for i, j in {pair for places in set(map(tuple, holders.values())) for pair in combinations(places, 2)}:
        if runs[i].answers == runs[j].answers:
            same[i, j] = True
        else:
            shared = questions[i].keys() & questions[j].keys()
            rows = min(sum(questions[place][each] for each in shared) for place in (i, j))
            least = 1.0 if runs[i].signature == runs[j].signature else SAME_ANSWERS
            same[i, j] = len(names[i] & names[j]) >= least * rows
    numbers: list[int] = []
    for j in range(len(runs)):
        members: dict[int, list[bool | None]] = {}
        for i, number in enumerate(numbers):
            members.setdefault(number, []).append(same.get((i, j)))
        fitting = [number for number, said in members.items() if True in said and False not in said]
        numbers.append(fitting[0] if fitting else max(numbers, default=-1) + 1)
        for other in fitting[1:]:  # a run on both of two sets makes them one, where nothing speaks against it
            mixed = (two for two in combinations(range(j), 2) if {numbers[i] for i in two} == {fitting[0], other})
            if all(same.get(two, True) for two in mixed):
                numbers = [fitting[0] if number == other else number for number in numbers]
    first = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    return [first[number] for number in numbers]


def check_matched(
    found: Sequence[Row], first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]
) -> str | None:
    """A sentence where few of two sides' rows match (`found` are those of the first); None where enough do.

    Raises InputError where none does, or too few to compare.
    """
    few = len(found) < _FEW * min(len(first), len(second))
    how = f"of the {len(first):,} rows of {names[0]} and the {len(second):,} of {names[1]}"
    if not found:
        bare = {any(row.candidate is None for row in rows[:1]) for rows in (first, second)}
        hint = " (one of them has no texts, as with --no_texts)" if len(bare) > 1 else ""
        raise InputError(
            f"{how}, none match{hint}; runs on the same questions and references (two models), or on the same answers "
            "(two judges), were expected."
        )
    questions = len({row.cluster for row in found})
    if few and questions < FEWEST_QUESTIONS:
        match = "question matches" if questions == 1 else "questions match"
        raise InputError(
            f"{how}, only {questions} {match}, too few to compare; {FEWEST_QUESTIONS} or more, or half of the rows, "
            "were expected."
        )
    return f"only {len(found):,} {how} match." if few else None


def numbered(keys: Iterable[_T]) -> Iterator[tuple[_T, int]]:
    """Each key with how often it was there before: what comes several times is matched in its order."""
    seen: Counter[_T] = Counter()
    for key in keys:
        yield key, seen[key]
        seen[key] += 1


def question_of(row: Row) -> _Key:
    """What answers to the same question have in common: its text and references, or the id where there is no text.

    White space does not count: what writes a file may strip it, or end lines in another way.
    """
    if row.candidate is None or row.question is None:
        return ("id", row.id, *row.references)
    return tuple(" ".join(text.split()) for text in (row.question, *row.references))


def row_names(runs: Sequence[Run]) -> list[list[_Name]]:
    """What makes an answer of each run the same as another's: the texts, and whose it is.

    A row without texts has those of a run on the same input with the same id.
    """
    whose = _whose(runs)

    def key(row: Row) -> _Key:
        return (row.key, *whose(row))

    bare = any(row.candidate is None for run in runs for row in run.rows)
    texts: dict[_Key, _Key] = {
        (*run.answers, row.id): key(row) for run in runs for row in run.rows if bare and row.candidate is not None
    }
    return [
        list(numbered(key(row) if row.candidate is not None else texts.get(name, name) for row, name in own))
        for own in ([(row, (*run.answers, row.id)) for row in run.rows] for run in runs)
    ]


def described(runs: Sequence[Run]) -> list[Run]:
    """The runs with what their records say of all their rows: task and model of candidates, else the input's name."""
    paths = [str(run.input.get("path", run.name)) for run in runs]
    inputs = dict.fromkeys(run.answers for run in runs)
    firsts = [paths[[run.answers for run in runs].index(answers)] for answers in inputs]
    names = dict(zip(inputs, distinct([file_stem(path) for path in firsts]), strict=True))
    found = []
    for run, path in zip(runs, paths, strict=True):
        if run.input.get("format") == "candidates":
            *_, task, model, _ = ("", "", "", *PurePath(path).parts)
            more = {"task": task, "model": model}
        else:
            more = {"input": names[run.answers]} if len(inputs) > 1 else {}
        rows = [replace(row, meta={**more, **row.meta}) for row in run.rows]
        found.append(replace(run, rows=rows) if more else run)
    return found


def run_names(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: its path without the folders that all paths begin or end with."""
    parts = [run.folder.resolve().parts for run in runs]
    if len(set(parts)) < len(parts):
        raise InputError("a run was given twice; give each run once.")
    if len(runs) == 1:
        return [runs[0].name]
    least = min(map(len, parts))
    start = next(i for i in range(least + 1) if i == least or len({path[i] for path in parts}) > 1)
    end = next(i for i in range(least - start + 1) if i == least - start or len({path[-1 - i] for path in parts}) > 1)
    return [str(PurePath(*path[start : len(path) - end])) for path in parts]


def judge_kinds(signatures: Sequence[Signature]) -> list[str]:
    """What each judge is; of those that would be called the same, with up to three settings in which they differ."""
    return [_kind(each, [other for other in signatures if other.short == each.short]) for each in signatures]


def _kind(signature: Signature, namesakes: Sequence[Signature]) -> str:
    settings = [each.settings for each in namesakes]
    names = dict.fromkeys(name for each in settings for name in each)
    differing = [name for name in names if len({each.get(name) for each in settings}) > 1]
    said = [f"{name} {signature.settings.get(name, 'unset')}" for name in differing[:_MOST_SETTINGS]]
    return ", ".join([signature.short, *said])


def file_stem(path: str) -> str:
    """A file's name without its endings: `nq` of `data/nq.jsonl.gz`."""
    name = Path(path).name or Path(path).resolve().name  # "." has no name of its own
    return name.partition(".")[0] or name


def _whose(runs: Sequence[Run]) -> Callable[[Row], tuple[str, ...]]:
    """Whose an answer is: the columns of `_WHOSE` that every run has."""
    there = [name for name in _WHOSE if all(any(name in row.meta for row in run.rows) for run in runs)]
    return lambda row: tuple(str(row.meta.get(name)) for name in there)
