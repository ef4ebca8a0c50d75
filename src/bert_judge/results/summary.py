"""A result in a few numbers."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bert_judge.measures import Agreement, Confusion, Estimate, rate_of_counts
from bert_judge.measures.arrays import np
from bert_judge.records import record_cluster


@dataclass(frozen=True, slots=True)
class Summary:
    """A result in a few numbers. Rates are in [0, 1]; intervals are at 95 %, by question.

    `failed` counts those of the `undecided` rows on which the judge itself failed. `mean_score` is over decided rows.
    `accuracy` is the rate of candidates that the judge labels correct among the decided rows, without a value where
    the judge gives scores without labels; `accuracy_all` counts undecided rows as incorrect. `agreement` compares the
    judge's labels with the human labels of the input, if there are any; `out_of_scope` is None without such rows.
    `left_out` counts the rows of which a part is not the answer, by the kind of part (as in `Verdict.left_out`).
    """

    rows: int
    judged: int
    undecided: int
    failed: int
    truncated: int
    mean_score: float | None
    accuracy: Estimate
    accuracy_all: float | None
    agreement: Agreement | None
    out_of_scope: OutOfScope | None = None
    left_out: Mapping[str, int] | None = None

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Summary:
        """The summary in a `run.json`. Raises KeyError or TypeError for something else."""
        agreement, out_of_scope = record["agreement"], record.get("out_of_scope")
        records = {
            "accuracy": Estimate(**record["accuracy"]),
            "agreement": Agreement.of_record(agreement) if agreement else None,
            "out_of_scope": OutOfScope(**out_of_scope) if out_of_scope else None,
        }
        return cls(**{**record, **records})


@dataclass(frozen=True, slots=True)
class OutOfScope:
    """Rows that are out of the judge's scope: how many for each reason, and the figures of all other rows.

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


class Tally:
    """Counts the records of a result (lines of `verdicts.jsonl`) as they pass; only their `COLUMNS` are read.

    It keeps no rows: 8 bytes for the score of each, and for each question counts of 24 bytes, twice that while they are
    added up.
    """

    COLUMNS = tuple("id score label gold truncated failed out_of_scope left_out question question_hash".split())

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
        self._labels[record.get("out_of_scope"), record.get("gold"), record["label"]] += 1
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
        accuracy, agreement = self._by_question.rates()
        return Summary(
            rows=count["rows"],
            judged=judged,
            undecided=count["undecided"],
            failed=count["failed"],
            truncated=count["truncated"],
            mean_score=math.fsum(score for score in self._scores if score == score) / judged if judged else None,
            accuracy=accuracy,
            accuracy_all=correct / (labelled + count["undecided"]) if labelled + count["undecided"] else None,
            agreement=Agreement.of_counts(confusion, count["gold"] - confusion.n, agreement) if confusion.n else None,
            out_of_scope=self._out_of_scope(),
            left_out=dict(self._left_out.most_common()) or None,
        )

    def _out_of_scope(self) -> OutOfScope | None:
        reasons: Counter[str] = Counter()
        for (reason, _, _), rows in self._labels.items():
            if reason is not None:
                reasons[reason] += rows
        if not reasons:
            return None
        labelled, correct, confusion = _rates({key: rows for key, rows in self._labels.items() if key[0] is None})
        accuracy = correct / labelled if labelled else None
        return OutOfScope(dict(reasons.most_common()), accuracy, confusion.accuracy if confusion.n else None)


class _ByQuestion:
    """Counts by question, which is a number of 64 bits: answers that are labelled, that are labelled correct, that have
    a human label too, and on which both labels agree.

    A dictionary of a million questions would take ten times the memory: here questions are one sorted array, their
    counts another. New answers wait in a buffer that grows with the number of questions, so that the arrays are merged
    only a few times.
    """

    _LEAST = 65_536  # answers in the buffer before it is merged

    def __init__(self) -> None:
        self._questions = np.empty(0, np.uint64)
        self._counts = np.empty((4, 0), np.uint32)
        self._waiting, self._kinds = array("Q"), array("B")

    def add(self, question: int, label: int, gold: int | None) -> None:
        """Count an answer."""
        self._waiting.append(question)
        self._kinds.append((label == 1) | (gold is not None) << 1 | (label == gold) << 2)
        if len(self._waiting) >= max(self._LEAST, len(self._questions)):
            self._merge()

    def rates(self) -> tuple[Estimate, Estimate]:
        """The rate of correct answers, and that of agreement with human labels."""
        self._merge()
        labelled, correct, compared, agreed = self._counts
        return rate_of_counts(correct, labelled), rate_of_counts(agreed, compared)

    def _merge(self) -> None:
        if not self._waiting:
            return
        asked, of_answer = np.unique(np.frombuffer(self._waiting, np.uint64), return_inverse=True)
        kinds = np.frombuffer(self._kinds, np.uint8)
        questions = np.union1d(self._questions, asked)
        counts = np.zeros((4, len(questions)), np.uint32)
        counts[:, np.searchsorted(questions, self._questions)] = self._counts
        places = np.searchsorted(questions, asked)
        for line, counted in enumerate((kinds >= 0, kinds & 1, kinds & 2, kinds & 4)):
            counts[line, places] += np.bincount(of_answer[counted != 0], minlength=len(asked)).astype(np.uint32)
        self._questions, self._counts = questions, counts
        self._waiting, self._kinds = array("Q"), array("B")


_Labels = tuple[str | None, int | None, int | None]
"""Why a row is out of scope, its human label and the judge's; None for none."""


def _rates(counts: Mapping[_Labels, int]) -> tuple[int, int, Confusion]:
    """How many rows the judge labels, how many of them correct, and how its labels meet the human ones."""
    cells = Counter[tuple[int | None, int]]()
    for (_, gold, label), rows in counts.items():
        if label is not None:
            cells[gold, label] += rows
    correct = sum(rows for (_, label), rows in cells.items() if label == 1)
    return cells.total(), correct, Confusion(cells[1, 1], cells[0, 1], cells[1, 0], cells[0, 0])
