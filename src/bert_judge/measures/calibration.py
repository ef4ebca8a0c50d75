"""How far scores are probabilities, and what makes them so."""

from __future__ import annotations

from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.measures.arrays import ArrayLike, Integers, Names, Numbers, np
from bert_judge.measures.estimates import Estimate, rate
from bert_judge.measures.inputs import check_labelled, factorise

TEMPERATURES = (0.05, 20.0)
"""The range in which `fit_temperature` searches."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows whose scores are in [`low`, `high`): their mean score, and the rate of correct ones, by cluster."""

    low: float
    high: float
    mean_score: float
    right: Estimate

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.right.n

    @property
    def error(self) -> float:
        """How far the mean score is from the rate of correct rows."""
        return abs(self.mean_score - (self.right.value or 0.0))


def brier(scores: ArrayLike, golds: ArrayLike) -> float:
    """The mean squared distance of the scores from the gold labels, in [0, 1], 0 is best (Brier, 1950).

    Raises InputError for no scores, other lengths, scores outside [0, 1] and golds other than 0 and 1.
    """
    values, labels = _probabilities(scores, golds)
    return float(((values - labels) ** 2).mean())


def expected_calibration_error(scores: ArrayLike, golds: ArrayLike, bins: int = 15) -> float:
    """The distance of scores from the rate of correct rows, in [0, 1], 0 is best (Naeini et al., 2015).

    It is the mean over the bins of `reliability`, weighted by their rows. Raises InputError as `reliability` does.
    """
    filled = reliability(scores, golds, bins)
    return sum(part.rows * part.error for part in filled) / sum(part.rows for part in filled)


def reliability(scores: ArrayLike, golds: ArrayLike, bins: int = 10, clusters: Names | None = None) -> list[Bin]:
    """The bins of equal width on [0, 1] that hold rows: a calibrated judge's mean scores are the rates of correct rows.

    `clusters` names the cluster of each row (None: each is its own). A score on an edge belongs to the upper bin.
    Raises InputError as `brier` does, and for less than one bin.
    """
    values, labels = _probabilities(scores, golds)
    if bins < 1:
        raise InputError(f"{bins} bins were asked for; 1 or more was expected.")
    places = bin_of(values, bins)
    of_row = np.arange(len(values)) if clusters is None else factorise(clusters)[0]
    filled = []
    for i in range(bins):
        inside = places == i
        if inside.any():
            right = rate(labels[inside] == 1, of_row[inside])
            filled.append(Bin(i / bins, (i + 1) / bins, float(values[inside].mean()), right))
    return filled


def bin_of(scores: Numbers, bins: int) -> Integers:
    """The bin, of `bins` of equal width on [0, 1], that each score is in; an edge belongs to the upper one."""
    return np.minimum((scores * bins).astype(np.int64), bins - 1)


def fit_temperature(logits: ArrayLike, golds: ArrayLike) -> float:
    """The temperature T in [0.05, 20] that makes sigmoid(logit / T) fit the gold labels best (Guo et al., 2017).

    A logit is the log odds that a candidate is correct (the difference of a model's two logits). The best T has the
    smallest negative log likelihood, which is convex in 1 / T; it is 1.0 where all logits are 0. Raises InputError for
    no logits, other lengths, logits that are not finite and golds other than 0 and 1.
    """
    from scipy.optimize import minimize_scalar

    values, labels = check_labelled("logits", logits, golds)
    margins = values * (2 * labels - 1)
    if not margins.any():
        return 1.0
    best = minimize_scalar(
        lambda log_t: np.logaddexp(0, -margins / np.exp(log_t)).mean(), bounds=np.log(TEMPERATURES), method="bounded"
    )
    return float(np.exp(best.x))


def _probabilities(scores: ArrayLike, golds: ArrayLike) -> tuple[Numbers, Integers]:
    values, labels = check_labelled("scores", scores, golds)
    outside = values[(values < 0) | (values > 1)]
    if len(outside):
        raise InputError(f"a score is {outside[0]}; a probability in [0, 1] was expected.")
    return values, labels
