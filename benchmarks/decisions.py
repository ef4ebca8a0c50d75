"""How well judges judge answers, how fast, and for how much: `python benchmarks/decisions.py`.

Any set of judges judges a labelled file, on the same rows, and gives a line each of a Markdown table:

- agreement with the labels, with its 95 % interval by question; the rows that it did not decide are not counted there
- ECE: the expected calibration error of a judge whose scores are probabilities, with its interval
- seconds and money a thousand rows, of the rows that were asked. Money needs `price_in` (and `price_out`) in the YAML
  file of a judge. A row with the text of a reference, or without an answer, is decided without asking.

A judge is what `--judge` takes: a name, or a YAML file, such as

    judge_type: DecisionJudge
    model: jev-latest
    route: systemone
    base_url: https://api.typesafe.ai/v1
    price_in: 0.042

Its key is in the environment (OPENAI_API_KEY, TYPESAFE_API_KEY). Replies are kept in the user's cache folder, as in
`score`, so that a run that was stopped pays for no row twice; kept ones count for agreement, not for time and money
("kept": most were).
`--serve NAME` starts `bert-judge serve` with a judge here, and asks it by both routes of decision models. The first row
is judged once before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np
from parts import EXAMPLES, processor

from bert_judge import Sample
from bert_judge.inputs import open_source
from bert_judge.judges.base import Costs, Judge
from bert_judge.judges.naming import JudgeSpec
from bert_judge.measures import BootstrapSettings
from bert_judge.measures.agreement import agreements
from bert_judge.wording import interval, number

ROUTES = ("decisions", "systemone")


class Column(NamedTuple):
    """A judge's labels (-1: undecided) and scores (NaN: none) of all rows, and what they cost."""

    name: str
    labels: np.ndarray
    scores: np.ndarray
    probable: bool
    seconds: float
    costs: Costs | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=str(EXAMPLES), help="a labelled file (default: the project's examples)")
    parser.add_argument("--judges", nargs="+", default=["starter", "containment"], help="names and YAML files")
    parser.add_argument("--serve", metavar="NAME", help="a judge to serve here and ask by both routes")
    parser.add_argument("--limit", type=int, help="only the first N rows")
    args = parser.parse_args()
    rows = [sample for sample in open_source(args.data, limit=args.limit) if sample.gold is not None]
    if not rows:
        sys.exit(f"{args.data} has no labels; a file with a label a row was expected.")
    questions = [sample.question or sample.references[0] for sample in rows]
    print(f"data:    {args.data}, {len(rows):,} labelled rows of {len(set(questions)):,} questions")
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {processor()}\n")
    specs = {spec.name: spec for spec in map(JudgeSpec.of, args.judges)}
    with ExitStack() as stack:
        if args.serve:
            url = stack.enter_context(served(args.serve))
            settings = {"judge_type": "DecisionJudge", "model": args.serve, "base_url": f"{url}/v1", "store": "off"}
            specs |= {f"{args.serve}, served, /v1/{r}": JudgeSpec.of({**settings, "route": r}) for r in ROUTES}
        columns = [judged(name, spec.make(), rows) for name, spec in specs.items()]
    golds = np.array([sample.gold for sample in rows])
    measured = agreements(golds, columns, questions, BootstrapSettings())
    heads = ("judge", "undecided", "agreement with labels", "ECE", "AUROC", "s / 1,000 rows", "$ / 1,000 rows")
    lines = [
        (
            column.name,
            f"{agreement.undecided:,}",
            interval(agreement.accuracy),
            interval(agreement.ece, number),
            number(agreement.auroc and agreement.auroc.value),
            *rates(column, len(rows)),
        )
        for column, agreement in zip(columns, measured, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    for line in [heads, tuple("-" * width for width in widths), *lines]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")


@contextmanager
def served(name: str) -> Iterator[str]:
    """The address of a `bert-judge serve` with this judge, ended afterwards."""
    command = [sys.executable, "-m", "bert_judge", "serve", "--judge", name, "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            if " at " not in line:
                sys.exit(f"bert-judge serve --judge {name} did not start.")
            yield line.split(" at ")[1].split(";")[0]
        finally:
            process.terminate()


def judged(name: str, judge: Judge, rows: Sequence[Sample]) -> Column:
    """The verdicts of a judge on all rows, timed."""
    judge = judge.fitted(rows)
    list(judge.assess(rows[:1]))
    before, start = judge.costs, time.perf_counter()
    verdicts = list(judge.assess(rows))
    seconds = time.perf_counter() - start
    costs = judge.costs.since(before) if judge.costs and before else None
    if failed := sum(verdict.failed for verdict in verdicts):
        why = next(verdict.explanation for verdict in verdicts if verdict.failed)
        print(
            f"{name} failed on {failed:,} rows, the first with {why!r}; run again to ask about these.", file=sys.stderr
        )
    labels = np.array([-1 if verdict.label is None else verdict.label for verdict in verdicts])
    scores = np.array([np.nan if verdict.score is None else verdict.score for verdict in verdicts])
    return Column(name, labels, scores, judge.info.scale == "probability", seconds, costs)


def rates(column: Column, rows: int) -> tuple[str, str]:
    """Seconds and money a thousand rows."""
    costs = column.costs
    if costs is None:
        return f"{1000 * column.seconds / rows:.1f}", "-"
    if costs.cached > costs.requests:
        return "kept", "kept"
    asked = rows - costs.cached
    return (
        f"{1000 * column.seconds / asked:.1f}",
        "-" if costs.money is None else f"{1000 * costs.money / asked:.4f}",
    )


if __name__ == "__main__":
    main()
