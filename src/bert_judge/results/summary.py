"""What a result says in a few numbers."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bert_judge.measures import Confusion, Rate
from bert_judge.measures.arrays import np
from bert_judge.records import record_cluster


@dataclass(frozen=True, slots=True)
class Summary:
    """What a result says in a few numbers. Rates are in [0, 1]; intervals are at 95 %, by question (`Rate`).

    `failed` counts those of the `undecided` rows on which the judge itself failed. `mean_score` is over decided rows.
    `accuracy` is the rate of candidates that the judge labels correct among the decided rows; `accuracy_all` counts
    undecided rows as incorrect. Both are None where the judge gives scores without labels. `agreement` compares the
    judge's labels with the human labels of the input, where there are any. `outside` is there where rows are.
    `questions` is how many questions the decided rows answer; None where each has one answer, so that the interval is
    Wilson's over rows. `left_out` counts the rows of which something is not the answer, by what that is (as in
    `Verdict.left_out`); None where there are none.
    """

    rows: int
    judged: int
    undecided: int
    failed: int
    truncated: int
    mean_score: float | None
    accuracy: float | None
    accuracy_interval: tuple[float, float] | None
    accuracy_all: float | None
    agreement: Agreement | None
    outside: Outside | None = None
    questions: int | None = None
    left_out: Mapping[str, int] | None = None

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Summary:
        """The summary in a `run.json`. Raises KeyError or TypeError for something else."""
        agreement, outside = record["agreement"], record.get("outside")
        return cls(
            **{
                **record,
                "agreement": Agreement(**agreement) if agreement else None,
                "outside": Outside(**outside) if outside else None,
            }
        )


@dataclass(frozen=True, slots=True)
class Outside:
    """Rows outside of what the judge knows: how many for each reason, and the accuracy of all others.

    `accuracy` is the rate of the others that the judge labels correct, `agreement` that on which it agrees with the
    human labels.
    """

    reasons: Mapping[str, int]
    accuracy: float | None
    agreement: float | None

    @property
    def rows(self) -> int:
        """How many they are."""
        return sum(self.reasons.values())


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the judge agrees with the `labels` human labels of the input, over the `rows` rows that have both.

    `questions` are theirs, as in `Summary`.
    """

    rows: int
    labels: int
    accuracy: float | None
    accuracy_interval: tuple[float, float]
    f1: float | None
    kappa: float | None
    questions: int | None = None

    @classmethod
    def of(cls, confusion: Confusion, labels: int, rate: Rate) -> Agreement:
        """That of counts with at least one row; `rate` is their accuracy by question."""
        measures = (confusion.accuracy, rate.interval, confusion.f1, confusion.kappa)
        return cls(confusion.n, labels, *measures, _questions(rate))


class Tally:
    """Counts the records of a result (lines of `verdicts.jsonl`) as they pass; reads their `COLUMNS` alone.

    Rows are not kept: 8 bytes for the score of each, and counts for each question, 24 bytes, and twice that while they
    are added up.
    """

    COLUMNS = tuple("id score label gold truncated failed outside left_out question question_hash".split())

    def __init__(self, records: Iterable[Mapping[str, Any]] = ()) -> None:
        self._counts: Counter[str] = Counter()
        self._labels: Counter[_Labels] = Counter()
        self._by_question = _ByQuestion()
        self._left_out: Counter[str] = Counter()
        self._scores = array("d")  # NaN where undecided
        for record in records:
            self.count(record)

    def count(self, record: Mapping[str, Any]) -> None:
        """Count one more record."""
        count, score = self._counts, record["score"]
        count["rows"] += 1
        count["undecided"] += score is None
        for name in ("truncated", "failed", "gold"):
            count[name] += name in record
        self._labels[record.get("outside"), record.get("gold"), record["label"]] += 1
        self._scores.append(math.nan if score is None else score)
        self._left_out.update(list(record.get("left_out", ())))
        if record["label"] is not None:
            self._by_question.add(int(record_cluster(record), 16), record["label"], record.get("gold"))

    def scores(self) -> Iterator[float | None]:
        """The scores in the order of the records; None where undecided."""
        return (None if math.isnan(score) else score for score in self._scores)

    def summary(self) -> Summary:
        """The summary of the records counted so far."""
        count = self._counts
        judged = count["rows"] - count["undecided"]
        labelled, correct, confusion = _rates(self._labels)
        right, agreed = self._by_question.rates()
        return Summary(
            rows=count["rows"],
            judged=judged,
            undecided=count["undecided"],
            failed=count["failed"],
            truncated=count["truncated"],
            mean_score=math.fsum(score for score in self._scores if score == score) / judged if judged else None,
            accuracy=correct / labelled if labelled else None,
            accuracy_interval=right.interval if right else None,
            accuracy_all=correct / (labelled + count["undecided"]) if labelled + count["undecided"] else None,
            agreement=Agreement.of(confusion, count["gold"], agreed) if agreed else None,
            outside=self._outside(),
            questions=_questions(right) if right else None,
            left_out=dict(self._left_out.most_common()) or None,
        )

    def _outside(self) -> Outside | None:
        reasons: Counter[str] = Counter()
        for (reason, _, _), rows in self._labels.items():
            if reason is not None:
                reasons[reason] += rows
        if not reasons:
            return None
        labelled, correct, confusion = _rates({key: rows for key, rows in self._labels.items() if key[0] is None})
        accuracy = correct / labelled if labelled else None
        return Outside(dict(reasons.most_common()), accuracy, confusion.accuracy if confusion.n else None)


