"""The measures of judges against human labels, with their intervals, for several judges on the same rows at once.

All but AUROC follow from sums over rows: counts of labels, squared errors, excesses of bins. Rates of rows have the
interval of a rate over questions; for the other measures a bootstrap draws questions. This changes the sums alone, so
it is a product of matrices, and 100,000 rows take seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from bert_judge.errors import InputError
from bert_judge.measures.arrays import Integers, Numbers, Truths, np
from bert_judge.measures.calibration import bin_of
from bert_judge.measures.discrimination import Ranking
from bert_judge.measures.inputs import factorise
from bert_judge.measures.labels import Confusion
from bert_judge.measures.rates import Rate
from bert_judge.measures.resampling import RESAMPLES, draw_clusters, percentile_interval

if TYPE_CHECKING:
    from bert_judge.studies.table import JudgeColumn, VerdictTable


ECE_BINS = 15
_AUROC_WORK = 4_000_000  # rows times resamples that AUROC may sort through
_FEWEST_FOR_AUROC = 200
_CHUNK = 4_000_000  # weights that are in memory at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """How intervals are found. Raises InputError for too few draws."""

    resamples: Annotated[int, "draws of the bootstrap"] = RESAMPLES
    seed: Annotated[int, "seed of the bootstrap"] = 0

    def __post_init__(self) -> None:
        if self.resamples < 100:
            raise InputError(f"resamples is {self.resamples}; a number of at least 100 was expected.")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure with its 95 % interval; `low` and `high` are None where a bootstrap finds none."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, value: float, interval: tuple[float, float] | None) -> Estimate:
        """A value with its interval, where there is one."""
        return cls(value, *(interval or (None, None)))


class Sums(NamedTuple):
    """Sums over rows in arrays of one shape, one entry a draw: of labels, of squared errors, of excesses by bin."""

    counts: Confusion  # of arrays
    undecided: Numbers
    scored: Numbers
    squared: Numbers
    excess: Numbers  # with one more dimension, of the bins

    @classmethod
    def of(cls, columns: Numbers) -> Sums:
        """From the columns of `_columns`, summed: an array of shape (draws, columns)."""
        undecided, scored, squared = columns.T[4:7]
        return cls(Confusion(*columns.T[:4]), undecided, scored, squared, columns[:, 7:])


class _Rate(NamedTuple):
    """A measure that is a rate of rows: what is counted, and among what; its title in tables."""

    title: str
    counted: Callable[[Sums], Any]
    among: Callable[[Sums], Any]


class _Measure(NamedTuple):
    """How another measure follows from sums, NaN where undefined; its title in tables."""

    title: str
    of: Callable[[Sums], Any]
    of_probabilities: bool = False


MEASURES: Mapping[str, _Rate | _Measure] = {
    "accuracy": _Rate("accuracy", lambda s: s.counts.correct, lambda s: s.counts.n),
    "accuracy_all": _Rate(
        "accuracy, undecided as incorrect", lambda s: s.counts.correct, lambda s: s.counts.n + s.undecided
    ),
    "balanced_accuracy": _Measure("balanced accuracy", lambda s: s.counts.balanced_accuracy),
    "precision": _Rate(
        "precision", lambda s: s.counts.true_positive, lambda s: s.counts.true_positive + s.counts.false_positive
    ),
    "recall": _Rate(
        "recall", lambda s: s.counts.true_positive, lambda s: s.counts.true_positive + s.counts.false_negative
    ),
    "f1": _Measure("F1", lambda s: s.counts.f1),
    "kappa": _Measure("Cohen's kappa", lambda s: s.counts.kappa),
    "brier": _Measure("Brier score", lambda s: s.squared / s.scored, of_probabilities=True),
    "ece": _Measure("ECE", lambda s: abs(s.excess).sum(axis=-1) / s.scored, of_probabilities=True),
}
"""The measures that follow from sums, over decided rows (but `accuracy_all`); a correct candidate is positive."""

AUROC = "auroc"
TITLES: Mapping[str, str] = {**{name: measure.title for name, measure in MEASURES.items()}, AUROC: "AUROC"}
"""What each measure is called in tables, in their order."""


def measure(table: VerdictTable, settings: BootstrapSettings) -> list[Mapping[str, Estimate]]:
    """All measures of each judge of labelled rows, by name, with intervals by question; undefined ones are not there.

    The draws are those of `stats.bootstrap_interval` with the same seed, and the same for all judges. AUROC takes fewer
    of them where there are over 2,000 rows (at least 200).
    """
    golds, judges = table.golds, table.judges
    columns = [_columns(golds, judge) for judge in judges]
    of_row, count = factorise(table.clusters)
    for_auroc = max(_FEWEST_FOR_AUROC, min(settings.resamples, _AUROC_WORK // max(1, len(golds))))
    ranked = [Ranking.of(judge.scores, golds) for judge in judges]
    per_cluster = _by_cluster(np.hstack(columns), of_row, count)
    sums: list[Numbers] = []
    areas: list[list[float]] = []
    for weights in _draws(count, settings.resamples, settings.seed):
        sums.append(weights @ per_cluster)
        for drawn in weights[: max(0, for_auroc - len(areas))]:
            of_rows = drawn[of_row]
            areas.append([each.auroc(of_rows) for each in ranked])
    cuts = np.cumsum([each.shape[1] for each in columns])[:-1]
    drawn_sums = [Sums.of(part) for part in np.split(np.vstack(sums), cuts, axis=1)]
    by_question = [Sums.of(part) for part in np.split(per_cluster, cuts, axis=1)]
    whole = [Sums.of(each.sum(axis=0, keepdims=True)) for each in columns]
    area_draws = np.asarray(areas).reshape(-1, len(judges))
    estimates: list[Mapping[str, Estimate]] = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for i, judge in enumerate(judges):
            found: dict[str, Estimate | None] = {}
            for name, each in MEASURES.items():
                if isinstance(each, _Rate):
                    found[name] = _of_rate(Rate.of_counts(each.counted(by_question[i]), each.among(by_question[i])))
                elif judge.probable or not each.of_probabilities:
                    found[name] = estimated(float(each.of(whole[i])[0]), each.of(drawn_sums[i]))
            found[AUROC] = estimated(ranked[i].auroc(np.ones(len(golds))), area_draws[:, i])
            estimates.append({name: value for name in TITLES if (value := found.get(name))})
    return estimates


def rate(above: Truths, below: Truths, clusters: Integers) -> Estimate | None:
    """The fraction of the rows `below` that are `above`, too, with its interval; None where there are none."""
    return _of_rate(Rate.of(above[below], clusters[below]))


def estimated(value: float, draws: Numbers) -> Estimate | None:
    """A value with the interval of its draws; None where it is undefined."""
    return Estimate.of(float(value), percentile_interval(draws)) if math.isfinite(value) else None


def _of_rate(found: Rate | None) -> Estimate | None:
    return Estimate(found.value, found.low, found.high) if found else None


def _columns(golds: Integers, judge: JudgeColumn) -> Numbers:
    """What is summed, in an array of shape (rows, 7 + bins)."""
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


def _draws(count: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """How often each cluster is drawn, in arrays of shape (some draws, clusters)."""
    drawn = draw_clusters(count, resamples, seed)
    while some := list(islice(drawn, max(1, _CHUNK // count))):
        yield np.asarray(some, float)
