"""What clients of HTTP endpoints share: a checked address, and how long they wait before another try."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import SplitResult, urlsplit

from bert_judge.errors import InputError

LONGEST_RETRY_AFTER: Final = 600.0
"""Seconds; a server that asks for more is not waited for."""

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds before the first retry, doubled each time


def read_address(text: str, name: str) -> SplitResult:
    """The parts of an address, which errors call by this name. One that may hold a password is not shown in them."""
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:  # the port is not a number, as after a password with a slash
        pass
    given = repr(text) if "@" not in text and "?" not in text else "not an address"
    raise InputError(
        f"{name} is {given}; an address such as http://localhost:8000/v1 was expected (in a user or password before "
        "the host, write / ? # @ as %2F %3F %23 %40)."
    )


def backoff(tried: int) -> float:
    """The seconds to wait after so many retries, at random between half and all of a wait that doubles."""
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**tried) * random.uniform(0.5, 1)


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that a server asks us to wait; the header has a number or a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def innermost(error: BaseException) -> str:
    """The innermost reason of an error, in one line: HTTP clients themselves say only that there was one."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__
