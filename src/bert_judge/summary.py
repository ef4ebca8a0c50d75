"""What a result says in a few numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
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
    judge's labels with the human labels of the input, where there are any. `outside` is there where rows are.
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

    @classmethod
    def of(cls, folder: ResultFolder) -> Summary:
        """The summary in the `run.json` of a finished result."""
        saved = folder.run()["summary"]
        agreement, outside = saved["agreement"], saved.get("outside")
        records = {
            "agreement": Agreement(**agreement) if agreement else None,
            "outside": Outside(**outside) if outside else None,
        }
        return cls(**{**saved, **records})


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
    """Counts the records of a result (lines of `verdicts.jsonl`) as they pass; reads their `COLUMNS` alone."""

    COLUMNS = ("score", "label", "gold", "truncated", "failed", "outside")

    def __init__(self, records: Iterable[dict[str, Any]]) -> None:
        self._counts: Counter[str] = Counter()
        self._labels: Counter[_Labels] = Counter()
        self._total = 0.0
        for record in records:
            self.counted(record)

    def counted(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record itself, now counted."""
        count = self._counts
        count["rows"] += 1
        count["undecided"] += record["score"] is None
        for name in ("truncated", "failed", "gold"):
            count[name] += name in record
        self._labels[record.get("outside"), record.get("gold"), record["label"]] += 1
        self._total += record["score"] or 0.0
        return record

    def summary(self) -> Summary:
        """The summary of the records counted so far."""
        count = self._counts
        judged = count["rows"] - count["undecided"]
        labelled, correct, confusion = _rates(self._labels)
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
            outside=self._outside(),
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
