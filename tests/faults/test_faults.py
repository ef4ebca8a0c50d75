"""After each fault nothing is lost, nothing is there twice, and the user is told in words (`faults.py`)."""

from __future__ import annotations

import sys

import pytest

from faults import FAULTS, Fault, run_fault

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="faults are made with signals")


@pytest.mark.parametrize("function", FAULTS.values(), ids=FAULTS)
def test_nothing_is_lost_and_nothing_doubled(function: Fault) -> None:
    found = run_fault(function)
    assert found.seen
    assert (found.lost, found.twice) == (0, 0)
