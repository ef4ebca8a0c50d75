"""The files that rows are made with: wordings and names one a line, tables as JSON.

An entry that is there twice is drawn twice as often.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a text file, which is named without its ".txt"."""
    return tuple((HERE / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n"))


@cache
def asked_lines(name: str) -> tuple[tuple[list[str], str], ...]:
    """The lines of a text file, each with the wordings in the last line above it that begins with "? "."""
    wordings: list[str] = []
    asked = []
    for line in lines(name):
        if line.startswith("? "):
            wordings = line[2:].split(" | ")
        else:
            asked.append((wordings, line))
    return tuple(asked)


@cache
def table(name: str) -> dict[str, Any]:
    """What a JSON file of `tables` holds."""
    return json.loads((HERE / "tables" / f"{name}.json").read_text(encoding="utf-8"))


def pick(chance: Random, name: str, kind: str) -> Any:
    """One of the entries that a file of `tables` has of a kind."""
    return chance.choice(table(name)[kind])
