"""How much one file or request may cost: limits on characters, columns, nesting, unpacked bytes and seconds.

Every entrance reads under one of these records: the command line and Python under `FILES`, the server under limits that
it makes from its options, a cluster under those of the process that started it. Rows are not limited here: they stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from bert_judge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that is read, in characters, numbers, bytes and seconds; None is no limit.

    `text` is the most characters of one text (question, reference or candidate), `characters` that of all texts of a
    file or request. `line` is the most bytes of one line or record, `columns` of columns of a table, `depth` of levels
    of nested lists and objects, `digits` of digits of a number. `unpacked` is the most bytes that one member of an
    archive or a document that is read whole may have; a compressed file may grow to `ratio` times its size, and to
    `small` bytes in any case. `seconds` is the time that one file or request may take.
    """

    text: int | None
    characters: int | None = None
    line: int
    columns: int
    depth: int = 200
    digits: int = 1_000
    unpacked: int
    ratio: int = 200
    small: int = 64_000_000
    seconds: float | None = None


FILES = Limits(text=None, line=256_000_000, columns=20_000, unpacked=1_000_000_000)
"""What files may cost on one's own machine."""


def check(count: int, most: int | None, place: str, unit: str, remedy: str) -> None:
    """Raises InputError for more than the limit: what has how many of which unit, what is taken, what to do."""
    if most is not None and count > most:
        raise InputError(f"{place} has {count:,} {unit}; up to {most:,} are taken: {remedy}")
