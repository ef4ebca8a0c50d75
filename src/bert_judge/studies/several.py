"""Several answers to each question, as of repeated sampling: how often one, most and all of them are correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

from bert_judge.measures import rate_interval
from bert_judge.records import Row

REPEATED = ("repeat", "epoch", "trial", "seed")
"""The columns that tell several answers of a model to one question apart."""


@dataclass(frozen=True, slots=True)
class SeveralLine:
    """A model's answers to the questions of a task, by one judge; undecided ones count as incorrect.

    `answers` is k, the number that each question has at least. `accuracy` is the mean over questions, with the 95 %
    interval by question. `any_correct` is pass@k, the chance that one of k answers is correct (the
    unbiased estimate of Chen et al., 2021, where a question has more); `all_correct` the chance that all k are;
    `majority` the rate of questions of whose answers more than half are correct. `file` is empty where the task of a
    model lies in one file alone.
    """

    model: str
    task: str
    file: str
    questions: int
    answers: int
    accuracy: float
    interval: tuple[float, float]
    any_correct: float
    majority: float
    all_correct: float


def several_answers(rows: Iterable[Row]) -> list[SeveralLine]:
    """A line for each model, task and file in which questions have several answers, told apart by `REPEATED`."""
    counts: dict[tuple[str, str, str], dict[str, tuple[int, int]]] = {}
    for row in rows:
        if any(name in row.meta for name in REPEATED):
            of = (str(row.meta.get("model", "")), str(row.meta.get("task", "")), str(row.meta.get("file", "")))
            questions = counts.setdefault(of, {})
            answers, correct = questions.get(row.cluster, (0, 0))
            questions[row.cluster] = answers + 1, correct + (row.label == 1)
    files = Counter(of[:2] for of in counts)
    return [
        _line(model, task, file if files[model, task] > 1 else "", list(own.values()))
        for (model, task, file), own in counts.items()
        if max(own.values())[0] > 1
    ]


def _line(model: str, task: str, file: str, questions: list[tuple[int, int]]) -> SeveralLine:
    import numpy as np

    k, count = min(answers for answers, _ in questions), len(questions)
    rates = np.array([correct / answers for answers, correct in questions])
    return SeveralLine(
        model,
        task,
        file,
        count,
        k,
        float(rates.mean()),
        rate_interval(rates * k, np.full(count, k)),
        sum(1 - comb(answers - correct, k) / comb(answers, k) for answers, correct in questions) / count,
        sum(2 * correct > answers for answers, correct in questions) / count,
        sum(comb(correct, k) / comb(answers, k) for answers, correct in questions) / count,
    )
