"""What makes many rows take less memory, and less time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def once(value: Any) -> Any:
    """A text as the one that is in memory already, if there is one: rows of one file and of several repeat many."""
    return sys.intern(value) if type(value) is str else value


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection meanwhile.

    Reading many rows makes many small objects but no cycles, the search for which takes a third of the time and more.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
