"""Several runs as one table: a row for each answer, a column for each judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from bert_judge.analysis.labels import Labels, file_stem, relabelled
from bert_judge.analysis.matching import (
    SAME_ANSWERS,
    answer_key,
    fitting,
    id_key,
    numbered,
    question_key,
    run_names,
)
from bert_judge.analysis.results import Row, Run
from bert_judge.errors import InputError
from bert_judge.judges.naming import distinct
from bert_judge.types import Scale, Signature

MOST_LEVELS = 200
"""A column of the input with more different values than this is no filter."""

_FIRST = (
    *("task", "model", "candidate_model", "source", "dataset", "subset", "category", "language", "split"),
    *("input", "file"),
)
_WHOSE = ("task", "model", "candidate_model")  # answers that differ in one of these are not the same answer


@dataclass(frozen=True, slots=True)
class JudgeColumn:
    """One judge: a short name, what it is, its runs, and its verdict on each answer (None: it did not judge it)."""

    name: str
    signature: Signature
    scale: Scale
    runs: Sequence[Run]
    verdicts: Sequence[Row | None]


@dataclass(frozen=True, slots=True)
class Facet:
    """A kind of rows (task, model …): its levels, and the place of each answer's level among them (-1: it has none)."""

    name: str
    levels: Sequence[str]
    codes: Sequence[int]


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Every answer once, what each judge says of it, the kinds it is of, and what a reader must know.

    `rows` hold the texts and people's labels (`gold`); their own score and label are those of the first run. `labels`
    says where the labels are from, None where there are none.
    """

    rows: Sequence[Row]
    judges: Sequence[JudgeColumn]
    facets: Sequence[Facet]
    labels: str | None
    notes: Sequence[str]


def collect(runs: Sequence[Run], labels: Labels | None = None) -> AnswerTable:
    """Put runs side by side. Runs with one signature on different inputs are one judge; answers that several of these
    inputs hold are there once, with the verdict of the first run, and a note says how many.

    Answers are the same where their texts are (their ids, where a run has no texts, on the same input). Runs of other
    judges are on the same answers if they read the same file, or nine tenths of the smaller one's rows are in the
    other; otherwise their rows stand below each other, and a note says so. With `labels`, these alone are people's
    labels. Raises InputError for no runs, runs without rows, and labels that belong to none.
    """
    if not runs:
        raise InputError("no results were given; folders that score or judge wrote were expected.")
    if not any(run.rows for run in runs):
        raise InputError(f"{', '.join(str(run.folder) for run in runs)}: no row was judged; one or more was expected.")
    named = [_with_task(run) for run in runs]
    key = fitting(answer_key, [run.rows for run in named])
    found = [numbered(run.rows, key) for run in named]
    inputs = _inputs(named, found, merge=key is not id_key)
    answers = _answers(found, inputs, _overlaps(named, found, inputs))
    places = {answer: place for place, answer in enumerate(dict.fromkeys(chain.from_iterable(answers)))}
    rows = _merged(answers, places)
    rows = relabelled(rows, labels) if labels else rows
    groups = _groups(runs, inputs)
    judges = _judges(runs, groups, answers, places)
    given = labels.where if labels else "the input" if any(row.gold is not None for row in rows) else None
    notes = [*_counted_once(runs, groups, answers), *_notes(judges, rows)]
    return AnswerTable(rows, judges, _facets(rows, _input_names(named, inputs, places)), given, notes)


_Name = tuple[Hashable, int]  # a row's key, and how often it was in its run before
_Answer = tuple[int, _Name]  # the number of an input, and the name of a row in it
_Found = Mapping[_Name, Row]
_Answers = Mapping[_Answer, Row]
_Places = Mapping[_Answer, int]


def _with_task(run: Run) -> Run:
    """The run with task and model in its rows, where it judged a model's candidates: they are in the path of these."""
    given = run.record.get("input", {})
    if given.get("format") != "candidates":
        return run
    folder = Path(given["path"]).parent
    names = {"task": folder.parent.name, "model": folder.name}
    return replace(run, rows=[replace(row, meta={**names, **row.meta}) for row in run.rows])


