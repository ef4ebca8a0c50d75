"""Certificates against the exact binomial test, and what they promise against simulation."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from bert_judge.measures.certified import Evidence, at_least, fixed_sequence, is_certified, rows_needed
from conftest import Refused


def singles(rows: int, agreed: int, seed: int = 0) -> Evidence:
    """Questions with one row each."""
    disagreed = [1.0] * (rows - agreed) + [0.0] * agreed
    random.Random(seed).shuffle(disagreed)
    return Evidence(rows, agreed, np.ones(rows), np.array(disagreed))


def clustered(questions: Sequence[tuple[int, int]], most: int) -> Evidence:
    """Questions as (rows, rows that disagree), of which none has more rows than `most`."""
    rows, wrong = (np.array(column, float) for column in zip(*questions, strict=True))
    return Evidence(int(rows.sum()), int((rows - wrong).sum()), rows / most, wrong / most)


def test_with_one_row_a_question_it_is_the_exact_binomial_test(subtests: pytest.Subtests) -> None:
    for target, delta in [(0.95, 0.025), (0.9, 0.05), (0.8, 0.025), (0.5, 0.1)]:
        for rows in [20, 73, 300, 1000]:
            most = int(binom.ppf(delta, rows, 1 - target))
            for wrong in range(max(0, most - 3), most + 3):
                exact = binomtest(wrong, rows, 1 - target, alternative="less").pvalue <= delta
                with subtests.test(target=target, delta=delta, rows=rows, wrong=wrong):
                    outcomes = {is_certified(singles(rows, rows - wrong, seed), target, delta) for seed in range(4)}
                    assert outcomes == {exact}


def test_answers_that_differ_within_a_question_count_more_than_one_of_them() -> None:
    chance, certified = random.Random(1), [0, 0]
    for _ in range(60):
        wrong = [sum(chance.random() < 0.02 for _ in range(5)) for _ in range(200)]
        certified[0] += is_certified(clustered([(5, count) for count in wrong], 5), 0.95, 0.025)
        certified[1] += is_certified(singles(200, sum(chance.random() >= count / 5 for count in wrong)), 0.95, 0.025)
    assert certified[0] > 1.5 * certified[1]


def test_the_fewest_rows() -> None:
    for target in [0.5, 0.9, 0.95, 0.99]:
        for delta in [0.01, 0.025, 0.1, 0.25]:
            rows = rows_needed(target, delta)
            assert is_certified(singles(rows, rows), target, delta)
            assert rows == 1 or not is_certified(singles(rows - 1, rows - 1), target, delta)
    assert rows_needed(0.9, 0.9**2) == 2


def test_the_rate_that_is_certified() -> None:
    for agreed, rows in [(995, 1000), (300, 300), (290, 300)]:
        exact = binomtest(agreed, rows, alternative="greater").proportion_ci(0.95, "exact").low
        assert exact - 0.0011 <= at_least(singles(rows, agreed), 0.9, 0.05) <= exact + 1e-9
    nothing = Evidence(0, 0, np.array([]), np.array([]))
    assert not is_certified(nothing, 0.5, 0.1)
    assert math.isnan(nothing.agreement)


NEEDED = rows_needed(0.9, 0.1)  # 22


def test_the_sequence_ends_at_the_first_failure(subtests: pytest.Subtests) -> None:
    for counts, expected in [
        ([], None),
        ([(0, 0), (NEEDED - 1, NEEDED - 1)], None),  # too few
        ([(NEEDED, NEEDED)], 0),
        ([(NEEDED, NEEDED - 1)], None),
        ([(3, 0), (2 * NEEDED - 1, 0), (60, 58), (100, 97)], 3),  # the few at first are passed over, whatever they are
        ([(60, 58), (100, 80), (1000, 990)], 0),  # nothing counts after the first that fails
        ([(2 * NEEDED, 20), (1000, 990)], None),
        ([(NEEDED - 1, 0), (NEEDED, NEEDED), (2 * NEEDED, 2 * NEEDED)], 2),  # half of all is enough where all are few
        ([(1000, 990), (1000, 990)], 0),  # the strictest of those that the same rows pass
    ]:
        with subtests.test(counts=counts):
            assert fixed_sequence([singles(*count) for count in counts], 0.9, 0.1) == expected
    path = [singles(50, 49), singles(200, 192), singles(400, 340)]
    assert [fixed_sequence(path, target, 0.05) for target in (0.92, 0.93)] == [1, None]


def test_bad_numbers(refused: Refused) -> None:
    for target, delta, message in [(1.0, 0.1, "the target is 1.0"), (0.9, 0.0, "delta is 0.0")]:
        with refused(message):
            rows_needed(target, delta)
    with refused("the target is 0.0"):
        fixed_sequence([], 0.0, 0.1)


def test_a_false_promise_is_as_rare_as_it_is_said_to_be(subtests: pytest.Subtests) -> None:
    """Each source is (share, rows a question, rate of questions that are wrong as a whole, rate of rows else).

    All sources together agree at no more than 0.9 of rows, so that every certificate is false.
    """
    for sources in [
        [(1.0, 1, 0.0, 0.1)],
        [(1.0, 5, 0.1, 0.0)],
        [(1.0, 5, 0.0, 0.1)],
        [(0.05, 8, 0.4, 0.0), (0.95, 1, 0.0, 0.04)],
        [(0.3, 8, 0.0, 0.1475), (0.7, 2, 0.0, 0.02)],
        [(0.02, 8, 1.0, 0.0), (0.98, 2, 0.0, 0.028)],
    ]:
        rows = sum(share * size for share, size, _, _ in sources)
        wrong = sum(share * size * (whole + (1 - whole) * rate) for share, size, whole, rate in sources)
        assert wrong / rows >= 0.1 - 1e-6
        chance, false, draws, delta = random.Random(3), 0, 600, 0.1
        for _ in range(draws):
            questions = []
            for _, size, whole, rate in chance.choices(sources, [share for share, *_ in sources], k=120):
                rate = 1.0 if chance.random() < whole else rate
                questions.append((size, sum(chance.random() < rate for _ in range(size))))
            false += is_certified(clustered(questions, max(size for _, size, _, _ in sources)), 0.9, delta)
        with subtests.test(sources=sources):
            assert binom.sf(false - 1, draws, delta) > 1e-4, f"{false} of {draws} promises were false"
