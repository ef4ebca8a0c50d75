"""Rates over questions with several answers: the interval against Wilson's, at its edges, and how often it is right."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bert_judge.errors import InputError
from bert_judge.measures import BootstrapSettings, Estimate, rate, rate_interval, rate_of_counts, wilson_interval
from bert_judge.measures.estimates import WILSON, mean, student_quantile

counts = st.lists(st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1)


def test_wilsons_interval_is_scipys_and_its_edges() -> None:
    for confidence in [0.5, 0.9, 0.95, 0.999]:
        for successes, n in [(0, 1), (1, 1), (0, 20), (20, 20), (7, 20), (999, 1000), (1, 100_000)]:
            theirs = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
            expected = pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-12)
            assert wilson_interval(successes, n, confidence) == expected
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert (wilson_interval(0, 9)[0], wilson_interval(9, 9)[1]) == (0.0, 1.0)
    for arguments in [(-1, 5), (6, 5), (0, -1), *((1, 2, confidence) for confidence in (0.0, 1.0, 95, math.nan))]:
        with pytest.raises(InputError):
            wilson_interval(*arguments)


def test_one_answer_a_question_and_copies_of_it_have_wilsons_interval() -> None:
    for right, rows in [(0, 1), (1, 1), (0, 40), (40, 40), (7, 40), (500, 1000)]:
        by_question = [1] * right + [0] * (rows - right)
        assert rate_interval(by_question, [1] * rows) == wilson_interval(right, rows)
        assert rate_interval(by_question, [1] * rows, 0.8) == wilson_interval(right, rows, 0.8)
    for right, questions in [(3, 6), (0, 6), (6, 6), (1, 40), (20, 40)]:
        by_question = [20] * right + [0] * (questions - right)
        assert rate_interval(by_question, [20] * questions) == pytest.approx(wilson_interval(right, questions))


def test_answers_to_one_question_a_question_with_nearly_all_rows_and_no_rows() -> None:
    for right in (0, 20):
        assert rate_interval([right], [20]) == pytest.approx(wilson_interval(right // 20, 1))
    low, high = rate_interval([10], [20])
    assert low < 0.1 and high > 0.9
    low, high = rate_interval([300, 1, 0], [300, 1, 1])
    assert low < 0.3 and high > 0.99
    assert rate_interval([], []) == (0.0, 1.0)
    assert rate_interval([0, 0], [0, 0]) == (0.0, 1.0)
    assert rate([], []) == rate_of_counts([0], [0]) == Estimate(None)


def test_a_rate_is_an_estimate_with_its_method() -> None:
    estimate = rate([True, True, False, True], ["a", "b", "b", "c"])
    assert (estimate.value, estimate.n, estimate.method) == (0.75, 4, "interval by question (3 questions)")
    assert estimate.interval == rate_interval([1, 1, 1], [1, 2, 1])
    assert estimate.width == estimate.high - estimate.low
    assert rate_of_counts([1, 1, 1, 0], [1, 2, 1, 0]) == estimate
    assert rate([1, 0, 1]) == rate([1, 0, 1], "abc") == Estimate(2 / 3, *wilson_interval(2, 3), 3, WILSON)
    assert rate([1, 0, 1], confidence=0.8).interval == wilson_interval(2, 3, 0.8)
    bare = Estimate.of(0.5, None, 4, "bootstrap")
    assert (bare.value, bare.interval, bare.n, bare.method) == (0.5, None, 4, "")
    assert mean(np.array([0.2, 0.4]), ["q", "q"], BootstrapSettings()) == Estimate(pytest.approx(0.3), n=2)


@given(counts=counts)
def test_what_holds_for_any_counts(counts: list[tuple[int, int]]) -> None:
    right, rows = (list(column) for column in zip(*counts, strict=True))
    value = sum(right) / sum(rows)
    low, high = rate_interval(right, rows)
    assert 0 <= low <= value + 1e-9 and value - 1e-9 <= high <= 1 and low < high
    assert rate_interval(right[::-1], rows[::-1]) == pytest.approx((low, high))
    wrong = [n - c for c, n in counts]
    assert rate_interval(wrong, rows) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    by_row = wilson_interval(sum(right), sum(rows))
    assert high - low >= by_row[1] - by_row[0] - 1e-9


def test_students_quantile_is_scipys() -> None:
    for confidence in (0.8, 0.9, 0.95, 0.99):
        normal = stats.norm.ppf((1 + confidence) / 2)
        for degrees in (3, 4.5, 9, 49, 1000):
            exact = stats.t.ppf((1 + confidence) / 2, degrees)
            assert student_quantile(normal, degrees) == pytest.approx(exact, rel=0.01 if degrees < 5 else 0.002)


def test_what_is_refused() -> None:
    for right, rows in [([2], [1]), ([-1], [1])]:
        with pytest.raises(InputError, match="more than rows"):
            rate_interval(right, rows)
    with pytest.raises(InputError, match="confidence is 95"):
        rate_interval([1], [2], 95)
    with pytest.raises(InputError, match="resamples is 5"):
        BootstrapSettings(resamples=5)


ANSWERS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "equal": lambda _, questions: np.full(questions, 20),
    "unequal": lambda chance, questions: chance.integers(1, 40, questions),
    "a few large": lambda chance, questions: (
        chance.geometric(0.1, questions) * np.where(chance.random(questions) < 0.1, 10, 1)
    ),
}


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("questions", [10, 50])
@pytest.mark.parametrize("alike", [0.1, 0.3])
def test_the_interval_covers(answers: str, questions: int, alike: float) -> None:
    """1,000 draws of rates of questions from a beta distribution with an intra-class correlation of `alike`.

    Over rows, Wilson's interval covers 75 % and 55 % of them with 20 answers each.
    """
    chance = np.random.default_rng(7)
    covered = by_row = 0
    for _ in range(1000):
        rows = ANSWERS[answers](chance, questions)
        right = chance.binomial(rows, chance.beta(*[0.5 * (1 / alike - 1)] * 2, questions))
        low, high = rate_interval(right, rows)
        covered += low <= 0.5 <= high
        low, high = wilson_interval(int(right.sum()), int(rows.sum()))
        by_row += low <= 0.5 <= high
    assert covered >= 930, (covered, by_row)
    assert by_row < 800