def _inputs(runs: Sequence[Run], found: Sequence[_Found], merge: bool) -> list[int]:
    """The number of the answers that each run is on. One judge's runs on different files are on different answers."""
    answers = [run.answers for run in runs]
    numbers: list[int] = []
    for place, run in enumerate(runs):
        same = (numbers[i] for i in range(place) if answers[i] == answers[place])
        alike = (
            numbers[i]
            for i in range(place if merge else 0)
            if runs[i].signature != run.signature
            and not _judged_another(run, numbers[i], runs, numbers)
            and len(found[i].keys() & found[place].keys())
            >= SAME_ANSWERS * max(1, min(map(len, (found[i], found[place]))))
        )
        numbers.append(next(same, next(alike, max(numbers, default=-1) + 1)))
    return numbers


def _judged_another(run: Run, number: int, runs: Sequence[Run], numbers: Sequence[int]) -> bool:
    """Whether the judge of a run is among the runs on these answers already, with another input."""
    of_these = (runs[i] for i, own in enumerate(numbers) if own == number)
    return any(other.signature == run.signature and other.answers != run.answers for other in of_these)


def _overlaps(runs: Sequence[Run], found: Sequence[_Found], inputs: Sequence[int]) -> Mapping[_Answer, _Answer]:
    """The answers that an earlier run of the same judge holds, though it read another file: which they are there.

    Only texts tell that, so rows without texts are never among them.
    """
    questions = [Counter(map(question_key, own.values())) for own in found]
    holders: dict[Hashable, list[tuple[int, _Name]]] = {}
    same: dict[_Answer, _Answer] = {}
    for place, run in enumerate(runs):
        shared: dict[int, list[tuple[_Name, _Name]]] = {}
        seen: Counter[Hashable] = Counter()
        for name, row in found[place].items():
            if row.candidate is None:
                continue
            text = (run.signature, row.key, *(str(row.meta.get(each)) for each in _WHOSE))
            known = holders.setdefault((text, seen[text]), [])
            seen[text] += 1
            for earlier, there_name in known:
                if inputs[earlier] != inputs[place]:
                    shared.setdefault(earlier, []).append((name, there_name))
            known.append((place, name))
        for earlier, pairs in shared.items():
            if len(pairs) >= SAME_ANSWERS * _to_same_questions(questions[earlier], questions[place]):
                for name, there_name in pairs:
                    there = inputs[earlier], there_name
                    same.setdefault((inputs[place], name), same.get(there, there))
    return same


def _to_same_questions(first: Counter[Hashable], other: Counter[Hashable]) -> int:
    """How many answers of one run are to questions of the other, the smaller number of both ways.

    Where few of these are equal, they are another model's, which gives the same short answer now and then.
    """
    return min(sum(n for name, n in a.items() if name in b) for a, b in ((first, other), (other, first)))


def _answers(found: Sequence[_Found], inputs: Sequence[int], same: Mapping[_Answer, _Answer]) -> list[_Answers]:
    """The rows of each run by the answers that they are of."""
    return [
        {same.get((number, name), (number, name)): row for name, row in own.items()}
        for own, number in zip(found, inputs, strict=True)
    ]


def _merged(answers: Sequence[_Answers], places: _Places) -> list[Row]:
    """One row for each answer, with the texts, the label and the columns that any of its runs has."""
    rows: list[Row | None] = [None] * len(places)
    for answer, row in chain.from_iterable(own.items() for own in answers):
        first = rows[places[answer]]
        rows[places[answer]] = row if first is None else _joined(first, row)
    return [row for row in rows if row is not None]


def _joined(first: Row, other: Row) -> Row:
    missing = first.gold is None and other.gold is not None
    if first.candidate is None and other.candidate is not None:
        gold = other.gold if first.gold is None else first.gold
        return replace(other, gold=gold, meta={**other.meta, **first.meta})
    if missing or other.meta.keys() - first.meta.keys():
        gold = other.gold if missing else first.gold
        return replace(first, gold=gold, meta={**other.meta, **first.meta})
    return first


def _groups(runs: Sequence[Run], inputs: Sequence[int]) -> list[list[int]]:
    """The runs of each column: a signature each, and one more for each time that it judged the same answers again."""
    groups: dict[tuple[Signature, int], list[int]] = {}
    seen: Counter[tuple[Signature, int]] = Counter()
    for place, (run, number) in enumerate(zip(runs, inputs, strict=True)):
        groups.setdefault((run.signature, seen[run.signature, number]), []).append(place)
        seen[run.signature, number] += 1
    return list(groups.values())


