"""Verdicts in parts: parquet files of so many rows each, which may be written in any order, each whole or not at all.

    verdicts/part-00000.parquet
    verdicts/_parts.jsonl        a line for each part that is written: its rows, how many failed, its size and SHA-256

A part that the list does not name, or whose bytes differ from it, is not there, and is judged again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import shutil
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import InputError, OutputError, first_line
from bert_judge.records import whole_text
from bert_judge.results.files import PARTIAL, PARTS, facts, is_remote, write

if TYPE_CHECKING:
    import pyarrow as pa

PART_ROWS = 10_000
"""Rows of a part, unless another number is asked for: what a run that is killed can lose."""

LIST = "_parts.jsonl"  # readers of parquet folders pass over names that begin so
_GROUP_ROWS = 1_000
_COLUMNS = (
    *("id", "score", "label", "gold", "explanation", "matched_reference", "truncated", "details", "failed", "outside"),
    *("left_out", "columns", "question", "question_hash", "references", "candidate"),
)
_AS_JSON = ("truncated", "details", "left_out", "columns")


@dataclass(frozen=True, slots=True)
class Part:
    """A part that was written: its number (from 0), its rows, how many of them failed, its size and SHA-256."""

    number: int
    rows: int
    failed: int
    bytes: int
    sha256: str

    def path(self, folder: Path) -> Path:
        """Its file."""
        return folder / part_name(self.number)

    @property
    def facts(self) -> dict[str, Any]:
        """What `run.json` says of its file."""
        return {"bytes": self.bytes, "sha256": self.sha256}


def part_name(number: int) -> str:
    """The name of a part's file."""
    return f"part-{number:05d}.parquet"


