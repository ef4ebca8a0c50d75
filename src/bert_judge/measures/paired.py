"""Paired values of the same rows: is the second series higher than the first, and by how much?

`Difference.of(first, second, questions)` is the answer; `PairedSums` holds the statistics behind it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.measures.arrays import ArrayLike, Names, Numbers, np
from bert_judge.measures.estimates import RESAMPLES, BootstrapSettings, Estimate, bootstrap_interval
from bert_judge.measures.inputs import check_fraction, factorise

FEW = 30
"""With fewer questions of other differences than most have, the bootstrap is too narrow; see `PairedSums.interval`."""

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """Two series of values of the same rows, such as the labels of two models' answers to the same questions.

    `estimate` is how much higher the second's mean is. `only_first` and `only_second` count the rows on which one of
    them is higher: for labels, on which it alone is 1. `p_value` is by question (`PairedSums.p_value`).
    """

    first_mean: float
    second_mean: float
    estimate: Estimate
    questions: int
    only_first: int
    only_second: int
    p_value: float

    @classmethod
    def of(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        clusters: Names | None = None,
        bootstrap: BootstrapSettings | None = None,
    ) -> Difference:
        """From two lists of finite numbers, each of shape (rows,), for at least one row."""
        bootstrap = bootstrap or BootstrapSettings()
        one, two = np.asarray(first, float), np.asarray(second, float)
        paired = PairedSums.of(one, two, clusters)
        ends = paired.interval(resamples=bootstrap.resamples, seed=bootstrap.seed)
        return cls(
            float(one.mean()),
            float(two.mean()),
            Estimate.of(paired.mean, ends, len(one), _ADJUSTED if paired.varies_little else _BOOTSTRAP),
            paired.clusters,
            int((one > two).sum()),
            int((two > one).sum()),
            paired.p_value(),
        )

    @property
    def value(self) -> float:
        """How much higher the second's mean is."""
        return self.second_mean - self.first_mean

    @property
    def rows(self) -> int:
        """How many rows were compared."""
        return self.estimate.n


_BOOTSTRAP, _ADJUSTED = "paired bootstrap", "Bonett and Price, as the differences vary little"


@dataclass(frozen=True, slots=True, eq=False)
class PairedSums:
    """Paired differences, second minus first, summed by cluster: `sums` and `rows` have the shape (clusters,).

    Clusters (the answers to one question, say) are independent draws. `labels` says that the values were 0 and 1, so
    that a difference is -1, 0 or 1. Make it with `of`.
    """

    sums: Numbers
    rows: Numbers
    labels: bool

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike, clusters: Names | None = None) -> PairedSums:
        """Differences of two lists of finite numbers, each of shape (rows,); without `clusters` each row is its own."""
        one, two = np.asarray(first, float), np.asarray(second, float)
        of_row, _ = factorise(range(len(one)) if clusters is None else clusters)
        labels = bool(np.isin(one, (0, 1)).all() and np.isin(two, (0, 1)).all())
        return cls(np.bincount(of_row, two - one).astype(float), np.bincount(of_row).astype(float), labels)

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.sums)

    @property
    def mean(self) -> float:
        """The mean difference over rows."""
        return float(self.sums.sum() / self.rows.sum())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean difference; infinite for one cluster.

        By clusters (linearised; Liang and Zeger, 1986); where each row is its own cluster, that of the paired t-test.
        """
        if self.clusters < 2:
            return math.inf
        rest = self.sums - self.mean * self.rows
        return math.sqrt(self.clusters / (self.clusters - 1) * float(rest @ rest)) / float(self.rows.sum())

    @property
    def varies_little(self) -> bool:
        """Whether the clusters' differences vary too little for the bootstrap, so that `interval` is that of Bonett and
        Price: few (`FEW`) are other than the most frequent one, such as 0 where hardly any label differs.
        """
        if not self.labels:
            return False
        _, frequencies = np.unique(self.sums / self.rows, return_counts=True)
        return self.clusters - int(frequencies.max()) < FEW

    def interval(
        self, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
    ) -> tuple[float, float] | None:
        """The interval of the mean difference: the percentiles of a bootstrap that draws clusters (Efron, 1979).

        Labels of which `varies_little` is true have the adjusted interval of Bonett and Price (2012): that of the mean
        with two more clusters of mean size, one all of each sign. None for values other than labels in a single
        cluster, or without variance.
        """
        from scipy.stats import t

        if not self.varies_little:
            if self.clusters < 2:
                return None
            return bootstrap_interval(
                lambda w: float((w @ self.sums) / (w @ self.rows)), self.clusters, confidence, resamples, seed
            )
        check_fraction("the confidence", confidence, 0.95)
        wider = self._adjusted()
        half = float(t.ppf((1 + confidence) / 2, wider.clusters - 1)) * wider.standard_error
        return max(wider.mean - half, -1.0), min(wider.mean + half, 1.0)

    def p_value(self) -> float:
        """The probability of a mean difference at least this far from 0 if first and second are equally good.

        For labels the exact sign-flip test over clusters: McNemar's exact test (1947) where each row is its own
        cluster. For other values the t-test of the clustered mean; 1.0 where nothing differs.
        """
        from scipy.stats import t

        if not self.sums.any():
            return 1.0
        if self.labels:
            return _sign_flip(self.sums)
        error = self.standard_error
        if not math.isfinite(error):
            return 1.0
        return float(2 * t.sf(abs(self.mean) / error, self.clusters - 1)) if error else 0.0

    def _adjusted(self) -> PairedSums:
        """With two more clusters of mean size, one all of each sign."""
        size = float(self.rows.mean())
        return PairedSums(np.append(self.sums, [size, -size]), np.append(self.rows, [size, size]), self.labels)


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p-value of McNemar's exact test (1947), from the rows on which one alone is correct.

    Rows are taken as independent; 1.0 for no such rows.
    """
    from scipy.stats import binomtest

    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several tests, corrected for the probability of any false finding (Holm, 1979)."""
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = min(max(highest, (len(p_values) - rank) * p_values[place]), 1.0)
        corrected[place] = highest
    return corrected


def _sign_flip(sums: Numbers) -> float:
    """The exact probability that random signs bring the sum of whole numbers as far from 0 as their own signs do."""
    from scipy.stats import binom

    sizes, counts = np.unique(np.abs(sums[sums != 0]).round().astype(int), return_counts=True)
    chances = np.ones(1)  # of twice the sum of the numbers with a plus, less all; built size by size
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        steps = np.zeros(size * count + 1)
        steps[::size] = binom.pmf(np.arange(count + 1), count, 0.5)
        chances = np.convolve(chances, steps)
    totals = 2 * np.arange(len(chances)) - (len(chances) - 1)
    return min(1.0, float(chances[np.abs(totals) >= abs(round(float(sums.sum())))].sum()))
