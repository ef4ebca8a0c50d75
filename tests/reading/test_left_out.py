"""What is not part of an answer is written, counted and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from json_lines import write_rows

ROWS = [
    {"question": "q1", "reference": "Lima", "candidate": "<think>Cusco?</think>It is Lima."},
    {"question": "q2", "reference": "Lima", "candidate": "<think>It is Lima"},
    {"question": "q3", "reference": "3 * 4 = 12\n#### 12", "candidate": "It is 12\nConfidence: 0.9"},
    {"question": "q4", "reference": "Rome", "candidate": "It is Rome"},
]


@pytest.mark.parametrize("flags", [(), ("--output_format", "parquet")])
def test_what_is_left_out_is_written_counted_and_shown(
    command: Callable[..., tuple[int, str, str]], folder: Path, flags: tuple[str, ...]
) -> None:
    write_rows("rows.jsonl", ROWS)
    status, out, _ = command("score", "rows.jsonl", "--judge", "containment", "--output_dir", "out", *flags)
    assert status == 0
    assert "reasoning in 2 rows" in out
    run = json.loads(Path("out/run.json").read_text())
    assert run["summary"]["left_out"] == {"reasoning": 2, "remarks": 1, "solution": 1}
    assert run["summary"]["accuracy"]["value"] == 0.75
    shown = command("show", "out", "--left_out")[1]
    assert "3 of 4 rows" in shown
    assert "remarks (15 characters), solution (16 characters)" in shown
    whole = command("score", "rows.jsonl", "--judge", "containment", "--output_dir", "whole", "--whole_candidate")[1]
    assert "left out" not in whole
