"""Rows in files, a JSON object a line; and the rows that come with the package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples" / "answers.jsonl"


def write_rows(path: str | Path, rows: Iterable[object]) -> str:
    """The name of the file that now holds these rows."""
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]
