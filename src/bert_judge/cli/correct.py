"""`bert-judge correct`: the accuracy of a run without the judge's error, by people's labels of some rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from bert_judge.analysis.correct import Corrected, correct
from bert_judge.analysis.labels import read_labels
from bert_judge.analysis.results import Run, load_run
from bert_judge.cli import run, say
from bert_judge.cli.flags import AddUp, Parser, named_columns
from bert_judge.stats.corrected import AccuracyEstimate

_EXAMPLES = """examples:
  bert-judge correct out --labels labels.jsonl
  bert-judge correct out                        # the file that was judged had labels of some rows
  bert-judge correct out --labels people.csv --map label=is_right
  bert-judge correct out --labels labels.jsonl --json | jq .corrected

bert-judge label makes such a file; any other with texts (or ids) and labels will do, as long as its rows were drawn
by chance, or a column probability says with which one each was.
"""

_BEST = "<- take this one"


def main(arguments: Sequence[str]) -> int:
    """Match labels and rows, and print every estimate with its interval."""
    parser = Parser(
        "bert-judge correct",
        "FOLDER [--labels FILE] [flags]",
        "The accuracy of a run without the judge's error, by people's labels of some of its rows.",
        _EXAMPLES,
    )
    parser.add_argument("run", metavar="FOLDER", help="a folder that score or judge wrote")
    parser.add_argument("--labels", metavar="FILE", help="people's labels, besides those in the run itself")
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
        else _table(run, found, options)
    )
    return 0


def _table(run: Run, found: Corrected, options: dict[str, object]) -> str:
    """The table that a person reads."""
    estimates = [
        ("labels only", found.labels_only, _BEST if found.complete else ""),
        ("judge as it is", found.judge, "its errors are not removed"),
        ("PPI++", found.corrected, "" if found.complete else _BEST),
        ("Rogan-Gladen", found.rogan_gladen, ""),
    ]
    counts = found.confusion
    share = f"{options['confidence']:.0%}".replace("%", " %")
    lines = [
        f"{'':16} {'accuracy':>8}  {share + ' interval':16}  {'width':>6}",
        *(_line(*each) for each in estimates),
        "",
        f"labels  {counts.n:,} of {found.rows:,} rows, {found.drawn}",
        *([f"from    the file: {found.of_file:,}, the run itself: {found.of_run:,}"] if options["labels"] else []),
        f"errors  {counts.false_positive} wrong answers called right, {counts.false_negative} right ones called wrong",
        f"judge   {run.signature.short}",
        *(f"note    {note}" for note in found.notes),
    ]
    return "\n".join(lines)


def _line(name: str, estimate: AccuracyEstimate | None, remark: str) -> str:
    if estimate is None:
        return f"{name:16} {'-':>8}"
    interval = f"[{estimate.low:.1%}, {estimate.high:.1%}]"
    return f"{name:16} {estimate.value:8.1%}  {interval:16}  {100 * estimate.width:6.1f}  {remark}".rstrip()


if __name__ == "__main__":
    run("correct")