class _ByQuestion:
    """For each question, by a number of 64 bits: how many answers are labelled, how many of them correct, how many have
    a human label, too, and on how many of these both agree.

    Questions are sorted in one array and their counts lie in another. Answers wait in a buffer, which may be as long as
    there are questions, so that each question is sorted in only a few times.
    """

    _LEAST = 65_536  # answers that are worth sorting

    def __init__(self) -> None:
        self._questions = np.empty(0, np.uint64)
        self._counts = np.empty((4, 0), np.uint32)
        self._waiting, self._kinds = array("Q"), array("B")

    def add(self, question: int, label: int, gold: int | None) -> None:
        """Count an answer."""
        self._waiting.append(question)
        self._kinds.append((label == 1) | (gold is not None) << 1 | (label == gold) << 2)
        if len(self._waiting) >= max(self._LEAST, len(self._questions)):
            self._sort_in()

    def rates(self) -> tuple[Rate | None, Rate | None]:
        """The rate of correct answers, and that of agreement with human labels; None each without answers."""
        self._sort_in()
        labelled, correct, compared, agreed = self._counts
        return Rate.of_counts(correct, labelled), Rate.of_counts(agreed, compared)

    def _sort_in(self) -> None:
        if not self._waiting:
            return
        asked, of_answer = np.unique(np.frombuffer(self._waiting, np.uint64), return_inverse=True)
        kinds = np.frombuffer(self._kinds, np.uint8)
        questions = np.union1d(self._questions, asked)
        counts = np.zeros((4, len(questions)), np.uint32)
        counts[:, np.searchsorted(questions, self._questions)] = self._counts
        places = np.searchsorted(questions, asked)
        for row, counted in enumerate((kinds >= 0, kinds & 1, kinds & 2, kinds & 4)):
            counts[row, places] += np.bincount(of_answer[counted != 0], minlength=len(asked)).astype(np.uint32)
        self._questions, self._counts = questions, counts
        self._waiting, self._kinds = array("Q"), array("B")


def _questions(rate: Rate) -> int | None:
    """How many questions there are, where some have several answers."""
    return rate.clusters if rate.clustered else None


_Labels = tuple[str | None, int | None, int | None]
"""Why a row is outside of what the judge knows, its human label and the judge's; None each for nothing."""


def _rates(counts: Mapping[_Labels, int]) -> tuple[int, int, Confusion]:
    """How many rows the judge labels, how many of them correct, and how its labels meet the human ones."""
    labelled: Counter[tuple[int | None, int]] = Counter()
    for (_, gold, label), rows in counts.items():
        if label is not None:
            labelled[gold, label] += rows
    correct = sum(rows for (_, label), rows in labelled.items() if label == 1)
    pairs = ((gold, label) for gold, label in labelled.elements() if gold is not None)
    return labelled.total(), correct, Confusion.count(pairs)
