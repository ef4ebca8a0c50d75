"""The one table of verdicts: every answer once, and what each judge says of it.

table = collect([load_run("out-starter"), load_run("out-regex")])
(table.judges[0].labels == table.golds).mean()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

from bert_judge.analysis.labels import Labels, relabelled
from bert_judge.analysis.results import Row, Run
from bert_judge.analysis.slices import Facet, facets
from bert_judge.errors import InputError
from bert_judge.judges.naming import distinct
from bert_judge.types import Scale, Signature

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAME_ANSWERS = 0.9
"""Two judges' runs are on the same answers where at least this rate of the answers to shared questions is equal."""

FEWEST_QUESTIONS = 10
"""Sides are not compared where fewer questions, and under half of the smaller one's rows, match."""

_FEW = 0.5
_WHOSE = ("task", "model", "candidate_model")  # answers that differ in one of these are not the same answer
_T = TypeVar("_T", bound=Hashable)
_Key = Hashable
_Name = tuple[_Key, int]  # what tells that rows are the same answer, and how often it was in its run before


@dataclass(frozen=True, eq=False)
class JudgeColumn:
    """What one judge says of each answer of a table: its verdicts, None where it did not judge one, and as arrays.

    `scores` are NaN, and `labels` -1, where there is none. `runs` are those that the verdicts are from; several of
    different signatures are in one column only where models have a judge each.
    """

    name: str
    runs: Sequence[Run]
    verdicts: Sequence[Row | None]
    scores: NDArray[np.float64]
    labels: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, runs: Sequence[Run], verdicts: Sequence[Row | None]) -> JudgeColumn:
        """A column of these verdicts."""
        import numpy as np

        scores = [np.nan if row is None or row.score is None else row.score for row in verdicts]
        labels = [-1 if row is None or row.label is None else row.label for row in verdicts]
        return cls(name, runs, verdicts, np.asarray(scores, float), np.asarray(labels, np.int64))

    @property
    def signature(self) -> Signature:
        """The signature of the judge."""
        return self.runs[0].signature

    @property
    def scale(self) -> Scale:
        """What its scores mean."""
        return self.runs[0].scale

    @cached_property
    def probable(self) -> bool:
        """Whether there are scores, and these are probabilities."""
        return self.scale == "probability" and any(row is not None and row.score is not None for row in self.verdicts)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which of the answers it judged."""
        import numpy as np

        return np.asarray([row is not None for row in self.verdicts], bool)

    def part(self, places: NDArray[np.int64]) -> JudgeColumn:
        """What it says of the answers at these places."""
        verdicts = [self.verdicts[place] for place in places.tolist()]
        return replace(self, verdicts=verdicts, scores=self.scores[places], labels=self.labels[places])


@dataclass(frozen=True, eq=False)
class VerdictTable:
    """Every answer once: `rows` hold its texts, its human label and its columns, `models` name whose it is.

    The score and label of a row are those of the run that has it first; all judges' are in `judges`. `labels` says
    where the human labels are from, None where there are none; `notes` are what a reader has to know of the table.
    """

    rows: Sequence[Row]
    judges: Sequence[JudgeColumn]
    models: Sequence[str]
    labels: str | None = None
    notes: Sequence[str] = ()

    @cached_property
    def golds(self) -> NDArray[np.int64]:
        """The human labels, -1 where there is none."""
        import numpy as np

        return np.asarray([-1 if row.gold is None else row.gold for row in self.rows], np.int64)

    @cached_property
    def clusters(self) -> Sequence[str]:
        """The question of each answer, by which rows depend on each other."""
        return [row.cluster for row in self.rows]

    @cached_property
    def disagree(self) -> NDArray[np.bool_]:
        """The answers to which judges give different labels."""
        import numpy as np

        labels = np.stack([judge.labels for judge in self.judges])
        found: NDArray[np.bool_] = (labels == 1).any(axis=0) & (labels == 0).any(axis=0)
        return found

    @cached_property
    def facets(self) -> Sequence[Facet]:
        """The columns of the input that are kinds of rows."""
        return facets(self.rows)

    def part(self, places: Iterable[int]) -> VerdictTable:
        """The table of the answers at these places."""
        import numpy as np

        chosen = np.asarray(list(places), np.int64)
        rows, models = ([every[place] for place in chosen.tolist()] for every in (self.rows, self.models))
        return replace(self, rows=rows, models=models, judges=[judge.part(chosen) for judge in self.judges])


@dataclass(frozen=True, slots=True)
class Part:
    """The place of a run in a table: the column of its judge, and the set of answers (a model's) that it judged."""

    judge: str
    model: str
    run: Run


def collect(runs: Sequence[Run], labels: Labels | None = None, names: Sequence[str] | None = None) -> VerdictTable:
    """Put runs side by side: runs of one judge are a column, and answers that several of them hold are there once.

    `names` are those of the runs' judges; without them a column is called as its folder, or as what its judge is. A run
    of the same judge on the same input once more is a column of its own. With `labels`, these alone are human labels.
    Raises InputError for no runs, runs without rows, and labels that belong to none.
    """
    if not runs:
        raise InputError("no results were given; folders that score or judge wrote were expected.")
    columns = [(judge, count) for (judge, _), count in numbered((run.signature, run.answers) for run in runs)]
    firsts = list(dict.fromkeys(columns))
    if names is None:
        alone = 1 < len(firsts) == len(runs)
        names = run_names(runs) if alone else [runs[columns.index(each)].signature.short for each in columns]
    titles = dict(zip(firsts, distinct([names[columns.index(each)] for each in firsts]), strict=True))
    sets = [str(number) for number in answer_sets(runs)]
    parts = zip(columns, sets, runs, strict=True)
    return tabulate([Part(titles[column], number, run) for column, number, run in parts], labels)


def tabulate(parts: Sequence[Part], labels: Labels | None = None) -> VerdictTable:
    """The table of runs whose judges and models are known. Of an answer that a column has twice the first counts.

    Raises InputError where there is no row, and for labels that belong to none.
    """
    if not any(part.run.rows for part in parts):
        folders = ", ".join(str(part.run.folder) for part in parts)
        raise InputError(f"{folders}: no row was judged; one or more was expected.")
    runs = _described([part.run for part in parts])
    found = [[(part.model, *name) for name in own] for part, own in zip(parts, _names(runs), strict=True)]
    places = {name: place for place, name in enumerate(dict.fromkeys(chain.from_iterable(found)))}
    rows: list[Row | None] = [None] * len(places)
    for names, run in zip(found, runs, strict=True):
        for name, row in zip(names, run.rows, strict=True):
            first = rows[places[name]]
            rows[places[name]] = row if first is None else _joined(first, row)
    merged = [row for row in rows if row is not None]
    judges, notes = [], list[str]()
    for judge in dict.fromkeys(part.judge for part in parts):
        verdicts: list[Row | None] = [None] * len(places)
        holders: dict[int, Run] = {}
        mine = [(run, names) for part, run, names in zip(parts, runs, found, strict=True) if part.judge == judge]
        for run, names in mine:
            before = Counter(str(holders[place].folder) for name in names if (place := places[name]) in holders)
            notes += [
                f"{count:,} of the {len(names):,} answers of {run.folder} are those of {folder}, by the same judge: "
                "they are counted once."
                for folder, count in before.items()
            ]
            for name, row in zip(names, run.rows, strict=True):
                if places[name] not in holders:
                    holders[places[name]], verdicts[places[name]] = run, row
        judges.append(JudgeColumn.of(judge, [run for run, _ in mine], verdicts))
    models = [model for model, *_ in places]
    given = labels.where if labels else "the input" if any(row.gold is not None for row in merged) else None
    return VerdictTable(relabelled(merged, labels) if labels else merged, judges, models, given, notes)


def answer_sets(runs: Sequence[Run]) -> list[int]:
    """The number of the set of answers (one model's, say) that each run is on.

    Runs on one input are on the same answers, and so are runs that give equal ones to the questions that they share:
    all of them where the judge is the same, as two models' answers can be much alike, else at least `SAME_ANSWERS`.
    """
    runs = _described(runs)
    names = [set(own) for own in _names(runs)]
    whose = _whose(runs)
    questions = [Counter((question_of(row), *whose(row)) for row in run.rows) for run in runs]
    same: dict[tuple[int, int], bool] = {}
    for i, j in combinations(range(len(runs)), 2):
        if runs[i].answers == runs[j].answers:
            same[i, j] = True
        elif shared := questions[i].keys() & questions[j].keys():
            rows = min(sum(questions[place][each] for each in shared) for place in (i, j))
            least = 1.0 if runs[i].signature == runs[j].signature else SAME_ANSWERS
            same[i, j] = len(names[i] & names[j]) >= least * rows
    numbers: list[int] = []
    for j in range(len(runs)):
        members: dict[int, list[bool | None]] = {}
        for i, number in enumerate(numbers):
            members.setdefault(number, []).append(same.get((i, j)))
        fitting = [number for number, told in members.items() if True in told and False not in told]
        numbers.append(fitting[0] if fitting else max(numbers, default=-1) + 1)
        for other in fitting[1:]:  # a run on both of two sets makes them one, where nothing speaks against it
            mixed = (two for two in combinations(range(j), 2) if {numbers[i] for i in two} == {fitting[0], other})
            if all(same.get(two, True) for two in mixed):
                numbers = [fitting[0] if number == other else number for number in numbers]
    first = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    return [first[number] for number in numbers]


def numbered(keys: Iterable[_T]) -> Iterator[tuple[_T, int]]:
    """Each key with how often it was there before: what comes several times is matched in its order."""
    seen: Counter[_T] = Counter()
    for key in keys:
        yield key, seen[key]
        seen[key] += 1


def question_of(row: Row) -> _Key:
    """What tells that two answers are to the same question: its text and references, or the id where there is none."""
    if row.candidate is None or row.question is None:
        return ("id", row.id, *row.references)
    return (row.question, *row.references)


def check_matched(
    found: Sequence[Row], first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]
) -> str | None:
    """A sentence where few of two sides' rows match (`found` are those of the first), None where enough do.

    Raises InputError where none does, or so few that nothing can be said of them.
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


def file_stem(path: str) -> str:
    """A file's name without its endings: `nq` of `data/nq.jsonl.gz`."""
    name = Path(path).name or Path(path).resolve().name  # "." has no name of its own
    return name.partition(".")[0] or name


