"""Waiting for a state instead of a time: how long a thing takes depends on the machine and on what else it does."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds after which a test gives up. A test that passes never waits so long, however busy the machine is."""


def wait_until(condition: Callable[[], object], state: str) -> None:
    """Wait until the condition holds; `state` is what is waited for, for the message where it never comes."""
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, f"after {PATIENCE:g} s still not: {state}"
        time.sleep(0.01)


def restore_signals() -> None:
    """Let Ctrl-C and SIGTERM end the processes that we start, also where our own process was told to ignore them.

    A shell starts its background jobs with SIGINT ignored. Their children inherit that, and Python then raises no
    KeyboardInterrupt.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if sys.platform != "win32" and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