def _judges(
    runs: Sequence[Run], groups: Sequence[Sequence[int]], answers: Sequence[_Answers], places: _Places
) -> list[JudgeColumn]:
    """The columns. Of an answer that several runs of one hold, the first run's verdict counts."""
    columns = []
    for name, own in zip(_names(runs, groups), groups, strict=True):
        verdicts: list[Row | None] = [None] * len(places)
        for place in reversed(own):
            for answer, row in answers[place].items():
                verdicts[places[answer]] = row
        first = runs[own[0]]
        columns.append(JudgeColumn(name, first.signature, first.scale, [runs[place] for place in own], verdicts))
    return columns


def _names(runs: Sequence[Run], groups: Sequence[Sequence[int]]) -> list[str]:
    """Short names of judges: their folders' where each has one run, else what they are."""
    if len(groups) > 1 and all(len(own) == 1 for own in groups):
        return run_names(runs)
    return distinct([runs[own[0]].signature.short for own in groups])


def _input_names(runs: Sequence[Run], inputs: Sequence[int], places: _Places) -> Sequence[str]:
    """The name of the input of each answer; none at all where there is only one, or the task and model tell it."""
    if len(set(inputs)) == 1 or all(run.record.get("input", {}).get("format") == "candidates" for run in runs):
        return ()
    firsts = [runs[inputs.index(number)] for number in range(max(inputs) + 1)]
    names = distinct([file_stem(str(run.record.get("input", {}).get("path", run.name))) for run in firsts])
    return [names[number] for number, _ in places]


def _facets(rows: Sequence[Row], inputs: Sequence[str]) -> list[Facet]:
    """The columns of the input that are kinds of rows: with more than one value, but not one a row."""
    columns = sorted({name for row in rows for name in row.meta}, key=_order)
    values: dict[str, Sequence[str | None]] = {"input": inputs} if inputs else {}
    for name in columns:
        told = [row.meta.get(name) for row in rows]
        if all(value is None or isinstance(value, str | int | float) for value in told):
            values.setdefault(name, [None if value is None else str(value) for value in told])
    facets = [_facet(name, own) for name, own in sorted(values.items(), key=lambda item: _order(item[0]))]
    return [each for each in facets if _is_kind(each, len(rows))]


def _is_kind(facet: Facet, rows: int) -> bool:
    several = len(facet.levels) > 1 or (len(facet.levels) == 1 and -1 in facet.codes)
    return several and len(facet.levels) <= MOST_LEVELS and (facet.name in _FIRST or 2 * len(facet.levels) <= rows)


def _order(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def _facet(name: str, values: Sequence[str | None]) -> Facet:
    levels = sorted({value for value in values if value is not None})
    codes = {level: code for code, level in enumerate(levels)}
    return Facet(name, levels, [-1 if value is None else codes[value] for value in values])


def _counted_once(runs: Sequence[Run], groups: Sequence[Sequence[int]], answers: Sequence[_Answers]) -> list[str]:
    """How many answers of which run are left out, as an earlier run of the same column holds them."""
    notes = []
    for own in groups:
        holders: dict[_Answer, int] = {}
        for place in own:
            held = Counter(holders[answer] for answer in answers[place] if answer in holders)
            notes += [
                f"{count:,} of the {len(answers[place]):,} answers of {runs[place].folder} are those of "
                f"{runs[first].folder}, by the same judge: they are counted once."
                for first, count in held.items()
            ]
            holders = {**dict.fromkeys(answers[place], place), **holders}
    return notes


def _notes(judges: Sequence[JudgeColumn], rows: Sequence[Row]) -> list[str]:
    """What is not as a reader would expect."""
    notes = []
    for judge in judges:
        missing = sum(row is None for row in judge.verdicts)
        if missing:
            notes.append(f"{judge.name} judged {len(rows) - missing:,} of the {len(rows):,} answers.")
    if any(row.candidate is None for row in rows):
        notes.append("The runs were made with --no_texts: there is nothing to read beside the scores.")
    return notes