def _whose(runs: Sequence[Run]) -> Callable[[Row], tuple[str, ...]]:
    """What tells whose an answer is: the columns of `_WHOSE` that every run has."""
    there = [name for name in _WHOSE if all(any(name in row.meta for row in run.rows) for run in runs)]
    return lambda row: tuple(str(row.meta.get(name)) for name in there)


def _names(runs: Sequence[Run]) -> list[list[_Name]]:
    """What tells the answers of each run from others: the texts, and whose they are.

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
        list(numbered(key(row) if row.candidate is not None else _of_same_id(run, row, texts) for row in run.rows))
        for run in runs
    ]


def _of_same_id(run: Run, row: Row, texts: Mapping[_Key, _Key]) -> _Key:
    name = (*run.answers, row.id)
    return texts.get(name, name)


def _described(runs: Sequence[Run]) -> list[Run]:
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


def _joined(first: Row, other: Row) -> Row:
    """The first row with what only the other one has: texts, the human label, columns."""
    if first.candidate is None and other.candidate is not None:
        first, other = replace(other, gold=first.gold, meta=first.meta), replace(other, gold=other.gold)
    gold = other.gold if first.gold is None else first.gold
    if gold != first.gold or other.meta.keys() - first.meta.keys():
        return replace(first, gold=gold, meta={**other.meta, **first.meta})
    return first
