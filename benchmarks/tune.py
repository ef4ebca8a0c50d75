"""What a few labels bring a judge on questions that it was not tuned to: `python benchmarks/tune.py RESULT …`.

A result is a folder of `bert-judge score`, of rows with human labels. In each draw its questions are halved at random,
labels are drawn from one half, and what `evaluate --tune` fits to them is measured on the other half. A line for each
result and number of labels, in per cent and points, means over the draws: agreement of the majority class, containment
and the judge; what the threshold gains, how often it is written, and what it gains then; the ECE of the judge, what the
temperature gains, how often it is written, and what it gains then, also in log loss (hundredths of a nat).
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from bert_judge.measures import BootstrapSettings
from bert_judge.measures.arrays import factorise
from bert_judge.measures.recalibration import Recalibration, RecalibrationGains
from bert_judge.metrics import containment
from bert_judge.results.runs import load_run
from bert_judge.studies.evaluate import is_small

HEAD = "majority, containment, judge, gain, written, gain then, ECE, gain, written, gain then, in log loss".split(", ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="folders that score wrote")
    parser.add_argument("--labels", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--shift", type=float, default=0.0, help="added to the logits: a judge with a wrong cut")
    args = parser.parse_args()
    print(f"| result | labels | {' | '.join(HEAD)} |\n|{'---|' * (len(HEAD) + 2)}")
    for folder in args.results:
        rows = [row for row in load_run(folder).rows if row.gold is not None and row.score is not None]
        contained = np.array([any(containment(row.candidate, text) for text in row.references) for row in rows])
        scores, labels, golds = (np.array([getattr(row, name) for row in rows]) for name in ("score", "label", "gold"))
        if args.shift:
            scores = np.array([Recalibration(bias=args.shift).of(score) for score in scores])
            labels = (scores >= 0.5).astype(int)
        data = np.column_stack([scores, labels, golds, contained, factorise([row.cluster for row in rows])[0]])
        for number in args.labels:
            drawn = np.array([measured(data, number, seed) for seed in range(args.draws)])
            figures = [
                100 * column[~np.isnan(column)].mean() if not np.isnan(column).all() else None for column in drawn.T
            ]
            cells = ["-" if figure is None else f"{figure:.1f}" for figure in figures]
            print(f"| {Path(folder).name} | {number} | {' | '.join(cells)} |", flush=True)


def measured(data: np.ndarray, labels: int, seed: int) -> list[float]:
    """The figures of a draw; NaN for what is gained where nothing is written. Few labels of a kind write nothing."""
    chance = np.random.default_rng(seed)
    questions = int(data[:, 4].max()) + 1
    half = (chance.permutation(questions) < questions / 2)[data[:, 4].astype(int)]
    scores, judged, golds, _, clusters = data[chance.permutation(np.flatnonzero(half))[:labels]].T
    judged, labelled = judged.astype(int), golds.astype(int)
    fitted = RecalibrationGains.of(scores, judged, labelled, clusters, BootstrapSettings(resamples=500))
    scores, judged, golds, contained, _ = data[~half].T
    tuned = np.array([fitted.recalibration.of(score) for score in scores])
    before, after = ece(scores, golds), ece(tuned, golds)
    right = (judged == golds).mean()
    better = ((tuned >= 0.5) == golds).mean() - right
    gains = (fitted.agreement, fitted.log_loss)
    cut, cooled = ((gain.estimate.low or 0) > 0 and not is_small(labelled.tolist()) for gain in gains)
    return [
        *(max(golds.mean(), 1 - golds.mean()), (contained == golds).mean()),
        *(right, better, cut, better if cut else math.nan),
        *(before, before - after, cooled, before - after if cooled else math.nan),
        log_loss(scores, golds) - log_loss(tuned, golds) if cooled else math.nan,
    ]


def log_loss(scores: np.ndarray, golds: np.ndarray) -> float:
    return float(-np.log(np.maximum(np.where(golds == 1, scores, 1 - scores), 1e-6)).mean())


def ece(scores: np.ndarray, golds: np.ndarray, bins: int = 15) -> float:
    """In bins of equal mass."""
    excess = (scores - golds)[np.argsort(scores, kind="stable")]
    return sum(abs(part.sum()) for part in np.array_split(excess, bins)) / len(golds)


if __name__ == "__main__":
    main()
