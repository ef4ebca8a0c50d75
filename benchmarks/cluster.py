"""What a cluster on this machine adds: `python benchmarks/cluster.py [--rows 1000000] [--encoder_rows 2000]`.

Prints seconds and rows a second, without the start of the cluster, of

- string matching (containment), from opening the input to the finished result: one process, and two actors
- the starter in float32 with one thread a process: one actor, and two; from the first part of each actor on, so that
  loading the model is left out

and the ratio of each pair. The parts of string matching are compared byte for byte. The rows are the examples over and
over, with a number in each. On a machine with other load the ratios say little: the load is printed beside each.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from parts import EXAMPLES, processor

from bert_judge.inputs import open_source
from bert_judge.integrations.distributed import RayJudge
from bert_judge.judges import Judge
from bert_judge.judges.naming import JudgeSpec
from bert_judge.results import PARTS
from bert_judge.studies.score import open_result, score_source

STARTER = {"judge_type": "BERTJudge", "model_path": "starter", "dtype": "float32", "runtime": "torch", "workers": 0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of string matching (default: 1000000)")
    parser.add_argument("--encoder_rows", type=int, default=2_000, help="rows of the starter (default: 2000)")
    args = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {processor()}\n\n{'':32}{'rows':>10}{'s':>8}{'rows/s':>8}{'load':>6}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.rows:
            matching(folder, args.rows)
        if args.encoder_rows:
            encoding(folder, args.encoder_rows)


def matching(folder: Path, count: int) -> None:
    spec, rows = JudgeSpec.of("containment"), written(folder / "rows.jsonl", count)
    here = judged("containment, one process", spec.make, rows, folder / "here", 10_000)
    far = judged("containment, two actors", lambda: RayJudge(spec, 2), rows, folder / "far", 10_000)
    same = all(
        path.read_bytes() == (folder / "far" / PARTS / path.name).read_bytes()
        for path in (folder / "here" / PARTS).glob("*.parquet")
    )
    print(f"two actors are {far / here:.2f} times as fast; the parts are {'the same' if same else 'OTHERS'}\n")


def encoding(folder: Path, count: int) -> None:
    spec, rows = JudgeSpec.of(STARTER), written(folder / "texts.jsonl", count)
    part = max(1, count // 40)
    speeds = [
        judged(f"starter, {n} actor{'s' * (n > 1)}", lambda n=n: RayJudge(spec, n), rows, folder / f"of_{n}", part, n)
        for n in (1, 2)
    ]
    print(f"two actors are {speeds[1] / speeds[0]:.2f} times as fast as one")


def judged(title: str, make: Callable[[], Judge], rows: Path, folder: Path, part: int, left_out: int = 0) -> float:
    """Rows a second of a run, after so many parts; prints them."""
    judge = make()
    start, before, done, load = time.perf_counter(), 0, 0, os.getloadavg()[0]
    source = open_source(rows, part_rows=part)
    fitted, result = open_result(source, judge, folder, {"part_rows": part})
    for number, done in enumerate(score_source(source, fitted, result), 1):
        if number == left_out:
            start, before = time.perf_counter(), done
    seconds = time.perf_counter() - start
    print(f"{title:32}{done - before:10,}{seconds:8.1f}{(done - before) / seconds:8,.0f}{load:6.1f}", flush=True)
    return (done - before) / seconds


def written(path: Path, count: int) -> Path:
    """A file of so many rows, no two alike."""
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = rows[number % len(rows)]
            text = f"{row['candidate']} ({number})"
            file.write(json.dumps({**row, "id": f"row-{number}", "candidate": text}) + "\n")
    return path


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