def encoded(number: int, records: Sequence[Mapping[str, Any]]) -> tuple[Part, bytes]:
    """A part of these records, and the bytes of its file. Raises OutputError where a value can't be written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([_row(record) for record in records], schema=_schema())
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=_GROUP_ROWS, compression="zstd")
    content = sink.getvalue().to_pybytes()
    failed = sum(bool(record.get("failed")) for record in records)
    return Part(number, len(records), failed, len(content), hashlib.sha256(content).hexdigest()), content


class Parts:
    """The parts of a result that is being written: which are there, and how to write the others.

    `rows` is how many rows a part has (the last one may have fewer). `done` are those that are whole.
    """

    def __init__(self, folder: Path, rows: int) -> None:
        self.rows = rows
        self.done: dict[int, Part] = {}
        self.written = folder / PARTS
        # Folders in object stores have no name that could be changed: there, run.json alone says that they are whole.
        self.begun = self.written if is_remote(folder) else folder / (PARTS + PARTIAL)

    @property
    def rows_done(self) -> int:
        """How many rows the parts have that are whole."""
        return sum(part.rows for part in self.done.values())

    def resume(self) -> None:
        """Look at what an interrupted run left; what is damaged is judged again, with a warning."""
        self.done = {part.number: part for part in listed(self.begun)} if (self.begun / LIST).exists() else {}
        for part in list(self.done.values()):
            path = part.path(self.begun)
            if not path.exists() or facts(path) != part.facts:
                del self.done[part.number]
                warnings.warn(f"{path} is missing or damaged; its {part.rows:,} rows are judged again.", stacklevel=2)

    def missing(self, total: int) -> list[int]:
        """The numbers of the parts that a result of so many rows still lacks, or in which rows failed."""
        return [n for n in range(math.ceil(total / self.rows)) if n not in self.done or self.done[n].failed]

    def begin(self) -> None:
        """Make the folder, and the list of the parts that stay; others, of another run, go."""
        self.begun.mkdir(parents=True, exist_ok=True)
        self._write_list()
        names = {part_name(number) for number in self.done}
        for other in (path for path in self.begun.glob("*.parquet*") if path.name not in names):
            other.unlink(missing_ok=True)

    def reopen(self) -> None:
        """Make a finished result an unfinished one, whose failed rows can be judged again."""
        if self.begun != self.written:
            self.discard()
            self.written.rename(self.begun)
        self.resume()

    def write(self, number: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Write a part. Raises OutputError where a value can't be written, OSError where the file can't."""
        self.add(*encoded(number, records))

    def add(self, part: Part, content: bytes | str) -> None:
        """Take in a part: the bytes of its file, or the name under which another process wrote it. Raises OSError."""
        path = part.path(self.begun)
        if isinstance(content, str):
            (self.begun / content).replace(path)
        else:
            write(path, [content])
        self.done[part.number] = part
        if is_remote(self.begun):  # nothing can be added to a file there
            self._write_list()
            return
        with (self.begun / LIST).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(part)) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _write_list(self) -> None:
        """Write the list of all parts, in order."""
        write(self.begun / LIST, (json.dumps(asdict(self.done[number])) + "\n" for number in sorted(self.done)))

    def records(self, number: int, columns: Collection[str] | None = None) -> list[dict[str, Any]]:
        """The records of a part that is there; of some columns alone."""
        return list(read(self.begun / part_name(number), columns))

    def earlier_records(self, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """The records of all parts that are there, in order."""
        for number in sorted(self.done):
            yield from read(self.begun / part_name(number), columns)

    def files(self) -> dict[str, dict[str, Any]]:
        """Sizes and hashes of the finished files, by name; the list has no part twice then."""
        self.begin()
        parts = {f"{PARTS}/{part_name(number)}": self.done[number].facts for number in sorted(self.done)}
        return {**parts, f"{PARTS}/{LIST}": facts(self.begun / LIST)}

    def finish(self) -> None:
        """Give the folder its name, unless it has it already."""
        if self.begun != self.written and self.begun.exists():
            shutil.rmtree(self.written, ignore_errors=True)
            self.begun.rename(self.written)

    def discard(self) -> None:
        """Remove what is unfinished."""
        self.done = {}
        if not is_remote(self.begun):
            shutil.rmtree(self.begun, ignore_errors=True)
        elif self.begun.exists():
            self.begin()


@dataclass(frozen=True, slots=True)
class Desk:
    """Where other processes, maybe on other machines, put the parts of a run: a folder that has this run's record.

    `record` and `content` are the file of that record and what is in it.
    """

    begun: Path
    record: Path
    content: bytes

    def put(self, part: Part, content: bytes) -> bytes | str:
        """Write a part under a name that no other process has, and return that name for `Parts.add`.

        Where the folder is not the same one from here, or can't be written to, the content itself is returned.
        """
        try:
            if self.record.read_bytes() == self.content:
                name = f"{part_name(part.number)}.{secrets.token_hex(4)}"
                write(self.begun / name, [content])
                return name
        except OSError:
            pass  # the process that began the run writes it, and says what is wrong
        return content


def listed(folder: Path) -> list[Part]:
    """The parts in a folder, by number; of one that was written twice the last. Raises InputError."""
    path = folder / LIST
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # half a line, of a killed process, is no line
        found = [Part(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} can't be read ({first_line(error)}); remove {folder} and judge again.") from error
    return sorted({part.number: part for part in found}.values(), key=lambda part: part.number)


def read(path: Path, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
    """The records of a part, as `verdict_record` made them; of some columns alone. Raises InputError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    asked = None if columns is None else [name for name in _COLUMNS if name in columns]
    try:
        with path.open("rb") as content, pq.ParquetFile(content) as file:
            for batch in file.iter_batches(_GROUP_ROWS, columns=asked):
                yield from map(_record, batch.to_pylist())
    except (pa.ArrowException, ValueError, OSError) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}); remove it and judge again.") from error


def _schema() -> pa.Schema:
    """The columns of a part. What differs from row to row is JSON: `truncated`, `details`, `left_out` and the
    input's `columns`."""
    import pyarrow as pa

    text = pa.large_string()
    others = {
        "score": pa.float64(),
        "label": pa.int8(),
        "gold": pa.float64(),
        "matched_reference": pa.int32(),
        "failed": pa.bool_(),
        "references": pa.list_(text),
    }
    return pa.schema([(name, others.get(name, text)) for name in _COLUMNS])


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a row of the schema."""
    own = [name for name in _COLUMNS if name != "columns"]
    row = {name: record[name] for name in own if name in record}
    others = {name: value for name, value in record.items() if name not in own}
    try:
        if not math.isfinite(row["score"] or 0):
            raise ValueError(f"{row['score']} is not finite")
        for name, value in (*row.items(), ("columns", others)):
            if name in _AS_JSON and value:
                row[name] = json.dumps(value, allow_nan=False)
            elif isinstance(value, str):
                row[name] = whole_text(value)
    except (ValueError, TypeError) as error:
        raise OutputError(
            f"the verdict of row {record['id']} can't be written ({error}); a judge must give finite numbers, texts, "
            "lists and mappings of these, or None."
        ) from error
    return row


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a row of the schema."""
    record: dict[str, Any] = {}
    for name, value in row.items():
        if value is None and name not in ("id", "score", "label"):
            continue
        if name == "columns":
            record |= json.loads(value)
        elif name in _AS_JSON:
            record[name] = json.loads(value)
        else:
            record[name] = int(value) if name == "gold" and value.is_integer() else value
    return record
