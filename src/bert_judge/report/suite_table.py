"""Several results over the same rows: a line each in a table, and a column each in a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bert_judge.analysis.tables import Table
from bert_judge.artifacts import ResultFolder, write_files
from bert_judge.pipeline import Summary


def suite_table(results: Mapping[str, ResultFolder], what: str = "judge") -> str:
    """A line for each result, and how many rows all of them call correct."""
    head = [what, "rows", "undecided", "score", "right", "95 % interval", "agree with labels"]
    body = []
    for name, folder in results.items():
        summary = Summary.of(folder)
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
    labelling = [folder for folder, line in zip(results.values(), body, strict=True) if line[4] != "-"]
    return Table("", head, body, _right_by_all(labelling)).text()


def write_columns(results: Mapping[str, ResultFolder], folder: Path, *, candidate: bool = True) -> Path:
    """Write a table with a row for each row of the input and a column for each result: its labels, or its scores if it
    has none, and the candidate, if it is the same in all.

    It lies beside the folder, so that `FOLDER/*` are results and nothing else. An undecided verdict is an empty cell.
    Raises OutputError where the file can't be written.
    """
    texts = ["id", "question", *(["candidate"] if candidate else []), "gold"]
    path = folder.parent / f"{folder.resolve().name}-suite.csv"
    write_files(path.parent, {path.name: _csv_lines(results, texts)})
    return path


def _csv_lines(results: Mapping[str, ResultFolder], texts: Sequence[str]) -> Iterator[str]:
    folders = results.values()
    kinds = ["score" if Summary.of(each).accuracy is None else "label" for each in folders]
    yield _csv_line([*texts, *results])
    for records in zip(*(folder.records() for folder in folders), strict=True):
        verdicts = (record[kind] for record, kind in zip(records, kinds, strict=True))
        yield _csv_line([*(records[0].get(text, "") for text in texts), *verdicts])


def _csv_line(cells: Iterable[object]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _right_by_all(results: Sequence[ResultFolder]) -> str:
    if len(results) < 2:
        return ""
    rows = right = 0
    for records in zip(*(result.records() for result in results), strict=True):
        rows += 1
        right += all(record["label"] == 1 for record in records)
    return f"right by all {len(results)} with labels: {right} of {rows} rows ({right / rows:.1%})"
