"""What judges without a model share: regular expressions with a timeout."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bert_judge.errors import InputError

PATTERN_TIMEOUT = 1.0
"""Seconds that a regular expression may take on a candidate."""


@lru_cache
def compile_pattern(pattern: str, case_sensitive: bool, name: str = "the pattern") -> Any:
    """A pattern of the package regex, whose searches take a timeout (`re` may search some texts for years).

    Raises InputError, which calls it `what`, where it is not a regular expression.
    """
    import regex

    try:
        return regex.compile(pattern, 0 if case_sensitive else regex.IGNORECASE)
    except (regex.error, TypeError) as error:
        raise InputError(f"{name} {pattern!r} is not a regular expression ({error}).") from error


def check_seconds(**limits: float) -> None:
    """Raise InputError where a timeout is not a number of seconds over 0, up to an hour."""
    for name, seconds in limits.items():
        if not 0 < seconds <= 3600:
            raise InputError(f"{name} is {seconds}; a number of seconds over 0, up to 3600, was expected.")
