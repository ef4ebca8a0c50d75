"""Which rows of several runs belong together, and what differs between the runs: the models, or the judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import permutations
from os.path import commonprefix
from pathlib import PurePath
from typing import Literal

from bert_judge.analysis.labels import pooled, repeated_notes
from bert_judge.analysis.results import Row, Run
from bert_judge.analysis.slices import check_columns
from bert_judge.errors import InputError
from bert_judge.judges.naming import distinct
from bert_judge.types import Scale, Signature

What = Literal["models", "judges"]
Key = Callable[[Row], Hashable]

SAME_ANSWERS = 0.9
"""Runs of two judges are on the same answers where at least this share of the smaller one's rows is in the other."""

DIFFERENT = "different judges"
FEWEST_QUESTIONS = 10
"""Runs are not compared where fewer questions, and under half of the smaller one's rows, match."""

_FEW = 0.5


@dataclass(frozen=True, slots=True)
class Entry:
    """What one judge says of one model's answers."""

    judge: str
    signature: Signature
    scale: Scale
    model: str
    rows: Sequence[Row]


def question_key(row: Row) -> Hashable:
    """What tells that two answers are to the same question: its text and references, or the id where there is none."""
    if row.candidate is None or row.question is None:
        return ("id", row.id, *row.references)
    return (row.question, *row.references)


def answer_key(row: Row) -> Hashable:
    """What tells that two rows are the same answer."""
    return row.key


def id_key(row: Row) -> Hashable:
    """The id alone: for rows without texts."""
    return ("id", row.id)


def fitting(key: Key, runs: Iterable[Sequence[Row]]) -> Key:
    """`key`, or that of the ids where a run has no texts, as the others' can't be matched with it then."""
    return id_key if any(rows and rows[0].candidate is None for rows in runs) else key


def numbered(rows: Iterable[Row], key: Key) -> dict[tuple[Hashable, int], Row]:
    """The rows by their key and how often it was there before: repeated answers are matched in their order."""
    seen: Counter[Hashable] = Counter()
    found = {}
    for row in rows:
        name = key(row)
        found[name, seen[name]] = row
        seen[name] += 1
    return found


def matched(first: Sequence[Row], second: Sequence[Row], key: Key) -> list[tuple[Row, Row]]:
    """The rows that both have, in the order of the first."""
    ours, theirs = numbered(first, key), numbered(second, key)
    return [(row, theirs[name]) for name, row in ours.items() if name in theirs]


def check_matched(
    found: Sequence[Row], first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]
) -> str | None:
    """A sentence where few of two runs' rows match (`found` are those of the first), None where enough do.

    Raises InputError where none does, or so few that nothing can be said of them.
    """
    few = len(found) < _FEW * min(len(first), len(second))
    how = f"of the {len(first):,} rows of {names[0]} and the {len(second):,} of {names[1]}"
    if not found:
        hint = "" if _texts(first) == _texts(second) else " (one of them has no texts, as with --no_texts)"
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


def entries_by(runs: Sequence[Run], column: str) -> tuple[list[Entry], list[str]]:
    """The models of runs by a column of their rows, for each judge; and notes. Runs of one judge on different inputs
    are taken together.

    Raises InputError where no row has the column, a judge has a single model in it, or there are no texts.
    """
    judges = pooled(runs, run_names(runs))
    entries, notes = [], repeated_notes(judges)
    for judge in judges:
        check_columns(judge.rows, [column])
        models: dict[str, list[Row]] = {}
        for row in judge.rows:
            if row.meta.get(column) is not None:
                models.setdefault(str(row.meta[column]), []).append(row)
        if len(models) < 2:
            raise InputError(
                f"the column {column} of {judge.name} holds a single model, {next(iter(models))}; two or more were "
                "expected."
            )
        if not _texts(judge.rows):
            raise InputError(
                f"{judge.name} has no texts, so that answers to one question can't be told; run score without "
                "--no_texts, or give a run for each model."
            )
        if left := len(judge.rows) - sum(map(len, models.values())):
            notes.append(f"{left:,} rows of {judge.name} have no {column} and are left out.")
        entries += [Entry(judge.name, judge.signature, judge.scale, model, rows) for model, rows in models.items()]
    return entries, notes


