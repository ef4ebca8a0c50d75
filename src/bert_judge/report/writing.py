"""Write a report: the page, report.md and report.json, each in one step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from bert_judge.analysis.labels import Labels
from bert_judge.analysis.results import Run
from bert_judge.analysis.table import collect
from bert_judge.artifacts import write_files
from bert_judge.errors import OutputError
from bert_judge.report.figures import Figures, find_figures
from bert_judge.report.overview import report_document
from bert_judge.report.packing import BUDGET, pack
from bert_judge.report.page import page
from bert_judge.version import __version__


def write_report(
    runs: Sequence[Run],
    path: str | Path,
    labels: Labels | None = None,
    *,
    title: str | None = None,
    notes: Iterable[str] = (),
    budget: int = BUDGET,
) -> Figures:
    """Write the page to `path`, and beside it the figures as `.md` and `.json`; returns the figures.

    The page holds every row. If their texts have more than `budget` characters together, long ones lose their middle.
    `notes`, such as those of `left_out`, stand before its own ones.
    Raises InputError as `collect` does, OutputError where the files can't be written.
    """
    path = check_path(path)
    table = collect(runs, labels)
    found = find_figures(table, notes)
    name = title or ", ".join(dict.fromkeys(map(_input_name, runs[:3])))
    record = {"version": __version__, "title": name, **asdict(found)}
    contents = {
        path.name: page(found, pack(table, budget), name),
        path.with_suffix(".md").name: [report_document(found, f"Report: {name}").markdown()],
        path.with_suffix(".json").name: [json.dumps(record, indent=1) + "\n"],
    }
    write_files(path.parent, contents)
    return found


def _input_name(run: Run) -> str:
    """What was judged, in short: the file's name, or the task and the model whose candidates they are."""
    given = run.input
    path = Path(given.get("path", run.folder))
    return f"{path.parent.parent.name}, {path.parent.name}" if given.get("format") == "candidates" else path.name


def check_path(path: str | Path) -> Path:
    """A page's path. Raises OutputError unless it ends with .html, can be a file, needs one new folder at most."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir():
        raise OutputError(f"the report can't be written to {path}; a file that ends with .html was expected.")
    if not path.parent.exists() and not path.parent.parent.exists():
        raise OutputError(f"{path.parent.parent} is not there; make it, or choose another file for the report.")
    return path
