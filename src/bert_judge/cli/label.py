"""`bert-judge label`: label answers of a run by hand, on a small page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bert_judge.cli import say
from bert_judge.cli.flags import Argument, Parser, options_from
from bert_judge.errors import InputError
from bert_judge.results.runs import load_run
from bert_judge.server import ServerOptions, need_server
from bert_judge.studies.correct import Strategy, default_strategy, draw_order
from bert_judge.wording import counted

if TYPE_CHECKING:
    from bert_judge.server.labelling import Labelling

_EXAMPLES = """examples:
  bert-judge label out --labels labels.jsonl
  bert-judge label out --labels labels.jsonl -n 300 --strategy uniform

It prints the address of a page that only this machine can open. Keys: 1 correct, 0 incorrect, s skip, u undo.
Ctrl-C ends; the same command goes on. From another machine: ssh -L 8000:127.0.0.1:8000 HOST, and --port 8000.
"""
SAMPLE = 100_000  # rows of a large result; a hundred times as many as anyone labels


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """What `label` takes."""

    run: Annotated[str, "a folder that score or judge wrote", Argument("FOLDER")]
    labels: Annotated[str, "file for the labels"] = "labels.jsonl"
    number: Annotated[int, "how many labels to aim for", "-n", 1] = 200
    strategy: Annotated[
        Strategy | None,
        "active: doubtful answers more often (default where scores allow); uniform: all alike",
    ] = None
    seed: Annotated[int, "seed of the rows' order"] = 0
    port: Annotated[int, "port of the page; 0: any free one"] = 0
    open: Annotated[bool, "open the page in the browser"] = False


def main(arguments: Sequence[str]) -> int:
    """Draw the order of the rows, say how many labels it takes, and serve the page until Ctrl-C."""
    parser = Parser("label", "FOLDER [--labels FILE] [flags]", _EXAMPLES, {"flags": LabelOptions})
    options = options_from(LabelOptions, parser.parse(arguments))
    need_server("bert-judge label")
    from bert_judge.server.app import make_app
    from bert_judge.server.running import open_socket, run_server

    served = ServerOptions(port=options.port, quiet=True)
    with open_socket(served.host, served.port) as opened, open_labelling(options) as labelling:

        def serving(url: str) -> None:
            say(f"open {url}{labelling.page} in a browser; Ctrl-C ends.")
            if options.open:
                import webbrowser

                webbrowser.open(f"{url}{labelling.page}")

        run_server(make_app({}, served, labelling=labelling), served, opened, serving)
        print(file=sys.stderr)
        say(_next(labelling, options))
    return 0


def open_labelling(options: LabelOptions) -> Labelling:
    """The file of labels with the order in which answers of a result are shown; says how far it is."""
    from bert_judge.server.labelling import Labelling

    run = load_run(options.run, SAMPLE)
    if run.left:
        total = len(run.rows) + run.left
        say(
            f"{len(run.rows):,} of the {total:,} rows of {options.run} can be drawn: whole questions, chosen at random."
        )
    path, strategy = Path(options.labels), options.strategy or default_strategy(run)
    draws = draw_order(run, strategy, options.seed)
    if all(draw.row.gold is not None for draw in draws):
        raise InputError(f"every row of {run.folder} has a label already; bert-judge correct {run.folder} uses them.")
    labelling = Labelling(draws, path, min(options.number, len(draws)))
    say(f"{labelling.labelled} of {labelling.target} labels are in {path}; drawn with --strategy {strategy}.")
    return labelling


def _next(labelling: Labelling, options: LabelOptions) -> str:
    skipped = f", {labelling.skipped} skipped" if labelling.skipped else ""
    if not labelling.labelled:
        return f"no labels in {options.labels} yet{skipped}; the same command goes on."
    path, labels = options.labels, counted(labelling.labelled, "label")
    return f"{labels} in {path}{skipped}; next: bert-judge correct {options.run} --labels {path}"
