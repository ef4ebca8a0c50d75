"""How far scores tell right from wrong: whatever their scale, at which threshold, and for which rows to trust them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bert_judge.errors import InputError
from bert_judge.stats.calibration import check_golds, check_scores
from bert_judge.stats.labels import Confusion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, and what labels do there: scores from `value` on are labelled right."""

    value: float
    confusion: Confusion


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows whose scores are in [`low`, `high`): how many, their mean score, and the share that is right."""

    low: float
    high: float
    rows: int
    mean_score: float
    right: float


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """The errors among the rows that a judge is surest of, as more of them are kept.

    `risk[i]` is the share of errors among the surest `coverage[i]` of all rows; both are in (0, 1], `coverage` rises
    to 1. `area` is the mean risk over all coverages, 0 the best (Geifman and El-Yaniv, 2017).
    """

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float

    def coverage_at(self, risk: float) -> float:
        """The largest share of rows that can be kept with at most this risk; 0.0 where there is none."""
        kept = [share for share, wrong in zip(self.coverage, self.risk, strict=True) if wrong <= risk]
        return max(kept, default=0.0)

    def thinned(self, points: int = 200) -> RiskCoverage:
        """The curve at no more than so many points, for a figure or a file; its area stays that of all."""
        import numpy as np

        kept = np.unique(np.linspace(0, len(self.risk) - 1, points).round().astype(int)).tolist()
        return RiskCoverage(tuple(self.coverage[i] for i in kept), tuple(self.risk[i] for i in kept), self.area)


def auroc(scores: ArrayLike, golds: ArrayLike) -> float | None:
    """The chance that a right row's score is over a wrong row's, in [0, 1], a tie counting half (Hanley and McNeil,
    1982). Scores may have any scale. None where all golds are the same.

    Raises InputError for no scores, other lengths, golds other than 0 and 1, and scores that are not finite.
    """
    from sklearn.metrics import roc_auc_score

    values, labels = _checked(scores, golds)
    return float(roc_auc_score(labels, values)) if 0 < labels.sum() < len(labels) else None


def balanced_accuracy(confusion: Confusion) -> float | None:
    """The mean of the shares of right and of wrong rows that are labelled so, in [0, 1] (Brodersen et al., 2010).

    0.5 for a judge that labels all the same; None where all golds are the same.
    """
    right = confusion.true_positive + confusion.false_negative
    wrong = confusion.false_positive + confusion.true_negative
    if not right or not wrong:
        return None
    return (confusion.true_positive / right + confusion.true_negative / wrong) / 2


def most_accurate(scores: ArrayLike, golds: ArrayLike) -> Threshold:
    """The threshold with the most labels that are the gold ones; raises InputError as `auroc` does.

    It lies in the middle between two scores that are there, or just over the highest one; of several, the middle one.
    """
    return _best(scores, golds, lambda counts: counts.true_positive + counts.true_negative)


def best_f1(scores: ArrayLike, golds: ArrayLike) -> Threshold:
    """The threshold with the highest F1, as `most_accurate`."""
    return _best(
        scores,
        golds,
        lambda counts: (
            counts.true_positive / (counts.true_positive + (counts.false_positive + counts.false_negative) / 2)
        ),
    )


def for_precision(scores: ArrayLike, golds: ArrayLike, precision: float) -> Threshold | None:
    """The threshold with the highest recall whose precision is at least this; None where none has it.

    Raises InputError as `auroc` does, and unless 0 < precision <= 1.
    """
    import numpy as np

    _check_share("precision", precision)

    def recall(counts: _Counts) -> NDArray[np.float64]:
        labelled = counts.true_positive + counts.false_positive
        good = (counts.true_positive >= precision * labelled) & (counts.true_positive > 0)
        return np.where(good, counts.true_positive, -1.0)

    found = _best(scores, golds, recall)
    reached = found.confusion.precision
    return found if reached is not None and reached >= precision else None


def for_recall(scores: ArrayLike, golds: ArrayLike, recall: float) -> Threshold | None:
    """The threshold with the highest precision whose recall is at least this; None where no row is right.

    Raises InputError as `auroc` does, and unless 0 < recall <= 1.
    """
    import numpy as np

    _check_share("recall", recall)

    def precision(counts: _Counts) -> NDArray[np.float64]:
        labelled = np.maximum(counts.true_positive + counts.false_positive, 1)
        enough = counts.true_positive >= recall * (counts.true_positive + counts.false_negative)
        return np.where(enough, counts.true_positive / labelled, -1.0)

    found = _best(scores, golds, precision)
    return found if found.confusion.recall is not None else None


def cross_fitted(
    scores: ArrayLike,
    golds: ArrayLike,
    clusters: Sequence[Hashable],
    choose: Callable[[ArrayLike, ArrayLike], Threshold | None],
    folds: int = FOLDS,
    seed: int = 0,
) -> NDArray[np.int64]:
    """Labels of rows, each by the threshold that `choose` finds on other rows: what a chosen one is worth elsewhere.

    Whole clusters (questions, say) go into one of `folds` parts at random (Stone, 1974). Where `choose` finds none, the
    part is labelled wrong. Returns 0 or 1 for each row. Raises InputError as `auroc` does, and for fewer than two
    clusters.
    """
    import numpy as np

    values, labels = _checked(scores, golds)
    numbers: dict[Hashable, int] = {}
    of_row = np.fromiter((numbers.setdefault(name, len(numbers)) for name in clusters), int, len(clusters))
    if len(numbers) < 2:
        raise InputError(f"{len(numbers)} cluster of rows was given; two or more were expected to choose a threshold.")
    parts = np.random.default_rng(seed).permutation(len(numbers)) % min(folds, len(numbers))
    part_of_row, found = parts[of_row], np.zeros(len(values), np.int64)
    for part in range(int(parts.max()) + 1):
        ours = part_of_row == part
        if threshold := choose(values[~ours], labels[~ours]):
            found[ours] = values[ours] >= threshold.value
    return found


def reliability(scores: ArrayLike, golds: ArrayLike, bins: int = 10) -> list[Bin]:
    """The bins of equal width on [0, 1] that hold rows: a calibrated judge's mean scores are the shares that are right.

    A score on an edge belongs to the upper bin. Raises InputError as `auroc` does, for scores outside [0, 1] and for
    less than one bin.
    """
    import numpy as np

    values, labels = _checked(scores, golds)
    check_scores(values.tolist(), labels.tolist())
    if bins < 1:
        raise InputError(f"{bins} bins were asked for; 1 or more was expected.")
    places = bin_of(values, bins)
    rows, total, right = (np.bincount(places, weights, bins) for weights in (None, values, labels))
    return [
        Bin(i / bins, (i + 1) / bins, int(rows[i]), float(total[i] / rows[i]), float(right[i] / rows[i]))
        for i in np.flatnonzero(rows).tolist()
    ]


def bin_of(scores: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """The bin, of `bins` of equal width on [0, 1], that each score is in; an edge belongs to the upper one."""
    import numpy as np

    return np.minimum((scores * bins).astype(np.int64), bins - 1)


def risk_coverage(confidence: ArrayLike, wrong: ArrayLike) -> RiskCoverage:
    """The risk-coverage curve of labels that are wrong (1) or not (0), from the most confident row to the least.

    Rows of one confidence come in no order: the risk among them is the expected one. There is a point at the end of
    each group of such rows. Raises InputError as `auroc` does.
    """
    import numpy as np

    values, errors = _checked(confidence, wrong)
    order = np.argsort(-values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=np.inf))
    sizes = np.diff(starts, append=len(values))
    expected = np.repeat(np.add.reduceat(errors[order].astype(float), starts) / sizes, sizes)
    kept = np.arange(1, len(values) + 1)
    risk = np.cumsum(expected) / kept
    ends = starts + sizes - 1
    return RiskCoverage(tuple((kept[ends] / len(values)).tolist()), tuple(risk[ends].tolist()), float(risk.mean()))


@dataclass(frozen=True, slots=True)
class _Counts:
    """The four counts at every threshold, in arrays of one shape."""

    true_positive: NDArray[np.float64]
    false_positive: NDArray[np.float64]
    false_negative: NDArray[np.float64]
    true_negative: NDArray[np.float64]


def _best(scores: ArrayLike, golds: ArrayLike, measure: Callable[[_Counts], NDArray[np.float64]]) -> Threshold:
    """The threshold with the highest measure, by scikit-learn's counts at each score."""
    import numpy as np
    from sklearn.metrics import roc_curve

    values, labels = _checked(scores, golds)
    right, wrong = int(labels.sum()), int(len(labels) - labels.sum())
    if right and wrong:
        false_rate, true_rate, edges = roc_curve(labels, values, drop_intermediate=False)
        true, false = np.rint(true_rate * right), np.rint(false_rate * wrong)
    else:  # where all are the same, a rate of the others is undefined
        found, sizes = np.unique(-values, return_counts=True)
        edges, labelled = np.append(np.inf, -found), np.append(0, np.cumsum(sizes))
        true, false = (labelled, 0 * labelled) if right else (0 * labelled, labelled)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.nan_to_num(measure(_Counts(true, false, right - true, wrong - false)), nan=-1.0)
    best = np.flatnonzero(worth >= worth.max() - 1e-12)
    chosen = int(best[len(best) // 2])
    confusion = Confusion(int(true[chosen]), int(false[chosen]), int(right - true[chosen]), int(wrong - false[chosen]))
    return Threshold(_between(edges, chosen), confusion)


def _between(edges: NDArray[np.float64], chosen: int) -> float:
    """What labels the rows from this edge on right, and no other: the middle to the next score below."""
    if chosen == 0:
        return math.nextafter(float(edges[1]), math.inf)
    low = float(edges[chosen + 1]) if chosen + 1 < len(edges) else float(edges[chosen])
    middle = low + (float(edges[chosen]) - low) / 2
    return middle if middle > low else float(edges[chosen])


def _checked(scores: ArrayLike, golds: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    import numpy as np

    values, labels = np.asarray(scores, float), np.asarray(golds)
    check_golds("scores", values.tolist(), labels.tolist())
    if not np.isfinite(values).all():
        raise InputError("a score is not a finite number; finite scores were expected.")
    return values, labels.astype(np.int64)


def _check_share(name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise InputError(f"the {name} is {value}; a share over 0, up to 1, was expected.")
