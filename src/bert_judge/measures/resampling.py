"""The cluster bootstrap: how much a statistic would differ on other rows, where rows of one cluster come together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bert_judge.errors import InputError
from bert_judge.measures.arrays import Integers, Names, Numbers, np
from bert_judge.measures.inputs import check_fraction, factorise

RESAMPLES = 2_000


def bootstrap_interval(
    statistic: Callable[[Numbers], float],
    clusters: Names | int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The percentile interval of a statistic over samples of the rows, drawn with replacement (Efron, 1979).

    `statistic` is called with how often each row was drawn, an array of shape (rows,), so `lambda w: w @ correct /
    w.sum()` is an accuracy; functions of scikit-learn take it as `sample_weight`. It returns NaN where it is undefined.
    `clusters` names the cluster of each row (its question, say), which is drawn as a whole (Field and Welsh, 2007); a
    number of rows makes each its own. None where under half of the draws are defined, and where all are the same, as
    that interval would claim a certainty that is not there. Raises InputError for no rows.
    """
    check_fraction("the confidence", confidence, 0.95)
    of_row, count = factorise(range(clusters) if isinstance(clusters, int) else clusters)
    if not count:
        raise InputError("no rows were given; at least one was expected.")
    draws = [statistic(drawn[of_row].astype(float)) for drawn in draw_clusters(count, resamples, seed)]
    return percentile_interval(np.array(draws), confidence)


def draw_clusters(count: int, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[Integers]:
    """How often each of `count` clusters is drawn, `resamples` times: whole numbers in arrays of shape (count,)."""
    chance = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(chance.integers(count, size=count), minlength=count)


def percentile_interval(draws: Numbers, confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval that leaves out as many draws on each side; None where under half are finite, or all are equal."""
    defined = draws[np.isfinite(draws)]
    if len(defined) < max(1, len(draws) / 2) or np.ptp(defined) == 0:
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
