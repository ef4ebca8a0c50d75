"""How far raters (judges, people) agree on the same units: alpha, rank correlation, and the majority.

A rater's labels are any values that can be compared; `None` (NaN among scores) is a unit that the rater did not rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bert_judge.errors import InputError
from bert_judge.stats.inputs import factorise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Label = TypeVar("Label", bound=Hashable)


class RankCorrelation(NamedTuple):
    """Kendall's tau-b, in [-1, 1], its p-value, and the number of units that it is of."""

    tau: float
    p_value: float
    units: int


def nominal_alpha(ratings: Sequence[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's alpha of nominal labels (1970): 1 for full agreement, 0 for that of chance, at least -1.

    `ratings` holds a list for each rater, with a label or None for each unit; units with fewer than two labels do not
    count. None where no unit has two, or all labels are the same. Raises InputError for other lengths.
    """
    import numpy as np

    units = _check_lengths(ratings)
    rated = [(unit, label) for rater in ratings for unit, label in enumerate(rater) if label is not None]
    codes, kinds = factorise([label for _, label in rated])
    counts = np.zeros((units, kinds))
    np.add.at(counts, (np.array([unit for unit, _ in rated], int), codes), 1)
    raters = counts.sum(axis=1)
    counts, raters = counts[raters > 1], raters[raters > 1]
    seen = ((raters**2 - (counts**2).sum(axis=1)) / (raters - 1)).sum()
    whole, labels = raters.sum(), counts.sum(axis=0)
    return _alpha(seen, (whole**2 - (labels**2).sum()) / (whole - 1)) if whole else None


def interval_alpha(ratings: ArrayLike) -> float | None:
    """Krippendorff's alpha of numbers on one scale, whose squared distances count; an array of shape (raters, units).

    NaN is a unit that a rater did not rate. None as for `nominal_alpha`.
    """
    import numpy as np

    values = np.asarray(ratings, float)
    rated = np.isfinite(values)
    kept = rated.sum(axis=0) > 1
    values, rated = values[:, kept], rated[:, kept]
    if not rated.any() or np.ptp(values[rated]) == 0:
        return None
    values = np.where(rated, values - values[rated].mean(), 0.0)  # about their mean, so that no digits are lost
    raters, sums, squares = rated.sum(axis=0), values.sum(axis=0), (values**2).sum(axis=0)
    seen = (2 * (raters * squares - sums**2) / (raters - 1)).sum()
    whole = raters.sum()
    return _alpha(seen, 2 * (whole * squares.sum() - sums.sum() ** 2) / (whole - 1))


def kendall_tau(first: ArrayLike, second: ArrayLike) -> RankCorrelation | None:
    """How far two lists of numbers have the same order: Kendall's tau-b (1945), over units where both are finite.

    None for fewer than two of them, and where one list is constant. Raises InputError for other lengths.
    """
    import numpy as np
    from scipy.stats import kendalltau

    one, two = np.asarray(first, float), np.asarray(second, float)
    _check_lengths([one.tolist(), two.tolist()])
    both = np.isfinite(one) & np.isfinite(two)
    one, two = one[both], two[both]
    if len(one) < 2 or (one == one[0]).all() or (two == two[0]).all():
        return None
    found = kendalltau(one, two)
    return RankCorrelation(float(found.statistic), float(found.pvalue), len(one))


def majority(labels: Sequence[Label | None]) -> Label | None:
    """The label that more raters give than any other; None for no labels or a tie."""
    ranked = Counter(label for label in labels if label is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _alpha(seen: float, by_chance: float) -> float | None:
    return float(1 - seen / by_chance) if by_chance > 0 else None


def _check_lengths(ratings: Sequence[Sequence[object]]) -> int:
    """The number of units; InputError unless all raters have the same."""
    lengths = sorted({len(rater) for rater in ratings})
    if len(lengths) != 1:
        raise InputError(
            f"raters with {' and '.join(map(str, lengths)) or 'no'} units were given; a rating, or None, of each unit "
            "by each rater was expected."
        )
    return lengths[0]
