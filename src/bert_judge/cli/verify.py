"""`bert-judge verify`: whether saved results are whole, and still what was written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bert_judge.cli import run, say, say_error
from bert_judge.cli.flags import Parser
from bert_judge.inputs.finding import find_input
from bert_judge.records import Signature
from bert_judge.results import damage
from bert_judge.results.runs import left_out, load_record, result_folders
from bert_judge.results.summary import different_figures

_EXAMPLES = """examples:
  bert-judge verify out
  bert-judge verify out --input answers.jsonl    # also whether it is the result of this file, as it is now
  bert-judge verify artifacts/scores             # all results below a folder

It ends with status 1 where something is missing, unfinished, or other than it was written. A result is not read into
memory: its files are hashed, and the figures of run.json are counted again.
"""


def main(arguments: Sequence[str]) -> int:
    """Check each result, and say of each what is wrong, or that it is whole."""
    parser = Parser("bert-judge verify", "FOLDER … [--input FILE …]", "Check saved results.", _EXAMPLES)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="what score or judge wrote, or a folder of such")
    parser.add_argument("--input", nargs="+", metavar="FILE", help="the file, or files, that were judged")
    values = parser.parse(arguments)
    digest = find_input(values["input"], None).sha256() if values["input"] else None
    wrong = left_out(values["folders"])
    for folder in dict.fromkeys(each for path in values["folders"] for each in result_folders(Path(path))):
        record = load_record(folder)
        found = damage(folder, record)
        if not found and "summary" in record:
            found = different_figures(folder, record["summary"])
        if digest not in (None, record["identity"]["input_sha256"]):
            judged = record.get("input", {}).get("path", "another file")
            found.append(
                f"{folder} is of another input than {', '.join(values['input'])}: of {judged}, as it was then."
            )
        if not found:
            say(f"{folder}: {_what_it_is(record)}")
        wrong += found
    for sentence in wrong:
        say_error(f"bert-judge verify: {sentence}")
    return 1 if wrong else 0


def _what_it_is(record: dict[str, object]) -> str:
    """A sound result in a few words."""
    summary, identity = record.get("summary"), record["identity"]
    assert isinstance(summary, dict)
    assert isinstance(identity, dict)
    judge = Signature.of(identity["signature"]).short
    failed = f"; the judge failed on {summary['failed']:,}, which the next run judges" if summary.get("failed") else ""
    hashed = "" if record.get("files") else "; rows counted only, as its version kept no hashes"
    return f"{summary['rows']:,} rows, whole, by {judge}{failed}{hashed}"


if __name__ == "__main__":
    run("verify")
