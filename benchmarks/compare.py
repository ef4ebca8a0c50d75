"""How often the intervals and tests of `bert-judge compare` are right: `python benchmarks/compare.py`.

Two models answer the same questions; how hard a question is, both share. For each line of the table `--draws` data sets
are drawn whose true difference is known. Printed are, in percent:

- coverage: how often the 95 % interval of the difference holds the true one (wanted: 95), and its mean width in points;
  beside it the plain bootstrap, without the adjustment of few flips
- found: how often p is under 5 % (at most 5 where the models are equal; the power where they are not), and the same for
  McNemar's test, which takes the answers to one question as independent
"""

from __future__ import annotations

import argparse
import math
from itertools import product

import numpy as np
from scipy.stats import norm

from bert_judge.measures.estimates import BootstrapSettings, bootstrap_interval
from bert_judge.measures.paired import Difference

SPREAD = 1.5  # of how hard the questions are, in standard deviations of the answers to one
RESAMPLES = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=1000, help="data sets a line (default: 1000)")
    args = parser.parse_args()
    head = ("coverage", "width", "plain", "found", "McNemar")
    print("questions  answers  accuracies " + "".join(f"{name:>10}" for name in head))
    rates = [(0.7, 0.7), (0.7, 0.72), (0.7, 0.75), (0.95, 0.95), (0.95, 0.97), (0.98, 0.98)]
    for (questions, answers), pair in product([(50, 1), (200, 1), (1000, 1), (100, 5)], rates):
        figures = simulate(questions, answers, pair, args.draws)
        print(
            f"{questions:9}{answers:9}  {pair[0]:.2f}, {pair[1]:.2f} "
            + "".join(f"{figure:10.1f}" for figure in figures)
        )


def simulate(questions: int, answers: int, rates: tuple[float, float], draws: int) -> list[float]:
    """The figures of a line, in percent (the width in points)."""
    truth, rows = rates[1] - rates[0], []
    for seed in range(draws):
        first, second, clusters = drawn(questions, answers, rates, seed)
        data = Difference.of(first, second, clusters, BootstrapSettings(resamples=RESAMPLES, seed=seed))
        low, high = data.estimate.interval or (math.nan, math.nan)
        plain = bootstrap_interval(lambda w, d=second - first: w @ d / w.sum(), clusters, 0.95, RESAMPLES, seed)
        plain = plain or (math.nan, math.nan)
        rows.append(
            [
                low <= truth <= high,
                high - low,
                plain[0] <= truth <= plain[1],
                data.p_value < 0.05,
                Difference.of(first, second).p_value < 0.05,
            ]
        )
    return (100 * np.mean(np.array(rows, float), axis=0)).tolist()


def drawn(questions: int, answers: int, rates: tuple[float, float], seed: int) -> tuple:
    """Whether two models' answers are right, and the question of each: arrays of shape (questions * answers,)."""
    chance = np.random.default_rng(seed)
    hard = chance.normal(0, SPREAD, (questions, 1))
    shape = (questions, answers)
    first, second = (
        (chance.random(shape) < norm.cdf(norm.ppf(rate) * math.hypot(1, SPREAD) + hard)).ravel().astype(int)
        for rate in rates
    )
    return first, second, np.repeat(np.arange(questions), answers).tolist()


if __name__ == "__main__":
    main()
