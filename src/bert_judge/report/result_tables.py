"""Results of `score` and `judge`: one alone, or several side by side in a table and in a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bert_judge.report.document import Content, Facts, Table
from bert_judge.results import BAD_ROWS, ResultFolder, write_files
from bert_judge.results.summary import Agreement, Summary
from bert_judge.wording import INTERVALS, bracketed, csv_text, interval_by, number, percent, rows_outside


def result_facts(summary: Summary, bad_rows: int) -> list[Facts]:
    """The figures of one result, and its agreement with the labels of the input if there are any."""
    facts = [
        ("rows", f"{summary.rows}" + (f", {bad_rows} set aside in {BAD_ROWS}" if bad_rows else "")),
        ("judged", f"{summary.judged}"),
        ("undecided", f"{summary.undecided}" + (f", {summary.failed} as the judge failed" if summary.failed else "")),
        ("truncated", f"{summary.truncated}" + (", inputs longer than the judge reads" if summary.truncated else "")),
        *([("left out", _left_out(summary.left_out))] if summary.left_out else []),
        *([("outside", rows_outside(summary.outside.reasons))] if summary.outside else []),
        ("mean score", number(summary.mean_score)),
        ("accuracy", _with_interval(summary)),
    ]
    if summary.undecided:
        facts.append(("", f"{percent(summary.accuracy_all)} with undecided rows as incorrect"))
    if summary.outside:
        facts.append(("", f"{percent(summary.outside.accuracy)} without rows outside"))
    agreement = summary.agreement
    if agreement is None:
        return [Facts(facts)]
    labels = f"{agreement.labels} labels of the file"
    title = f"agreement with the {labels}"
    if agreement.rows < agreement.labels:
        title = f"agreement with {agreement.rows} of the {labels}; the other rows are undecided"
    found = [
        ("accuracy", _with_interval(agreement)),
        *([("", f"{percent(summary.outside.agreement)} without rows outside")] if summary.outside else []),
        ("F1", number(agreement.f1)),
        ("Cohen's kappa", number(agreement.kappa)),
    ]
    return [Facts(facts), Facts(found, title)]


def _left_out(rows_by_part: Mapping[str, int]) -> str:
    """What is not part of answers: `reasoning in 50 rows, remarks in 3 rows`."""
    return ", ".join(f"{part} in {rows:,} row{'s' * (rows != 1)}" for part, rows in rows_by_part.items())


def suite_table(results: Mapping[str, ResultFolder], what: str = "judge") -> Table:
    """A line for each result, and how many rows all of them label correct."""
    summaries = {name: folder.summary for name, folder in results.items()}
    body = [
        [name, *_said(summary), percent(summary.agreement.accuracy if summary.agreement else None)]
        for name, summary in summaries.items()
    ]
    labelling = [results[name] for name, summary in summaries.items() if summary.accuracy is not None]
    return Table("", [what, *_SAID, "agreement with labels"], body, _together(labelling))


def task_table(results: Sequence[tuple[str, str, str, Summary]]) -> Table:
    """A line for each task, model and judge, with the judge's figures for the model's candidates."""
    body = [[task, model, judge, *_said(summary)] for task, model, judge, summary in results]
    labels = any(summary.accuracy is not None for *_, summary in results)
    return Table("", ["task", "model", "judge", *_SAID], body, INTERVALS if labels else "", left=(0, 1, 2))


def write_columns(results: Mapping[str, ResultFolder], folder: Path, *, candidate: bool = True) -> Path:
    """Write a table with a row for each row of the input and a column for each result: its labels, or else its scores.

    With `candidate` it has the candidates, too. It lies beside the folder, so that `FOLDER/*` are only results. An
    undecided verdict is an empty cell. Raises OutputError where the file can't be written.
    """
    texts = ["id", "question", *(["candidate"] if candidate else []), "gold"]
    path = folder.parent / f"{folder.resolve().name}-suite.csv"
    write_files(path.parent, {path.name: _csv_lines(results, texts)})
    return path


_SAID = ("rows", "undecided", "score", "judged correct")


def _said(summary: Summary) -> list[Content]:
    """The figures of one result in a table of several."""
    correct = bracketed(summary.accuracy, summary.accuracy_interval)
    return [summary.rows, summary.undecided, number(summary.mean_score), correct]


def _together(results: Sequence[ResultFolder]) -> str:
    if len(results) < 2:
        return INTERVALS if results else ""
    rows = correct = 0
    for records in zip(*(result.records() for result in results), strict=True):
        rows += 1
        correct += all(record["label"] == 1 for record in records)
    return (
        f"{INTERVALS}\ncorrect by all {len(results)} with labels: {correct} of {rows} rows ({percent(correct / rows)})"
    )


def _with_interval(found: Summary | Agreement) -> str:
    ends = found.accuracy_interval
    return bracketed(found.accuracy, ends) + (f", {interval_by(found.questions)}" if ends else "")


def _csv_lines(results: Mapping[str, ResultFolder], texts: Sequence[str]) -> Iterator[str]:
    folders = results.values()
    kinds = ["score" if each.summary.accuracy is None else "label" for each in folders]
    yield _csv_line([*texts, *results])
    for records in zip(*(folder.records() for folder in folders), strict=True):
        verdicts = (record[kind] for record, kind in zip(records, kinds, strict=True))
        yield _csv_line([*(records[0].get(text, "") for text in texts), *verdicts])


def _csv_line(cells: Iterable[object]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line).writerow([csv_text(cell) if isinstance(cell, str) else cell for cell in cells])
    return line.getvalue()
