"""Exact bounds against scipy, and what fixed sequence testing promises against simulation."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binom, binomtest

from bert_judge.errors import InputError
from bert_judge.stats.certified import Counts, fixed_sequence, highest_target, lower_bound, rows_needed, upper_bound


def test_the_bounds_are_those_of_scipy() -> None:
    for agreed, rows in [(0, 1), (1, 1), (0, 40), (40, 40), (37, 40), (950, 1000), (1, 1000)]:
        for delta in [0.001, 0.025, 0.1, 0.5]:
            for alternative, bound in (("greater", lower_bound), ("less", upper_bound)):
                interval = binomtest(agreed, rows, alternative=alternative).proportion_ci(1 - delta, "exact")
                expected = interval.low if alternative == "greater" else interval.high
                assert bound(agreed, rows, delta) == pytest.approx(expected, abs=1e-12)


def test_without_rows_nothing_is_known() -> None:
    assert (lower_bound(0, 0, 0.1), upper_bound(0, 0, 0.1)) == (0.0, 1.0)


def test_the_fewest_rows() -> None:
    for target in [0.5, 0.9, 0.95, 0.99]:
        for delta in [0.01, 0.025, 0.1, 0.25]:
            rows = rows_needed(target, delta)
            assert lower_bound(rows, rows, delta) >= target - 1e-12
            assert rows == 1 or lower_bound(rows - 1, rows - 1, delta) < target


def test_the_fewest_rows_where_logarithms_are_not_exact() -> None:
    assert rows_needed(0.9, 0.9**2) == 2


NEEDED = rows_needed(0.9, 0.1)  # 22


def test_the_sequence_ends_at_the_first_failure() -> None:
    for counts, found in [
        ([], None),
        ([(0, 0), (NEEDED - 1, NEEDED - 1)], None),  # too few
        ([(NEEDED, NEEDED)], 0),
        ([(NEEDED, NEEDED - 1)], None),
        ([(3, 0), (2 * NEEDED - 1, 0), (60, 58), (100, 97)], 3),  # the few at first are passed over, whatever they are
        ([(60, 58), (100, 80), (1000, 990)], 0),  # nothing counts after the first that fails
        ([(2 * NEEDED, 20), (1000, 990)], None),
        ([(NEEDED - 1, 0), (NEEDED, NEEDED), (2 * NEEDED, 2 * NEEDED)], 2),  # half of all is enough where all are few
        ([(1000, 990), (1000, 990)], 1),
    ]:
        assert fixed_sequence([Counts(*each) for each in counts], 0.9, 0.1) == found


def test_what_could_be_reached() -> None:
    counts = [Counts(50, 49), Counts(200, 192), Counts(400, 340)]
    highest = highest_target(counts, 0.05)
    assert highest == pytest.approx(0.92)
    assert fixed_sequence(counts, highest, 0.05) == 1
    assert fixed_sequence(counts, highest + 0.01, 0.05) is None
    assert highest_target([Counts(100, 40)], 0.05) is None
    assert highest_target([], 0.05) is None


def test_a_false_promise_is_as_rare_as_it_is_said_to_be() -> None:
    """`bands` are the agreement of the rows that each threshold adds; a promise is false below 0.95 for all so far."""
    for bands in [(0.99, 0.97, 0.93, 0.85, 0.6), (0.94, 0.94, 0.94, 0.94), (0.999, 0.7, 0.5)]:
        target, delta, draws = 0.95, 0.1, 1500
        chance, false = random.Random(3), 0
        truth = [sum(bands[: i + 1]) / (i + 1) for i in range(len(bands))]
        for _ in range(draws):
            rows = agreed = 0
            counts = []
            for band in bands:
                new = sum(chance.random() < 1 / len(bands) for _ in range(200))
                rows, agreed = rows + new, agreed + sum(chance.random() < band for _ in range(new))
                counts.append(Counts(rows, agreed))
            found = fixed_sequence(counts, target, delta)
            false += found is not None and truth[found] < target
        assert binom.sf(false - 1, draws, delta) > 1e-4, f"{false} of {draws} promises were false"


def test_bad_numbers_are_told_in_a_sentence() -> None:
    for call, said in [
        (lambda: rows_needed(1.0, 0.1), "the target is 1.0"),
        (lambda: rows_needed(0.9, 0.0), "delta is 0.0"),
        (lambda: fixed_sequence([], 0.0, 0.1), "the target is 0.0"),
    ]:
        with pytest.raises(InputError, match=said):
            call()
