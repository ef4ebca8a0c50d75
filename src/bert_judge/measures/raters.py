"""How far raters (judges, annotators) agree on the same units: alpha, rank correlation, and the majority.

A rater's labels are any values that can be compared; `None` (NaN among scores) is a unit that the rater did not rate.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import multimode
from typing import NamedTuple, TypeVar

from bert_judge.measures.arrays import ArrayLike, Numbers, np
from bert_judge.measures.inputs import factorise

Label = TypeVar("Label", bound=Hashable)


class RankCorrelation(NamedTuple):
    """Kendall's tau-b, in [-1, 1], its p-value, and the number of units that it is of."""

    tau: float
    p_value: float
    units: int


def nominal_alpha(ratings: Sequence[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's alpha of nominal labels (1970): 1 for full agreement, 0 for that of chance, at least -1.

    `ratings` holds a list for each rater, with a label or None for each unit; units with fewer than two labels do not
    count. None where no unit has two, or all labels are the same.
    """
    units = list(zip(*ratings, strict=True))
    rated = [(unit, label) for unit, labels in enumerate(units) for label in labels if label is not None]
    codes, kinds = factorise([label for _, label in rated])
    counts = np.zeros((len(units), kinds))
    np.add.at(counts, (np.array([unit for unit, _ in rated], int), codes), 1)
    counts = counts[counts.sum(axis=1) > 1]
    raters = counts.sum(axis=1)
    return _alpha(raters, counts, raters)  # each label as a vector of length 1, at right angles to the others


def interval_alpha(ratings: ArrayLike) -> float | None:
    """Krippendorff's alpha of numbers on one scale, whose squared distances count; an array of shape (raters, units).

    NaN is a unit that a rater did not rate. None as for `nominal_alpha`.
    """
    values = np.asarray(ratings, float)
    values = values[:, np.isfinite(values).sum(axis=0) > 1]
    rated = np.isfinite(values)
    if not rated.any() or np.ptp(values[rated]) == 0:
        return None
    values = np.where(rated, values - values[rated].mean(), 0.0)  # about their mean, so that no digits are lost
    return _alpha(rated.sum(axis=0), values.sum(axis=0)[:, None], (values**2).sum(axis=0))


def kendall_tau(first: ArrayLike, second: ArrayLike) -> RankCorrelation | None:
    """How far two lists of numbers have the same order: Kendall's tau-b (1945), over units where both are finite.

    None for fewer than two of them, and where one list is constant.
    """
    from scipy.stats import kendalltau

    one, two = np.asarray(first, float), np.asarray(second, float)
    both = np.isfinite(one) & np.isfinite(two)
    if both.sum() < 2:
        return None
    result = kendalltau(one[both], two[both])
    if np.isnan(result.statistic):
        return None
    return RankCorrelation(float(result.statistic), float(result.pvalue), int(both.sum()))


def majority(labels: Sequence[Label | None]) -> Label | None:
    """The label that more raters give than any other; None for no labels or a tie."""
    most = multimode(label for label in labels if label is not None)
    return most[0] if len(most) == 1 else None


def _alpha(raters: Numbers, sums: Numbers, squares: Numbers) -> float | None:
    """Alpha of vectors with squared distances: the number, sum, and sum of squared lengths of each unit's, in arrays of
    shape (units,), (units, dimensions) and (units,)."""
    total = raters.sum()
    observed = ((raters * squares - (sums**2).sum(axis=1)) / (raters - 1)).sum()
    by_chance = total * squares.sum() - (sums.sum(axis=0) ** 2).sum()
    return float(1 - observed * (total - 1) / by_chance) if by_chance > 0 else None
