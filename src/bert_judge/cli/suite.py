"""What `bert-judge score --suite` reads and prints: several named judges over the same rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bert_judge.analysis.tables import Table
from bert_judge.artifacts import ResultFolder, write_files
from bert_judge.pipeline import summarise


def suite_table(results: Mapping[str, ResultFolder], what: str = "judge") -> str:
    """A line for each result, and how many rows all of them call right."""
    head = [what, "rows", "undecided", "score", "right", "95 % interval", "agree with labels"]
    body = []
    for name, folder in results.items():
        summary = summarise(folder.records())
        agreement = summary.agreement
        body.append(
            [
                name,
                str(summary.rows),
                str(summary.undecided),
                "-" if summary.mean_score is None else f"{summary.mean_score:.3f}",
                "-" if summary.accuracy is None else f"{summary.accuracy:.1%}",
                "" if summary.accuracy_interval is None else "{:.1%} - {:.1%}".format(*summary.accuracy_interval),
                "-" if agreement is None or agreement.accuracy is None else f"{agreement.accuracy:.1%}",
            ]
        )
    labelling = [name for name, line in zip(results, body, strict=True) if line[4] != "-"]
    return Table("", head, body, _together([results[name] for name in labelling])).text()


def write_columns(results: Mapping[str, ResultFolder], folder: Path, *, candidate: bool = True) -> Path:
    """Write a table with a row for each row of the input and a column for each result: its labels, or its scores if it
    has none, and the candidate, if it is the same in all.

    It lies beside the folder, so that `FOLDER/*` are results and nothing else. An undecided verdict is an empty cell.
    Raises OutputError where the file can't be written.
    """
    texts = ("id", "question", *(["candidate"] if candidate else []), "gold")
    kinds = {
        name: "label" if any(record["label"] is not None for record in result.records()) else "score"
        for name, result in results.items()
    }
    path = folder.parent / f"{folder.resolve().name}-suite.csv"
    write_files(path.parent, {path.name: _lines(results, kinds, texts)})
    return path


def _lines(results: Mapping[str, ResultFolder], kinds: Mapping[str, str], texts: Sequence[str]) -> Iterator[str]:
    """The lines of the table, its head first."""
    line = io.StringIO(newline="")
    table = csv.writer(line)
    table.writerow([*texts, *results])
    for records in _rows(results):
        yield line.getvalue()
        line.seek(0)
        line.truncate()
        first = next(iter(records.values()))
        cells = (record[kinds[name]] for name, record in records.items())
        table.writerow([*(first.get(text, "") for text in texts), *cells])
    yield line.getvalue()


def _rows(results: Mapping[str, ResultFolder]) -> Iterator[dict[str, dict[str, Any]]]:
    """Row by row, the record of each judge."""
    for records in zip(*(result.records() for result in results.values()), strict=True):
        yield dict(zip(results, records, strict=True))


def _together(results: list[ResultFolder]) -> str:
    if len(results) < 2:
        return ""
    rows = right = 0
    for records in zip(*(result.records() for result in results), strict=True):
        rows += 1
        right += all(record["label"] == 1 for record in records)
    return f"right by all {len(results)} with labels: {right} of {rows} rows ({right / rows:.1%})"
