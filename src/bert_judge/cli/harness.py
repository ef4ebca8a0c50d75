"""What `score` adds for a saved run of another tool: that tool's own scores beside the verdicts."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from bert_judge.records import Row, __version__
from bert_judge.report.document import Document
from bert_judge.report.score import harness_document
from bert_judge.results import DIFFERENCES, HARNESS, ResultFolder, write_files
from bert_judge.results.runs import Run, open_run
from bert_judge.studies.harness import (
    HarnessComparison,
    SeveralLine,
    beside_harness,
    difference_record,
    differences_of,
    first_disagreements,
    several_answers,
)

_SHOWN = 5  # answers on which the tool and the judge differ


def beside_own_scores(folder: ResultFolder, run: Run) -> Document | None:
    """The tool's scores and the judge's labels, which are written as `HARNESS_FILES`, too.

    `run` has rows of the result; where it is a sample, all are read again. None, and no file, where the tool gave no
    scores between 0 and 1, or the judge no labels.
    """
    rows = open_run(folder.folder).rows if run.left else run.rows
    comparison = beside_harness(rows)
    several = several_answers(rows)
    if not (comparison.lines or (comparison.repeats and several)):
        return None
    _write(comparison, several, rows, folder)
    disagreements = first_disagreements(rows, _SHOWN)
    more = f"{{:,}} more: bert-judge show {folder.folder} --theirs"
    return harness_document(comparison, several, disagreements, more)


def _write(
    comparison: HarnessComparison,
    several: Sequence[SeveralLine],
    rows: Collection[Row],
    folder: ResultFolder,
) -> None:
    """Write the tables as data, and the answers on which the tool and the judge differ."""
    lines: list[dict[str, Any]] = []
    for line in comparison.lines:
        record = asdict(line)
        lines.append({**line.metric._asdict(), **{name: value for name, value in record.items() if name != "metric"}})
    record = {
        "version": __version__,
        "lines": lines,
        "several": [asdict(line) for line in several],
        "unscaled": list(comparison.unscaled),
        "repeats": comparison.repeats,
    }
    differences = (difference for row in rows for difference in differences_of(row))
    write_files(
        folder.folder,
        {
            HARNESS: json.dumps(record, ensure_ascii=False, indent=1) + "\n",
            DIFFERENCES: (json.dumps(difference_record(row), ensure_ascii=False) + "\n" for row in differences),
        },
    )
