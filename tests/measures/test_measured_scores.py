"""Labels and scores against gold labels: held against scikit-learn, and against every threshold tried in turn."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from bert_judge.errors import InputError
from bert_judge.measures import TEMPERATURES, Confusion, brier, expected_calibration_error, fit_temperature
from bert_judge.measures import scores as thresholds
from bert_judge.measures.scores import reliability

scored = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=60)
ROWS = st.lists(st.tuples(st.integers(0, 6).map(lambda n: n / 6), st.integers(0, 1)), min_size=1, max_size=30)


def counts(scores: list[float], golds: list[int], threshold: float) -> Confusion:
    return Confusion.count((gold, int(score >= threshold)) for score, gold in zip(scores, golds, strict=True))


def everywhere(scores: list[float], golds: list[int]) -> list[Confusion]:
    """What labels do at every threshold that makes a difference."""
    return [counts(scores, golds, edge) for edge in [*set(scores), 2.0]]


@given(ROWS)
def test_the_threshold_is_the_best_of_all(rows: list[tuple[float, int]]):
    scores, golds = map(list, zip(*rows, strict=True))
    tried = everywhere(scores, golds)
    threshold = thresholds.most_accurate(scores, golds)
    assert threshold.confusion == counts(scores, golds, threshold.value)
    assert threshold.confusion.accuracy == pytest.approx(max(t.accuracy for t in tried))


@given(ROWS, st.sampled_from([0.5, 0.8, 0.95, 1.0]))
def test_a_wanted_precision_or_recall_costs_as_little_as_it_can(rows: list[tuple[float, int]], wanted: float):
    scores, golds = map(list, zip(*rows, strict=True))
    tried = everywhere(scores, golds)
    for choose, kept, cost in (
        (thresholds.for_precision, "precision", "recall"),
        (thresholds.for_recall, "recall", "precision"),
    ):
        reached = [getattr(t, cost) for t in tried if (getattr(t, kept) or 0) >= wanted]
        threshold = choose(scores, golds, wanted)
        assert (threshold is None) == (not reached)
        if threshold:
            assert threshold.confusion == counts(scores, golds, threshold.value)
            assert getattr(threshold.confusion, kept) >= wanted
            assert getattr(threshold.confusion, cost) == pytest.approx(max(reached))


def test_a_threshold_lies_between_two_scores():
    assert thresholds.most_accurate([0.1, 0.3, 0.7, 0.9], [0, 0, 1, 1]).value == pytest.approx(0.5)
    assert thresholds.most_accurate([0.1, 0.3], [0, 0]).value > 0.3


@given(ROWS)
def test_auroc_and_balanced_accuracy_are_those_of_scikit_learn(rows: list[tuple[float, int]]):
    scores, golds = map(list, zip(*rows, strict=True))
    labels = [int(score >= 0.5) for score in scores]
    balanced = counts(scores, golds, 0.5).balanced_accuracy
    area = thresholds.Ranking.of(np.array(scores), np.array(golds)).auroc(np.ones(len(scores)))
    if len(set(golds)) == 1:
        assert np.isnan(area) and balanced is None
    else:
        assert area == pytest.approx(metrics.roc_auc_score(golds, scores))
        assert balanced == pytest.approx(metrics.balanced_accuracy_score(golds, labels))


def test_cross_fitting_finds_nothing_where_there_is_nothing_to_find():
    fitted, elsewhere = [], []
    for seed in range(40):
        chance = np.random.default_rng(seed)
        scores, golds = chance.random(40), chance.integers(0, 2, 40)
        fitted.append(thresholds.most_accurate(scores, golds).confusion.accuracy)
        elsewhere.append(
            (thresholds.cross_fitted(scores, golds, range(40), thresholds.most_accurate, seed=seed) == golds).mean()
        )
    assert np.mean(fitted) > 0.58
    assert np.mean(elsewhere) < 0.53


def test_cross_fitting_keeps_clusters_whole():
    """Two questions: each is labelled by what the other one taught, here the opposite."""
    scores, golds = [0.2, 0.8, 0.2, 0.8], [0, 1, 1, 0]
    labels = thresholds.cross_fitted(scores, golds, ["a", "a", "b", "b"], thresholds.most_accurate)
    assert labels[:2].tolist() != [0, 1]
    with pytest.raises(InputError, match="1 cluster of rows was given; two or more"):
        thresholds.cross_fitted(scores, golds, ["a"] * 4, thresholds.most_accurate)


def test_the_risk_rises_as_less_sure_rows_are_kept():
    curve = thresholds.risk_coverage([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    assert curve.coverage == (0.25, 0.5, 0.75, 1.0)
    assert curve.risk == (0, 0, 0, 0.25)
    assert curve.area == pytest.approx(0.0625)
    assert curve.coverage_at(0.1) == 0.75 and curve.coverage_at(0.25) == 1.0

    one = thresholds.risk_coverage([1, 1, 1, 0], [1, 0, 0, 1])
    assert one == thresholds.risk_coverage([1, 1, 0, 1], [0, 0, 1, 1])
    assert one.coverage == (0.75, 1.0) and one.risk == pytest.approx((1 / 3, 0.5))
    assert one.area == pytest.approx((3 * 1 / 3 + 0.5) / 4)
    assert thresholds.risk_coverage([0.5], [1]).coverage_at(0.5) == 0.0


def test_a_thin_curve_keeps_its_ends_and_its_area():
    chance = np.random.default_rng(0)
    curve = thresholds.risk_coverage(chance.random(5000), chance.integers(0, 2, 5000))
    thin = curve.thinned(50)
    assert len(thin.risk) == 50 and thin.area == curve.area
    assert (thin.coverage[0], thin.risk[-1]) == (curve.coverage[0], curve.risk[-1])


def test_bins_of_reliability_hold_their_rows():
    low, high = reliability([0.05, 0.15, 0.95, 1.0], [0, 1, 1, 1], bins=2)
    assert (low.low, low.high, low.rows, low.mean_score, low.right.value) == (0.0, 0.5, 2, pytest.approx(0.1), 0.5)
    assert (high.rows, high.mean_score, high.right.value) == (2, pytest.approx(0.975), 1.0)


def test_confusion_counts_at_its_edges_and_beyond() -> None:
    confusion = Confusion.count(iter([(1, 1), (1, 1), (0, 1), (1, 0), (0, 0), (0, 0), (0, 0)]))
    assert confusion == Confusion(true_positive=2, false_positive=1, false_negative=1, true_negative=3)
    assert confusion.n == 7
    assert confusion.accuracy == pytest.approx(5 / 7)
    assert (confusion.precision, confusion.recall, confusion.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert confusion.kappa == pytest.approx(10 / 24)
    for confusion, accuracy, precision, recall, f1, kappa in [
        (Confusion(), None, None, None, None, None),
        (Confusion(true_positive=3), 1, 1, 1, 1, None),
        (Confusion(true_negative=3), 1, None, None, None, None),
        (Confusion(false_positive=3), 0, 0, None, 0, 0),
        (Confusion(false_negative=3), 0, None, 0, 0, 0),
        (Confusion(true_positive=3, true_negative=2), 1, 1, 1, 1, 1),
        (Confusion(false_positive=2, false_negative=2), 0, 0, 0, 0, -1),
    ]:
        values = (confusion.accuracy, confusion.precision, confusion.recall, confusion.f1, confusion.kappa)
        assert values == (accuracy, precision, recall, f1, kappa)
    for pair in [(2, 1), (0, -1), (1, None), (0.5, 1), ("1", 1)]:
        with pytest.raises(InputError, match="0 or 1"):
            Confusion.count([(1, 1), pair])


@given(rows=scored)
def test_brier_is_scikit_learns(rows: list[tuple[float, int]]) -> None:
    scores, golds = [score for score, _ in rows], [gold for _, gold in rows]
    assert brier(scores, golds) == pytest.approx(metrics.brier_score_loss(golds, scores, labels=[0, 1], pos_label=1))


@given(rows=scored, bins=st.integers(1, 30))
def test_expected_calibration_error_by_numpy(rows: list[tuple[float, int]], bins: int) -> None:
    scores, golds = np.array([score for score, _ in rows]), np.array([gold for _, gold in rows])
    places = np.minimum((scores * bins).astype(int), bins - 1)
    shares = [(places == place).mean() for place in range(bins)]
    gaps = [
        abs(scores[places == place].mean() - golds[places == place].mean()) if share else 0.0
        for place, share in enumerate(shares)
    ]
    error = expected_calibration_error(scores.tolist(), golds.tolist(), bins)
    assert error == pytest.approx(float(np.dot(shares, gaps)), abs=1e-12)
    assert 0 <= error <= 1


def test_temperature_is_found_again_and_is_logistic_regressions() -> None:
    for temperature in [0.2, 1.0, 3.0]:
        draw = random.Random(0)
        logits = [draw.gauss(0.0, 2.0) for _ in range(20_000)]
        golds = [int(draw.random() < 1 / (1 + math.exp(-logit / temperature))) for logit in logits]
        assert fit_temperature(logits, golds) == pytest.approx(temperature, rel=0.06)
    draw = random.Random(1)
    logits = [draw.gauss(0.5, 3.0) for _ in range(500)]
    golds = [int(draw.random() < 1 / (1 + math.exp(-logit / 1.7))) for logit in logits]
    slope = LogisticRegression(C=1e9, fit_intercept=False).fit([[logit] for logit in logits], golds).coef_[0, 0]
    assert fit_temperature(logits, golds) == pytest.approx(1 / slope, rel=1e-3)
    assert TEMPERATURES[0] <= fit_temperature([3.0, -3.0], [1, 0]) < 0.3
    for logits, golds, expected in [
        ([3.0, -3.0], [0, 1], TEMPERATURES[1]),
        ([0.0, 0.0], [0, 1], 1.0),
        ([1e6, -1e6, 1e6], [1, 0, 0], TEMPERATURES[1]),
    ]:
        assert fit_temperature(logits, golds) == pytest.approx(expected, rel=1e-3)


def test_calibration_refuses() -> None:
    of_probabilities = [brier, expected_calibration_error]
    of_all = [*of_probabilities, fit_temperature, thresholds.most_accurate]
    for values, golds, message, measures in [
        ([], [], "no (scores|logits) were given", of_all),
        ([0.5], [], "1 (scores|logits) and 0 gold labels", of_all),
        ([0.5], [1, 0], "1 (scores|logits) and 2 gold labels", of_all),
        ([0.5], [2], "a gold label is 2", of_all),
        ([0.5], [None], "a gold label is None", of_all),
        ([0.5, math.nan], [1, 0], "a (score|logit) is", of_all),
        ([0.5, math.inf], [1, 0], "a (score|logit) is", of_all),
        ([-0.01], [1], "probability", of_probabilities),
        ([1.01], [1], "probability", of_probabilities),
    ]:
        for measure in measures:
            with pytest.raises(InputError, match=message):
                measure(values, golds)
    with pytest.raises(InputError, match="0 bins"):
        expected_calibration_error([0.5], [1], 0)
