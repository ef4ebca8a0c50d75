"""Thresholds of a cascade's stages that keep a target, found on labelled rows.

The promise: with confidence 1 - delta, at least the target rate of what is decided before the last stage has the human
label (or the last stage's), where rows, questions or sources count alike. Each stage and side (correct, incorrect) is
certified on its own along one path of thresholds that was fixed beforehand (`PATH`), by fixed sequence testing at the
level delta / (2 * stages), question by question; where every part keeps the target, the whole does. After Jung et al.,
2024, arXiv 2407.18370.

Which rows reach a later stage depends a little on the labels that the earlier one was tested with. That is not in the
level, and shows in no simulation (`benchmarks/cascade.py`); with `split_stages` it does not exist.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from bert_judge.errors import InputError
from bert_judge.judges.cascade import Certificate, Counted, Stage
from bert_judge.measures.arrays import np
from bert_judge.measures.certified import Evidence, at_least, fixed_sequence, highest_target, rows_needed
from bert_judge.records import Row, Signature
from bert_judge.studies.slices import KINDS, NOTHING

PATH = (
    *(0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25),
    *(0.275, 0.3, 0.325, 0.35, 0.375, 0.4, 0.425, 0.45, 0.475, 0.49),
)
"""How far from sure a score may be, from strict to loose: scores up to this are incorrect, from 1 minus it correct."""

GROUPS: Mapping[Counted, Callable[[Row], str]] = {
    "rows": lambda row: "",
    "questions": lambda row: row.cluster,
    "sources": KINDS["source"],
}
"""By what is certified: which rows share a weight of 1 (where rows are certified, all have the same)."""

Ask = Callable[[int, Sequence[int]], Sequence[float | None]]
"""From the number of a stage and those of rows to its scores of these rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSettings:
    """What a cascade is to promise, and how it is calibrated. Raises InputError where a number is out of its range."""

    target_agreement: Annotated[float, "the rate of agreement wanted of what is decided early"] = 0.95
    delta: Annotated[float, "how likely the promise may be false"] = 0.1
    certify: Annotated[Counted, "what the promise counts: rows, or each question or each source alike"] = "rows"
    agree_with: Annotated[Literal["people", "last"], "the labels of the file, or those of the last stage"] = "people"
    abstain: Annotated[bool, "no last stage: every one has thresholds, what none is sure of stays undecided"] = False
    split_stages: Annotated[bool, "each stage on questions of its own: the promise is exact, but needs more rows"] = (
        False
    )
    seed: Annotated[int, "chooses the order of the questions, and the stage of each"] = 0

    def __post_init__(self) -> None:
        rows_needed(self.target_agreement, self.delta)  # tells what is out of range


