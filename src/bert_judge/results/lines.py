"""Verdicts as the lines of `verdicts.jsonl`, written one by one as the judge gives them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from bert_judge.errors import InputError, OutputError
from bert_judge.results.files import PARTIAL, VERDICTS, facts, take_lock
from bert_judge.results.summary import Tally

_FLUSH_SECONDS = 0.5  # how much work a killed process can lose


class VerdictLines:
    """The lines of a result that is being written: one part, whose records are on the disk as they come.

    `rows_done` is how many rows need no more judging. Lines are counted while they pass, so that a finished file need
    not be read again.
    """

    name = VERDICTS

    def __init__(self, folder: Path) -> None:
        self._whole, self._begun = folder / VERDICTS, folder / (VERDICTS + PARTIAL)
        self.rows_done = self._end = 0
        self._failed: list[int] = []
        self._tally = Tally()
        self._file: TextIO | None = None
        self._flushed = 0.0

    def resume(self) -> None:
        """Go on after the last whole line of an interrupted run, which may have left half a line."""
        if self._begun.exists():
            with self._begun.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        self.rows_done += 1
                        self._end += len(line)

    def reopen(self) -> None:
        """Take the failed rows of a finished result to be judged again."""
        for row, record in enumerate(read_lines(self._whole)):
            if record.get("failed"):
                self._failed.append(row)
            else:
                self.rows_done += 1

    def begin(self) -> None:
        """Open the file after what is kept of it. Raises BlockingIOError where another process holds it."""
        # Half characters, which UTF-8 can't hold, are written as JSON spells them.
        self._file = self._begun.open("a", encoding="utf-8", errors="backslashreplace")
        if not take_lock(self._file.fileno()):  # NFS locks files, but no folders
            raise BlockingIOError
        self._file.truncate(self._end)
        self._tally = Tally(islice(read_lines(self._begun), self.rows_done) if self._end else ())
        self._flushed = time.monotonic()

    def todo(self, total: int) -> dict[int, Sequence[int]]:
        """The rows that are left, as part 0."""
        rows: Sequence[int] = self._failed or range(self.rows_done, total)
        return {0: rows} if rows else {}

    def earlier(self, number: int) -> Iterator[dict[str, Any]]:
        """The records among which those of `todo` are put: of a finished result all, else none."""
        return read_lines(self._whole) if self._failed else iter(())

    def add(self, record: Mapping[str, Any]) -> None:
        """Write a record. What is written stays if the run stops."""
        assert self._file
        try:
            line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        except (ValueError, TypeError) as error:
            raise unwritable(record, error) from error
        self._file.write(line)
        self._tally.count(record)
        self.rows_done += not self._failed
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._file.flush()
            self._flushed = time.monotonic()

    def end_part(self, number: int) -> None:
        """Make sure that the records are on the disk."""
        assert self._file
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, finished or not."""
        if self._file:
            with suppress(OSError):  # an error of writing was raised before
                self._file.close()

    def tally(self) -> Tally:
        """What was counted of all records."""
        return self._tally

    def files(self) -> dict[str, dict[str, Any]]:
        """Size and hash of the file, by its name."""
        return {VERDICTS: facts(self._begun)}

    def finish(self) -> None:
        """Give the file its name, unless it has it already."""
        with suppress(FileNotFoundError):
            self._begun.replace(self._whole)

    def discard(self) -> None:
        """Remove what is unfinished."""
        self._begun.unlink(missing_ok=True)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a `verdicts.jsonl`, as a stream. Raises InputError where it can't be read or a line is damaged."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                    if not isinstance(record, dict) or "id" not in record:
                        raise ValueError("an object with an id was expected")
                except ValueError as error:
                    raise InputError(
                        f"{path} is damaged in line {number} ({error}); remove it and judge again."
                    ) from error
                yield record
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}).") from error


def unwritable(record: Mapping[str, Any], error: Exception) -> OutputError:
    """The error for a verdict with a value that has no place in JSON."""
    return OutputError(
        f"the verdict of row {record['id']} can't be written ({error}); a judge must give finite numbers, texts, lists "
        "and mappings of these, or None."
    )
