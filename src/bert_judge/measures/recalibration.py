"""A judge's probabilities fitted to some labels, and what that brings on questions that they were not fitted to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from bert_judge.measures.agreement import ECE_BINS
from bert_judge.measures.arrays import ArrayLike, Integers, Names, Numbers, check_labelled, np
from bert_judge.measures.estimates import BootstrapSettings, Estimate, bootstrap_interval
from bert_judge.measures.paired import Difference
from bert_judge.measures.scores import TEMPERATURES, bin_of, folds

_SPREAD: Final = (0.5, 1.0)  # standard deviations of the log of the temperature, and of the bias, in the prior
_LEAST: Final = 1e-6  # of a likelihood: the log loss of a row is at most 13.8


@dataclass(frozen=True, slots=True)
class Recalibration:
    """Probabilities as sigmoid(logit / `temperature` + `bias`) (Platt, 1999); 0 and 1 stay what they are."""

    temperature: float = 1.0
    bias: float = 0.0

    @classmethod
    def fit(cls, scores: ArrayLike, golds: ArrayLike) -> Recalibration:
        """The most probable one by labels, 1 or 0, and a prior that draws it to 1 and 0: few labels change little.

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
        return sigmoid(math.log(score / (1 - score)) / self.temperature + self.bias) if 0 < score < 1 else score

    @property
    def threshold(self) -> float:
        """The score that becomes one half."""
        return sigmoid(-self.bias * self.temperature)


@dataclass(frozen=True, slots=True)
class Gain:
    """A measure of a judge as it ships and recalibrated; `estimate` is how much better it becomes."""

    before: float
    after: float
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class RecalibrationGains:
    """A recalibration by all rows, and what one by four fifths of the questions brings on the fifth (Stone, 1974).

    `agreement` is in [0, 1], `log_loss` in nats, both by row; `ece` has 15 bins of equal width.
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
        agreement = Difference.of(labels == golds, (recalibrated >= 0.5) == golds, clusters, bootstrap)
        both = np.stack([scores, recalibrated])
        likelihoods = np.log(np.maximum(np.where(golds == 1, both, 1 - both), _LEAST))
        # A rare row with a large loss may be in none of few rows: a bootstrap would be too sure.
        log_loss = Difference.of(likelihoods[0], likelihoods[1], clusters, adjusted=True)

        def ece(weights: Numbers, values: Numbers) -> float:
            excess = np.bincount(bin_of(values, ECE_BINS), weights * (values - golds))
            return float(np.abs(excess).sum() / weights.sum())

        def ece_gain(weights: Numbers) -> float:
            return ece(weights, scores) - ece(weights, recalibrated)

        once = np.ones(len(scores))
        ends = bootstrap_interval(ece_gain, clusters, resamples=bootstrap.resamples, seed=bootstrap.seed)
        ece_estimate = Estimate.of(ece_gain(once), ends, len(scores), "bootstrap by question")
        return cls(
            Recalibration.fit(scores, golds),
            Gain(agreement.first_mean, agreement.second_mean, agreement.estimate),
            Gain(-log_loss.first_mean, -log_loss.second_mean, log_loss.estimate),
            Gain(ece(once, scores), ece(once, recalibrated), ece_estimate),
        )


def sigmoid(x: float) -> float:
    """The probability of a logit, without overflow at either end."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
