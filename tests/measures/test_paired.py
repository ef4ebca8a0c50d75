"""Paired statistics against scipy and statsmodels, their edges, and how often intervals and tests are right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from bert_judge.measures.estimates import BootstrapSettings, bootstrap_interval
from bert_judge.measures.paired import FEW, Difference, holm, kendall_tau

QUICK = BootstrapSettings(resamples=100)
labels = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


def counted(only_first: int, only_second: int, same: int) -> Difference:
    first = [1] * only_first + [0] * only_second + [1] * same
    second = [0] * only_first + [1] * only_second + [1] * same
    return Difference.of(first, second)


def drawn(questions: int, answers: int, rates: tuple[float, float], seed: int, spread: float = 1.5) -> tuple:
    """Right answers of two models that share how hard the questions are."""
    chance = np.random.default_rng(seed)
    hard = chance.normal(0, spread, (questions, 1))
    first, second = (
        (chance.random((questions, answers)) < stats.norm.cdf(stats.norm.ppf(rate) * math.hypot(1, spread) + hard))
        for rate in rates
    )
    clusters = np.repeat(np.arange(questions), answers)
    return first.ravel().astype(int), second.ravel().astype(int), clusters.tolist()


def test_mcnemars_test_is_the_sign_flip_of_single_rows() -> None:
    for one, two in [(0, 0), (1, 0), (0, 9), (12, 20), (20, 12), (50, 50), (300, 240)]:
        theirs = mcnemar([[7, one], [two, 9]], exact=True).pvalue if one + two else 1.0
        assert counted(one, two, 7).p_value == pytest.approx(theirs, rel=1e-9)


def test_the_sign_flip_of_questions_is_the_permutation_test_of_scipy() -> None:
    for seed in range(4):
        first, second, clusters = drawn(12, 4, (0.5, 0.7), seed)
        sums = np.bincount(clusters, second - first)
        theirs = stats.permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=2**13)
        assert Difference.of(first, second, clusters, QUICK).p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_repeated_answers_are_no_further_evidence() -> None:
    first, second = [1, 1, 1, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 0, 1]
    once = Difference.of(first, second)
    often = Difference.of(first * 5, second * 5, list(range(8)) * 5)
    assert often.p_value == pytest.approx(once.p_value)
    assert often.estimate.interval == pytest.approx(once.estimate.interval)
    assert Difference.of(first * 5, second * 5).p_value < 0.01 < once.p_value


def test_scores_have_the_paired_t_test() -> None:
    chance = np.random.default_rng(1)
    first, second = chance.random(40), chance.random(40) + 0.1
    data = Difference.of(first, second, None, QUICK)
    assert data.p_value == pytest.approx(stats.ttest_rel(second, first).pvalue, rel=1e-9)
    assert data.value == pytest.approx((second - first).mean())


def test_holm_is_statsmodels() -> None:
    for p_values in [[0.3], [0.01, 0.04], [0.04, 0.01, 0.03, 0.005, 0.5], [0.2, 0.2, 1.0, 0.0], [0.9, 0.8, 0.7]]:
        assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())
    assert holm([]) == []


def test_the_interval_is_the_bootstrap_of_rows_and_near_scipys() -> None:
    first, second, clusters = drawn(80, 3, (0.5, 0.6), 5)
    apart = second - first
    expected = bootstrap_interval(lambda w: float(w @ apart / w.sum()), clusters, resamples=300, seed=2)
    difference = Difference.of(first, second, clusters, BootstrapSettings(resamples=300, seed=2))
    assert difference.estimate.interval == pytest.approx(expected)
    assert difference.estimate.value == pytest.approx(difference.value)
    assert (difference.rows, difference.questions, difference.estimate.method) == (240, 80, "paired bootstrap")
    assert difference.only_second - difference.only_first == apart.sum()
    first, second, _ = drawn(400, 1, (0.5, 0.6), 5)
    theirs = stats.bootstrap(
        (first, second), lambda a, b, axis: (b - a).mean(axis), paired=True, method="percentile", rng=1
    ).confidence_interval
    assert Difference.of(first, second).estimate.interval == pytest.approx((theirs.low, theirs.high), abs=0.006)


def test_few_flips_have_the_interval_of_bonett_and_price() -> None:
    for one, two in [(0, 0), (1, 0), (0, FEW - 1), (4, 5)]:
        difference, rows = counted(one, two, 50), 50 + one + two
        mean = (two - one) / (rows + 2)
        half = stats.t.ppf(0.975, rows + 1) * math.sqrt(((one + two + 2) / (rows + 2) - mean**2) / (rows + 2))
        assert difference.estimate.interval == pytest.approx((mean - half, mean + half), rel=0.02)
        assert difference.estimate.low < difference.value < difference.estimate.high
        assert difference.estimate.method == "Bonett and Price"


def test_differences_that_hardly_vary_have_an_interval() -> None:
    """The bootstrap of 40 rows that all changed is [-1, -1]; with repeated questions, each of them counts once."""
    for clusters in (40, 400):
        low, high = Difference.of([1] * clusters, [0] * clusters).estimate.interval
        assert low == -1 and -1 + 1 / clusters < high < -1 + 8 / clusters
        turned = Difference.of([0] * clusters, [1] * clusters).estimate.interval
        assert turned == pytest.approx((-high, -low))
    for first, second in [(1, 0), (0, 0), (0, 1)]:
        once, often = (
            Difference.of([first] * 40 * times, [second] * 40 * times, [i % 40 for i in range(40 * times)]).estimate
            for times in (1, 20)
        )
        assert once.interval == pytest.approx(often.interval)
        assert once.width > 0.05
    estimate = counted(39, 0, 1).estimate
    assert estimate.low == -1 and estimate.high > -0.9


@pytest.mark.parametrize("case", ["even", "apart", "repeated", "few", "ten"])
def test_intervals_cover_and_tests_keep_their_level(case: str) -> None:
    """200 draws: a coverage of 95 % falls under 91 % in 1 of 200 such tests; benchmarks/compare.py draws more."""
    questions, answers, rates = {
        "ten": (10, 20, (0.6, 0.7)),
        "even": (150, 1, (0.7, 0.7)),
        "apart": (150, 1, (0.6, 0.72)),
        "repeated": (60, 4, (0.6, 0.72)),
        "few": (60, 1, (0.93, 0.96)),
    }[case]
    truth, covered, significant = rates[1] - rates[0], 0, 0
    for seed in range(200):
        data = Difference.of(*drawn(questions, answers, rates, seed), BootstrapSettings(resamples=200))
        covered += data.estimate.low <= truth <= data.estimate.high
        significant += data.p_value < 0.05
    assert covered >= 0.91 * 200
    if case == "even":
        assert significant <= 0.08 * 200


@given(pairs=labels, clusters=st.integers(1, 8))
def test_what_holds_for_any_labels(pairs: list[tuple[int, int]], clusters: int) -> None:
    first, second = zip(*pairs, strict=True)
    names = [place % clusters for place in range(len(pairs))]
    data, turned = Difference.of(first, second, names, QUICK), Difference.of(second, first, names, QUICK)
    low, high = data.estimate.interval
    assert -1 <= low <= high <= 1
    assert data.value == pytest.approx(-turned.value)
    assert 0 < data.p_value <= 1 and data.p_value == pytest.approx(turned.p_value)


def test_what_one_question_or_no_variance_says() -> None:
    few = Difference.of([1, 1, 0], [1, 0, 0])
    assert (few.first_mean, few.second_mean, few.only_first, few.only_second) == (2 / 3, 1 / 3, 1, 0)
    scores = Difference.of([0.2, 0.3], [0.4, 0.6], ["q", "q"])
    assert (scores.estimate.interval, scores.p_value) == (None, 1.0)
    assert Difference.of([0, 0], [1, 1], ["q", "q"]).p_value == 1.0
    for shift in (0.0, 0.25):
        assert Difference.of([0.5] * 50, [0.5 + shift] * 50).estimate.interval is None


def test_tau_is_scipys_over_what_both_rated() -> None:
    chance = np.random.default_rng(0)
    first = chance.integers(0, 9, 50).astype(float)
    second = first + chance.integers(-4, 5, 50)
    theirs = stats.kendalltau(first[3:], second[3:])
    second[:3] = math.nan
    assert kendall_tau(first, second) == pytest.approx((theirs.statistic, theirs.pvalue, 47))
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == pytest.approx((-1.0, 1 / 3, 3))
    for first, second in [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, math.nan, 2], [1, 2, math.nan])]:
        assert kendall_tau(first, second) is None
