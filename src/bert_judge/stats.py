"""Many numbers in, one number out: intervals, agreement with people's labels, and calibration.

`scores` are probabilities, in [0, 1], that a candidate is right; `golds` and labels are 1 (right) or 0 (wrong).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from bert_judge.errors import InputError

TEMPERATURES = (0.05, 20.0)
"""The range in which `fit_temperature` searches."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often labels and gold labels go together, 1 (right) being positive.

    Every measure is `None` where it is undefined, a division by zero.
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
    def accuracy(self) -> float | None:
        """The share of labels that are the gold ones, in [0, 1]."""
        return _ratio(self.true_positive + self.true_negative, self.n)

    @property
    def precision(self) -> float | None:
        """The share of gold right ones among those labelled right, in [0, 1]."""
        return _ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float | None:
        """The share of those labelled right among the gold right ones, in [0, 1]."""
        return _ratio(self.true_positive, self.true_positive + self.false_negative)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, in [0, 1]; undefined where nothing is right in either."""
        return _ratio(2 * self.true_positive, 2 * self.true_positive + self.false_positive + self.false_negative)

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance, in [-1, 1] (Cohen, 1960); undefined where both give one and the same label only."""
        tp, fp, fn, tn = self.true_positive, self.false_positive, self.false_negative, self.true_negative
        return _ratio(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a share, within [0, 1] (Wilson, 1927); (0.0, 1.0) for n = 0.

    Raises InputError unless 0 <= successes <= n and 0 < confidence < 1.
    """
    if not 0 <= successes <= n:
        raise InputError(f"{successes} successes of {n} were given; a number from 0 to {n} was expected.")
    if not 0 < confidence < 1:
        raise InputError(f"the confidence is {confidence}; a number between 0 and 1 was expected, like 0.95.")
    if n == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    centre = (successes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (successes * (n - successes) / n + z2 / 4)) / (n + z2)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def brier(scores: Sequence[float], golds: Sequence[int]) -> float:
    """The mean squared distance of the scores from the gold labels, in [0, 1], 0 the best (Brier, 1950).

    Raises InputError for no scores, other lengths, scores outside [0, 1] and golds other than 0 and 1.
    """
    _check_scores(scores, golds)
    return math.fsum((score - gold) ** 2 for score, gold in zip(scores, golds, strict=True)) / len(scores)


def expected_calibration_error(scores: Sequence[float], golds: Sequence[int], bins: int = 15) -> float:
    """How far scores are from the share that is right, in [0, 1], 0 the best (Naeini et al., 2015).

    Scores fall into `bins` bins of equal width on [0, 1]; the distances between the mean score and the share that is
    right in each bin are averaged, weighted by the bin's size. A score on an edge belongs to the upper bin. Raises
    InputError as `brier` does, and for less than one bin.
    """
    _check_scores(scores, golds)
    if bins < 1:
        raise InputError(f"{bins} bins were asked for; 1 or more was expected.")
    excess: dict[int, list[float]] = {}
    for score, gold in zip(scores, golds, strict=True):
        excess.setdefault(min(int(score * bins), bins - 1), []).append(score - gold)
    return math.fsum(abs(math.fsum(values)) for values in excess.values()) / len(scores)


def fit_temperature(logits: Sequence[float], golds: Sequence[int]) -> float:
    """The temperature T in [0.05, 20] that makes sigmoid(logit / T) fit the gold labels best (Guo et al., 2017).

    A logit is the log odds that a candidate is right (right minus wrong, where a model gives two). Best is the smallest
    negative log likelihood; it is convex in 1 / T, so the search finds it. 1.0 where all logits are 0, which no T
    changes. Raises InputError for no logits, other lengths, logits that are not finite and golds other than 0 and 1.
    """
    import numpy as np
    from scipy.optimize import minimize_scalar

    _check_golds("logits", logits, golds)
    margins = np.asarray(logits, float) * (2 * np.asarray(golds) - 1)
    if not np.isfinite(margins).all():
        raise InputError("a logit is not a finite number; finite logits were expected.")
    if not margins.any():
        return 1.0
    found = minimize_scalar(
        lambda log_t: np.logaddexp(0, -margins / np.exp(log_t)).mean(), bounds=np.log(TEMPERATURES), method="bounded"
    )
    return float(np.exp(found.x))


def _ratio(above: int, below: int) -> float | None:
    return above / below if below else None


def _check_scores(scores: Sequence[float], golds: Sequence[int]) -> None:
    _check_golds("scores", scores, golds)
    for score in scores:
        if not 0 <= score <= 1:
            raise InputError(f"a score is {score}; a probability in [0, 1] was expected.")


def _check_golds(name: str, values: Sequence[float], golds: Sequence[int]) -> None:
    if len(values) != len(golds):
        raise InputError(f"{len(values)} {name} and {len(golds)} gold labels were given; one label each was expected.")
    if len(values) == 0:
        raise InputError(f"no {name} were given; at least one was expected.")
    for gold in golds:
        if gold not in (0, 1):
            raise InputError(f"a gold label is {gold!r}; 0 or 1 was expected.")
