"""How much one file may cost: limits on columns and on bytes that are read as a whole. Rows stream without a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bert_judge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that is read.

    - `whole`: bytes of anything that is in memory as a whole: a line, a record, an element of a JSON list, a member of
      an archive
    - `columns`: columns of a table with a header
    - `ratio`: how much larger than in the archive a member may become, if it is larger than `small` bytes
    """

    whole: int = 64 << 20
    columns: int = 20_000
    ratio: int = 200
    small: int = 4 << 20


FILES: Final = Limits()
"""The limits of files unless others are given."""


def check_whole(count: int, limits: Limits, place: str) -> None:
    """Raise InputError if `place` has too many bytes to be in memory as a whole."""
    if count > limits.whole:
        raise InputError(f"{place} has over {limits.whole >> 20:,} MiB, which is more than is read as a whole.")
