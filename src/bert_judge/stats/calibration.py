"""How far scores are probabilities, and what makes them so."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bert_judge.errors import InputError

TEMPERATURES = (0.05, 20.0)
"""The range in which `fit_temperature` searches."""


def brier(scores: Sequence[float], golds: Sequence[int]) -> float:
    """The mean squared distance of the scores from the gold labels, in [0, 1], 0 the best (Brier, 1950).

    Raises InputError for no scores, other lengths, scores outside [0, 1] and golds other than 0 and 1.
    """
    check_scores(scores, golds)
    return math.fsum((score - gold) ** 2 for score, gold in zip(scores, golds, strict=True)) / len(scores)


def expected_calibration_error(scores: Sequence[float], golds: Sequence[int], bins: int = 15) -> float:
    """How far scores are from the share that is right, in [0, 1], 0 the best (Naeini et al., 2015).

    Scores fall into `bins` bins of equal width on [0, 1]; the distances between the mean score and the share that is
    right in each bin are averaged, weighted by the bin's size. A score on an edge belongs to the upper bin. Raises
    InputError as `brier` does, and for less than one bin.
    """
    check_scores(scores, golds)
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

    check_golds("logits", logits, golds)
    margins = np.asarray(logits, float) * (2 * np.asarray(golds) - 1)
    if not np.isfinite(margins).all():
        raise InputError("a logit is not a finite number; finite logits were expected.")
    if not margins.any():
        return 1.0
    found = minimize_scalar(
        lambda log_t: np.logaddexp(0, -margins / np.exp(log_t)).mean(), bounds=np.log(TEMPERATURES), method="bounded"
    )
    return float(np.exp(found.x))


def check_scores(scores: Sequence[float], golds: Sequence[int]) -> None:
    """Raise InputError unless there is one gold label each, and the scores are probabilities."""
    check_golds("scores", scores, golds)
    for score in scores:
        if not 0 <= score <= 1:
            raise InputError(f"a score is {score}; a probability in [0, 1] was expected.")


def check_golds(name: str, values: Sequence[float], golds: Sequence[int]) -> None:
    """Raise InputError unless each value has a gold label, 0 or 1, and there is at least one; `name` says of what."""
    if len(values) != len(golds):
        raise InputError(f"{len(values)} {name} and {len(golds)} gold labels were given; one label each was expected.")
    if len(values) == 0:
        raise InputError(f"no {name} were given; at least one was expected.")
    for gold in golds:
        if gold not in (0, 1):
            raise InputError(f"a gold label is {gold!r}; 0 or 1 was expected.")
