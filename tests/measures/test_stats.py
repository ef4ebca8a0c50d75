"""Statistics against scipy and scikit-learn, their edges, and what holds for any input."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from bert_judge.errors import InputError
from bert_judge.measures import (
    TEMPERATURES,
    Confusion,
    brier,
    expected_calibration_error,
    fit_temperature,
    wilson_interval,
)

pairs = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=60)
scored = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


def test_wilson_is_scipys() -> None:
    for confidence in [0.5, 0.9, 0.95, 0.999]:
        for successes, n in [(0, 1), (1, 1), (0, 20), (20, 20), (7, 20), (999, 1000), (1, 100_000)]:
            theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
            assert wilson_interval(successes, n, confidence) == pytest.approx(
                (theirs.low, theirs.high), rel=1e-9, abs=1e-12
            )


def test_wilson_at_its_edges_and_beyond() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(0, 9)[0] == 0.0
    assert wilson_interval(9, 9)[1] == 1.0
    for counts in [(-1, 5), (6, 5), (0, -1)]:
        with pytest.raises(InputError):
            wilson_interval(*counts)
    for confidence in [0.0, 1.0, 95, math.nan]:
        with pytest.raises(InputError):
            wilson_interval(1, 2, confidence)


@settings(deadline=None)
@given(n=st.integers(1, 10**9), share=st.floats(0, 1), confidence=st.floats(0.01, 0.999))
def test_wilson_holds_the_share_and_mirrors(n: int, share: float, confidence: float) -> None:
    successes = round(share * n)
    low, high = wilson_interval(successes, n, confidence)
    assert 0 <= low <= successes / n <= high <= 1
    assert wilson_interval(n - successes, n, confidence) == pytest.approx((1 - high, 1 - low), abs=1e-9)


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
        found = (confusion.accuracy, confusion.precision, confusion.recall, confusion.f1, confusion.kappa)
        assert found == (accuracy, precision, recall, f1, kappa)
    for pair in [(2, 1), (0, -1), (1, None), (0.5, 1), ("1", 1)]:
        with pytest.raises(InputError, match="0 or 1"):
            Confusion.count([(1, 1), pair])


@settings(deadline=None)
@given(pairs=pairs)
def test_confusion_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    confusion = Confusion.count(pairs)
    golds, labels = [gold for gold, _ in pairs], [label for _, label in pairs]
    if pairs:
        assert confusion.accuracy == pytest.approx(metrics.accuracy_score(golds, labels))
    if 1 in golds + labels:
        assert confusion.f1 == pytest.approx(metrics.f1_score(golds, labels))
    if 1 in labels:
        assert confusion.precision == pytest.approx(metrics.precision_score(golds, labels))
    if 1 in golds:
        assert confusion.recall == pytest.approx(metrics.recall_score(golds, labels))
    if len({*golds, *labels}) == 2:
        assert confusion.kappa == pytest.approx(metrics.cohen_kappa_score(golds, labels))


@settings(deadline=None)
@given(rows=scored)
def test_brier_is_scikit_learns(rows: list[tuple[float, int]]) -> None:
    scores, golds = [score for score, _ in rows], [gold for _, gold in rows]
    assert brier(scores, golds) == pytest.approx(metrics.brier_score_loss(golds, scores, labels=[0, 1], pos_label=1))


def test_expected_calibration_error() -> None:
    for scores, golds, bins, expected in [
        ([1.0, 0.0], [1, 0], 15, 0.0),
        ([1.0, 0.0], [0, 1], 15, 1.0),
        ([0.5, 0.5], [1, 0], 15, 0.0),
        ([0.75] * 4, [1, 1, 1, 0], 10, 0.0),
        ([0.9, 0.9, 0.2], [1, 0, 0], 10, (2 * 0.4 + 0.2) / 3),
        ([0.2, 0.8], [1, 0], 1, 0.0),
        ([0.2, 0.8], [1, 0], 2, 0.8),
        ([0.5, 0.4], [0, 1], 2, 0.55),
    ]:
        assert expected_calibration_error(scores, golds, bins) == pytest.approx(expected)


@settings(deadline=None)
@given(rows=scored, bins=st.integers(1, 30))
def test_expected_calibration_error_by_numpy(rows: list[tuple[float, int]], bins: int) -> None:
    scores, golds = np.array([score for score, _ in rows]), np.array([gold for _, gold in rows])
    places = np.minimum((scores * bins).astype(int), bins - 1)
    shares = [(places == place).mean() for place in range(bins)]
    gaps = [
        abs(scores[places == place].mean() - golds[places == place].mean()) if share else 0.0
        for place, share in enumerate(shares)
    ]
    found = expected_calibration_error(scores.tolist(), golds.tolist(), bins)
    assert found == pytest.approx(float(np.dot(shares, gaps)), abs=1e-12)
    assert 0 <= found <= 1


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


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.floats(-50, 50), st.integers(0, 1)), min_size=1, max_size=40))
def test_temperature_lies_in_its_range_and_fits_no_worse_than_1(rows: list[tuple[float, int]]) -> None:
    logits, golds = [logit for logit, _ in rows], [gold for _, gold in rows]
    margins = np.array(logits) * (2 * np.array(golds) - 1)
    found = fit_temperature(logits, golds)
    assert TEMPERATURES[0] <= found <= TEMPERATURES[1]
    assert np.logaddexp(0, -margins / found).mean() <= np.logaddexp(0, -margins).mean() + 1e-6


def test_calibration_refuses() -> None:
    for measure in [brier, expected_calibration_error, fit_temperature]:
        for values, golds, message in [
            ([], [], "no (scores|logits) were given"),
            ([0.5], [], "1 (scores|logits) and 0 gold labels"),
            ([0.5], [1, 0], "1 (scores|logits) and 2 gold labels"),
            ([0.5], [2], "a gold label is 2"),
            ([0.5], [None], "a gold label is None"),
            ([0.5, math.nan], [1, 0], "a (score|logit) is"),
            ([0.5, math.inf], [1, 0], "a (score|logit) is"),
            *([([-0.01], [1], "probability"), ([1.01], [1], "probability")] if measure is not fit_temperature else []),
        ]:
            with pytest.raises(InputError, match=message):
                measure(values, golds)
    for bins in [0, -3]:
        with pytest.raises(InputError, match="bins"):
            expected_calibration_error([0.5], [1], bins)


def test_numpy_arrays_are_welcome() -> None:
    scores, golds = np.array([0.9, 0.2]), np.array([1, 0])
    assert brier(scores, golds) == pytest.approx(0.025)
    assert expected_calibration_error(scores, golds) == pytest.approx(0.15)
    assert fit_temperature(scores, golds) > 0
