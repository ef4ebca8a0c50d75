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
    same = _same_answers(runs)
    # Runs join the sets one by one. A pair that is not in `same` shares nothing: it speaks neither for nor against
    # being one set, as two halves of a file, each judged by itself, have no question in common.
    sets: list[int] = []
    for place in range(len(runs)):
        evidence: dict[int, list[bool | None]] = {}
        for earlier, number in enumerate(sets):
            evidence.setdefault(number, []).append(same.get((earlier, place)))
        fitting = [number for number, votes in evidence.items() if True in votes and False not in votes]
        sets.append(fitting[0] if fitting else max(sets, default=-1) + 1)
        # A run that fits several sets, such as the whole file after its halves, makes them one, unless two of their
        # runs are on different answers to the same questions.
        for other in fitting[1:]:
            between = [pair for pair in combinations(range(place), 2) if {sets[i] for i in pair} == {fitting[0], other}]
            if all(same.get(pair, True) for pair in between):
                sets = [fitting[0] if number == other else number for number in sets]
    renumbered = {number: place for place, number in enumerate(dict.fromkeys(sets))}  # without gaps
    return [renumbered[number] for number in sets]


def _same_answers(runs: Sequence[Run]) -> dict[tuple[int, int], bool]:
    """Whether two runs, by their places, are on the same answers; pairs without a common question are not there."""
    runs = described(runs)
    answers = [set(keys) for keys in row_names(runs)]
    whose = _whose(runs)
    questions = [Counter((question_of(row), *whose(row)) for row in run.rows) for run in runs]
    # Of many runs most share neither input nor question. To compare only those that do, the runs of each input and of
    # each question are looked up; many questions have the same runs, so each combination is taken once.
    holders: dict[_Key, list[int]] = {}
    for place, run in enumerate(runs):
        for key in (run.answers, *questions[place]):
            holders.setdefault(key, []).append(place)
    same: dict[tuple[int, int], bool] = {}
    for i, j in {pair for places in set(map(tuple, holders.values())) for pair in combinations(places, 2)}:
        if runs[i].answers == runs[j].answers:
            same[i, j] = True
            continue
        shared = questions[i].keys() & questions[j].keys()
        rows = min(sum(questions[place][question] for question in shared) for place in (i, j))
        least = 1.0 if runs[i].signature == runs[j].signature else SAME_ANSWERS
        same[i, j] = len(answers[i] & answers[j]) >= least * rows
    return same


def check_matched(
    matched: Sequence[Row], first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]
) -> str | None:
    """A sentence where few of two sides' rows match (`matched` are those of the first); None where enough do.

    Raises InputError where none does, or too few to compare.
    """
    few = len(matched) < _FEW * min(len(first), len(second))
    how = f"of the {len(first):,} rows of {names[0]} and the {len(second):,} of {names[1]}"
    if not matched:
        bare = {any(row.candidate is None for row in rows[:1]) for rows in (first, second)}
        hint = " (one of them was saved without texts)" if len(bare) > 1 else ""
        raise InputError(
            f"{how}, none match{hint}; runs on the same questions and references (two models), or on the same answers "
            "(two judges), were expected."
        )
    questions = len({row.cluster for row in matched})
    if few and questions < FEWEST_QUESTIONS:
        match = "question matches" if questions == 1 else "questions match"
        raise InputError(
            f"{how}, only {questions} {match}, too few to compare; {FEWEST_QUESTIONS} or more, or half of the rows, "
            "were expected."
        )
    return f"only {len(matched):,} {how} match." if few else None


def numbered(keys: Iterable[_T]) -> Iterator[tuple[_T, int]]:
    """Each key with how often it occurred before, so that repeated ones are matched in their order."""
    seen: Counter[_T] = Counter()
    for key in keys:
        yield key, seen[key]
        seen[key] += 1


def question_of(row: Row) -> _Key:
    """What answers to the same question have in common: its text and references, or the id where there is no text.

    White space does not count: programs that write files strip it, or end lines in another way.
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

    with_ids = [[(row, (*run.answers, row.id)) for row in run.rows] for run in runs]
    # The key of a row with texts by its input and id: a row without texts takes that of its other self.
    texts: dict[_Key, _Key] = {}
    if any(row.candidate is None for run in runs for row in run.rows):
        texts = {by_id: key(row) for rows in with_ids for row, by_id in rows if row.candidate is not None}
    return [
        list(numbered(key(row) if row.candidate is not None else texts.get(by_id, by_id) for row, by_id in rows))
        for rows in with_ids
    ]


def described(runs: Sequence[Run]) -> list[Run]:
    """The runs with what their records say of all their rows: task and model of candidates, else the input's name."""
    paths = [str(run.input.get("path", run.name)) for run in runs]
    inputs = dict.fromkeys(run.answers for run in runs)
    firsts = [paths[[run.answers for run in runs].index(answers)] for answers in inputs]
    names = dict(zip(inputs, distinct([file_stem(path) for path in firsts]), strict=True))
    result = []
    for run, path in zip(runs, paths, strict=True):
        if run.input.get("format") == "candidates":
            *_, task, model, _ = ("", "", "", *PurePath(path).parts)
            more = {"task": task, "model": model}
        else:
            more = {"input": names[run.answers]} if len(inputs) > 1 else {}
        rows = [replace(row, meta={**more, **row.meta}) for row in run.rows]
        result.append(replace(run, rows=rows) if more else run)
    return result


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
    return [_kind(one, [other for other in signatures if other.short == one.short]) for one in signatures]


def _kind(signature: Signature, namesakes: Sequence[Signature]) -> str:
    settings = [namesake.settings for namesake in namesakes]
    names = dict.fromkeys(name for values in settings for name in values)
    differing = [name for name in names if len({values.get(name) for values in settings}) > 1]
    shown = [f"{name} {signature.settings.get(name, 'unset')}" for name in differing[:_MOST_SETTINGS]]
    return ", ".join([signature.short, *shown])


def file_stem(path: str) -> str:
    """A file's name without its endings: `nq` of `data/nq.jsonl.gz`."""
    name = Path(path).name or Path(path).resolve().name  # "." has no name of its own
    return name.partition(".")[0] or name


def _whose(runs: Sequence[Run]) -> Callable[[Row], tuple[str, ...]]:
    """Whose an answer is: the columns of `_WHOSE` that every run has."""
    columns = [name for name in _WHOSE if all(any(name in row.meta for row in run.rows) for run in runs)]
    return lambda row: tuple(str(row.meta.get(name)) for name in columns)
