"""The command line: `bert-judge COMMAND …`, one thin module a command."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from bert_judge.errors import BertJudgeError
from bert_judge.version import __version__

COMMANDS = {
    "score": "judge a file of answers",
}

_USAGE = """usage: bert-judge COMMAND …

Judge model answers against references with a small encoder: no API, no GPU needed.

commands:
{commands}

  bert-judge score answers.jsonl --output_dir out
  bert-judge COMMAND --help         what a command takes
  bert-judge --version
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit status: 0 done, 1 an error that is said in a sentence, 2 wrong usage,
    130 stopped by Ctrl-C.
    """
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in ("--version", "version"):
        print(f"bert-judge {__version__}")
        return 0
    if command in ("-h", "--help", "help"):
        print(_usage())
        return 0
    if command not in COMMANDS:
        print(f"{_usage()}\nbert-judge: there is no command {command!r}.", file=sys.stderr)
        return 2
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            module = importlib.import_module(f"bert_judge.cli.{command}")
            return int(module.main(rest))
        except BertJudgeError as error:
            print(f"bert-judge {command}: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print(f"\nbert-judge {command}: stopped.", file=sys.stderr)
            return 130


def run() -> NoReturn:
    """The entry point of the `bert-judge` script."""
    sys.exit(main())


def _usage() -> str:
    return _USAGE.format(commands="\n".join(f"  {name:10} {text}" for name, text in COMMANDS.items()))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Our own warnings in a sentence; those of libraries, meant for programmers, not at all."""
    if category is UserWarning and "bert_judge" in filename:
        print(f"note: {message}", file=sys.stderr)
