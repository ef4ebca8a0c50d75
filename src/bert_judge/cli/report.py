"""`bert-judge report`: saved results as one page that needs nothing else, or in the formats of other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from bert_judge.cli import note, run, say
from bert_judge.cli.flags import Parser, add_flags, options_from
from bert_judge.cli.outputs import checked_sample
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
  bert-judge report out --to inspect --input logs/ --name includes     # from another place; as an edit of a score
  bert-judge report out --to every_eval_ever                 # a record for each task and model, a line for each answer
  bert-judge report out --to rows                            # what was judged, with columns of ours: rows.jsonl

The page opens from the disk, without a network: filters, search, every answer with its verdicts, and the figures.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What `report` takes besides the results and where the page goes."""

    labels: Annotated[str | None, "file with human labels, of the same texts or the same ids"] = None
    map: Annotated[ColumnMap | None, "columns of that file by name: label=human,id=number"] = None
    title: Annotated[str | None, "title of the page (default: the input's name)"] = None
    sample: Annotated[int, "rows that are drawn, whole questions at random, of results with more; 0: all"] = 100_000
    overwrite: Annotated[bool, "with --to: replace files that are there"] = False
    quiet: Annotated[bool, "print nothing"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the results, and write the page, or the files of another tool's format."""
    text = "Show saved results as a page, or give their verdicts to other tools in the formats of these."
    parser = Parser("bert-judge report", "RESULT … [-o FILE] [--to FORMAT] [flags]", text, _EXAMPLES)
    parser.add_argument(
        "results", metavar="RESULT", nargs="+", help="folders that score or judge wrote, or above these"
    )
    group = parser.add_argument_group("flags")
    group.add_argument(
        *("--output", "-o"), metavar="FILE", help="the page (default: report.html); with --to the folder of the files"
    )
    group.add_argument("--to", choices=FORMATS, help="write the verdicts in this format, in place of a page")
    add_flags(group, ReportOptions)
    parser.flags("what the formats of --to take", ExportOptions)
    values = parser.parse(arguments)
    options = options_from(ReportOptions, values)
    if values["to"]:
        return _export(values, options)
    path = check_path(values["output"] or "report.html")
    check_folder(path.parent)
    labels = read_labels(options.labels, options.map) if options.labels else None
    runs = find_runs(values["results"], checked_sample(options.sample))
    report = write_report(runs, path, labels, title=options.title, notes=left_out(values["results"]))
    if not options.quiet:
        say("\n\n".join(block if isinstance(block, str) else block.text() for block in report.blocks("overview")))
        say(
            "".join(f"\nnote: {sentence}" for sentence in report.notes)
            + f"\nfiles  {path}, and beside it .md and .json"
        )
    return 0


def _export(values: Mapping[str, Any], options: ReportOptions) -> int:
    """Write the verdicts of a result in the format that is asked for; nothing that was judged is changed."""
    if len(values["results"]) > 1:
        raise InputError(f"--to takes one result; {len(values['results'])} were given.")
    folder = check_folder(values["output"] or "bert-judge-export")
    exported = FORMATS[values["to"]](load_run(values["results"][0]), options_from(ExportOptions, values))
    write_exported(exported, folder, options.overwrite)
    for sentence in exported.notes:
        note(sentence)
    if not options.quiet:
        say(f"{exported.summary}\nfiles  {folder}/: {', '.join(exported.files)}")
    return 0


if __name__ == "__main__":
    run("report")
