"""A verdict as a record, and the records of a result: lines of `verdicts.jsonl`, or rows of parquet parts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from bert_judge.errors import InputError, OutputError
from bert_judge.measures.questions import cluster_hash
from bert_judge.records import Sample, Verdict
from bert_judge.results import parts
from bert_judge.results.files import PARTS, VERDICTS, facts

ROW_COLUMNS = (
    *("task", "source", "dataset", "subset", "category", "model", "candidate_model", "language", "split"),
    *("label_by", "label_source"),
)
"""The columns of the input that say what a row is; a result made with `--no_texts` keeps their text, too."""


def verdict_record(sample: Sample, verdict: Verdict, texts: bool = True) -> dict[str, Any]:
    """A line of `verdicts.jsonl`. Empty values are left out, but for score and label (null: undecided).

    Without texts a hash tells which rows have the same question (`questions.cluster_hash`). A column
    of the input with the name of one of our fields is written as `input_NAME`.
    """
    record: dict[str, Any] = {"id": sample.id, "score": verdict.score, "label": verdict.label}
    optional: dict[str, Any] = {
        "gold": sample.gold,
        "explanation": verdict.explanation,
        "matched_reference": verdict.matched_reference,
        "truncated": dict(verdict.truncated) or None,
        "details": dict(verdict.details) or None,
        "failed": verdict.failed or None,
        "outside": verdict.outside,
        "left_out": dict(verdict.left_out) or None,
    }
    ours = {*record, *optional, "question", "question_hash", "references", "candidate"}
    kept = {
        name: value
        for name, value in sample.meta.items()
        if texts or name in (*ROW_COLUMNS, "file") or not isinstance(value, str)
    }
    optional |= {f"input_{name}" if name in ours else name: value for name, value in kept.items()}
    if texts:
        optional |= {"question": sample.question, "references": list(sample.references)}
    else:
        optional["question_hash"] = cluster_hash(sample.question, sample.id)
    record |= {name: value for name, value in optional.items() if value is not None}
    return record | ({"candidate": sample.candidate} if texts else {})


def record_cluster(record: Mapping[str, Any]) -> str:
    """The hash of a record's question, the same whether its texts are there or were left out."""
    written: str | None = record.get("question_hash")
    return written or cluster_hash(record.get("question"), record["id"])


def json_line(record: Mapping[str, Any]) -> str:
    """A record as a line. Raises OutputError where a value has no place in JSON."""
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
    except (ValueError, TypeError) as error:
        raise OutputError(
            f"the verdict of row {record['id']} can't be written ({error}); a judge must give finite numbers, texts, "
            "lists and mappings of these, or None."
        ) from error


def has_verdicts(folder: Path) -> bool:
    """Whether a folder has the verdicts of a result."""
    return (folder / VERDICTS).exists() or (folder / PARTS).is_dir()


def read_verdicts(folder: Path, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
    """The records of a result, as a stream; of parts, the `columns` alone are read where only some are needed.

    Raises InputError where they can't be read, or are damaged.
    """
    if (folder / PARTS).is_dir() and not (folder / VERDICTS).exists():
        for part in parts.listed(folder / PARTS):
            yield from parts.read(part.path(folder / PARTS), columns)
    else:
        yield from read_lines(folder / VERDICTS)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a `verdicts.jsonl`, as a stream. Raises InputError where it can't be read or a line is damaged."""
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


def damage(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """What differs in the files of a result from what its `run.json`, the record, says: a sentence each, none if whole.

    A record without hashes (of an older version) says how many rows there are, and no more.
    """
    found, rows = [], record.get("summary", {}).get("rows")
    for name, written in record.get("files", {}).items():
        path = folder / name
        if not path.exists():
            found.append(f"{path} is missing.")
        elif (size := path.stat().st_size) != written["bytes"]:
            found.append(f"{path} has {size:,} bytes; {written['bytes']:,} were written.")
        elif facts(path) != written:
            found.append(f"{path} has other bytes than were written.")
    if not record.get("files"):
        there = sum(1 for _ in read_verdicts(folder))
        found += [f"{folder / VERDICTS} has {there:,} rows; {rows:,} were written."] if there != rows else []
    return found


def whole_lines(path: Path) -> tuple[int, int]:
    """The number of whole lines, and the byte where they end; an interruption may leave half a line."""
    count = end = 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                count += 1
                end += len(line)
    return count, end
