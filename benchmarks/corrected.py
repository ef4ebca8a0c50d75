"""Do the intervals of corrected accuracies hold? `python benchmarks/corrected.py`.

Draws runs again and again, with a known accuracy, judges that err at known rates on right and on wrong answers, and
labels on a random part. Prints, for each number of labels, how often the 95 % interval held the truth (over all
accuracies and errors, and in the worst of them) and how wide it was on average.

With `--scores` the judge has scores, and rows to label are drawn uniformly or by its uncertainty. With `--run FOLDER`
the labels of a saved run, whose rows all have one, are hidden but for a few, again and again; the accuracy to hold is
then that of all labels.

With `--pairs` two models are compared, by judges that err at other rates on the second model's answers than on the
first's: 4 pairs of accuracies by 3 pairs of judges, for each number of labels and way to label ("pairs": both answers
to a question, "apart": answers of each model to other questions, "several": pairs again, but questions have 1 to 8
answers of each model). It prints how often the interval of the corrected difference held the truth (the mean, lowest
and highest of the 12), and its width as a part of that of labels alone, beside what theory gives. `--cells` prints all.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

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

WAYS, PAIR_LABELS = ("pairs", "apart", "several"), (30, 100, 300)
PAIR_ACCURACIES = ((0.7, 0.7), (0.7, 0.8), (0.8, 0.85), (0.9, 0.95))
PAIR_ERRORS = ((0.02, 0.02, 0.08, 0.08), (0.08, 0.02, 0.02, 0.08), (0.1, 0.2, 0.05, 0.1))
"""The judge's errors on right and wrong answers of the first model, then of the second."""
ALIKE, ERRORS_ALIKE = 0.5, 0.3
"""How far the truth of answers to one question goes together, and the judge's errors on them (latent correlations)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=2_000, help="runs for each cell (default: 2000)")
    parser.add_argument("--rows", type=int, default=2_000, help="rows of a run (default: 2000)")
    parser.add_argument("--labels", type=int, nargs="*", help="numbers of labels (of pairs: of each model)")
    parser.add_argument("--pairs", action="store_true", help="differences of two models, in place of accuracies")
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=WAYS, help="with --pairs: how labels are drawn")
    parser.add_argument("--cells", action="store_true", help="with --pairs: a line for each cell")
    parser.add_argument("--scores", action="store_true", help="judges with scores; uniform and active labels")
    parser.add_argument("--run", help="a saved run whose rows all have a label")
    args = parser.parse_args()
    if args.pairs:
        for kind, labels in itertools.product(args.ways, args.labels or PAIR_LABELS):
            pairs(args.rows, labels, args.draws, kind, args.cells)
        return
    print(f"{'labels':>6}  {'drawn':20} {'method':14} {'coverage':>8} {'worst':>6} {'at':28} {'width':>6}")
    for labels in args.labels or LABELS:
        if args.run:
            real(args.run, labels, args.draws)
        elif args.scores:
            scored(args.rows, labels, args.draws)
        else:
            binary(args.rows, labels, args.draws)


def binary(rows: int, labels: int, draws: int) -> None:
    """Judges that give labels alone, each right answer called wrong at one rate, each wrong one right at another."""
    results = Found(METHODS)
    for accuracy, missed, passed in itertools.product(ACCURACIES, ERRORS, ERRORS):
        for seed in range(draws):
            chance = np.random.default_rng([labels, seed, *(int(1000 * x) for x in (accuracy, missed, passed))])
            golds = (chance.random(rows) < accuracy).astype(float)
            called = np.where(chance.random(rows) < np.where(golds == 1, missed, passed), 1 - golds, golds)
            sample = LabelledSample.of(called, np.arange(labels), golds[:labels])
            results.add((accuracy, missed, passed), accuracy, sample, called)
    results.print(labels, "uniform")


def scored(rows: int, labels: int, draws: int) -> None:
    """Judges that are unsure where they err (telling), anywhere (blind), or anywhere else (misleading)."""
    for kind, strategy in itertools.product(KINDS, ("uniform", "active")):
        results = Found(METHODS)
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
                results.add((accuracy, error), accuracy, sample, scores)
        results.print(labels, f"{strategy}, {kind}")


def real(folder: str, labels: int, draws: int) -> None:
    """A saved run: its labels are hidden, but for those drawn."""
    rows = load_run(folder).rows
    golds, called, scores = (
        np.array([getattr(row, name) for row in rows], float) for name in ("gold", "label", "score")
    )
    clusters = np.unique([row.cluster for row in rows], return_inverse=True)[1]
    for strategy in ("uniform", "active"):
        results = Found(METHODS)
        for seed in range(draws):
            chance = np.random.default_rng([labels, seed])
            sample = drawn_sample(called, scores, golds, labels, strategy, chance, clusters)
            results.add((), golds.mean(), sample, scores)
        results.print(labels, strategy)


def pairs(rows: int, labels: int, draws: int, way: str, every_cell: bool) -> None:
    """Two models' answers to the same questions, `labels` of each labelled."""
    lines = []
    for accuracies, errors in itertools.product(PAIR_ACCURACIES, PAIR_ERRORS):
        seed = [labels, WAYS.index(way), *(int(1000 * x) for x in (*accuracies, *errors))]
        chance = np.random.default_rng(seed)
        theory = theoretical_width(*answers(chance, 400_000, way, accuracies, errors), labels / rows, way)
        truth, corrections = accuracies[1] - accuracies[0], []
        second = np.arange(2 * rows) >= rows
        for _ in range(draws):
            questions, golds, called = answers(chance, rows, way, accuracies, errors)
            places = chance.permutation(rows)
            first, other = places[:labels], places[labels : 2 * labels] if way == "apart" else places[:labels]
            labelled = np.concatenate([first, rows + other])
            of_models = golds.ravel()[labelled].reshape(2, labels)
            if any(np.ptp(of_model) == 0 for of_model in of_models):  # the command refuses such labels
                continue
            weights, clusters = np.ones(len(labelled)), np.concatenate([questions, questions])
            sample = LabelledSample(called.ravel(), labelled, of_models.ravel(), clusters, weights)
            ours = estimates.corrected_difference(sample, second)
            alone = estimates.labels_only_difference(sample, second)
            corrections.append((ours.low <= truth <= ours.high, ours.width, alone.width, ours.value, alone.value))
        held, width, width_alone = np.mean(corrections, axis=0)[:3]
        spread = np.std(corrections, axis=0)
        lines.append((held, width / width_alone, theory, spread[3] / spread[4], 1 - len(corrections) / draws))
        if every_cell:
            print_pairs(way, labels, lines[-1:], f"{accuracies} {errors}")
    print_pairs(way, labels, lines)


