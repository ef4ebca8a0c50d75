"""Labels against human labels: counts, the measures that follow from them, and the interval of a rate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from bert_judge.errors import InputError
from bert_judge.measures.arrays import np
from bert_judge.measures.inputs import check_fraction


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
        right_wrong = {(gold, label) for gold in (0, 1) for label in (0, 1)}
        for pair in counts:
            if pair not in right_wrong:
                raise InputError(f"a pair of gold label and label is {pair!r}; 0 or 1 was expected for both.")
        return cls(counts[1, 1], counts[0, 1], counts[1, 0], counts[0, 0])

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


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a rate, within [0, 1] (Wilson, 1927); (0.0, 1.0) for n = 0.

    Raises InputError unless 0 <= successes <= n and 0 < confidence < 1.
    """
    if not 0 <= successes <= n:
        raise InputError(f"{successes} successes of {n} were given; a number from 0 to {n} was expected.")
    check_fraction("the confidence", confidence, 0.95)
    return score_interval(successes, n, confidence)


def score_interval(successes: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval of numbers that need not be whole, such as an effective number of rows."""
    if n == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    centre = (successes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (successes * (n - successes) / n + z2 / 4)) / (n + z2)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def ratio(above: float, below: Any) -> float | None:
    """The quotient, None for a division by zero; of arrays an array, with NaN there."""
    if isinstance(below, int | float):
        return above / below if below else None
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients: Any = above / below
    return quotients  # type: ignore[no-any-return]
