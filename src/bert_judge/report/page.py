"""Write a report: a page of sections, which need no script, and the rows, which `report.js` shows."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from bert_judge.errors import OutputError
from bert_judge.records import __version__
from bert_judge.report.document import shown
from bert_judge.report.rows import BUDGET, Packed, pack
from bert_judge.report.sections import VerdictReport, make_report
from bert_judge.results import write_files
from bert_judge.results.runs import Run
from bert_judge.studies.pairing import Labels
from bert_judge.studies.table import collect


def check_path(path: str | Path) -> Path:
    """The path of a page. Raises OutputError unless it ends with .html and its folder, or that folder's, is there."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir():
        raise OutputError(f"the report can't be written to {path}; a file that ends with .html was expected.")
    if not path.parent.exists() and not path.parent.parent.exists():
        raise OutputError(f"{path.parent.parent} is not there; make it, or choose another file for the report.")
    return path


def write_report(
    runs: Sequence[Run],
    path: str | Path,
    labels: Labels | None = None,
    *,
    title: str | None = None,
    notes: Iterable[str] = (),
    budget: int = BUDGET,
) -> VerdictReport:
    """Write the page to `path`, and beside it the figures as `.md` and `.json`; returns the report.

    The page holds every row. If the texts have more than `budget` characters together, long ones lose their middle.
    `notes`, such as those of `left_out`, stand before the report's own. Raises InputError as `collect` does,
    OutputError where the files can't be written.
    """
    path = check_path(path)
    table = collect(runs, labels)
    report = make_report(table, title or ", ".join(dict.fromkeys(map(_input_name, runs[:3]))), notes)
    record = {"version": __version__, **report.record()}
    contents = {
        path.name: _page(report, pack(table, budget)),
        path.with_suffix(".md").name: [report.document().markdown()],
        path.with_suffix(".json").name: [json.dumps(record, indent=1) + "\n"],
    }
    write_files(path.parent, contents)
    return report


def _input_name(run: Run) -> str:
    """The input in short: the file's name, or the task and the model whose candidates were judged."""
    path = Path(run.input.get("path", run.folder))
    return f"{path.parent.parent.name}, {path.parent.name}" if run.input.get("format") == "candidates" else path.name


def _page(report: VerdictReport, packed: Packed) -> Iterator[str]:
    """The page in pieces: what is seen first comes first, the chunks of texts last."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    style = _file("report/report.css")
    script = _file("report/report.js")
    facts = json.dumps(packed.facts, separators=(",", ":")).replace("<", "\\u003c")  # no text can end the script
    notes = [*report.notes]
    if packed.limit is not None:
        notes.append(
            f"To keep this page small, texts of over {packed.limit:,} characters are shown without their middle; "
            "verdicts.jsonl has them whole."
        )
    loader = FunctionLoader(_file)
    pages = Environment(autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    pages.globals["shown"] = shown
    return pages.get_template("report/report.html").generate(
        report=report,
        policy=Markup(
            f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        style=Markup(style),
        script=Markup(script),
        notes=notes,
        facts=Markup(facts),
        columns=packed.columns,
        chunks=packed.chunks(),
        version=__version__,
    )


def _file(name: str) -> str:
    return files("bert_judge").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The hash by which the page's policy allows an inline script or style; no other one runs."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
