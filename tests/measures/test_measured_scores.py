"""Scores that tell right from wrong: held against scikit-learn, and against every threshold tried in turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from bert_judge.errors import InputError
from bert_judge.measures import Confusion
from bert_judge.measures import scores as thresholds
from bert_judge.measures.scores import reliability

ROWS = st.lists(st.tuples(st.integers(0, 6).map(lambda n: n / 6), st.integers(0, 1)), min_size=1, max_size=30)


def counts(scores: list[float], golds: list[int], threshold: float) -> Confusion:
    return Confusion.count((gold, int(score >= threshold)) for score, gold in zip(scores, golds, strict=True))


def everywhere(scores: list[float], golds: list[int]) -> list[Confusion]:
    """What labels do at every threshold that makes a difference."""
    return [counts(scores, golds, edge) for edge in [*set(scores), 2.0]]


@given(ROWS)
def test_thresholds_are_the_best_of_all(rows: list[tuple[float, int]]):
    scores, golds = map(list, zip(*rows, strict=True))
    tried = everywhere(scores, golds)
    for choose, measure in ((thresholds.most_accurate, "accuracy"), (thresholds.best_f1, "f1")):
        found = choose(scores, golds)
        assert found.confusion == counts(scores, golds, found.value)
        assert (getattr(found.confusion, measure) or 0) == pytest.approx(max(getattr(t, measure) or 0 for t in tried))


@given(ROWS, st.sampled_from([0.5, 0.8, 0.95, 1.0]))
def test_a_wanted_precision_or_recall_costs_as_little_as_it_can(rows: list[tuple[float, int]], wanted: float):
    scores, golds = map(list, zip(*rows, strict=True))
    tried = everywhere(scores, golds)
    for choose, kept, cost in (
        (thresholds.for_precision, "precision", "recall"),
        (thresholds.for_recall, "recall", "precision"),
    ):
        reached = [getattr(t, cost) for t in tried if (getattr(t, kept) or 0) >= wanted]
        found = choose(scores, golds, wanted)
        assert (found is None) == (not reached)
        if found:
            assert found.confusion == counts(scores, golds, found.value)
            assert getattr(found.confusion, kept) >= wanted
            assert getattr(found.confusion, cost) == pytest.approx(max(reached))


def test_a_threshold_lies_between_two_scores():
    assert thresholds.most_accurate([0.1, 0.3, 0.7, 0.9], [0, 0, 1, 1]).value == pytest.approx(0.5)
    assert thresholds.most_accurate([0.1, 0.3], [0, 0]).value > 0.3


@given(ROWS)
def test_auroc_and_balanced_accuracy_are_those_of_scikit_learn(rows: list[tuple[float, int]]):
    scores, golds = map(list, zip(*rows, strict=True))
    labels = [int(score >= 0.5) for score in scores]
    found = counts(scores, golds, 0.5).balanced_accuracy
    area = thresholds.Ranking.of(np.array(scores), np.array(golds)).auroc(np.ones(len(scores)))
    if len(set(golds)) == 1:
        assert np.isnan(area) and found is None
    else:
        assert area == pytest.approx(roc_auc_score(golds, scores))
        assert found == pytest.approx(balanced_accuracy_score(golds, labels))


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
    found = thresholds.cross_fitted(scores, golds, ["a", "a", "b", "b"], thresholds.most_accurate)
    assert found[:2].tolist() != [0, 1]
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


def test_wrong_input_is_told_in_a_sentence() -> None:
    for call, said in [
        (lambda: thresholds.most_accurate([], []), "no scores were given"),
        (lambda: thresholds.most_accurate([0.1], [0, 1]), "1 scores and 2 gold labels"),
        (lambda: thresholds.most_accurate([0.1, float("nan")], [0, 1]), "not a finite number"),
        (lambda: thresholds.most_accurate([0.1], [2]), "a gold label is 2"),
        (lambda: reliability([1.2], [1]), "a probability in"),
        (lambda: reliability([0.2], [1], 0), "0 bins"),
    ]:
        with pytest.raises(InputError, match=said):
            call()
