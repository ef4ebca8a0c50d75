"""How much one file or request may cost: limits on characters, columns, and bytes that are read as a whole.

The command line, Python and a cluster read under `FILES`, the server under limits from its options. The number of rows
is not limited: they stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bert_judge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that is read; None is no limit.

    - `text`: characters of one text (question, reference or candidate)
    - `characters`: characters of all texts of a file
    - `whole`: bytes of anything that is in memory as a whole: a line, a record, an element of a JSON list, a member of
      an archive
    - `columns`: columns of a table with a header
    - `ratio`: how much larger than in the archive a member may become, if it is larger than `small` bytes
    """

    text: int | None = None
    characters: int | None = None
    whole: int = 64 << 20
    columns: int = 20_000
    ratio: int = 200
    small: int = 4 << 20


FILES: Final = Limits()
"""The limits of files on your own machine."""


class LimitError(InputError):
    """A file is beyond a limit; `limit` is its name in `Limits`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


def check(count: int, most: int | None, limit: str, place: str, unit: str) -> None:
    """Raise LimitError if `place` has a `count` above the most; `limit` is its name, and `unit` what is counted."""
    if most is not None and count > most:
        raise LimitError(f"{place} has {count:,} {unit}; up to {most:,} are taken.", limit)


def check_whole(count: int, limits: Limits, place: str) -> None:
    """Raise LimitError if `place` has too many bytes to be in memory as a whole."""
    if count > limits.whole:
        message = f"{place} has over {limits.whole >> 20:,} MiB, which is more than is read as a whole."
        raise LimitError(message, "whole")
