"""The accuracy of many rows from a judge's verdicts on all of them and human labels of some.

The judge alone is precise and biased, the labels alone are unbiased and imprecise; here the labels correct the judge's
bias. All intervals are for the accuracy on rows like these, not on these rows alone: they do not vanish where every row
is labelled. Rows of one cluster (a question) may depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from bert_judge.errors import InputError
from bert_judge.measures.arrays import ArrayLike, Integers, Names, Numbers, Truths, factorise, np
from bert_judge.measures.estimates import Estimate, normal_quantile, student_quantile

FEW_LABELS, FEW_ERRORS = 300, 30
"""With fewer labels, or fewer of the judge's errors among them, normal intervals are too narrow."""

FULL_PAIRS = 10
"""With as many labelled questions the two pairs that a difference's interval adds have their full weight."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSample:
    """A judge's predictions of all rows, and human labels of some. Make it with `of`.

    `predictions`, of shape (all rows,), are labels (1, 0) or scores, higher for correct rows; `clusters`, of the same
    shape, numbers the cluster of each row. `rows`, `golds` and `weights`, of shape (labelled rows,), are the places of
    the labelled rows, their labels (1 correct, 0 incorrect), and how many rows each stands for.
    """

    predictions: Numbers
    rows: Integers
    golds: Numbers
    clusters: Integers
    weights: Numbers

    @classmethod
    def of(
        cls,
        predictions: ArrayLike,
        rows: ArrayLike,
        golds: ArrayLike,
        probabilities: ArrayLike | None = None,
        clusters: Names | None = None,
    ) -> LabelledSample:
        """From any sequences. `probabilities` (over 0) are those with which the labelled rows were drawn; only their
        ratios count (None: all equal). `clusters` names the cluster of each row (None: each is its own).
        """
        all_rows, places, labels = np.asarray(predictions, float), np.asarray(rows, int), np.asarray(golds, float)
        chances = np.ones(len(places)) if probabilities is None else np.asarray(probabilities, float)
        numbers = np.arange(len(all_rows)) if clusters is None else factorise(clusters)[0]
        return cls(all_rows, places, labels, numbers, _weights(chances, len(all_rows)))

    @property
    def total(self) -> int:
        """The number of all rows."""
        return len(self.predictions)

    def part(self, places: Integers) -> LabelledSample:
        """The sample of the rows at these places, each there once. Its labels keep their weights."""
        new = np.full(self.total, -1)
        new[places] = np.arange(len(places))
        kept = new[self.rows] >= 0
        rows, golds, weights = new[self.rows[kept]], self.golds[kept], self.weights[kept]
        return LabelledSample(self.predictions[places], rows, golds, self.clusters[places], weights)


def labels_only(sample: LabelledSample, confidence: float = 0.95) -> Estimate:
    """The weighted rate of labels that are 1, with Jeffreys' interval (Brown, Cai and DasGupta, 2001).

    Weighted or clustered rows count as the number of labels that would have the same variance without weights and
    clusters (Korn and Graubard, 1998).
    """
    whole = [np.ones(sample.total, bool)]
    return replace(_by_stratum(sample, whole, confidence, "labels only, Jeffreys' interval"), n=len(sample.rows))


def power_tuned(sample: LabelledSample, confidence: float = 0.95) -> Estimate:
    """PPI++ of the mean (Angelopoulos et al., 2023), for rows drawn with any probabilities (Zrnic and Candès, 2024).

    The mean of `tuning` times the predictions of all rows, plus the weighted mean of label minus `tuning` times
    prediction, with the tuning that minimises the variance; as labelled rows are among all rows here, it is the paper's
    times N / (N - n). The interval is normal: too narrow for few labels or errors of the judge.
    """
    value, influence = _tuned(sample, np.ones(sample.total))
    labels = len(sample.rows)
    half = normal_quantile(confidence) * float(np.sqrt(influence @ influence * labels / max(labels - 1, 1)))
    return _clipped(value, value - half, value + half, sample.total, "PPI++, normal interval")


def corrected_difference(sample: LabelledSample, second: Truths, confidence: float = 0.95) -> Estimate:
    """How much higher the rate of correct rows is among `second`, of shape (all rows,), than among the others.

    For two models' answers to the same questions: PPI++ of the mean of paired differences (Angelopoulos et al., 2023),
    with a tuning of its own, so it is not quite the difference of two `corrected` rates. Labels of both answers to a
    question count as a pair, others alone. Predictions are labels or scores. Clusters (questions) are independent.

    The interval is Student's. As few labels may show no error of the judge, two pairs are added for the variance, one
    all of each sign (Bonett and Price, 2012), each of the weight 10 / n for n labelled questions, at most 1: as many as
    simulations need. Raises InputError for a side without labels.
    """
    return _difference(sample, second, confidence, "PPI++, paired, t interval by question")


def labels_only_difference(sample: LabelledSample, second: Truths, confidence: float = 0.95) -> Estimate:
    """The difference by the labels alone, with the interval of `corrected_difference`."""
    blind = replace(sample, predictions=np.zeros(sample.total))
    return _difference(blind, second, confidence, "labels only, t interval by question")


def stratified(sample: LabelledSample, confidence: float = 0.95) -> Estimate:
    """PPI++ with the judge's labels as predictions, with an interval that also holds for few labels.

    With predictions of 0 and 1 the tuned mean is the rate of correct rows among those labelled correct and among those
    labelled incorrect, weighted by how many rows are labelled so (post-stratification). The interval combines Jeffreys'
    intervals of the two rates (MOVER; Zou and Donner, 2008).
    """
    strata = [sample.predictions == label for label in (0, 1)]
    return _by_stratum(sample, strata, confidence, "PPI++ on the judge's labels, Jeffreys' intervals")


def corrected(sample: LabelledSample, scores: ArrayLike | None = None, confidence: float = 0.95) -> Estimate:
    """The accuracy without the judge's error: `power_tuned` where labels suffice for it, else `stratified`.

    `sample.predictions` are the judge's labels; `scores`, of shape (all rows,), replace them in `power_tuned`.
    """
    if not suffices(sample):
        return stratified(sample, confidence)
    if scores is not None:
        sample = replace(sample, predictions=np.asarray(scores, float))
    return power_tuned(sample, confidence)


def suffices(sample: LabelledSample) -> bool:
    """Whether a normal interval holds: for labels in at least 300 clusters, and errors of the judge in 30 of them.

    The predictions are the judge's labels.
    """
    clusters = sample.clusters[sample.rows]
    errors = clusters[sample.predictions[sample.rows] != sample.golds]
    return len(np.unique(clusters)) >= FEW_LABELS and len(np.unique(errors)) >= FEW_ERRORS


def _tuned(sample: LabelledSample, signs: Numbers) -> tuple[float, Numbers]:
    """The sum of the tuned means of rows with the signs 1 and -1, each times its sign, and each cluster's influence.

    `signs` has the shape (all rows,); the means have one tuning.
    """
    parts, shares = np.zeros(sample.total), np.zeros(len(sample.rows))
    centred, rest = sample.predictions.astype(float), sample.golds.astype(float)
    predicted = sample.predictions[sample.rows].astype(float)
    for sign in (1, -1):
        rows, labelled = signs == sign, signs[sample.rows] == sign
        if rows.any():
            parts[rows] = sign / rows.sum()
            weights = sample.weights[labelled] / sample.weights[labelled].sum()
            shares[labelled] = sign * weights
            centred[rows] -= centred[rows].mean()
            predicted[labelled] -= weights @ predicted[labelled]
            rest[labelled] -= weights @ rest[labelled]
    by_labels = np.bincount(sample.clusters, _spread(sample, shares * rest))
    by_judge = np.bincount(sample.clusters, parts * centred - _spread(sample, shares * predicted))
    scale = float(by_judge @ by_judge)
    tuning = -float(by_labels @ by_judge) / scale if scale > 1e-18 else 0.0
    value = tuning * float(parts @ sample.predictions)
    value += float(shares @ (sample.golds - tuning * sample.predictions[sample.rows]))
    return value, by_labels + tuning * by_judge


def _difference(sample: LabelledSample, second: Truths, confidence: float, method: str) -> Estimate:
    sides = [second[sample.rows] == side for side in (False, True)]
    if not all(side.any() for side in sides):
        raise InputError("one side has no labelled row; labels of both were expected.")
    value, influence = _tuned(sample, np.where(second, 1.0, -1.0))
    of_questions = [np.bincount(sample.clusters[sample.rows[side]], sample.weights[side]) for side in sides]
    inverses = [float(weights @ weights) / float(weights.sum()) ** 2 for weights in of_questions]
    questions = 2 / sum(inverses)  # labelled ones of a side; as many of equal weight
    added = min(1.0, FULL_PAIRS / questions)
    n = questions + 2 * added
    variance = (float(influence @ influence) * questions**2 + 2 * added) / n / (n - 1)
    half = student_quantile(normal_quantile(confidence), n - 1) * variance**0.5
    value, low, high = (min(max(number, -1.0), 1.0) for number in (value, value - half, value + half))
    return Estimate(value, low, high, int(second.sum()), method)


def _by_stratum(sample: LabelledSample, strata: Iterable[Truths], confidence: float, method: str) -> Estimate:
    """The rate of correct rows in each stratum, weighted by its rows; a stratum is an array of shape (all rows,)."""
    parts, influence = [], np.zeros(sample.total)
    for stratum in strata:
        among = stratum[sample.rows]
        rate, part = _stratum_rate(sample.golds[among], sample.weights[among]), float(stratum.mean())
        influence += stratum * (rate.value / sample.total)
        influence[sample.rows[among]] += part * rate.influence
        parts.append((part, rate))
    value = sum(part * rate.value for part, rate in parts)
    effect = _design_effect(sample, influence - value / sample.total)
    between = sum(part * (rate.value - value) ** 2 for part, rate in parts)
    below = above = effect * normal_quantile(confidence) ** 2 * between / sample.total
    for part, rate in parts:
        low, high = rate.jeffreys(confidence, effect)
        below += (part * (rate.value - low)) ** 2
        above += (part * (high - rate.value)) ** 2
    return _clipped(value, value - below**0.5, value + above**0.5, sample.total, method)


class _StratumRate(NamedTuple):
    """A weighted rate, its effective number of rows (as many without weights), and what each row adds to its error."""

    value: float
    effective: float
    influence: Numbers

    def jeffreys(self, confidence: float, design_effect: float) -> tuple[float, float]:
        """Jeffreys' interval, [0, 1] for no rows."""
        from scipy.special import betaincinv

        n = self.effective / design_effect
        good, tail = self.value * n, (1 - confidence) / 2
        low = float(betaincinv(good + 0.5, n - good + 0.5, tail)) if good > 0 else 0.0
        high = float(betaincinv(good + 0.5, n - good + 0.5, 1 - tail)) if good < n else 1.0
        return min(low, self.value), max(high, self.value)


