"""The soak test of benchmarks, for some seconds: an honest client beside hostile ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system has no /proc")
def test_an_honest_client_is_answered_beside_hostile_ones() -> None:
    clients = ["wrong", "name", "host", "origin", "many references", "not read", "half heads"]
    length = ["--minutes", "0.1", "--alone", "1", "--row_seconds", "30"]  # no row is slow here, but the machine may be
    command = [sys.executable, "hostile.py", *length, "--only", *clients]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("wrong or missing 0") == 2
    reasons = re.findall(r"\d+ (\w+) \(\d+\)", done.stdout.partition("refused: ")[2].partition("\n")[0])
    assert {"host", "origin", "name"} <= set(reasons)
