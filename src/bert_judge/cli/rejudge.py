"""`bert-judge rejudge`: judge a saved run of another tool, and set that tool's own scores beside the verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bert_judge.analysis.harness import (
    HarnessFound,
    beside_harness,
    difference_record,
    first_disagreements,
    harness_differences,
)
from bert_judge.analysis.references import DoubtedReference, doubted_record, doubted_references
from bert_judge.analysis.results import Row
from bert_judge.analysis.several import SeveralLine, several_answers
from bert_judge.artifacts import REPORT, RUN, SCORES, VERDICTS, Identity, ResultFolder, check_folder, write_files
from bert_judge.cli import log_shown, run, say
from bert_judge.cli.flags import Parser, made
from bert_judge.cli.inputs import InputOptions, input_settings, open_input
from bert_judge.cli.judging import add_judges, chosen_judges, judge_rows, say_failed
from bert_judge.cli.outputs import NoReport, OutputOptions, write_page
from bert_judge.errors import InputError
from bert_judge.judges.naming import JudgeSpec
from bert_judge.report.saved_runs import found_table, harness_document
from bert_judge.scoring import open_result
from bert_judge.sources.saved import READERS
from bert_judge.types import Signature
from bert_judge.version import __version__

DIFFERENCES, DOUBTED, REJUDGE = "differences.jsonl", "doubted_references.jsonl", "rejudge.json"
_SHOWN = 5  # answers on which the tool and the judge differ
_TOOLS = ", ".join(dict.fromkeys(reader.tool for reader in READERS[:-1]))  # the last only says what to do instead
_EXAMPLES = f"""examples:
  bert-judge rejudge results/ --output_dir rejudged          # all tasks and models of a folder of lm-eval
  bert-judge rejudge logs/2026-11-21_gsm8k.eval --judge starter
  bert-judge rejudge samples_gsm8k.jsonl --judge LLMJudge --model_path Qwen/Qwen3-8B

Saved runs of {_TOOLS} are read.
The folder then has the files of score ({VERDICTS}, {SCORES}, {RUN}, {REPORT}), {REJUDGE} with the
tables, {DIFFERENCES} with the answers on which the tool and the judge differ, and {DOUBTED}
with the questions on which several answers agree against the reference. score judges such runs, too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgeOptions(OutputOptions, InputOptions):
    """What `rejudge` takes besides the flags of the judge."""

    no_report: NoReport = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check the run, load the judge, judge, and print both scores side by side."""
    spec, options, files = _parse(arguments)
    output_dir = check_folder(options.output_dir)
    source = open_input(files, options)
    if not source.found:
        raise InputError(
            f"{source.path} is no saved run of a tool that is known here ({_TOOLS}), so it has no scores to compare "
            "with; bert-judge score judges its answers."
        )
    settings = {**input_settings(options), "no_texts": False}  # as score has them: either goes on with the other's
    ResultFolder(output_dir, Identity(None, source.sha256, settings), options.overwrite)  # before a model loads
    if not options.quiet:
        say(f"{found_table(source.found, source.unread).text()}\n")
    with log_shown(not options.quiet):
        judge = spec.make()
    fitted, folder = open_result(source, judge, output_dir, settings, options.overwrite)
    command = ["bert-judge", "rejudge", *arguments]
    judge_rows(source, fitted, folder, "judging", texts=True, quiet=options.quiet, command=command)
    signature = Signature.of(fitted.signature)
    found = beside_harness(map(Row.of, folder.records()))
    several = several_answers(map(Row.of, folder.records()))
    _check(found, several, folder, signature)
    doubted = doubted_references(lambda: map(Row.of, folder.records()))
    _write(found, several, doubted, folder)
    page = write_page([folder], folder.folder / REPORT, len(source), not options.no_report)
    if not options.quiet:
        disagreements = first_disagreements(map(Row.of, folder.records()), _SHOWN)
        more = f"{{:,}} more: bert-judge show {output_dir} --theirs"
        say(harness_document(found, several, doubted, disagreements, signature, more).text())
        say(f"\nfiles  {output_dir}/: {VERDICTS}, {SCORES}, {RUN}{page}, {REJUDGE}, {DIFFERENCES}, {DOUBTED}")
    return say_failed([folder], "bert-judge rejudge")


def _parse(arguments: Sequence[str]) -> tuple[JudgeSpec, RejudgeOptions, list[str]]:
    parser = Parser(
        "bert-judge rejudge",
        "RUN … [--output_dir FOLDER] [flags]",
        "Judge a saved run of another tool, and set its own scores beside the verdicts.",
        _EXAMPLES,
    )
    parser.add_argument("files", nargs="+", metavar="RUN", help="files of saved runs, or folders with such files")
    parser.flags("reading and writing", RejudgeOptions)
    read_judges = add_judges(parser, chosen_judges(arguments))
    values = parser.parse(arguments)
    specs = list(read_judges(values).values())
    if len(specs) > 1:
        parser.error(f"one judge was expected, not {', '.join(spec.name for spec in specs)}")
    return specs[0], made(RejudgeOptions, values), values["files"]


def _check(found: HarnessFound, several: Sequence[SeveralLine], folder: ResultFolder, judge: Signature) -> None:
    """Raise InputError where there is nothing to compare."""
    if found.lines or (found.repeats and several):
        return
    if all(record["label"] is None for record in folder.records()):
        raise InputError(
            f"{judge.short} says of no row whether it is correct, so there is nothing to compare; take a judge with "
            f"labels, or give it a --threshold. Its scores are in {folder.folder}."
        )
    raise InputError(
        f"the run has no scores of its own between 0 and 1, so there is nothing to compare; the verdicts are in "
        f"{folder.folder}."
    )


def _write(
    found: HarnessFound, several: Sequence[SeveralLine], doubted: Sequence[DoubtedReference], folder: ResultFolder
) -> None:
    """Write the tables as data, the answers on which the tool and the judge differ, and the references in doubt."""
    lines: list[dict[str, Any]] = []
    for line in found.lines:
        record = asdict(line)
        lines.append({**line.metric._asdict(), **{name: value for name, value in record.items() if name != "metric"}})
    record = {
        "version": __version__,
        "lines": lines,
        "several": [asdict(line) for line in several],
        "unscaled": list(found.unscaled),
        "repeats": found.repeats,
        "doubted_references": {
            "by_several_models": sum(len(each.models) > 1 for each in doubted),
            "by_one_model": sum(len(each.models) == 1 for each in doubted),
        },
    }
    differences = harness_differences(map(Row.of, folder.records()))
    write_files(
        folder.folder,
        {
            REJUDGE: json.dumps(record, ensure_ascii=False, indent=1) + "\n",
            DIFFERENCES: (json.dumps(difference_record(each), ensure_ascii=False) + "\n" for each in differences),
            DOUBTED: (json.dumps(doubted_record(each), ensure_ascii=False) + "\n" for each in doubted),
        },
    )


if __name__ == "__main__":
    run("rejudge")
