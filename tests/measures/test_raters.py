"""Agreement of raters against scikit-learn, scipy and krippendorff, and its edges."""

from __future__ import annotations

import math
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bert_judge.measures.raters import interval_alpha, kendall_tau, majority, nominal_alpha

NAN = math.nan
label = st.one_of(st.none(), st.sampled_from(["right", "wrong", "unclear"]))
raters = st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(label, min_size=n, max_size=n), min_size=1, max_size=30))


@settings(deadline=None)
@given(units=raters)
def test_nominal_alpha_is_krippendorffs(units: list[list[str | None]]) -> None:
    ratings = [list(each) for each in zip(*units, strict=True)]
    numbers = {None: NAN, "right": 0, "wrong": 1, "unclear": 2}
    table = np.array([[numbers[each] for each in rater] for rater in ratings], float)
    found = nominal_alpha(ratings)
    pairable = table[:, np.isfinite(table).sum(axis=0) > 1]
    if len(set(pairable[np.isfinite(pairable)].tolist())) < 2:
        assert found is None
    else:
        assert found == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"))


def test_interval_alpha_is_krippendorffs() -> None:
    for missing in [0.0, 0.3, 0.6]:
        for shift in [0.0, 1e6]:
            chance = np.random.default_rng(0)
            table = (chance.random(80) + chance.normal(0, 0.3, (3, 80))).round(2)
            table[chance.random(table.shape) < missing] = NAN
            theirs = krippendorff.alpha(table, level_of_measurement="interval")
            assert interval_alpha(table + shift) == pytest.approx(theirs, abs=1e-6)


def as_numbers(ratings: list[list[Any]]) -> np.ndarray:
    return np.array(ratings, float)  # None is nan


def test_the_example_of_krippendorff() -> None:
    """Computing Krippendorff's alpha-reliability (2011), C: four raters, twelve units, with missing data."""
    text = """1 2 3 3 2 1 4 1 2 - - -
              1 2 3 3 2 2 4 1 2 5 - 3
              - 3 3 3 2 3 4 2 2 5 1 -
              1 2 3 3 2 4 4 1 2 5 1 -"""
    ratings = [[None if each == "-" else int(each) for each in line.split()] for line in text.splitlines()]
    assert nominal_alpha(ratings) == pytest.approx(0.743, abs=5e-4)
    assert interval_alpha(as_numbers(ratings)) == pytest.approx(0.849, abs=5e-4)


def test_alpha_is_undefined() -> None:
    for ratings in [
        *([[1, 1], [1, 1]], [[1, None], [None, 1]], [[None], [None]]),
        *([[], []], [[0.1] * 7, [0.1] * 7], [[1, 0]]),
    ]:
        assert nominal_alpha(ratings) is None
        assert interval_alpha(as_numbers(ratings)) is None


def test_tau_is_scipys_over_what_both_rated() -> None:
    chance = np.random.default_rng(0)
    first = chance.integers(0, 9, 50).astype(float)
    second = first + chance.integers(-4, 5, 50)
    theirs = stats.kendalltau(first[3:], second[3:])
    second[:3] = NAN
    found = kendall_tau(first, second)
    assert found is not None
    assert found == pytest.approx((theirs.statistic, theirs.pvalue, 47))
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == pytest.approx((-1.0, 1 / 3, 3))
    for first, second in [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, NAN, 2], [1, 2, NAN])]:
        assert kendall_tau(first, second) is None


def test_majority() -> None:
    for labels, expected in [
        ([1, 0, 1], 1),
        ([1, 0], None),
        ([None, 0, None], 0),
        ([], None),
        ([None], None),
        (["a", "b", "b", "a", "b"], "b"),
        ([0, 0, 1, 1, 2], None),
    ]:
        assert majority(labels) == expected
