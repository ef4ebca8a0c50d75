"""A rate and its interval where rows of one cluster (the answers to one question) depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from bert_judge.errors import InputError
from bert_judge.measures.arrays import ArrayLike, Names, np
from bert_judge.measures.inputs import check_fraction, factorise
from bert_judge.measures.labels import score_interval


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of `rows` rows hold what is counted, as a rate in [0, 1], with its 95 % interval (`rate_interval`).

    `clusters` is the number of clusters; as many as rows where none has several.
    """

    value: float
    low: float
    high: float
    rows: int
    clusters: int

    @classmethod
    def of(cls, holds: ArrayLike, clusters: Names) -> Rate | None:
        """From a truth value and the cluster of each row; None for no rows."""
        counted = np.asarray(holds, float)
        of_row, count = factorise(clusters)
        return cls.of_counts(np.bincount(of_row, counted, count), np.bincount(of_row, minlength=count))

    @classmethod
    def of_counts(cls, successes: ArrayLike, rows: ArrayLike) -> Rate | None:
        """From the numbers of each cluster; clusters without rows count for nothing. None for no rows."""
        sizes = np.asarray(rows)
        total = int(sizes.sum())
        if not total:
            return None
        value = float(np.asarray(successes).sum() / total)
        return cls(value, *rate_interval(successes, rows), total, int(np.count_nonzero(sizes)))

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    @property
    def clustered(self) -> bool:
        """Whether a cluster has several rows, so that the interval is by cluster."""
        return self.clusters < self.rows


def rate_interval(successes: ArrayLike, rows: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a rate over clusters: Wilson's, for as many independent rows as tell as much.

    `successes` and `rows` have an entry for each cluster. The number of independent rows is that with which a binomial
    rate has the jackknife variance of this one (Kish, 1965; Dean and Pagano, 2015), less what few clusters leave open
    of this variance (Student's t). It is at most the number of rows, and at least the effective number of clusters, as
    rows of a cluster can't depend on each other more than copies do; so a rate of 0 or 1 has an interval, too. With one
    row in each cluster it is `wilson_interval`; (0.0, 1.0) for no rows. Raises InputError unless 0 < confidence < 1,
    and for more successes than rows.
    """
    check_fraction("the confidence", confidence, 0.95)
    counted, sizes = np.asarray(successes, float), np.asarray(rows, float)
    if ((counted < 0) | (counted > sizes)).any():
        raise InputError("a cluster has under 0 successes, or more than rows; a number in between was expected.")
    counted, sizes = counted[sizes > 0], sizes[sizes > 0]
    total, clusters = float(sizes.sum()), len(sizes)
    if total == clusters:
        return score_interval(float(counted.sum()), total, confidence)
    rate = float(counted.sum()) / total
    copies = total**2 / float(sizes @ sizes)
    independent = copies
    if 0 < rate < 1 and clusters > 1:
        apart = (counted - rate * sizes) / (total - sizes)  # how far the rate moves without the cluster
        variance = (clusters - 1) / clusters * float(apart @ apart)
        enough = rate * (1 - rate) / total  # of independent rows
        normal = NormalDist().inv_cdf((1 + confidence) / 2)
        fewer = (normal / _student(normal, max(copies - 1, 1))) ** 2
        independent = max(copies, total * min(1.0, enough / variance if variance > 0 else 1.0) * fewer)
    return score_interval(rate * independent, independent, confidence)


def _student(normal: float, degrees: float) -> float:
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
