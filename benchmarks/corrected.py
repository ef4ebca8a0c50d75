"""Do the intervals of corrected accuracies hold? `python benchmarks/corrected.py`.

Draws runs again and again, with a known accuracy, judges that err at known rates on right and on wrong answers, and
labels on a random part. Prints, for each number of labels, how often the 95 % interval held the truth (over all
accuracies and errors, and in the worst of them) and how wide it was on average.

With `--scores` the judge has scores, and rows to label are drawn uniformly or by its uncertainty. With `--run FOLDER`
the labels of a saved run, whose rows all have one, are hidden but for a few, again and again; the accuracy to hold is
then that of all labels.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bert_judge.measures import Estimate
from bert_judge.measures import corrected as estimates
from bert_judge.measures.corrected import LabelledSample
from bert_judge.results.runs import load_run
from bert_judge.studies.correct import sampling_probabilities

KINDS = ("blind", "telling", "misleading")
ACCURACIES, ERRORS, LABELS = (0.7, 0.8, 0.9, 0.95), (0.02, 0.05, 0.08), (100, 200, 300, 500, 1000)

Method = Callable[[LabelledSample, np.ndarray], Estimate | None]
METHODS: dict[str, Method] = {
    "labels only": lambda sample, scores: estimates.labels_only(sample),
    "PPI++": estimates.corrected,
    "  normal": lambda sample, scores: estimates.power_tuned(replace(sample, predictions=scores)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=2_000, help="runs for each cell (default: 2000)")
    parser.add_argument("--rows", type=int, default=2_000, help="rows of a run (default: 2000)")
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS)
    parser.add_argument("--scores", action="store_true", help="judges with scores; uniform and active labels")
    parser.add_argument("--run", help="a saved run whose rows all have a label")
    args = parser.parse_args()
    print(f"{'labels':>6}  {'drawn':20} {'method':14} {'coverage':>8} {'worst':>6} {'at':28} {'width':>6}")
    for labels in args.labels:
        if args.run:
            real(args.run, labels, args.draws)
        elif args.scores:
            scored(args.rows, labels, args.draws)
        else:
            binary(args.rows, labels, args.draws)


def binary(rows: int, labels: int, draws: int) -> None:
    """Judges that give labels alone, each right answer called wrong at one rate, each wrong one right at another."""
    found = Found(METHODS)
    for accuracy, missed, passed in itertools.product(ACCURACIES, ERRORS, ERRORS):
        for seed in range(draws):
            chance = np.random.default_rng([labels, seed, *(int(1000 * x) for x in (accuracy, missed, passed))])
            golds = (chance.random(rows) < accuracy).astype(float)
            called = np.where(chance.random(rows) < np.where(golds == 1, missed, passed), 1 - golds, golds)
            sample = LabelledSample.of(called, np.arange(labels), golds[:labels])
            found.add((accuracy, missed, passed), accuracy, sample, called)
    found.print(labels, "uniform")


def scored(rows: int, labels: int, draws: int) -> None:
    """Judges that are unsure where they err (telling), anywhere (blind), or anywhere else (misleading)."""
    for kind, strategy in itertools.product(KINDS, ("uniform", "active")):
        found = Found(METHODS)
        for accuracy, error in itertools.product(ACCURACIES, ERRORS):
            for seed in range(draws):
                chance = np.random.default_rng(
                    [labels, seed, int(1000 * accuracy), int(1000 * error), KINDS.index(kind)]
                )
                golds = (chance.random(rows) < accuracy).astype(float)
                errs = chance.random(rows) < error
                called = np.where(errs, 1 - golds, golds)
                doubt = chance.beta(0.3, 3, rows) / 2
                if kind == "telling":
                    doubt = np.where(errs, chance.uniform(0.1, 0.5, rows), doubt)
                elif kind == "misleading":
                    doubt = np.where(errs, 0.001, np.maximum(doubt, 0.02))
                scores = np.where(called == 1, 1 - doubt, doubt)
                sample = drawn_sample(called, scores, golds, labels, strategy, chance)
                found.add((accuracy, error), accuracy, sample, scores)
        found.print(labels, f"{strategy}, {kind}")


def real(folder: str, labels: int, draws: int) -> None:
    """A saved run: its labels are hidden, but for those drawn."""
    rows = load_run(folder).rows
    golds, called, scores = (
        np.array([getattr(row, name) for row in rows], float) for name in ("gold", "label", "score")
    )
    clusters = np.unique([row.cluster for row in rows], return_inverse=True)[1]
    for strategy in ("uniform", "active"):
        found = Found(METHODS)
        for seed in range(draws):
            chance = np.random.default_rng([labels, seed])
            sample = drawn_sample(called, scores, golds, labels, strategy, chance, clusters)
            found.add((), golds.mean(), sample, scores)
        found.print(labels, strategy)


def drawn_sample(called, scores, golds, labels, strategy, chance, clusters=None) -> LabelledSample:
    """Rows drawn one after the other."""
    probabilities = np.array(sampling_probabilities(list(scores), strategy))
    rows = np.argsort(chance.exponential(size=len(golds)) / probabilities)[:labels]
    return LabelledSample.of(called, rows, golds[rows], probabilities[rows], clusters)


class Found:
    """What came out, by method and cell: whether the interval held the truth, and its width."""

    def __init__(self, methods: dict[str, Method]) -> None:
        self.methods = methods
        self.results: dict[str, dict[tuple, list[tuple[bool, float]]]] = {name: {} for name in methods}

    def add(self, cell: tuple, truth: float, sample: LabelledSample, scores: np.ndarray) -> None:
        for name, method in self.methods.items():
            got = method(sample, scores)
            result = (False, 1.0) if got is None else (bool(got.low <= truth <= got.high), got.width)
            self.results[name].setdefault(cell, []).append(result)

    def print(self, labels: int, drawn: str) -> None:
        for name, cells in self.results.items():
            means = {cell: np.mean(results, axis=0) for cell, results in cells.items()}
            held, width = np.mean(list(means.values()), axis=0)
            cell = min(means, key=lambda each: means[each][0])
            print(
                f"{labels:6}  {drawn:20} {name:14} {held:8.3f} {means[cell][0]:6.3f} {cell or ''!s:28} {width:6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