def entries_of(runs: Sequence[Run], what: What | None = None) -> tuple[list[Entry], list[str]]:
    """Each run as an entry: runs on the same answers are of one model, runs with one signature of one judge; and notes.

    Where no judge has two of several models, the runs are compared nevertheless, with a note. `what` says that all are
    different models, or different judges. Raises InputError for fewer than two runs.
    """
    if len(runs) < 2:
        raise InputError(
            "a single run was given; give two or more, or the column that names the models in it (--by COLUMN)."
        )
    names = run_names(runs)
    groups = _same_answers(runs, what)
    if len(set(groups)) == 1:
        entries = [Entry(name, run.signature, run.scale, "", run.rows) for run, name in zip(runs, names, strict=True)]
        return entries, [] if what else _parts(runs, names)
    signatures = [run.signature for run in runs]
    if len(set(zip(groups, signatures, strict=True))) < len(runs):
        raise InputError(
            f"of {', '.join(names)}, two are of the same judge on the same answers; give one of them, or --what models "
            "if they are two models'."
        )
    judges, notes = _judges(signatures), list[str]()
    if len(set(signatures)) == len(runs):
        judges = [DIFFERENT] * len(runs)
        notes.append(_signatures_differ(runs, names))
    else:
        alone = [name for name, signature in zip(names, signatures, strict=True) if signatures.count(signature) == 1]
        notes += [f"{name} has a judge of its own, so its model is compared with no other." for name in alone]
    models = _models(groups, names)
    named = zip(runs, judges, models, strict=True)
    return [Entry(judge, run.signature, run.scale, model, run.rows) for run, judge, model in named], notes


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


def _same_answers(runs: Sequence[Run], what: What | None) -> list[int]:
    """The number of the model that each run is of."""
    if what is not None:
        return list(range(len(runs))) if what == "models" else [0] * len(runs)
    key = fitting(answer_key, [run.rows for run in runs])
    answers = [set(numbered(run.rows, key)) for run in runs]
    groups: list[int] = []
    for place, run in enumerate(runs):
        same = (groups[i] for i in range(place) if _is_same(runs[i], run, answers[i], answers[place], key))
        groups.append(next(same, max(groups, default=-1) + 1))
    return groups


def _is_same(first: Run, second: Run, ours: Set[object], theirs: Set[object], key: Key) -> bool:
    """Whether two runs are on the same answers. One judge's hold all of the smaller one's, in whatever file and order,
    as two models' answers can be much alike.
    """
    if first.answers[0] == second.answers[0] or key is id_key:
        return first.answers == second.answers
    share = 1.0 if first.signature == second.signature else SAME_ANSWERS
    return len(ours & theirs) >= share * max(1, min(len(ours), len(theirs)))


def _parts(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """A sentence for each run that is only a part of another one of the same judge."""
    notes = []
    key = fitting(answer_key, [run.rows for run in runs])
    answers = [set(numbered(run.rows, key)) for run in runs]
    for i, j in permutations(range(len(runs)), 2):
        if runs[i].signature == runs[j].signature and answers[i] < answers[j]:
            notes.append(
                f"all {len(runs[i].rows):,} answers of {names[i]} are in {names[j]}, too, by the same judge: they are "
                "taken as the same answers, not as another model's (--what models does that)."
            )
    return notes


def _models(groups: Sequence[int], names: Sequence[str]) -> list[str]:
    """The name of each run's model: what the names of its runs begin with, where that tells it from other models."""
    members = {group: [name for name, of in zip(names, groups, strict=True) if of == group] for group in groups}
    titles = {
        group: commonprefix(own).rstrip("/_-. ")  # noqa: RUF071  (letters are meant, not folders)
        for group, own in members.items()
    }
    plain = all(titles.values()) and len(set(titles.values())) == len(titles)
    return [titles[group] if plain else members[group][0] for group in groups]


def _judges(signatures: Sequence[Signature]) -> list[str]:
    """The name of each run's judge: that of its signature."""
    different = list(dict.fromkeys(signatures))
    titles = dict(zip(different, distinct([signature.name for signature in different]), strict=True))
    return [titles[signature] for signature in signatures]


def _signatures_differ(runs: Sequence[Run], names: Sequence[str]) -> str:
    """Why a difference between models may be one between judges, with the first settings in which they differ."""
    return (
        f"the runs were judged by different judges ({names[0]} by {runs[0].signature.difference(runs[1].signature)}): "
        "differences between them are not only the models'."
    )


def _texts(rows: Sequence[Row]) -> bool:
    return all(row.candidate is not None for row in rows[:1])