def _stratum_rate(golds: Numbers, weights: Numbers) -> _StratumRate:
    if not len(golds):
        return _StratumRate(0.5, 0.0, golds)
    parts = weights / weights.sum()
    value = float(golds[0] if (golds == golds[0]).all() else parts @ golds)  # all alike: exactly 0 or 1
    influence = parts * (golds - value)
    variance = float(influence @ influence)
    effective = value * (1 - value) / variance if variance > 0 else 1 / float(parts @ parts)
    return _StratumRate(value, effective, influence)


def _weights(chances: Numbers, total: int) -> Numbers:
    """How many rows each drawn one stands for, together `total`.

    Rows are taken to be drawn one after the other, without replacement, each with its probability among those left
    (Efraimidis and Spirakis, 2006): after a while row i has been drawn with probability 1 - exp(-t p_i). The weights
    are the inverses of these, with the t for which they add up to `total`.
    """
    from scipy.optimize import brentq

    if len(chances) == total or np.ptp(chances) == 0:
        return np.full(len(chances), total / len(chances))
    # 1/x <= 1/(1 - exp(-x)) <= 1/x + 1 for x > 0 shows where to look.
    inverse = float((1 / chances).sum())
    ends = inverse / total, inverse / (total - len(chances))
    time = brentq(lambda t: float((-1 / np.expm1(-t * chances)).sum()) - total, *ends)
    weights: Numbers = -1 / np.expm1(-time * chances)
    return weights


def _design_effect(sample: LabelledSample, influence: Numbers) -> float:
    """How much larger the variance is because rows of a cluster are alike (Kish, 1965); at least 1."""
    alone = float(influence @ influence)
    together = np.bincount(sample.clusters, influence)
    return max(1.0, float(together @ together) / alone) if alone > 0 else 1.0


def _spread(sample: LabelledSample, values: Numbers) -> Numbers:
    """Values of labelled rows among zeros for all others."""
    spread = np.zeros(sample.total)
    spread[sample.rows] = values
    return spread


def _clipped(value: float, low: float, high: float, n: int, method: str) -> Estimate:
    value, low, high = (min(max(number, 0.0), 1.0) for number in (value, low, high))
    return Estimate(value, low, high, n, method)
