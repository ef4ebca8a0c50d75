"""Judges against human labels: agreement with its intervals, for several judges on the same rows at once.

All measures but AUROC follow from sums over rows: counts of labels, squared errors, excesses of bins. Rates of rows
have the interval of a rate over questions; for the others a bootstrap draws questions. A draw changes the weights of
the sums alone, so all draws are one product of matrices, and 100,000 rows take seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

from bert_judge.measures.arrays import Integers, Names, Numbers, np
from bert_judge.measures.calibration import bin_of
from bert_judge.measures.confusion import Confusion
from bert_judge.measures.discrimination import Ranking
from bert_judge.measures.estimates import (
    BootstrapSettings,
    Estimate,
    bootstrap_interval,
    draw_clusters,
    percentile_interval,
    rate_of_counts,
)
from bert_judge.measures.inputs import factorise

ECE_BINS = 15
_AUROC_WORK = 4_000_000  # rows times resamples that AUROC may sort through
_FEWEST_FOR_AUROC = 200
_CHUNK = 4_000_000  # weights that are in memory at a time
_BOOTSTRAP = "bootstrap by question"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge agrees with human labels; a correct candidate is positive.

    `counts` are over the rows that it decided, and so are all measures but `accuracy_all`, for which the `undecided`
    ones are incorrect. A measure that is undefined has no value; `brier` and `ece` are None unless the judge's scores
    are probabilities, `auroc` where it has no scores.
    """

    counts: Confusion
    undecided: int
    accuracy: Estimate
    accuracy_all: Estimate
    balanced_accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    kappa: Estimate
    auroc: Estimate | None = None
    brier: Estimate | None = None
    ece: Estimate | None = None

    @classmethod
    def of_counts(cls, counts: Confusion, undecided: int, accuracy: Estimate) -> Agreement:
        """From counts alone: only `accuracy`, which is theirs by question, has an interval."""
        all_rows = counts.n + undecided
        return cls(
            counts,
            undecided,
            accuracy,
            Estimate(counts.correct / all_rows if all_rows else None, n=all_rows),
            Estimate(counts.balanced_accuracy, n=counts.n),
            Estimate(counts.precision, n=counts.true_positive + counts.false_positive),
            Estimate(counts.recall, n=counts.true_positive + counts.false_negative),
            Estimate(counts.f1, n=counts.n),
            Estimate(counts.kappa, n=counts.n),
        )

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Agreement:
        """From a file, where `dataclasses.asdict` wrote it. Raises KeyError and TypeError for another shape."""
        measures = {name: value and Estimate(**value) for name, value in record.items() if name not in _NUMBERS}
        return cls(Confusion(**record["counts"]), record["undecided"], **measures)


_NUMBERS = ("counts", "undecided")


class _LabelsAndScores(Protocol):
    """A judge's labels (-1: undecided) and scores (NaN: none) of rows, in arrays of shape (rows,).

    `probable` says whether the scores are probabilities.
    """

    @property
    def labels(self) -> Integers: ...
    @property
    def scores(self) -> Numbers: ...
    @property
    def probable(self) -> bool: ...


class _Sums(NamedTuple):
    """Sums over rows in arrays of one shape, one entry a draw: of labels, of squared errors, of excesses by bin."""

    counts: Confusion  # of arrays
    undecided: Numbers
    scored: Numbers
    squared: Numbers
    excess: Numbers  # with one more dimension, of the bins

    @classmethod
    def of(cls, columns: Numbers) -> _Sums:
        """From the columns of `_columns`, summed: an array of shape (draws, columns)."""
        undecided, scored, squared = columns.T[4:7]
        return cls(Confusion(*columns.T[:4]), undecided, scored, squared, columns[:, 7:])


class _RateOfRows(NamedTuple):
    """A measure that is a rate of rows: what is counted, and among what."""

    counted: Callable[[_Sums], Any]
    among: Callable[[_Sums], Any]


_RATES: Mapping[str, _RateOfRows] = {
    "accuracy": _RateOfRows(lambda s: s.counts.correct, lambda s: s.counts.n),
    "accuracy_all": _RateOfRows(lambda s: s.counts.correct, lambda s: s.counts.n + s.undecided),
    "precision": _RateOfRows(
        lambda s: s.counts.true_positive, lambda s: s.counts.true_positive + s.counts.false_positive
    ),
    "recall": _RateOfRows(lambda s: s.counts.true_positive, lambda s: s.counts.true_positive + s.counts.false_negative),
}
_OF_LABELS: Mapping[str, Callable[[_Sums], Any]] = {
    "balanced_accuracy": lambda s: s.counts.balanced_accuracy,
    "f1": lambda s: s.counts.f1,
    "kappa": lambda s: s.counts.kappa,
}
_OF_PROBABILITIES: Mapping[str, Callable[[_Sums], Any]] = {
    "brier": lambda s: s.squared / s.scored,
    "ece": lambda s: abs(s.excess).sum(axis=-1) / s.scored,
}


