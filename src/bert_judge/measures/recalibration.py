"""A judge's probabilities fitted to some labels, and what that brings on questions that they were not fitted to.

Two numbers are fitted: sigmoid(logit / temperature + bias) is the probability (Platt, 1999). A prior draws them towards
1 and 0, so that few labels change little. The score that becomes one half is the threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

from bert_judge.measures.agreement import ECE_BINS
from bert_judge.measures.arrays import ArrayLike, Integers, Names, Numbers, check_labelled, factorise, np
from bert_judge.measures.estimates import BootstrapSettings, Estimate, bootstrap_interval
from bert_judge.measures.paired import Difference
from bert_judge.measures.scores import TEMPERATURES, bin_of, folds

_SPREAD: Final = (0.5, 1.0)  # standard deviations of the log of the temperature, and of the bias, in the prior
_LEAST: Final = 1e-6  # of a likelihood: the log loss of a row is at most 13.8


@dataclass(frozen=True, slots=True)
class Recalibration:
    """Probabilities as sigmoid(logit / `temperature` + `bias`), in their old order; 0 and 1 stay what they are."""

    temperature: float = 1.0
    bias: float = 0.0

    @classmethod
    def fit(cls, scores: ArrayLike, golds: ArrayLike) -> Recalibration:
        """The most probable one by the prior and the labels, 1 or 0, of probabilities.

        Raises InputError for no scores, other lengths and golds other than 0 and 1.
        """
        from scipy.optimize import minimize

        values, labels = check_labelled("scores", scores, golds)
        between = (values > 0) & (values < 1)
        logits, signs = np.log(values[between] / (1 - values[between])), 2 * labels[between] - 1

        def improbability(numbers: Numbers) -> tuple[float, Numbers]:
            slope = np.exp(-numbers[0])
            margins = signs * (slope * logits + numbers[1])
            pulls = signs * np.exp(-np.logaddexp(0, margins))
            gradient = numbers / np.square(_SPREAD) + [slope * float(pulls @ logits), -float(pulls.sum())]
            return float(np.logaddexp(0, -margins).sum() + np.square(numbers / _SPREAD).sum() / 2), gradient

        limits = [tuple(np.log(TEMPERATURES)), (None, None)]
        best = minimize(improbability, np.zeros(2), jac=True, method="L-BFGS-B", bounds=limits)
        return cls(float(np.exp(best.x[0])), float(best.x[1]))

    def of(self, score: float) -> float:
        """The probability in place of this one."""
        if not 0 < score < 1:
            return score
        return sigmoid(math.log(score / (1 - score)) / self.temperature + self.bias)

    @property
    def threshold(self) -> float:
        """The score that becomes one half."""
        return sigmoid(-self.bias * self.temperature)


class Gain(NamedTuple):
    """A measure of a judge as it ships and recalibrated; `estimate` is how much better it becomes."""

    before: float
    after: float
    estimate: Estimate

    @property
    def is_shown(self) -> bool:
        """Whether the interval is above 0."""
        return self.estimate.low is not None and self.estimate.low > 0


@dataclass(frozen=True, slots=True)
class RecalibrationGains:
    """A recalibration by all rows, and what such ones bring on rows of other questions: each fold of the questions is
    recalibrated by the other four (Stone, 1974).

    `agreement` is the rate of labels that are the gold ones, in [0, 1], `log_loss` is in nats, both by row; `ece` has
    15 bins of equal width.
    """

    recalibration: Recalibration
    agreement: Gain
    log_loss: Gain
    ece: Gain

    @classmethod
    def of(
        cls, scores: Numbers, labels: Integers, golds: Integers, clusters: Names, bootstrap: BootstrapSettings
    ) -> RecalibrationGains:
        """From a judge's probabilities and labels of rows. Raises InputError as `fit` and `folds` do."""
        recalibrated = scores.copy()
        for inside in folds(clusters):
            fitted = Recalibration.fit(scores[~inside], golds[~inside])
            recalibrated[inside] = [fitted.of(score) for score in scores[inside].tolist()]
        right = labels == golds, (recalibrated >= 0.5) == golds
        agreement = Difference.of(*right, clusters, bootstrap)
        log_loss = Difference.of(_log_losses(recalibrated, golds), _log_losses(scores, golds), clusters, bootstrap)
        return cls(
            Recalibration.fit(scores, golds),
            Gain(agreement.first_mean, agreement.second_mean, agreement.estimate),
            Gain(log_loss.second_mean, log_loss.first_mean, log_loss.estimate),
            _ece_gain(scores, recalibrated, golds, clusters, bootstrap),
        )


def _log_losses(scores: Numbers, golds: Integers) -> Numbers:
    losses: Numbers = -np.log(np.maximum(np.where(golds == 1, scores, 1 - scores), _LEAST))
    return losses


def _ece_gain(
    scores: Numbers, recalibrated: Numbers, golds: Integers, clusters: Names, bootstrap: BootstrapSettings
) -> Gain:
    of_row, count = factorise(clusters)
    rows = np.bincount(of_row)
    before, after = np.zeros((count, ECE_BINS)), np.zeros((count, ECE_BINS))
    for excess, values in ((before, scores), (after, recalibrated)):
        np.add.at(excess, (of_row, bin_of(values, ECE_BINS)), values - golds)

    def ece(excess: Numbers, weights: Numbers) -> float:
        return float(np.abs(weights @ excess).sum() / (weights @ rows))

    def gain(weights: Numbers) -> float:
        return ece(before, weights) - ece(after, weights)

    once = np.ones(count)
    ends = bootstrap_interval(gain, count, resamples=bootstrap.resamples, seed=bootstrap.seed)
    estimate = Estimate.of(gain(once), ends, len(scores), "bootstrap by question")
    return Gain(ece(before, once), ece(after, once), estimate)


def sigmoid(x: float) -> float:
    """The probability of a logit, without overflow at either end."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
