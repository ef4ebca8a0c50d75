"""Verdicts in parts: parquet files of so many rows each, which may be written in any order, each whole or not at all.

    verdicts/part-00000.parquet
    verdicts/_parts.jsonl        a line for each part that is written: its rows, how many failed, its size and SHA-256

A part that the list does not name, or whose bytes differ from it, counts as missing, and is judged again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import InputError, first_line
from bert_judge.records import VERDICT_TYPES, whole_text
from bert_judge.results.files import PARTIAL, PARTS, facts, write
from bert_judge.results.lines import unwritable
from bert_judge.results.summary import Tally

if TYPE_CHECKING:
    import pyarrow as pa

PART_ROWS = 10_000
"""Rows of a part, unless another number is asked for: what a run that is killed can lose."""

LIST = "_parts.jsonl"  # readers of parquet folders pass over names that begin so
_GROUP_ROWS = 1_000
_TYPES: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "gold": (int,),
    **VERDICT_TYPES,
    "columns": (Mapping,),  # the input's other columns
    "question": (str,),
    "question_hash": (str,),
    "references": (tuple,),
    "candidate": (str,),
}
_AS_JSON = frozenset(name for name, types in _TYPES.items() if Mapping in types)
"""The columns whose values differ from row to row in their keys: JSON."""


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """A part that was written: its number (from 0), its rows, how many of them failed, its size and SHA-256."""

    number: int
    rows: int
    failed: int
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"part-{self.number:05d}.parquet"

    @property
    def facts(self) -> dict[str, Any]:
        """What `run.json` says of its file."""
        return {"bytes": self.bytes, "sha256": self.sha256}


class VerdictParts:
    """The parts of a result that is being written: which are whole, and how to write the others.

    `part_rows` is how many rows a part has (the last one may have fewer). `rows_done` is how many rows need no more
    judging.
    """

    name = f"{PARTS}/"

    def __init__(self, folder: Path, part_rows: int) -> None:
        self.part_rows = part_rows
        self._whole_parts: dict[int, VerdictPart] = {}
        self._records: list[Mapping[str, Any]] = []
        self._reopened = False
        self._written = folder / PARTS
        self._begun = folder / (PARTS + PARTIAL)

    @property
    def rows_done(self) -> int:
        """The rows of the parts that are whole, without those on which the judge failed."""
        return sum(part.rows - part.failed for part in self._whole_parts.values())

    def resume(self) -> None:
        """Go on with what an interrupted run left; what is damaged is judged again, with a warning."""
        self._find_whole_parts(self._begun)

    def reopen(self) -> None:
        """Take the failed rows of a finished result to be judged again."""
        self._reopened = True
        self._find_whole_parts(self._written)

    def _find_whole_parts(self, folder: Path) -> None:
        for part in listed_parts(folder) if (folder / LIST).exists() else []:
            path = folder / part.name
            if path.exists() and facts(path) == part.facts:
                self._whole_parts[part.number] = part
            else:
                warnings.warn(f"{path} is missing or damaged; its {part.rows:,} rows are judged again.", stacklevel=2)

    def begin(self) -> None:
        """Make the folder, or make a finished one an unfinished one; parts of another run go."""
        if self._reopened:
            shutil.rmtree(self._begun, ignore_errors=True)
            self._written.rename(self._begun)
        self._tidy()

    def _tidy(self) -> None:
        """Write the list of whole parts, each once and in order, and remove all other files."""
        self._begun.mkdir(parents=True, exist_ok=True)
        write(self._begun / LIST, (json.dumps(asdict(part)) + "\n" for part in self._parts()))
        names = {part.name for part in self._parts()}
        for other in self._begun.glob("*.parquet*"):
            if other.name not in names:
                other.unlink(missing_ok=True)

    def _parts(self) -> list[VerdictPart]:
        return [self._whole_parts[number] for number in sorted(self._whole_parts)]

    def todo(self, total: int) -> dict[int, Sequence[int]]:
        """The rows of each part that are to be judged: all of a missing one, of a whole one those that failed."""
        numbers = range(math.ceil(total / self.part_rows))
        rows = {number: self._rows_to_judge(number, total) for number in numbers}
        return {number: of_part for number, of_part in rows.items() if of_part}

    def _rows_to_judge(self, number: int, total: int) -> Sequence[int]:
        part = self._whole_parts.get(number)
        if part is None:
            return range(min(self.part_rows, total - number * self.part_rows))
        if not part.failed:
            return ()
        records = enumerate(read_part(self._begun / part.name, ("failed",)))
        failed = [row for row, record in records if record.get("failed")]
        return range(len(failed)) if len(failed) == part.rows else failed

    def earlier(self, number: int) -> Iterator[dict[str, Any]]:
        """The records among which those of `todo` are put: of a part that is whole all, else none."""
        part = self._whole_parts.get(number)
        return iter(()) if part is None else read_part(self._begun / part.name)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record; the part is on the disk once it ends."""
        self._records.append(record)

    def end_part(self, number: int) -> None:
        """Write the part, whole. Raises OutputError where a value can't be written, OSError where the file can't."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        records, self._records = self._records, []
        table = pa.Table.from_pylist([_columns_of(record) for record in records], schema=_schema())
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, row_group_size=_GROUP_ROWS, compression="zstd")
        content = sink.getvalue().to_pybytes()
        failed = sum(bool(record.get("failed")) for record in records)
        part = VerdictPart(number, len(records), failed, len(content), hashlib.sha256(content).hexdigest())
        write(self._begun / part.name, [content])
        self._whole_parts[number] = part
        with (self._begun / LIST).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(part)) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        """Forget the records of a part that has no end."""
        self._records = []

    def tally(self) -> Tally:
        """Counts the records of all parts: they may have been written in any order."""
        paths = (self._begun / part.name for part in self._parts())
        return Tally(record for path in paths for record in read_part(path, Tally.COLUMNS))

    def files(self) -> dict[str, dict[str, Any]]:
        """Sizes and hashes of the finished files, by name."""
        self._tidy()
        parts = {f"{PARTS}/{part.name}": part.facts for part in self._parts()}
        return {**parts, f"{PARTS}/{LIST}": facts(self._begun / LIST)}

    def finish(self) -> None:
        """Give the folder its name, unless it has it already."""
        if self._begun.exists():
            shutil.rmtree(self._written, ignore_errors=True)
            self._begun.rename(self._written)

    def discard(self) -> None:
        """Remove what is unfinished."""
        shutil.rmtree(self._begun, ignore_errors=True)


def listed_parts(folder: Path) -> list[VerdictPart]:
    """The parts in a folder, by number; of one that was written twice the last. Raises InputError."""
    path = folder / LIST
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # half a line, of a killed process, is no line
        parts = [VerdictPart(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} can't be read ({first_line(error)}); remove {folder} and judge again.") from error
    return sorted({part.number: part for part in parts}.values(), key=lambda part: part.number)


def read_part(path: Path, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
    """The records of a part, as they were given; of some columns alone. Raises InputError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen = None if columns is None else [name for name in _TYPES if name in columns]
    try:
        with path.open("rb") as content, pq.ParquetFile(content) as file:
            for batch in file.iter_batches(_GROUP_ROWS, columns=chosen):
                yield from map(_record_of, batch.to_pylist())
    except (pa.ArrowException, ValueError, OSError) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}); remove it and judge again.") from error


def _schema() -> pa.Schema:
    import pyarrow as pa

    text = pa.large_string()
    arrow_types = {
        str: text,
        Mapping: text,  # as JSON
        float: pa.float64(),
        int: pa.int32(),
        bool: pa.bool_(),
        tuple: pa.list_(text),
    }
    return pa.schema([(name, arrow_types[types[0]]) for name, types in _TYPES.items()])


def _columns_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a row of the schema."""
    row = {name: value for name, value in record.items() if name in _TYPES and name != "columns"}
    others = {name: value for name, value in record.items() if name not in row}
    try:
        if not math.isfinite(row["score"] or 0):
            raise ValueError(f"{row['score']} is not finite")
        for name, value in (*row.items(), ("columns", others)):
            if name in _AS_JSON and value:
                row[name] = json.dumps(value, allow_nan=False)
            elif isinstance(value, str):
                row[name] = whole_text(value)
    except (ValueError, TypeError) as error:
        raise unwritable(record, error) from error
    return row


def _record_of(row: Mapping[str, Any]) -> dict[str, Any]:
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
            record[name] = value
    return record
