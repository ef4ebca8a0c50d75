"""The measures of a judge against people with their intervals, for several judges on the same rows at once.

All but AUROC follow from sums over rows: counts of labels, squared errors, excesses of bins. Drawing questions anew
changes the sums alone, so a bootstrap is a product of matrices, and 100,000 rows take seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from bert_judge.stats.calibration import bin_of
from bert_judge.stats.discrimination import Ranking
from bert_judge.stats.inputs import factorise
from bert_judge.stats.labels import kappa_terms
from bert_judge.stats.resampling import RESAMPLES, draw_clusters, percentile_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

ECE_BINS = 15
CONFIDENCE = 0.95
_AUROC_WORK = 4_000_000  # rows times resamples that AUROC may sort through
_FEWEST = 200
_CHUNK = 4_000_000  # weights that are in memory at a time


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure with its 95 % bootstrap interval.

    `low` and `high` are None where too few draws define the measure, and where all give the same, as for a slice
    without an error: such an interval would claim a certainty that is not there.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one judge says of some rows, in arrays of shape (rows,).

    `scores` are NaN where there is none, `labels` are 1, 0, or -1 where the judge could not decide. `probable` says
    that scores are probabilities.
    """

    scores: Numbers
    labels: NDArray[np.int64]
    probable: bool

    def part(self, rows: NDArray[np.int64]) -> Answers:
        """What it says of some of the rows."""
        return Answers(self.scores[rows], self.labels[rows], self.probable)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over rows in arrays of one shape, one entry a draw: of labels by gold, of squared errors, of excesses."""

    true_positive: Numbers
    false_positive: Numbers
    false_negative: Numbers
    true_negative: Numbers
    undecided: Numbers
    scored: Numbers
    squared: Numbers
    excess: Numbers  # with one more dimension, of the bins

    @property
    def decided(self) -> Numbers:
        """Rows with a label."""
        return self.true_positive + self.false_positive + self.false_negative + self.true_negative

    @classmethod
    def of(cls, columns: Numbers) -> Sums:
        """From the columns of `_columns`, summed: an array of shape (draws, columns)."""
        tp, fp, fn, tn, undecided, scored, squared = columns.T[:7]
        return cls(tp, fp, fn, tn, undecided, scored, squared, columns[:, 7:])


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its title in tables, and how it follows from sums; NaN where undefined."""

    title: str
    of: Callable[[Sums], Numbers]
    needs_probabilities: bool = False


def _recall(s: Sums) -> Numbers:
    return s.true_positive / (s.true_positive + s.false_negative)


def _balanced(s: Sums) -> Numbers:
    return (_recall(s) + s.true_negative / (s.true_negative + s.false_positive)) / 2


def _f1(s: Sums) -> Numbers:
    return 2 * s.true_positive / (2 * s.true_positive + s.false_positive + s.false_negative)


def _kappa(s: Sums) -> Numbers:
    above, below = kappa_terms(s.true_positive, s.false_positive, s.false_negative, s.true_negative)
    return above / below


def _ece(s: Sums) -> Numbers:
    import numpy as np

    found: Numbers = np.abs(s.excess).sum(axis=-1) / s.scored
    return found


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure("accuracy", lambda s: (s.true_positive + s.true_negative) / s.decided),
    "accuracy_all": Measure(
        "accuracy, undecided as wrong", lambda s: (s.true_positive + s.true_negative) / (s.decided + s.undecided)
    ),
    "balanced_accuracy": Measure("balanced accuracy", _balanced),
    "precision": Measure("precision", lambda s: s.true_positive / (s.true_positive + s.false_positive)),
    "recall": Measure("recall", _recall),
    "f1": Measure("F1", _f1),
    "kappa": Measure("Cohen's kappa", _kappa),
    "brier": Measure("Brier score", lambda s: s.squared / s.scored, needs_probabilities=True),
    "ece": Measure("ECE", _ece, needs_probabilities=True),
}
"""The measures that follow from sums. All are over decided rows, but `accuracy_all`; a right row is positive."""

AUROC = "auroc"
TITLES: Mapping[str, str] = {**{name: measure.title for name, measure in MEASURES.items()}, AUROC: "AUROC"}
"""What each measure is called in tables, in their order."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of judges on the same rows: `estimates[judge][measure]`; a measure that is undefined is not there.

    `differences[judge]` is how much more of all rows a judge has right than the first judge, undecided ones as wrong.
    """

    estimates: Sequence[Mapping[str, Estimate]]
    differences: Sequence[Estimate]


