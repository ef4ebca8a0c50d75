"""After each fault nothing is lost, nothing is there twice, and the user is told in words (`faults.py`)."""

from __future__ import annotations

import sys

import pytest

from faults import FAULTS, Fault, run_fault

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="faults are made with signals")


ELSEWHERE = {"a row that ends its process each time, on a Ray cluster"}  # on one cluster, in test_distributed.py
TESTED = {name: function for name, function in FAULTS.items() if name not in ELSEWHERE}


@pytest.mark.parametrize("function", TESTED.values(), ids=TESTED)
def test_nothing_is_lost_and_nothing_doubled(function: Fault) -> None:
    outcome = run_fault(function)
    assert outcome.seen
    assert (outcome.lost, outcome.twice) == (0, 0)
