"""How much one file or request may cost: limits on characters, columns, and bytes that are read as a whole.

Every entrance reads under one of these records: the command line, Python and a cluster under `FILES`, the server under
limits that it makes from its options. Rows are not limited here: they stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bert_judge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that is read; None is no limit.

    `text` is the most characters of one text (question, reference or candidate), `characters` that of all texts of a
    file. `whole` is the most bytes of what is held in memory at once: a line, a record, an element of a JSON list, a
    member of an archive, a settings file. `columns` is that of a table with a header. A member of an archive that
    is larger than `small` bytes may be `ratio` times as large as in the archive.
    """

    text: int | None = None
    characters: int | None = None
    whole: int = 64 << 20
    columns: int = 20_000
    ratio: int = 200
    small: int = 4 << 20


FILES: Final = Limits()
"""What files may cost on one's own machine."""


class LimitError(InputError):
    """A file is beyond a limit; `limit` is the name of that in `Limits`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


def check(count: int, most: int | None, limit: str, place: str, unit: str) -> None:
    """Raises LimitError for more than the limit: what has how many of which unit, and how many are taken."""
    if most is not None and count > most:
        raise LimitError(f"{place} has {count:,} {unit}; up to {most:,} are taken.", limit)


def check_whole(count: int, limits: Limits, place: str) -> None:
    """Raises LimitError for what would be held in memory as a whole and is too large for that."""
    if count > limits.whole:
        message = f"{place} has over {limits.whole >> 20:,} MiB, which is more than is read as a whole."
        raise LimitError(message, "whole")
