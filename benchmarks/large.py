"""Time and memory of whole commands over many rows: `python benchmarks/large.py --rows 10000 100000 [--data FOLDER]`.

For each number of rows, two judges that compute next to nothing judge a file, and each command that reads results runs
on theirs, in a process of its own: seconds, the most memory that it held, and both as ratios to the smallest number of
rows (seconds a row, and memory). The rows are the labelled answers of a folder, as in `report.py`, over and over, with
a number in each; without `--data` the examples of the project, which are short.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from itertools import islice
from pathlib import Path

from parts import command, processor

from report import read

COMMANDS = {
    "score containment": "score {rows} --judge containment --output_dir {one} --quiet --no_report",
    "score exact_match": "score {rows} --judge exact_match --output_dir {other} --quiet --no_report",
    "doctor": "doctor {one} --input {rows}",
    "show --wrong": "show {one} --wrong",
    "correct": "correct {one}",
    "evaluate": "evaluate {one}",
    "compare": "compare {one} {other}",
    "report": "report {one} --output {page}",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--data", type=Path, help="folder of labelled answers")
    args = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {processor()}")
    first: dict[str, tuple[float, float]] = {}
    for count in args.rows:
        print(f"\n{f'{count:,} rows':22}{'s':>8}{'MiB':>8}{'s a row':>10}{'memory':>8}")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            paths = {
                "rows": folder / "rows.jsonl",
                "one": folder / "a",
                "other": folder / "b",
                "page": folder / "c.html",
            }
            with paths["rows"].open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in islice(read(args.data), count))
            for title, line in COMMANDS.items():
                seconds, memory = command(*line.format(**paths).split())
                a_row, least = first.setdefault(title, (seconds / count, memory))
                print(f"{title:22}{seconds:8.1f}{memory:8.0f}{seconds / count / a_row:9.2f}x{memory / least:7.2f}x")


if __name__ == "__main__":
    main()
