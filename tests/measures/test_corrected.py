"""Corrected accuracies against ppi-python, formulas by hand, and simulations whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta
from scipy.stats import t as student

from bert_judge.errors import InputError
from bert_judge.measures import Estimate
from bert_judge.measures.corrected import (
    LabelledSample,
    corrected,
    corrected_difference,
    labels_only,
    labels_only_difference,
    power_tuned,
    stratified,
)

ESTIMATES = {"labels only": labels_only, "PPI++": corrected, "stratified": stratified, "normal": power_tuned}


def simulated(seed: Any, rows: int, labels: int, accuracy: float, missed: float, passed: float) -> LabelledSample:
    """A judge that calls right answers wrong at one rate, and wrong ones right at another."""
    chance = np.random.default_rng(seed)
    golds = (chance.random(rows) < accuracy).astype(float)
    called = np.where(chance.random(rows) < np.where(golds == 1, missed, passed), 1 - golds, golds)
    return LabelledSample.of(called, range(labels), golds[:labels])


# ppi-python 0.2.3, in an environment of its own: ppi_mean_ci(golds[:400], f[:400], f[400:], alpha=0.05)
PPI_PYTHON = {
    "called": (0.8018280206887701, 0.7740936674655707, 0.8295623739119695),
    "scores": (0.7991223170290301, 0.7702326170500849, 0.8280120170079753),
}


def test_the_power_tuned_mean_is_that_of_ppi_python() -> None:
    chance = np.random.default_rng(7)
    golds = (chance.random(3000) < 0.8).astype(float)
    called = np.where(chance.random(3000) < 0.1, 1 - golds, golds)
    scores = np.clip(called * 0.7 + chance.random(3000) * 0.3, 0, 1)
    for predictor, predictions in (("called", called), ("scores", scores)):
        ours = power_tuned(LabelledSample.of(predictions, range(400), golds[:400]))
        value, low, high = PPI_PYTHON[predictor]
        assert ours.value == pytest.approx(value, abs=0.05 * (high - low))  # the tuning of each is its own estimate
        assert ours.width == pytest.approx(high - low, rel=0.003)


def jeffreys(good: float, n: float) -> tuple[float, float]:
    return beta.ppf(0.025, good + 0.5, n - good + 0.5), beta.ppf(0.975, good + 0.5, n - good + 0.5)


def test_the_stratified_estimate_is_shares_by_verdict_with_jeffreys_intervals_put_together() -> None:
    called = [1] * 60 + [0] * 20 + [1] * 690 + [0] * 230  # three quarters are called right
    golds = [1] * 57 + [0] * 3 + [1] * 4 + [0] * 16
    estimate = stratified(LabelledSample.of(called, range(80), golds))
    assert estimate.value == pytest.approx(0.75 * 57 / 60 + 0.25 * 4 / 20)
    (low_1, high_1), (low_0, high_0) = jeffreys(57, 60), jeffreys(4, 20)
    of_all = (1.959964 * (57 / 60 - 4 / 20)) ** 2 * 0.75 * 0.25 / 1000
    below = math.sqrt((0.75 * (57 / 60 - low_1)) ** 2 + (0.25 * (4 / 20 - low_0)) ** 2 + of_all)
    above = math.sqrt((0.75 * (high_1 - 57 / 60)) ** 2 + (0.25 * (high_0 - 4 / 20)) ** 2 + of_all)
    assert (estimate.low, estimate.high) == pytest.approx((estimate.value - below, estimate.value + above), abs=1e-6)


def test_with_all_rows_labelled_or_the_same_said_of_all_the_judge_has_no_say() -> None:
    sample = simulated(0, 400, 400, 0.8, 0.1, 0.2)
    share = sample.golds.mean()
    for estimate in (labels_only, stratified, power_tuned):
        assert estimate(sample).value == pytest.approx(share)
    for calls in [0, 1]:
        sample = LabelledSample.of([calls] * 1000, range(100), [1] * 90 + [0] * 10)
        alone, combined = labels_only(sample), corrected(sample)
        assert (combined.value, combined.low, combined.high) == pytest.approx((alone.value, alone.low, alone.high))
        assert power_tuned(sample).value == pytest.approx(0.9)


def test_the_interval_is_normal_only_where_labels_and_errors_suffice() -> None:
    for labels, accuracy, error, method in [
        (299, 0.7, 0.2, "PPI++ on the judge's labels, Jeffreys' intervals"),
        (400, 0.7, 0.02, "PPI++ on the judge's labels, Jeffreys' intervals"),
        (400, 0.7, 0.2, "PPI++, normal interval"),
    ]:
        assert corrected(simulated(1, 2000, labels, accuracy, error, error)).method == method


def test_scores_narrow_the_interval_where_labels_suffice_for_them() -> None:
    chance = np.random.default_rng(3)
    scores = chance.random(5000)
    golds = (chance.random(5000) < scores).astype(float)
    sample = LabelledSample.of(scores >= 0.5, range(600), golds[:600])
    assert corrected(sample, scores).width < 0.97 * corrected(sample).width


@pytest.mark.parametrize("name", ESTIMATES)
def test_copies_of_rows_in_their_clusters_add_no_certainty(name: str) -> None:
    once = simulated(5, 800, 400, 0.8, 0.15, 0.2)
    rows = np.concatenate([once.rows + 800 * copy for copy in range(4)])
    many = LabelledSample.of(np.tile(once.predictions, 4), rows, np.tile(once.golds, 4), None, list(range(800)) * 4)
    loose = LabelledSample.of(np.tile(once.predictions, 4), rows, np.tile(once.golds, 4))
    single, clustered, unclustered = (ESTIMATES[name](sample) for sample in (once, many, loose))
    assert clustered.value == pytest.approx(single.value)
    assert clustered.width == pytest.approx(single.width, rel=0.03)
    assert unclustered.width < 0.6 * single.width


def drawn(chance: np.random.Generator, probabilities: np.ndarray, labels: int) -> np.ndarray:
    """Rows drawn one after the other, without replacement, each with its chance among those left."""
    return chance.choice(len(probabilities), labels, replace=False, p=probabilities)


def test_weights_of_equal_chances_are_equal_and_all_add_up_to_the_rows() -> None:
    assert LabelledSample.of([0] * 50, [3, 4, 9], [1, 0, 1]).weights == pytest.approx([50 / 3] * 3)
    unequal = LabelledSample.of([0] * 50, [3, 4, 9], [1, 0, 1], [0.1, 0.2, 0.4]).weights
    assert unequal.sum() == pytest.approx(50)
    assert unequal[0] > unequal[1] > unequal[2] > 1
    assert unequal[0] / unequal[2] == pytest.approx(4, rel=0.1)  # a small part is drawn, so weights go as inverses
    whole = LabelledSample.of([0] * 3, [0, 1, 2], [1, 0, 1], [0.1, 0.2, 0.7])
    assert whole.weights == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("labels", [20, 60, 150])
def test_wherever_one_stops_weighted_estimates_are_without_bias(labels: int) -> None:
    chance = np.random.default_rng(11)
    rows = 300
    right = np.linspace(0.2, 0.98, rows)
    probabilities = np.linspace(3, 1, rows) / np.linspace(3, 1, rows).sum()  # wrong answers are drawn more often
    golds = (chance.random(rows) < right).astype(float)
    called = np.where(chance.random(rows) < 0.1, 1 - golds, golds)
    estimates: dict[str, list[float]] = {name: [] for name in ("labels only", "normal", "stratified", "unweighted")}
    for _ in range(400):
        places = drawn(chance, probabilities, labels)
        sample = LabelledSample.of(called, places, golds[places], probabilities[places])
        for name in estimates.keys() - {"unweighted"}:
            estimates[name].append(ESTIMATES[name](sample).value)  # type: ignore[union-attr]
        estimates["unweighted"].append(golds[places].mean())
    for name, values in estimates.items():
        error = abs(np.mean(values) - golds.mean())
        noise = np.std(values) / math.sqrt(len(values))
        assert error > 6 * noise if name == "unweighted" else error < 4 * noise + 0.004, (name, error, noise)


DRAWS = 80
CELLS = list(product((0.7, 0.8, 0.9, 0.95), (0.02, 0.08), (0.02, 0.08)))


def misses(estimates: list[Estimate | None], truth: float) -> int:
    return sum(estimate is None or not estimate.low <= truth <= estimate.high for estimate in estimates)


@pytest.mark.parametrize("labels", [100, 300, 1000])
@pytest.mark.parametrize("name", ["labels only", "PPI++"])
def test_intervals_hold_the_truth(name: str, labels: int) -> None:
    """benchmarks/corrected.py does the same with 2,000 draws and prints the figures of docs/measurements.md."""
    missed = {}
    for cell in CELLS:
        seeds = [[labels, seed, *(int(100 * x) for x in cell)] for seed in range(DRAWS)]
        samples = [simulated(seed, 2000, labels, *cell) for seed in seeds]
        missed[cell] = misses([ESTIMATES[name](sample) for sample in samples], cell[0])
    assert sum(missed.values()) / (DRAWS * len(CELLS)) < 0.065  # 0.05, and 4 standard errors
    # A cell that misses 7 % has more than this many with a chance of 1 in 10,000.
    assert max(missed.values()) <= 0.07 * DRAWS + 3.9 * math.sqrt(DRAWS * 0.07 * 0.93), missed


def test_the_normal_interval_is_too_narrow_for_few_labels() -> None:
    """Why `corrected` does not take it there."""
    samples = [simulated(seed, 2000, 100, 0.95, 0.02, 0.05) for seed in range(300)]
    assert misses([power_tuned(sample) for sample in samples], 0.95) / 300 > 0.12
    assert misses([corrected(sample) for sample in samples], 0.95) / 300 < 0.08


@pytest.mark.parametrize("labels", [100, 400])
def test_actively_drawn_labels_hold_the_truth_in_a_narrower_interval(labels: int) -> None:
    held, widths = 0, {"active": 0.0, "uniform": 0.0}
    for seed in range(300):
        chance = np.random.default_rng([labels, seed])
        golds = (chance.random(2000) < 0.85).astype(float)
        errs = chance.random(2000) < 0.06
        called = np.where(errs, 1 - golds, golds)
        doubt = np.where(errs, chance.uniform(0.1, 0.5, 2000), chance.beta(0.3, 3, 2000) / 2)
        doubt = np.sqrt(doubt * (1 - doubt))
        for strategy, chances in (
            ("active", 0.5 / 2000 + 0.5 * doubt / doubt.sum()),
            ("uniform", np.full(2000, 1 / 2000)),
        ):
            places = drawn(chance, chances, labels)
            estimate = corrected(LabelledSample.of(called, places, golds[places], chances[places]))
            widths[strategy] += estimate.width
            held += strategy == "active" and estimate.low <= 0.85 <= estimate.high
    assert held / 300 > 0.93 - 3 * math.sqrt(0.07 * 0.93 / 300)
    assert widths["active"] < 0.93 * widths["uniform"]


def test_a_confidence_is_between_0_and_1() -> None:
    for estimate in ESTIMATES.values():
        for confidence in [0, 1, 95]:
            sample = LabelledSample.of([0, 1, 1, 0, 1], range(5), [0, 1, 1, 0, 0])
            with pytest.raises(InputError, match="a number between 0 and 1 was expected"):
                estimate(sample, confidence=confidence)


# ------------------------------------------------------------------------------------------------------- differences


def two_models(
    seed: Any, rows: int, labels: int, accuracies: tuple[float, float], errors: tuple[float, float], apart: bool = False
) -> tuple[LabelledSample, np.ndarray]:
    """Two models' answers to the same questions, right together more often than not; a judge that errs on each at
    another rate; labels of both answers to some questions, or of `apart` ones.
    """
    chance = np.random.default_rng(seed)
    hard = chance.random(rows) < 0.5  # the same random number for both answers
    drawn = np.where(hard, chance.random(rows), chance.random((2, rows)))
    golds = (drawn < np.array(accuracies)[:, None]).astype(float)
    errs = chance.random((2, rows)) < np.array(errors)[:, None]
    called = np.where(errs, 1 - golds, golds).ravel()
    places = np.concatenate([np.arange(labels), rows + np.arange(labels) + (labels if apart else 0)])
    sample = LabelledSample.of(called, places, golds.ravel()[places], None, np.tile(np.arange(rows), 2))
    return sample, np.arange(2 * rows) >= rows


def test_a_corrected_difference_is_ppi_of_paired_differences() -> None:
    rows, labels = 500, 80
    sample, second = two_models(1, rows, labels, (0.7, 0.8), (0.1, 0.05))
    by_judge = sample.predictions[rows:] - sample.predictions[:rows]
    by_people = sample.golds[labels:] - sample.golds[:labels]
    here, people, all_rows = (x - x.mean() for x in (by_judge[:labels], by_people, by_judge))
    spread = np.concatenate([here / labels, np.zeros(rows - labels)]) - all_rows / rows
    tuning = float(people @ spread[:labels]) / labels / float(spread @ spread)
    rest = np.concatenate([people / labels, np.zeros(rows - labels)]) - tuning * spread
    value = by_people.mean() - tuning * (by_judge[:labels].mean() - by_judge.mean())
    added = 10 / labels
    n = labels + 2 * added
    variance = (labels**2 * float(rest @ rest) + 2 * added) / n / (n - 1)
    half = student.ppf(0.975, n - 1) * math.sqrt(variance)
    estimate = corrected_difference(sample, second)
    assert (estimate.value, estimate.n) == (pytest.approx(value), rows)
    assert (estimate.low, estimate.high) == pytest.approx((value - half, value + half), abs=1e-4)
    assert estimate.low < 0.1 < estimate.high
    turned = corrected_difference(sample, ~second)
    assert (turned.value, turned.low, turned.high) == pytest.approx((-value, -estimate.high, -estimate.low))


def test_a_difference_of_labels_that_cover_all_or_of_a_blind_judge_is_that_of_the_labels() -> None:
    sample, second = two_models(2, 200, 200, (0.6, 0.8), (0.1, 0.2))
    plain = sample.golds[200:].mean() - sample.golds[:200].mean()
    assert corrected_difference(sample, second).value == pytest.approx(plain)
    assert corrected_difference(sample, second).width == pytest.approx(labels_only_difference(sample, second).width)
    sample, second = two_models(3, 1000, 60, (0.6, 0.8), (0.0, 0.0))
    blind = replace(sample, predictions=np.ones(2000))
    alone = labels_only_difference(sample, second)
    assert alone.value == pytest.approx(sample.golds[60:].mean() - sample.golds[:60].mean())
    estimate = corrected_difference(blind, second)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((alone.value, alone.low, alone.high))
    exact = corrected_difference(sample, second)  # a judge without an error has the difference of all rows
    assert exact.value == pytest.approx(sample.predictions[1000:].mean() - sample.predictions[:1000].mean(), abs=0.005)
    assert 0.02 < exact.width < 0.6 * alone.width


def test_copies_of_pairs_add_no_certainty_and_labels_apart_count() -> None:
    once, second = two_models(4, 400, 100, (0.6, 0.8), (0.1, 0.2))
    rows = np.concatenate([once.rows + 800 * copy for copy in range(3)])
    clusters = np.tile(once.clusters, 3)
    many = LabelledSample.of(np.tile(once.predictions, 3), rows, np.tile(once.golds, 3), None, clusters)
    single, copied = corrected_difference(once, second), corrected_difference(many, np.tile(second, 3))
    assert (copied.value, copied.width) == pytest.approx((single.value, single.width))
    loose = replace(many, clusters=np.concatenate([once.clusters + 400 * copy for copy in range(3)]))
    assert corrected_difference(loose, np.tile(second, 3)).width < 0.65 * single.width
    apart, second = two_models(4, 400, 100, (0.6, 0.8), (0.1, 0.2), apart=True)
    assert 0 < corrected_difference(apart, second).width < labels_only_difference(apart, second).width
    with pytest.raises(InputError, match="one side has no labelled row"):
        corrected_difference(once, np.arange(800) >= 790)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("labels", "highest"), [(20, 1.0), (100, 0.97)])
def test_intervals_of_differences_hold_the_truth(labels: int, highest: float, apart: bool) -> None:
    """`benchmarks/corrected.py --pairs` does so with 2,000 draws and prints the figures of docs/measurements.md."""
    cells = [((0.7, 0.8), (0.02, 0.08)), ((0.8, 0.85), (0.12, 0.05)), ((0.6, 0.9), (0.1, 0.2))]
    held, draws = np.zeros(len(cells)), 300
    for cell, (accuracies, errors) in enumerate(cells):
        truth = accuracies[1] - accuracies[0]
        for seed in range(draws):
            sample, second = two_models([labels, seed, cell], 1000, labels, accuracies, errors, apart)
            estimate = corrected_difference(sample, second)
            held[cell] += estimate.low <= truth <= estimate.high
    noise = math.sqrt(0.95 * 0.05 / draws)
    assert (held / draws > 0.93 - 3 * noise).all(), held / draws
    assert 0.95 - 2 * noise < held.mean() / draws < highest
