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


@contextmanager
def limited(seconds: float) -> Iterator[float]:
    """Gives so many seconds, or what is left where that is less.

    Raises OutOfTimeError where nothing is left, and in place of a TimeoutError where less was.
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
    """Raises OutOfTimeError where a limit was set and is over."""
    end = _END.get()
    if end is not None and time.monotonic() >= end:
        raise OutOfTimeError
