"""Probabilities fitted to labels: the numbers, and what they bring on other questions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bert_judge.errors import InputError
from bert_judge.measures import BootstrapSettings, expected_calibration_error
from bert_judge.measures.recalibration import Recalibration, RecalibrationGains

DRAWS = BootstrapSettings(resamples=200)


def drawn(rows: int, slope: float = 1.0, bias: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels whose probability is sigmoid(slope * logit + bias)."""
    chance = np.random.default_rng(seed)
    logits = chance.normal(0, 3, rows)
    labels = chance.random(rows) < 1 / (1 + np.exp(-(slope * logits + bias)))
    return 1 / (1 + np.exp(-logits)), labels.astype(int)


def gains(scores: np.ndarray, golds: np.ndarray, clusters: object = None) -> RecalibrationGains:
    questions = np.arange(len(scores)) if clusters is None else clusters
    return RecalibrationGains.of(scores, (scores >= 0.5).astype(int), golds, questions, DRAWS)


def test_many_labels_give_logistic_regression_and_few_change_little() -> None:
    scores, golds = drawn(20_000, 0.6, 1.2)
    fitted = Recalibration.fit(scores, golds)
    logits = np.log(scores / (1 - scores))
    expected = LogisticRegression(C=1e9).fit(logits[:, None], golds)
    assert 1 / fitted.temperature == pytest.approx(expected.coef_[0, 0], rel=1e-2)
    assert fitted.bias == pytest.approx(expected.intercept_[0], rel=1e-2)
    few = Recalibration.fit(scores[:10], golds[:10])
    assert abs(few.bias) < 1.2 and 0.5 < few.temperature < 1.67
    assert Recalibration.fit([0.0, 1.0], [1, 0]) == Recalibration()  # rows that no recalibration changes


def test_scores_keep_their_order_and_the_threshold_becomes_one_half() -> None:
    recalibration = Recalibration(1.7, -0.8)
    scores = [0.0, 1e-300, 0.01, 0.5, recalibration.threshold, 0.99, 1.0 - 1e-16, 1.0]
    recalibrated = [recalibration.of(score) for score in scores]
    assert recalibrated == sorted(recalibrated) and (recalibrated[0], recalibrated[-1]) == (0.0, 1.0)
    assert recalibration.of(recalibration.threshold) == pytest.approx(0.5)
    assert Recalibration(0.05, 0.0).of(1e-300) == pytest.approx(0.0)
    assert all(Recalibration().of(score) == pytest.approx(score) for score in scores)


def test_a_wrong_cut_is_shown_and_a_right_one_is_not() -> None:
    for seed in range(5):
        wrong = gains(*drawn(300, 0.5, 1.5, seed))
        assert min(gain.estimate.low for gain in (wrong.agreement, wrong.log_loss, wrong.ece)) > 0
        assert wrong.recalibration.threshold < 0.3
        right = gains(*drawn(300, seed=seed))
        assert max(gain.estimate.low for gain in (right.agreement, right.log_loss)) <= 0


def test_what_is_measured() -> None:
    scores, golds = drawn(200, 1.0, 2.0)
    measured = gains(scores, golds)
    assert measured.agreement.before == ((scores >= 0.5) == golds).mean()
    assert measured.ece.before == pytest.approx(expected_calibration_error(scores, golds))
    assert measured.log_loss.before == pytest.approx(-np.log(np.where(golds == 1, scores, 1 - scores)).mean())
    for gain, sign in ((measured.agreement, 1), (measured.log_loss, -1), (measured.ece, -1)):
        assert gain.estimate.value == pytest.approx(sign * (gain.after - gain.before))
        assert gain.estimate.low < gain.estimate.value < gain.estimate.high
        assert gain.estimate.n == 200


def test_rows_of_a_question_are_in_one_fold_and_carry_no_more_than_one_row() -> None:
    scores, golds = drawn(60, 0.5, 1.5)
    alone, copied = gains(scores, golds), gains(*(np.repeat(part, 4) for part in (scores, golds, np.arange(60))))
    assert copied.log_loss.estimate.n == 240
    assert (copied.log_loss.estimate.high - copied.log_loss.estimate.low) > 0.8 * alone.log_loss.estimate.width
    with pytest.raises(InputError, match="1 cluster of rows was given"):
        gains(scores, golds, [1] * 60)
    with pytest.raises(InputError, match="no scores were given"):
        Recalibration.fit([], [])
