"""Labels against human labels: counts, and the measures that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bert_judge.errors import InputError
from bert_judge.measures.arrays import np


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often labels and gold labels go together; 1 (correct) is positive.

    Every measure is None where it is undefined, a division by zero. The counts may be arrays of one shape, such as the
    draws of a bootstrap; so are the measures then, with NaN where they are undefined.
    """

    true_positive: int = 0
    false_positive: int = 0
    false_negative: int = 0
    true_negative: int = 0

    @classmethod
    def count(cls, pairs: Iterable[tuple[int, int]]) -> Confusion:
        """Count (gold, label) pairs, as a stream. No pairs give zeros. Raises InputError for other than 0 and 1."""
        counts = Counter(pairs)
        for pair in counts:
            if pair not in ((0, 0), (0, 1), (1, 0), (1, 1)):
                raise InputError(f"a pair of gold label and label is {pair!r}; 0 or 1 was expected for both.")
        return cls(counts[1, 1], counts[0, 1], counts[1, 0], counts[0, 0])

    @property
    def cells(self) -> tuple[int, int, int, int]:
        """The counts in the order of the fields."""
        return self.true_positive, self.false_positive, self.false_negative, self.true_negative

    @property
    def n(self) -> int:
        """The number of pairs."""
        return self.true_positive + self.false_positive + self.false_negative + self.true_negative

    @property
    def correct(self) -> int:
        """The number of labels that are the gold ones."""
        return self.true_positive + self.true_negative

    @property
    def accuracy(self) -> float | None:
        """The rate of labels that are the gold ones, in [0, 1]."""
        return ratio(self.correct, self.n)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of recall and specificity, in [0, 1] (Brodersen et al., 2010).

        0.5 for a judge that gives all the same label; undefined where all golds are the same.
        """
        specificity = ratio(self.true_negative, self.true_negative + self.false_positive)
        return None if self.recall is None or specificity is None else (self.recall + specificity) / 2

    @property
    def precision(self) -> float | None:
        """The fraction of those labelled correct that are correct, in [0, 1]."""
        return ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float | None:
        """The fraction of the correct ones that are labelled correct, in [0, 1]."""
        return ratio(self.true_positive, self.true_positive + self.false_negative)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, in [0, 1]; undefined where nothing is correct in either."""
        return ratio(2 * self.true_positive, 2 * self.true_positive + self.false_positive + self.false_negative)

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance, in [-1, 1] (Cohen, 1960); undefined where all labels and golds are the same."""
        tp, fp, fn, tn = self.true_positive, self.false_positive, self.false_negative, self.true_negative
        return ratio(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def ratio(above: float, below: Any) -> float | None:
    """The quotient, None for a division by zero; of arrays an array, with NaN there."""
    if isinstance(below, int | float):
        return above / below if below else None
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients: Any = above / below
    return quotients  # type: ignore[no-any-return]
