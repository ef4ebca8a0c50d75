"""`bert-judge correct`: the accuracy of a run without the judge's error, by human labels of some rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from bert_judge.analysis.correct import correct
from bert_judge.analysis.labels import read_labels
from bert_judge.analysis.results import load_run
from bert_judge.cli import run, say
from bert_judge.cli.flags import AddUp, Parser, named_columns
from bert_judge.report.correction import correction_document

_EXAMPLES = """examples:
  bert-judge correct out --labels labels.jsonl
  bert-judge correct out                        # the file that was judged had labels of some rows
  bert-judge correct out --labels people.csv --map label=is_right
  bert-judge correct out --labels labels.jsonl --json | jq .corrected

bert-judge label makes such a file; any other with texts (or ids) and labels will do, as long as its rows were drawn
by chance, or a column probability says with which one each was.
"""


def main(arguments: Sequence[str]) -> int:
    """Match labels and rows, and print every estimate with its interval."""
    parser = Parser(
        "bert-judge correct",
        "FOLDER [--labels FILE] [flags]",
        "The accuracy of a run without the judge's error, by human labels of some of its rows.",
        _EXAMPLES,
    )
    parser.add_argument("run", metavar="FOLDER", help="a folder that score or judge wrote")
    parser.add_argument("--labels", metavar="FILE", help="human labels, besides those in the run itself")
    parser.add_argument(
        "--map", type=named_columns, action=AddUp, metavar="NAME=COLUMN,…", help="columns of the file: label=is_right"
    )
    parser.add_argument("--confidence", type=float, metavar="X", default=0.95, help="of the intervals (default: 0.95)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse(arguments)
    if options["map"] and not options["labels"]:
        parser.error("--map names columns of the file of --labels, which is missing")
    run = load_run(options["run"])
    labels = read_labels(options["labels"], options["map"]) if options["labels"] else None
    found = correct(run, labels, options["confidence"])
    say(
        json.dumps({**asdict(found), "signature": asdict(run.signature)})
        if options["json"]
        else correction_document(found, run.signature, options["confidence"], labels is not None).text()
    )
    return 0


if __name__ == "__main__":
    run("correct")