def agreements(
    golds: Integers, judges: Sequence[_LabelsAndScores], clusters: Names, bootstrap: BootstrapSettings | None = None
) -> list[Agreement]:
    """The agreement of each judge with the human labels of rows, 0 or 1, by the cluster (question) of each row.

    Without `bootstrap`, only rates of rows have intervals. Its draws are those of `bootstrap_interval` with the same
    seed, and the same for all judges. AUROC takes fewer of them where there are over 2,000 rows (at least 200).
    """
    of_row, count = factorise(clusters)
    columns = [_columns(golds, judge) for judge in judges]
    per_cluster = [_by_cluster(own_columns, of_row, count) for own_columns in columns]
    rankings = [Ranking.of(judge.scores, golds) for judge in judges]
    if bootstrap:
        sums, areas = _drawn(per_cluster, rankings, of_row, bootstrap)
    else:
        sums, areas = [np.empty((0, part.shape[1])) for part in columns], np.empty((0, len(judges)))
    everywhere = np.ones(len(golds))
    with np.errstate(invalid="ignore", divide="ignore"):
        return [
            _agreement(
                _Sums.of(columns[i].sum(axis=0, keepdims=True)),
                _Sums.of(per_cluster[i]),
                _Sums.of(sums[i]),
                judge.probable,
                _estimated(rankings[i].auroc(everywhere), areas[:, i], len(rankings[i].order)),
            )
            for i, judge in enumerate(judges)
        ]


def kappa_of_judges(first: Integers, second: Integers, clusters: Names, bootstrap: BootstrapSettings) -> Estimate:
    """Cohen's kappa of two judges' labels, 0 or 1, of the same rows, with a bootstrap interval by cluster."""
    cells = np.eye(4)[2 * (1 - first) + (1 - second)]  # a column for each way to label, both correct first

    def kappa(weights: Numbers) -> float:
        value = Confusion(*(weights @ cells)).kappa
        return math.nan if value is None else value

    value = Confusion(*cells.sum(axis=0)).kappa
    if value is None:
        return Estimate(None, n=len(cells))
    ends = bootstrap_interval(kappa, clusters, resamples=bootstrap.resamples, seed=bootstrap.seed)
    return Estimate.of(float(value), ends, len(cells), _BOOTSTRAP)


def _agreement(whole: _Sums, by_cluster: _Sums, draws: _Sums, probable: bool, auroc: Estimate) -> Agreement:
    """From the sums of all rows, of each cluster, and of each draw."""
    rates = {name: rate_of_counts(way.counted(by_cluster), way.among(by_cluster)) for name, way in _RATES.items()}
    counts = Confusion(*(int(cell.item()) for cell in np.asarray(whole.counts.cells)))
    decided, scored = counts.n, int(whole.scored[0])
    of_labels = {name: _estimated(of(whole)[0], of(draws), decided) for name, of in _OF_LABELS.items()}
    of_scores = {name: _estimated(of(whole)[0], of(draws), scored) for name, of in _OF_PROBABILITIES.items()}
    return Agreement(
        counts=counts,
        undecided=int(whole.undecided[0]),
        **rates,
        **of_labels,
        auroc=auroc if auroc.n else None,
        **(of_scores if probable else {}),
    )


def _estimated(value: float, draws: Numbers, n: int) -> Estimate:
    """A value with the interval of its draws; without a value where it is undefined."""
    if not math.isfinite(value):
        return Estimate(None, n=n)
    return Estimate.of(float(value), percentile_interval(draws), n, _BOOTSTRAP)


def _columns(golds: Integers, judge: _LabelsAndScores) -> Numbers:
    """What is summed: the cells of the confusion, and what `_Sums` names; an array of shape (rows, 7 + bins)."""
    positive, labelled, decided = golds == 1, judge.labels == 1, judge.labels >= 0
    scored = np.isfinite(judge.scores) & judge.probable
    scores = np.where(scored, judge.scores, 0.0)
    excess = np.zeros((len(golds), ECE_BINS if judge.probable else 0))
    if judge.probable:
        excess[np.arange(len(golds)), bin_of(scores, ECE_BINS)] = np.where(scored, scores - golds, 0.0)
    cells = [positive & labelled, ~positive & labelled, positive & ~labelled & decided, ~positive & ~labelled & decided]
    squared = np.where(scored, (scores - golds) ** 2, 0.0)
    return np.column_stack([*cells, ~decided, scored, squared, excess]).astype(float)


def _by_cluster(columns: Numbers, of_row: Integers, count: int) -> Numbers:
    return np.column_stack([np.bincount(of_row, column, count) for column in columns.T])


def _drawn(
    per_cluster: Sequence[Numbers], rankings: Sequence[Ranking], of_row: Integers, bootstrap: BootstrapSettings
) -> tuple[list[Numbers], Numbers]:
    """The sums of each judge in all draws, and the AUROC of each judge in some: arrays of shape (draws, columns)."""
    together = np.hstack(per_cluster)
    for_auroc = max(_FEWEST_FOR_AUROC, min(bootstrap.resamples, _AUROC_WORK // max(1, len(of_row))))
    sums: list[Numbers] = []
    areas: list[list[float]] = []
    for weights in _weights(len(together), bootstrap):
        sums.append(weights @ together)
        for draw in weights[: max(0, for_auroc - len(areas))]:
            of_rows = draw[of_row]
            areas.append([ranking.auroc(of_rows) for ranking in rankings])
    cuts = np.cumsum([columns.shape[1] for columns in per_cluster])[:-1]
    return np.split(np.vstack(sums), cuts, axis=1), np.asarray(areas).reshape(-1, len(rankings))


def _weights(count: int, bootstrap: BootstrapSettings) -> Iterator[Numbers]:
    """How often each cluster is drawn, in arrays of shape (some draws, clusters)."""
    draws = draw_clusters(count, bootstrap.resamples, bootstrap.seed)
    while some := list(islice(draws, max(1, _CHUNK // count))):
        yield np.asarray(some, float)
