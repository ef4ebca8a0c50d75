"""Scores against gold labels: whether they are probabilities, and how well they tell correct answers from others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.measures.arrays import ArrayLike, Integers, Names, Numbers, Truths, check_labelled, factorise, np
from bert_judge.measures.confusion import Confusion
from bert_judge.measures.estimates import Estimate, rate

TEMPERATURES = (0.05, 20.0)
"""The range in which `fit_temperature` searches."""

FOLDS = 5


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
    distances = [part.rows * abs(part.mean_score - (part.right.value or 0.0)) for part in filled]
    return sum(distances) / sum(part.rows for part in filled)


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


# ------------------------------------------------------------------------------------------- scores on any scale


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, and its counts: scores from `value` on are labelled correct."""

    value: float
    confusion: Confusion


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Rows in the order of their scores, sorted once, so that counting them with any weights is a sum; see `of`."""

    order: Integers
    right: Numbers
    starts: Integers  # of the groups of rows with one score, the lowest first
    scores: Numbers  # of these groups

    @classmethod
    def of(cls, scores: Numbers, golds: Integers) -> Ranking:
        """Rank rows; those whose score is not finite are left out."""
        scored = np.flatnonzero(np.isfinite(scores))
        order = scored[np.argsort(scores[scored])]
        ranked = scores[order]
        starts = np.flatnonzero(np.diff(ranked, prepend=-np.inf))
        return cls(order, golds[order].astype(float), starts, ranked[starts])

    def count(self, weights: Numbers) -> tuple[Numbers, Numbers]:
        """The correct and the incorrect rows of each score, the lowest first, by the weights of all rows."""
        ranked = weights[self.order]
        right = np.add.reduceat(ranked * self.right, self.starts)
        return right, np.add.reduceat(ranked, self.starts) - right

    def auroc(self, weights: Numbers) -> float:
        """The probability that a correct row has a higher score than an incorrect one, in [0, 1], ties as halves
        (Hanley and McNeil, 1982); NaN where either have no weight.
        """
        if not len(self.order):
            return math.nan
        right, wrong = self.count(weights)
        pairs = right.sum() * wrong.sum()
        # No dot product: its threads cost more than the sum, where other work is going on.
        return float((right * (np.cumsum(wrong) - wrong / 2)).sum() / pairs) if pairs else math.nan


def most_accurate(scores: ArrayLike, golds: ArrayLike) -> Threshold:
    """The threshold with the most labels that are the gold ones.

    It lies halfway between two of the scores, or just over the highest one; of several, the middle one. Raises
    InputError for no scores, other lengths, golds other than 0 and 1, and scores that are not finite.
    """
    return _best(scores, golds, lambda true, false, right: true - false)


def for_precision(scores: ArrayLike, golds: ArrayLike, precision: float) -> Threshold | None:
    """The threshold with the highest recall whose precision is at least this, in (0, 1]; None where none has it."""
    best = _best(scores, golds, lambda true, false, right: np.where(true >= precision * (true + false), true, -1.0))
    reached = best.confusion.precision
    return best if reached is not None and reached >= precision else None


def for_recall(scores: ArrayLike, golds: ArrayLike, recall: float) -> Threshold | None:
    """The threshold with the highest precision whose recall is at least this, in (0, 1]; None for no correct row."""
    best = _best(
        scores, golds, lambda true, false, right: np.where(true >= recall * right, true / (true + false), -1.0)
    )
    return best if best.confusion.recall is not None else None


def cross_fitted(
    scores: ArrayLike,
    golds: ArrayLike,
    clusters: Names,
    choose: Callable[[ArrayLike, ArrayLike], Threshold | None],
    seed: int = 0,
) -> Integers:
    """Held-out labels of rows, each by the threshold that `choose` finds on other rows (Stone, 1974).

    Clusters (questions, say) go as a whole into one of five parts at random; a part without a threshold is labelled
    incorrect. Raises InputError as `most_accurate` does, and for fewer than two clusters.
    """
    values, labels = check_labelled("scores", scores, golds)
    held_out = np.zeros(len(values), np.int64)
    for inside in folds(clusters, seed):
        if threshold := choose(values[~inside], labels[~inside]):
            held_out[inside] = values[inside] >= threshold.value
    return held_out


def folds(clusters: Names, seed: int = 0) -> list[Truths]:
    """Which rows are in each of five parts (fewer for fewer clusters), into which clusters go as a whole, at random.

    Raises InputError for fewer than two clusters.
    """
    of_row, count = factorise(clusters)
    if count < 2:
        raise InputError(f"{count} cluster of rows was given; two or more were expected to choose a threshold.")
    part_of_row = (np.random.default_rng(seed).permutation(count) % min(FOLDS, count))[of_row]
    return [part_of_row == part for part in range(min(FOLDS, count))]


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """`risk[i]` is the rate of errors among the surest `coverage[i]` of all rows, which rises to 1.

    `area` is the mean risk over all coverages, 0 is best (Geifman and El-Yaniv, 2017).
    """

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float

    def coverage_at(self, risk: float) -> float:
        """The largest coverage with at most this risk; 0.0 where there is none."""
        return max((kept for kept, errors in zip(self.coverage, self.risk, strict=True) if errors <= risk), default=0.0)

    def risk_at(self, coverage: float) -> float:
        """The risk of the first point from this coverage on."""
        return next(errors for kept, errors in zip(self.coverage, self.risk, strict=True) if kept >= coverage)

    def thinned(self, points: int = 200) -> RiskCoverage:
        """The curve at no more than so many points, for a figure or a file; its area stays."""
        kept = np.unique(np.linspace(0, len(self.risk) - 1, points).round().astype(int)).tolist()
        return RiskCoverage(tuple(self.coverage[i] for i in kept), tuple(self.risk[i] for i in kept), self.area)


def risk_coverage(confidence: ArrayLike, wrong: ArrayLike) -> RiskCoverage:
    """The risk-coverage curve of labels that are wrong (1) or not (0), from the most confident row to the least.

    Rows of the same confidence have no order: the risk among them is the expected one, with a point after all of them.
    """
    values, errors = check_labelled("scores", confidence, wrong)
    mistakes, others = (counts[::-1] for counts in Ranking.of(values, errors).count(np.ones(len(values))))
    sizes = (mistakes + others).astype(int)
    risk = np.cumsum(np.repeat(mistakes / sizes, sizes)) / np.arange(1, len(values) + 1)
    kept = np.cumsum(sizes)
    return RiskCoverage(tuple((kept / len(values)).tolist()), tuple(risk[kept - 1].tolist()), float(risk.mean()))


def _best(scores: ArrayLike, golds: ArrayLike, worth: Callable[[Numbers, Numbers, int], Numbers]) -> Threshold:
    """The threshold that is worth most, by its numbers of true and false positives and that of all correct rows."""
    values, labels = check_labelled("scores", scores, golds)
    ranking = Ranking.of(values, labels)
    edges = np.append(np.inf, ranking.scores[::-1])  # from infinity on nothing is labelled correct
    true, false = (np.append(0, np.cumsum(counts[::-1])) for counts in ranking.count(np.ones(len(values))))
    right, wrong = int(true[-1]), int(false[-1])
    with np.errstate(invalid="ignore"):
        worths = np.nan_to_num(worth(true, false, right), nan=-1.0)
    best = np.flatnonzero(worths >= worths.max() - 1e-12)
    chosen = int(best[len(best) // 2])
    counts = Confusion(int(true[chosen]), int(false[chosen]), int(right - true[chosen]), int(wrong - false[chosen]))
    return Threshold(_between(edges, chosen), counts)


def _between(edges: Numbers, chosen: int) -> float:
    """What labels the rows from this edge on as correct, and no others: the middle to the next score below."""
    if chosen == 0:
        return math.nextafter(float(edges[1]), math.inf)
    low = float(edges[chosen + 1]) if chosen + 1 < len(edges) else float(edges[chosen])
    middle = low + (float(edges[chosen]) - low) / 2
    return middle if middle > low else float(edges[chosen])
