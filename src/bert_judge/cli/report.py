"""`bert-judge report`: saved results as one page that needs nothing else, or in the formats of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from bert_judge.cli import note, say
from bert_judge.cli.flags import Argument, Parser, options_from
from bert_judge.errors import InputError
from bert_judge.inputs import ColumnMap
from bert_judge.integrations.exports import FORMATS, ExportOptions, write_exported
from bert_judge.report.page import check_path, write_report
from bert_judge.results import check_folder
from bert_judge.results.runs import find_runs, left_out, load_run
from bert_judge.studies.pairing import read_labels

_EXAMPLES = """examples:
  bert-judge report out                                      # report.html, report.md and report.json
  bert-judge report out1 out2 -o both.html                   # two judges of the same answers, side by side
  bert-judge report artifacts/scores -o scores.html          # everything that judge wrote: by task and by model
  bert-judge report out --labels human.jsonl                 # agreement with human labels
  bert-judge report out --to inspect -o scored               # the logs that were judged, with our score beside theirs
  bert-judge report out --to rows                            # what was judged, with columns of ours: rows.jsonl

The page opens from the disk, without a network: filters, search, every answer with its verdicts, and the figures.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What `report` takes besides the settings of the formats of other tools."""

    results: Annotated[tuple[str, ...], "folders that score or judge wrote, or above these", Argument("RESULT")]
    output: Annotated[str | None, "the page (default: report.html); with --to the folder of the files", "-o"] = None
    to: Annotated[Literal["inspect", "every_eval_ever", "rows"] | None, "another tool's format, not a page"] = None
    labels: Annotated[str | None, "file with human labels, of the same texts or the same ids"] = None
    map: Annotated[ColumnMap | None, "columns of that file by name: label=human,id=number"] = None
    title: Annotated[str | None, "title of the page (default: the input's name)"] = None
    sample: Annotated[int, "rows that are drawn, whole questions at random, of results with more; 0: all", 0] = 100_000
    overwrite: Annotated[bool, "with --to: replace files that are there"] = False
    quiet: Annotated[bool, "print nothing"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the results, and write the page, or the files of another tool's format."""
    groups = {"flags": ReportOptions, "what the formats of --to take": ExportOptions}
    values = Parser("report", "RESULT … [-o FILE] [--to FORMAT] [flags]", _EXAMPLES, groups).parse(arguments)
    options = options_from(ReportOptions, values)
    if options.to:
        return _export(options.to, options, options_from(ExportOptions, values))
    path = check_path(options.output or "report.html")
    check_folder(path.parent)
    labels = read_labels(options.labels, options.map) if options.labels else None
    runs = find_runs(options.results, options.sample or None)
    report = write_report(runs, path, labels, title=options.title, notes=left_out(options.results))
    if not options.quiet:
        say("\n\n".join(block if isinstance(block, str) else block.text() for block in report.blocks("overview")))
        say(
            "".join(f"\nnote: {sentence}" for sentence in report.notes)
            + f"\nfiles  {path}, and beside it .md and .json"
        )
    return 0


def _export(name: str, options: ReportOptions, settings: ExportOptions) -> int:
    """Write the verdicts of a result in the format that is asked for; nothing that was judged is changed."""
    if len(options.results) > 1:
        raise InputError(f"--to takes one result; {len(options.results)} were given.")
    folder = check_folder(options.output or "bert-judge-export")
    exported = FORMATS[name](load_run(options.results[0]), settings)
    write_exported(exported, folder, options.overwrite)
    for sentence in exported.notes:
        note(sentence)
    if not options.quiet:
        say(f"{exported.summary}\nfiles  {folder}/: {', '.join(exported.files)}")
    return 0
