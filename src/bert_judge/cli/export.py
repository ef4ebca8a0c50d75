"""`bert-judge export`: give verdicts back to other tools, in their own formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from bert_judge.cli import note, run, say
from bert_judge.cli.flags import Parser, made
from bert_judge.integrations.exports import FORMATS, ExportOptions, write_exported
from bert_judge.results import check_folder
from bert_judge.results.runs import load_run

_EXAMPLES = """examples:
  bert-judge export out --to inspect --output_dir scored     # the logs that were judged, with our score beside theirs
  bert-judge export out --to inspect --input logs/ --name includes     # from another place; as an edit of a score
  bert-judge export out --to every_eval_ever                 # a record for each task and model, a line for each answer
  bert-judge export out --to eval_results --dataset openai/gsm8k --task gsm8k     # YAML for the models' pages
  bert-judge export out --to rows                            # what was judged, with columns of ours: rows.jsonl

RESULT is a folder that score or judge wrote. Nothing that was judged is changed: files are written into the
folder of the output.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingOptions:
    """Where the files go."""

    output_dir: Annotated[str, "folder for the files"] = "bert-judge-export"
    overwrite: Annotated[bool, "replace files that are there"] = False
    quiet: Annotated[bool, "print nothing"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the result, and write its verdicts in the format that is asked for."""
    text = "Give verdicts back to other tools, in their own formats."
    parser = Parser("bert-judge export", "RESULT --to FORMAT [--output_dir FOLDER] [flags]", text, _EXAMPLES)
    parser.add_argument("result", metavar="RESULT", help="a folder that score or judge wrote")
    parser.add_argument("--to", required=True, choices=FORMATS, help="the format")
    parser.flags("writing", WritingOptions)
    parser.flags("what formats take", ExportOptions)
    values = parser.parse(arguments)
    writing = made(WritingOptions, values)
    folder = check_folder(writing.output_dir)
    exported = FORMATS[values["to"]](load_run(values["result"]), made(ExportOptions, values))
    write_exported(exported, folder, writing.overwrite)
    for text in exported.notes:
        note(text)
    if not writing.quiet:
        say(f"{exported.summary}\nfiles  {folder}/: {', '.join(exported.files)}")
    return 0


if __name__ == "__main__":
    run("export")