def measure(
    golds: NDArray[np.int64],
    judges: Sequence[Answers],
    clusters: Sequence[Hashable],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measured:
    """All measures of judges on the same labelled rows, with intervals of whole clusters drawn again.

    The draws are those of `stats.bootstrap` with the same seed, and the same for all judges. AUROC takes fewer of them
    where there are over 2,000 rows (at least 200).
    """
    import numpy as np

    columns = [_columns(golds, answers) for answers in judges]
    of_row, count = factorise(clusters)
    for_auroc = max(_FEWEST, min(resamples, _AUROC_WORK // max(1, len(golds))))
    ranked = [Ranking.of(answers.scores, golds) for answers in judges]
    per_cluster = _by_cluster(np.hstack(columns), of_row, count)
    sums: list[Numbers] = []
    areas: list[list[float]] = []
    for weights in _draws(count, resamples, seed):
        sums.append(weights @ per_cluster)
        for drawn in weights[: max(0, for_auroc - len(areas))]:
            of_rows = drawn[of_row]
            areas.append([each.auroc(of_rows) for each in ranked])
    cuts = np.cumsum([each.shape[1] for each in columns])[:-1]
    drawn_sums = [Sums.of(part) for part in np.split(np.vstack(sums), cuts, axis=1)]
    whole = [Sums.of(each.sum(axis=0, keepdims=True)) for each in columns]
    area_draws = np.asarray(areas).reshape(-1, len(judges))
    estimates = []
    for i, answers in enumerate(judges):
        found = {name: _estimate(m.of, whole[i], drawn_sums[i]) for name, m in MEASURES.items() if _fits(m, answers)}
        found[AUROC] = _with_interval(ranked[i].auroc(np.ones(len(golds))), area_draws[:, i])
        estimates.append({name: value for name in TITLES if (value := found.get(name))})
    return Measured(estimates, _differences(whole, drawn_sums))


def interval(draws: Numbers) -> tuple[float, float] | None:
    """The 95 % percentile interval; None where under a half of the draws are defined, or all are the same."""
    import numpy as np

    found = percentile_interval(draws, CONFIDENCE)
    return found if found and np.ptp(draws[np.isfinite(draws)]) > 0 else None


def shares(
    above: NDArray[np.bool_],
    below: NDArray[np.bool_],
    clusters: Sequence[Hashable],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate | None:
    """The share of the rows `below` that are `above`, too, with its interval; None where there are none."""
    import numpy as np

    of_row, count = factorise(clusters)
    columns = np.stack([above & below, below], axis=1).astype(float)
    per_cluster = _by_cluster(columns, of_row, count)
    sums = np.vstack([weights @ per_cluster for weights in _draws(count, resamples, seed)])
    total = columns.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _with_interval(total[0] / total[1], sums[:, 0] / sums[:, 1])


def _columns(golds: NDArray[np.int64], answers: Answers) -> Numbers:
    """What is summed, in an array of shape (rows, 7 + bins)."""
    import numpy as np

    decided, right = answers.labels >= 0, golds == 1
    labelled = answers.labels == 1
    scored = np.isfinite(answers.scores) if answers.probable else np.zeros(len(golds), bool)
    scores = np.where(scored, answers.scores, 0.0)
    excess = np.zeros((len(golds), ECE_BINS if answers.probable else 0))
    if answers.probable:
        excess[np.arange(len(golds)), bin_of(scores, ECE_BINS)] = np.where(scored, scores - golds, 0.0)
    cells = [right & labelled, ~right & labelled, right & ~labelled & decided, ~right & ~labelled & decided]
    squared = np.where(scored, (scores - golds) ** 2, 0.0)
    return np.column_stack([*cells, ~decided, scored, squared, excess]).astype(float)


def _by_cluster(columns: Numbers, of_row: NDArray[np.int64], count: int) -> Numbers:
    import numpy as np

    return np.column_stack([np.bincount(of_row, column, count) for column in columns.T])


def _draws(count: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """How often each cluster is drawn, in arrays of shape (some draws, clusters)."""
    import numpy as np

    drawn = draw_clusters(count, resamples, seed)
    while some := list(islice(drawn, max(1, _CHUNK // count))):
        yield np.asarray(some, float)


def _fits(measure: Measure, answers: Answers) -> bool:
    return answers.probable or not measure.needs_probabilities


def _estimate(of: Callable[[Sums], Numbers], whole: Sums, draws: Sums) -> Estimate | None:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        return _with_interval(float(of(whole)[0]), of(draws))


def _with_interval(value: float, draws: Numbers) -> Estimate | None:
    if not math.isfinite(value):
        return None
    return Estimate(value, *(interval(draws) or (None, None)))


def _differences(whole: Sequence[Sums], draws: Sequence[Sums]) -> list[Estimate]:
    accuracy = MEASURES["accuracy_all"].of
    first, first_draws = accuracy(whole[0]), accuracy(draws[0])
    return [
        Estimate(float((accuracy(one) - first)[0]), *(interval(accuracy(drawn) - first_draws) or (None, None)))
        for one, drawn in zip(whole, draws, strict=True)
    ]
