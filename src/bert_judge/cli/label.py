"""`bert-judge label`: label answers of a run by hand, on a small page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bert_judge.analysis.labels import Labels, read_labels
from bert_judge.analysis.results import Run, load_run
from bert_judge.analysis.sampling import STRATEGIES, default_strategy, draw_order, labels_needed
from bert_judge.cli import run, say
from bert_judge.cli.flags import Parser
from bert_judge.errors import InputError
from bert_judge.server.labelling import Labelling, LabelServer

_EXAMPLES = """examples:
  bert-judge label out --labels labels.jsonl
  bert-judge label out --labels labels.jsonl -n 300 --strategy uniform
  bert-judge label out --labels labels.jsonl --width 0.04

It prints the address of a page that only this machine can open: 1 is right, 0 wrong, s skips, u undoes. Ctrl-C ends;
the same command goes on. From another machine: ssh -L 8000:127.0.0.1:8000 HOST, and --port 8000.
"""
_NUMBER = 200


def main(arguments: Sequence[str]) -> int:
    """Draw the order of the rows, say how many labels it takes, and serve the page until Ctrl-C."""
    options = _parse(arguments)
    run = load_run(options["run"])
    path = Path(options["labels"])
    strategy = options["strategy"] or default_strategy(run)
    draws = draw_order(run, strategy, options["seed"])
    if all(draw.row.gold is not None for draw in draws):
        raise InputError(f"every row of {run.folder} has a label already; bert-judge correct {run.folder} uses them.")
    number = options["number"]
    if options["width"] is not None:
        plan = labels_needed(run, options["width"], strategy, _labels_so_far(path))
        number = plan.labels
        say(f"an interval {options['width']:g} wide takes about {number} labels, told from {plan.basis}.")
    with (
        Labelling(draws, path, min(number, len(draws))) as labelling,
        LabelServer(labelling, options["port"]) as server,
    ):
        say(f"{labelling.labelled} of {labelling.target} labels are in {path}; drawn with --strategy {strategy}.")
        try:  # from here on: who reads that Ctrl-C ends may press it at once
            say(f"open {server.url} in a browser; Ctrl-C ends.")
            if options["open"]:
                import webbrowser

                webbrowser.open(server.url)
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
        say(_next(run, labelling, path))
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    parser = Parser(
        "bert-judge label",
        "FOLDER --labels FILE [flags]",
        "Label answers of a run by hand, on a small page.",
        _EXAMPLES,
    )
    parser.add_argument("run", metavar="FOLDER", help="a folder that score or judge wrote")
    parser.add_argument(
        "--labels", metavar="FILE", default="labels.jsonl", help="where labels go (default: labels.jsonl)"
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("-n", "--number", type=int, metavar="N", default=_NUMBER, help=f"how many (default: {_NUMBER})")
    wanted.add_argument(
        "--width", type=float, metavar="X", help="as many as a 95 %% interval of this width takes: 0.04"
    )
    parser.add_argument(
        "--strategy", choices=STRATEGIES, help="draw by the judge's uncertainty, or not (default: where it tells one)"
    )
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="another order of the rows (default: 0)")
    parser.add_argument("--port", type=int, metavar="N", default=0, help="of the page (default: any that is free)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    options = parser.parse(arguments)
    if options["number"] < 1:
        parser.error(f"-n is {options['number']}; 1 or more was expected")
    return options


def _labels_so_far(path: Path) -> Labels | None:
    """The labels of a file that was begun; None where there are none to learn from."""
    try:
        begun = '"label": 1' in (text := path.read_text(encoding="utf-8")) or '"label": 0' in text
    except (OSError, UnicodeDecodeError):  # what is wrong with it is said when it is opened for writing
        return None
    return read_labels(path) if begun else None


def _next(run: Run, labelling: Labelling, path: Path) -> str:
    skipped = f", {labelling.skipped} skipped" if labelling.skipped else ""
    if not labelling.labelled:
        return f"no labels in {path} yet{skipped}; the same command goes on."
    return f"{labelling.labelled} labels in {path}{skipped}; next: bert-judge correct {run.folder} --labels {path}"


if __name__ == "__main__":
    run("label")
