"""A tool's own scores of its run beside a judge's labels, and runs with several answers to each question.

    comparison = beside_harness(map(Row.of, result.records()))
    for line in comparison.lines:
        print(line.metric.task, line.difference.first_mean, line.difference.second_mean)

The rows are those of a saved run (`inputs.saved`), whose columns `harness:METRIC` hold the tool's scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from math import comb
from typing import NamedTuple

from bert_judge.inputs import HARNESS
from bert_judge.measures import Difference, Estimate, rate_of_counts
from bert_judge.records import Row

_REPEATED = ("repeat", "epoch", "trial", "seed")
"""The columns that tell several answers of a model to one question apart."""


class ToolMetric(NamedTuple):
    """A tool's metric on a model's answers to a task; `file` is empty where a model's task lies in one file alone."""

    model: str
    task: str
    name: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class HarnessLine:
    """A metric's scores, which lie in [0, 1], beside the judge's labels, over the rows that have both.

    `difference` has the tool's scores as the first series, the judge's labels as the second. `only_judge` counts the
    answers that the tool scores 0 and the judge calls correct (missed by a regex, say), `only_tool` those with 1 that
    it calls incorrect, `partial` those with a score between. `undecided` are further rows, which the judge did not
    decide.
    """

    metric: ToolMetric
    difference: Difference
    only_judge: int
    only_tool: int
    partial: int
    undecided: int


@dataclass(frozen=True, slots=True)
class HarnessComparison:
    """A line for each metric. `unscaled` are metrics with values outside of [0, 1], which are no rates of correct
    answers; `repeats` counts the rows of which several share one score, that of their document.
    """

    lines: Sequence[HarnessLine]
    unscaled: Sequence[str]
    repeats: int


class ToolDisagreement(NamedTuple):
    """An answer that the tool scores 0 and the judge calls correct, or 1 and incorrect."""

    metric: ToolMetric
    tool_score: float
    row: Row


@dataclass(slots=True)
class _Series:
    """The rows of a metric so far: the tool's scores and the judge's labels, and the question of each."""

    scores: list[float] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    undecided: int = 0


def beside_harness(rows: Iterable[Row]) -> HarnessComparison:
    """Compare a tool's scores with a judge's labels, by model, task and metric."""
    by_metric: dict[ToolMetric, _Series] = {}
    unscaled: dict[str, None] = {}
    repeats = 0
    for row in rows:
        scores = _scores(row)
        if "repeat" in row.meta:
            repeats += bool(scores)
            continue
        for metric, score in scores.items():
            if not 0 <= score <= 1:
                unscaled[metric.name] = None
            series = by_metric.setdefault(metric, _Series())
            series.undecided += row.label is None
            if row.label is not None:
                series.scores.append(score)
                series.labels.append(row.label)
                series.questions.append(row.cluster)
    files = Counter(metric._replace(file="") for metric in by_metric)
    lines = [
        _line(metric if files[metric._replace(file="")] > 1 else metric._replace(file=""), series)
        for metric, series in by_metric.items()
        if metric.name not in unscaled and series.scores
    ]
    return HarnessComparison(lines, list(unscaled), repeats)


def differences_of(row: Row) -> list[ToolDisagreement]:
    """The metrics whose score of 0 or 1 of a row differs from the judge's label."""
    if row.label is None or "repeat" in row.meta:
        return []
    return [
        ToolDisagreement(metric, score, row)
        for metric, score in _scores(row).items()
        if score in (0, 1) and score != row.label
    ]


def first_disagreements(rows: Iterable[Row], most: int) -> tuple[list[list[ToolDisagreement]], int]:
    """The first `most` rows in which tool and judge differ, each with its metrics, and how many there are in all.

    Both kinds, correct by the judge alone and by the tool alone, take turns as long as there are both.
    """
    kinds: dict[int | None, list[list[ToolDisagreement]]] = {1: [], 0: []}
    total = 0
    for row in rows:
        if differences := differences_of(row):
            total += 1
            if len(kinds[row.label]) < most:
                kinds[row.label].append(differences)
    turns = chain.from_iterable(zip_longest(*kinds.values()))
    return [differences for differences in turns if differences][:most], total


def harness_scores(row: Row) -> dict[str, float]:
    """The tool's own scores of a row by metric; empty for rows of no saved run."""
    return {metric.name: score for metric, score in _scores(row).items()}


def _scores(row: Row) -> dict[ToolMetric, float]:
    model, task, file = (str(row.meta.get(name, "")) for name in ("model", "task", "file"))
    return {
        ToolMetric(model, task, name.removeprefix(HARNESS), file): float(value)
        for name, value in row.meta.items()
        if name.startswith(HARNESS)
    }


def _line(metric: ToolMetric, series: _Series) -> HarnessLine:
    pairs = list(zip(series.scores, series.labels, strict=True))
    return HarnessLine(
        metric,
        Difference.of(series.scores, series.labels, series.questions),
        only_judge=sum(score == 0 and label == 1 for score, label in pairs),
        only_tool=sum(score == 1 and label == 0 for score, label in pairs),
        partial=sum(0 < score < 1 for score, _ in pairs),
        undecided=series.undecided,
    )


# ------------------------------------------------------------------------------------- several answers to each question


@dataclass(frozen=True, slots=True)
class SeveralLine:
    """A model's answers to the questions of a task, by one judge; undecided ones count as incorrect.

    `answers` is k, the number that each question has at least. `accuracy` is the mean over questions.
    `any_correct` is pass@k, the chance that one of k answers is correct (the unbiased estimate of Chen et al., 2021,
    where a question has more); `all_correct` the chance that all k are; `majority` the rate of questions of whose
    answers more than half are correct. `file` is empty where the task of a model lies in one file alone.
    """

    model: str
    task: str
    file: str
    questions: int
    answers: int
    accuracy: Estimate
    any_correct: float
    majority: float
    all_correct: float


def several_answers(rows: Iterable[Row]) -> list[SeveralLine]:
    """A line for each model, task and file in which questions have several answers, told apart by `_REPEATED`."""
    counts: dict[tuple[str, str, str], dict[str, tuple[int, int]]] = {}
    for row in rows:
        if any(name in row.meta for name in _REPEATED):
            model, task, file = (str(row.meta.get(name, "")) for name in ("model", "task", "file"))
            questions = counts.setdefault((model, task, file), {})
            answers, correct = questions.get(row.cluster, (0, 0))
            questions[row.cluster] = answers + 1, correct + (row.label == 1)
    files = Counter((model, task) for model, task, _ in counts)
    return [
        _several_line(model, task, file if files[model, task] > 1 else "", list(questions.values()))
        for (model, task, file), questions in counts.items()
        if max(answers for answers, _ in questions.values()) > 1
    ]


def _several_line(model: str, task: str, file: str, questions: list[tuple[int, int]]) -> SeveralLine:
    """From the numbers of answers and of correct ones of each question."""
    k, count = min(answers for answers, _ in questions), len(questions)
    accuracy = rate_of_counts([k * correct / answers for answers, correct in questions], [k] * count)
    return SeveralLine(
        model,
        task,
        file,
        count,
        k,
        accuracy,
        any_correct=sum(1 - comb(answers - correct, k) / comb(answers, k) for answers, correct in questions) / count,
        majority=sum(2 * correct > answers for answers, correct in questions) / count,
        all_correct=sum(comb(correct, k) / comb(answers, k) for answers, correct in questions) / count,
    )
