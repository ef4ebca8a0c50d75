"""Numbers with their intervals: rates, means and other statistics of rows that come in clusters.

A cluster is what rows that depend on each other have in common: the question that they answer. Every interval by
question is made here or in `measures.agreement`, `measures.paired` and `measures.corrected`, which build on this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated

from bert_judge.errors import InputError
from bert_judge.measures.arrays import ArrayLike, Integers, Names, Numbers, check_fraction, factorise, np

WILSON = "Wilson interval"
"""The method of a rate over independent rows."""

RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number over `n` rows with its interval, at 95 % unless the caller asked for another level.

    `value` is None where it is undefined. `low` and `high` are None where there is no interval: none was asked for, or
    the bootstrap found none. `method` says in words how the interval was found.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""

    @classmethod
    def of(cls, value: float, interval: tuple[float, float] | None, n: int, method: str) -> Estimate:
        """A value with its interval, where there is one."""
        return cls(value, *interval, n, method) if interval else cls(value, n=n)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def width(self) -> float:
        """The length of the interval; NaN without one."""
        return math.nan if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """How a bootstrap draws. Raises InputError for too few draws."""

    resamples: Annotated[int, "bootstrap resamples"] = RESAMPLES
    seed: Annotated[int, "seed of the bootstrap"] = 0

    def __post_init__(self) -> None:
        if self.resamples < 100:
            raise InputError(f"resamples is {self.resamples}; a number of at least 100 was expected.")


# --------------------------------------------------------------------------------------------------------------- rates


def rate(holds: ArrayLike, clusters: Names | None = None, confidence: float = 0.95) -> Estimate:
    """The rate of rows for which something holds, with its interval (`rate_interval`); None for no rows.

    `holds` has a truth value for each row, `clusters` the name of its cluster (None: each row is its own).
    """
    values = np.asarray(holds, float)
    of_row, count = factorise(np.arange(len(values)) if clusters is None else clusters)
    return rate_of_counts(np.bincount(of_row, values, count), np.bincount(of_row, minlength=count), confidence)


def rate_of_counts(successes: ArrayLike, rows: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The rate of rows from the counts of each cluster; clusters without rows do not count. None for no rows."""
    sizes = np.asarray(rows)
    total, clusters = int(sizes.sum()), int(np.count_nonzero(sizes))
    if not total:
        return Estimate(None)
    by_question = f"interval by question ({clusters:,} question{'s' * (clusters > 1)})"
    method = WILSON if clusters == total else by_question
    value = float(np.asarray(successes).sum() / total)
    return Estimate(value, *rate_interval(successes, rows, confidence), total, method)


def rate_interval(successes: ArrayLike, rows: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a rate over clusters: Wilson's, for as many independent rows as carry the same information.

    `successes` and `rows` have an entry for each cluster. The number of independent rows is that with which a binomial
    rate has the jackknife variance of this one (Kish, 1965; Dean and Pagano, 2015), less what few clusters leave open
    of this variance (Student's t). It is at most the number of rows, and at least the effective number of clusters, as
    rows of a cluster can't depend on each other more than copies do; so a rate of 0 or 1 has an interval, too. With one
    row in each cluster it is `wilson_interval`; (0.0, 1.0) for no rows. Raises InputError unless 0 < confidence < 1,
    and for more successes than rows.
    """
    normal = normal_quantile(confidence)
    counts, sizes = np.asarray(successes, float), np.asarray(rows, float)
    if ((counts < 0) | (counts > sizes)).any():
        raise InputError("a cluster has under 0 successes, or more than rows; a number in between was expected.")
    counts, sizes = counts[sizes > 0], sizes[sizes > 0]
    total, clusters = float(sizes.sum()), len(sizes)
    if total == clusters:
        return wilson_interval(float(counts.sum()), total, confidence)
    value = float(counts.sum()) / total
    copies = total**2 / float(sizes @ sizes)  # independent rows, if the rows of a cluster were copies of one
    independent = copies
    if 0 < value < 1 and clusters > 1:
        shifts = (counts - value * sizes) / (total - sizes)  # how far the rate moves without the cluster
        variance = (clusters - 1) / clusters * float(shifts @ shifts)
        binomial = value * (1 - value) / total  # the variance, if all rows were independent
        penalty = (normal / student_quantile(normal, max(copies - 1, 1))) ** 2
        independent = max(copies, total * min(1.0, binomial / variance if variance > 0 else 1.0) * penalty)
    return wilson_interval(value * independent, independent, confidence)


def wilson_interval(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a rate, within [0, 1] (Wilson, 1927); (0.0, 1.0) for n = 0.

    The numbers need not be whole: `n` may be an effective number of rows. Raises InputError unless
    0 <= successes <= n and 0 < confidence < 1.
    """
    if not 0 <= successes <= n:
        raise InputError(f"{successes} successes of {n} were given; a number from 0 to {n} was expected.")
    z2 = normal_quantile(confidence) ** 2
    if n == 0:
        return 0.0, 1.0
    centre = (successes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (successes * (n - successes) / n + z2 / 4)) / (n + z2)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def normal_quantile(confidence: float) -> float:
    """The standard errors on each side of an interval. Raises InputError unless 0 < confidence < 1."""
    check_fraction("the confidence", confidence, 0.95)
    return NormalDist().inv_cdf((1 + confidence) / 2)


def student_quantile(normal: float, degrees: float) -> float:
    """Student's quantile for the probability of a normal one (Abramowitz and Stegun, 1964, 26.7.5).

    It is 1 % too small with 2 degrees of freedom. `report.js` has the same, for rows that a reader chooses.
    """
    z = normal
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, 1))


# ----------------------------------------------------------------------------------------------------------- bootstrap


def mean(values: Numbers, clusters: Names, bootstrap: BootstrapSettings) -> Estimate:
    """The mean of at least one value, with a bootstrap interval over clusters."""
    ends = bootstrap_interval(
        lambda weights: float(weights @ values / weights.sum()),
        clusters,
        resamples=bootstrap.resamples,
        seed=bootstrap.seed,
    )
    return Estimate.of(float(values.mean()), ends, len(values), "bootstrap by question")


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
    draws = [statistic(weights[of_row].astype(float)) for weights in draw_clusters(count, resamples, seed)]
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
