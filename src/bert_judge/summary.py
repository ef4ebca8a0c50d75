"""What a result says in a few numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bert_judge.artifacts import ResultFolder
from bert_judge.stats import Confusion, wilson_interval


@dataclass(frozen=True, slots=True)
class Summary:
    """What a result says in a few numbers. Rates are in [0, 1], intervals are 95 % Wilson intervals.

    `failed` counts those of the `undecided` rows on which the judge itself failed. `mean_score` is over decided rows.
    `accuracy` is the rate of candidates that the judge labels correct among the decided rows; `accuracy_all` counts
    undecided rows as incorrect. Both are None where the judge gives scores without labels. `agreement` compares the
    judge's labels with the human labels of the input, where there are any.
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

    @classmethod
    def of(cls, folder: ResultFolder) -> Summary:
        """The summary in the `run.json` of a finished result."""
        saved = folder.run()["summary"]
        agreement = saved["agreement"]
        return cls(**{**saved, "agreement": Agreement(**agreement) if agreement else None})


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the judge agrees with the `labels` human labels of the input, over the `rows` rows that have both."""

    rows: int
    labels: int
    accuracy: float | None
    accuracy_interval: tuple[float, float]
    f1: float | None
    kappa: float | None

    @classmethod
    def of(cls, confusion: Confusion, labels: int) -> Agreement:
        """That of counts with at least one row."""
        interval = wilson_interval(confusion.correct, confusion.n)
        return cls(confusion.n, labels, confusion.accuracy, interval, confusion.f1, confusion.kappa)


class Tally:
    """Counts the records of a result (lines of `verdicts.jsonl`) as they pass."""

    def __init__(self, records: Iterable[dict[str, Any]]) -> None:
        self._counts: Counter[str] = Counter()
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._total = 0.0
        for record in records:
            self.counted(record)

    def counted(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record itself, now counted."""
        count, label = self._counts, record["label"]
        count["rows"] += 1
        count["undecided"] += record["score"] is None
        count["labelled"] += label is not None
        count["correct"] += label == 1
        for name in ("truncated", "failed", "gold"):
            count[name] += name in record
        if label is not None and "gold" in record:
            self._pairs[record["gold"], label] += 1
        self._total += record["score"] or 0.0
        return record

    def summary(self) -> Summary:
        """The summary of the records counted so far."""
        count = self._counts
        judged = count["rows"] - count["undecided"]
        labelled, correct = count["labelled"], count["correct"]
        confusion = Confusion.count(self._pairs.elements())
        return Summary(
            rows=count["rows"],
            judged=judged,
            undecided=count["undecided"],
            failed=count["failed"],
            truncated=count["truncated"],
            mean_score=self._total / judged if judged else None,
            accuracy=correct / labelled if labelled else None,
            accuracy_interval=wilson_interval(correct, labelled) if labelled else None,
            accuracy_all=correct / (labelled + count["undecided"]) if labelled + count["undecided"] else None,
            agreement=Agreement.of(confusion, count["gold"]) if confusion.n else None,
        )
