"""The bootstrap: how much a statistic would differ on other rows, where rows of one cluster come together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from bert_judge.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 2_000


def bootstrap(
    statistic: Callable[[NDArray[np.float64]], float],
    clusters: Sequence[Hashable] | int,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> NDArray[np.float64]:
    """The statistic on rows drawn again with replacement, `resamples` times (Efron, 1979).

    `statistic` is called with the weight of each row, a whole number in an array of shape (rows,): how often the row
    was drawn. So `lambda w: w @ correct / w.sum()` is an accuracy; functions of scikit-learn take it as
    `sample_weight`. `clusters` names the cluster of each row (its question, say): whole clusters are drawn (Field and
    Welsh, 2007); a number of rows makes each its own. Where a draw leaves the statistic undefined, it returns NaN.
    Raises InputError for no rows.
    """
    import numpy as np

    if isinstance(clusters, int):
        of_row = np.arange(clusters)
    else:
        numbers: dict[Hashable, int] = {}
        of_row = np.fromiter((numbers.setdefault(name, len(numbers)) for name in clusters), int, len(clusters))
    if not len(of_row):
        raise InputError("no rows were given; at least one was expected.")
    count = int(of_row.max()) + 1
    chance = np.random.default_rng(seed)
    values = np.empty(resamples)
    for i in range(resamples):
        drawn = np.bincount(chance.integers(count, size=count), minlength=count)
        values[i] = statistic(drawn[of_row].astype(float))
    return values


def bootstrap_interval(
    statistic: Callable[[NDArray[np.float64]], float],
    clusters: Sequence[Hashable] | int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The percentile interval of `bootstrap`; None where too few draws (under a half) define the statistic."""
    import numpy as np

    if not 0 < confidence < 1:
        raise InputError(f"the confidence is {confidence}; a number between 0 and 1 was expected, like 0.95.")
    values = bootstrap(statistic, clusters, resamples, seed)
    values = values[np.isfinite(values)]
    if len(values) < resamples / 2:
        return None
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
