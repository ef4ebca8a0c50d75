"""`bert-judge report`: saved results as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from bert_judge.cli.flags import Argument, FormatOptions, Parser, options_from
from bert_judge.inputs import ColumnMap
from bert_judge.report.document import Document
from bert_judge.report.page import check_path, write_report
from bert_judge.results import check_folder
from bert_judge.results.runs import find_runs, left_out
from bert_judge.studies.pairing import read_labels

_EXAMPLES = """examples:
  bert-judge report out                                      # report.html, report.md and report.json
  bert-judge report out1 out2 -o both.html                   # two judges of the same answers, side by side
  bert-judge report artifacts/scores -o scores.html          # everything that judge wrote: by task and by model
  bert-judge report out --labels human.jsonl                 # agreement with human labels

The page has the figures and every answer with its verdicts, to filter and search. It works offline, from one file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions(FormatOptions):
    """What `report` takes."""

    results: Annotated[tuple[str, ...], "folders that score or judge wrote, or above these", Argument("RESULT")]
    output: Annotated[str, "file for the page", "-o"] = "report.html"
    labels: Annotated[str | None, "file of human labels, matched by texts or ids"] = None
    map: Annotated[ColumnMap | None, "which column of that file is what: label=human,id=number"] = None
    title: Annotated[str | None, "title of the page (default: the input's name)"] = None
    sample: Annotated[int, "most rows of a result; a larger one is sampled by question; 0: all", 0] = 100_000
    quiet: Annotated[bool, "print nothing"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the results, and write the page."""
    parser = Parser("report", "RESULT … [-o FILE] [flags]", _EXAMPLES, {"flags": ReportOptions})
    options = options_from(ReportOptions, parser.parse(arguments))
    path = check_path(options.output)
    check_folder(path.parent)
    labels = read_labels(options.labels, options.map) if options.labels else None
    runs = find_runs(options.results, options.sample or None)
    report = write_report(runs, path, labels, title=options.title, notes=left_out(options.results))
    if not options.quiet:
        shown = Document("", report.blocks("overview"), report.notes)
        options.show(shown if options.format == "text" else report.document(), report.record())
        options.mention(("" if report.notes else "\n") + f"files  {path}, and beside it .md and .json")
    return 0
