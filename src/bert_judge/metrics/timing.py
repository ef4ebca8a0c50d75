"""A time limit for all patterns and formulas of a row together, besides the limit of each.

A server sets one, as other requests wait for the same judge:

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
    """The time limit is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[Callable[[], None]]:
    """Limit the patterns and formulas of this thread to `seconds` in all; yields a function that restarts the time."""

    def restart() -> None:
        _END.set(time.monotonic() + seconds)

    before = _END.set(None)
    restart()
    try:
        yield restart
    finally:
        _END.reset(before)


@contextmanager
def limited(seconds: float) -> Iterator[float]:
    """Yields `seconds`, or what is left of the time limit if that is less.

    Raises OutOfTimeError if nothing is left, and instead of a TimeoutError if less than `seconds` was.
    """
    end = _END.get()
    left = seconds if end is None else end - time.monotonic()
    if left <= 0:
        raise OutOfTimeError
    try:
        yield min(seconds, left)
    except TimeoutError as error:
        if left < seconds:
            raise OutOfTimeError from error
        raise


def check_time() -> None:
    """Raises OutOfTimeError if a time limit was set and is over."""
    end = _END.get()
    if end is not None and time.monotonic() >= end:
        raise OutOfTimeError