class Labelled(NamedTuple):
    """The label of a row, its question, and what it counts: 1 is the most that all rows of a question count."""

    label: int
    question: Hashable
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a stage on the calibration rows that reach it: what passes each threshold along `PATH`.

    `certificate` is the loosest threshold that is certified, `agreement` the rate beyond it; None where there is none.
    """

    label: int
    reached: int
    path: tuple[Evidence, ...]
    level: float
    certificate: Certificate | None
    agreement: float | None

    @property
    def reachable(self) -> tuple[float, float] | None:
        """The highest target in whole percents that could be certified, and the rate of rows decided then."""
        target = highest_target(self.path, self.level)
        found = None if target is None else fixed_sequence(self.path, target, self.level)
        return None if target is None or found is None else (target, self.path[found].rows / self.reached)


@dataclass(frozen=True, slots=True)
class StageResult:
    """A stage on the calibration rows: how many reach it, and how many it decides."""

    name: str
    high: Side
    low: Side
    asked: int
    decided: int


@dataclass(frozen=True, slots=True)
class Found:
    """What `find_thresholds` found. Of the rows `through` all stages, `decided` have a label before the end."""

    stages: tuple[StageResult, ...]
    through: tuple[int, ...]
    decided: Mapping[int, int]


def labelled(rows: Sequence[Row], labels: Sequence[float | None], certify: Counted) -> dict[int, Labelled]:
    """The rows that have a label, by their places, with weights for what is to be certified.

    Rows count alike, or as 1 by the rows of their question, or of their source (the column source, dataset or input);
    the question that counts most has the weight 1. Raises InputError where sources are asked for and no row has one.
    """
    known = {place: label for place, label in enumerate(labels) if label is not None}
    groups = {place: GROUPS[certify](rows[place]) for place in known}
    if groups and certify == "sources" and set(groups.values()) == {NOTHING}:
        raise InputError("no row has a column source, dataset or input; --certify sources needs one of them.")
    sizes = Counter(groups.values())
    questions = {place: rows[place].cluster for place in known}
    totals: dict[str, float] = {}
    for place, question in questions.items():
        totals[question] = totals.get(question, 0.0) + 1 / sizes[groups[place]]
    most = max(totals.values(), default=1.0)
    return {
        place: Labelled(int(label), questions[place], 1 / sizes[groups[place]] / most) for place, label in known.items()
    }


def find_thresholds(names: Sequence[str], ask: Ask, truth: Mapping[int, Labelled], settings: CascadeSettings) -> Found:
    """The thresholds of stages on labelled rows; each stage is asked what the former left."""
    level = settings.delta / (2 * len(names))
    last = len(names) - 1
    questions = list(dict.fromkeys(row.question for row in truth.values()))
    random.Random(settings.seed).shuffle(questions)
    order = {question: place for place, question in enumerate(questions)}
    stage_of = {row: order[each.question] % len(names) for row, each in truth.items()} if settings.split_stages else {}
    through = tuple(row for row in truth if stage_of.get(row, last) == last)
    waiting, decided, results = list(truth), dict[int, int](), list[StageResult]()
    for number, name in enumerate(names):
        waiting = [row for row in waiting if stage_of.get(row, number) >= number]
        scores = dict(zip(waiting, ask(number, waiting), strict=True))
        tested = [(scores[row], truth[row]) for row in waiting if stage_of.get(row, number) == number]
        high, low = (_side(label, tested, order, settings.target_agreement, level) for label in (1, 0))
        stage = Stage(name, {}, Signature(""), high.certificate, low.certificate)
        labels = {row: label for row in waiting if (label := stage.decide(scores[row])) is not None}
        results.append(StageResult(name, high, low, len(waiting), len(labels)))
        decided |= labels
        waiting = [row for row in waiting if row not in labels]
    return Found(tuple(results), through, decided)


def _side(
    label: int,
    tested: Sequence[tuple[float | None, Labelled]],
    order: Mapping[Hashable, int],
    target: float,
    level: float,
) -> Side:
    """Test the thresholds of a side on the rows that reach its stage; `order` has the places of the questions."""
    thresholds = [round(1 - each, 6) if label else each for each in PATH]
    path = _path(label, tested, order, thresholds)
    found = fixed_sequence(path, target, level)
    if found is None:
        return Side(label, len(tested), path, level, None, None)
    rows, agreed = path[found].rows, path[found].agreed
    bound = round(at_least(path[found], target, level), 6)
    return Side(
        label, len(tested), path, level, Certificate(thresholds[found], rows, agreed, bound), path[found].agreement
    )


def _path(
    label: int,
    tested: Sequence[tuple[float | None, Labelled]],
    order: Mapping[Hashable, int],
    thresholds: Sequence[float],
) -> tuple[Evidence, ...]:
    """What passes each of the thresholds, from strict to loose."""
    ascending = [-each if label else each for each in thresholds]
    rows, agreed = np.zeros(len(PATH) + 1, np.int64), np.zeros(len(PATH) + 1, np.int64)
    passed, disagreed = (np.zeros((len(PATH) + 1, len(order))) for _ in range(2))
    for score, row in tested:
        if score is not None:
            first = bisect_left(ascending, -score if label else score)
            place = first, order[row.question]
            rows[first] += 1
            agreed[first] += row.label == label
            passed[place] += row.weight
            disagreed[place] += row.weight * (row.label != label)
    sums = [each[:-1].cumsum(axis=0) for each in (rows, agreed, passed, disagreed)]
    return tuple(
        Evidence(int(count), int(agreeing), weights[weights > 0], wrong[weights > 0])
        for count, agreeing, weights, wrong in zip(*sums, strict=True)
    )