def answers(chance, rows, way, accuracies, errors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The question of each pair, and the labels of people and of the judge, each of the shape (models, pairs)."""
    sizes = chance.integers(1, 9, rows) if way == "several" else np.ones(rows, int)
    questions = np.repeat(np.arange(rows), sizes)[:rows]

    def latent(alike: float) -> np.ndarray:
        of_question = chance.standard_normal(rows, np.float32)[questions]
        return math.sqrt(alike) * of_question + math.sqrt(1 - alike) * chance.standard_normal((2, rows), np.float32)

    golds = (latent(ALIKE) < ndtri(np.array(accuracies))[:, None]).astype(float)
    missed, passed = ndtri(np.array(errors)).reshape(2, 2, 1).swapaxes(0, 1)
    errs = latent(ERRORS_ALIKE) < np.where(golds == 1, missed, passed)
    return questions, golds, np.where(errs, 1 - golds, golds)


def theoretical_width(_, golds, called, part: float, way: str) -> float:
    """The width of PPI++ as a part of that of labels alone: sqrt(1 - rho^2 N / (N + n)) for n labelled and N further
    pairs, rho being the correlation of the differences by people and by the judge.

    Labels apart have the variances and the covariance of each model's answers alone.
    """
    by_people, by_judge = golds[1] - golds[0], called[1] - called[0]
    both = part * np.cov(by_people, by_judge)
    moments = sum(np.cov(*model) for model in zip(golds, called, strict=True)) if way == "apart" else both / part
    alone, with_judge, judge = moments[0, 0], moments[0, 1] - both[0, 1], moments[1, 1] - both[1, 1]
    return math.sqrt(1 - with_judge**2 / (alone * judge))


def print_pairs(way: str, labels: int, lines: list[tuple[float, ...]], cell: str = "") -> None:
    """Lines of cells, together; the last number is how many draws the command refuses."""
    held, width, theory, spread, refused = np.array(lines).T
    off = width / theory - 1
    print(
        f"{way:8} {labels:4}  coverage {held.mean():.3f} ({held.min():.3f} to {held.max():.3f})"
        f"  width {width.mean():.3f}  theory {theory.mean():.3f} ({off.min():+.1%} to {off.max():+.1%})"
        f"  spread {spread.mean():.3f}  refused {refused.mean():.1%}  {cell}",
        flush=True,
    )


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
            cell = min(means, key=lambda key: means[key][0])
            print(
                f"{labels:6}  {drawn:20} {name:14} {held:8.3f} {means[cell][0]:6.3f} {cell or ''!s:28} {width:6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
