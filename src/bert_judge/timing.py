"""A limit of time for what a judge does with a row, where whoever asks it has set one.

Patterns and formulas have limits of their own. Where others wait for the same judge, theirs together are limited, too:

    with time_limit(1.5):
        list(judge.assess(samples))  # raises OutOfTimeError
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_END: ContextVar[float | None] = ContextVar("end", default=None)


class OutOfTimeError(Exception):
    """The time that was set is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[Callable[[], None]]:
    """Let patterns and formulas of this thread take so many seconds together; gives what starts them anew."""

    def restart() -> None:
        _END.set(time.monotonic() + seconds)

    before = _END.set(None)
    restart()
    try:
        yield restart
    finally:
        _END.reset(before)


def limited(seconds: float) -> float:
    """So many seconds, or what is left where that is less. Raises OutOfTimeError where nothing is."""
    end = _END.get()
    if end is None:
        return seconds
    left = end - time.monotonic()
    if left <= 0:
        raise OutOfTimeError
    return min(seconds, left)


def check_time() -> None:
    """Raises OutOfTimeError where a limit was set and is over."""
    limited(0.0)
