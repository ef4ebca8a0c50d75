"""Where the time of `BERTJudge` goes, with 1, 2 and all cores: `python benchmarks/parts.py`, or `judge.py --parts`.

Prints milliseconds a row, of the clock and of all processes' processor time, and rows/s, for

- tokenising: the tokenizer alone, on the distinct texts of a window
- reading: evidence, tokens and prompts, all that is done before the encoder runs, of texts never read before; as the
  judge does it, and with each version of evidence
- encoder: the engine alone, on prompts that are there
- the whole way from samples to verdicts with `workers` 0 (a thread reads) and with processes that read
- the same with a runtime that costs nothing: the ceiling of everything around the encoder, on any device

Each is the least of `--repeats` rounds. Every number of cores has a process of its own, which may use these only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bert_judge import BERTJudge, Sample
from bert_judge.encoder.batching import Batch, pack
from bert_judge.encoder.engine import Engine
from bert_judge.encoder.torch_runtime import _BATCH_TOKENS, _LEAST_TOKENS, _WINDOWS
from bert_judge.inputs import open_source
from bert_judge.judges.base import windows_of
from bert_judge.judges.bert import usable_cores
from bert_judge.reading import matching, text_values

EXAMPLES = Path(__file__).parents[1] / "examples" / "answers.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=str(EXAMPLES), help="a file of answers")
    parser.add_argument("--rows", type=int, default=2_000, help="rows to time (default: 2000)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--model_path", default="starter", help="the judge (default: starter)")
    parser.add_argument("--cores", type=int, help="measure with so many only, in this process, and print JSON")
    args = parser.parse_args()
    if args.cores:
        print(json.dumps(measure(args.model_path, distinct_rows(args.data, args.rows), args.repeats, args.cores)))
    else:
        parts(args.model_path, args.data, args.rows, args.repeats)


def parts(model_path: str, data: str, rows: int, repeats: int) -> None:
    print(f"machine: {platform.machine()}, {usable_cores()} cores, {processor()}")
    print(f"judge:   {BERTJudge(model_path).signature}")
    print(f"\n{'':38}{'cores':>6}{'ms a row':>10}{'processor':>11}{'rows/s':>8}")
    for cores in sorted({1, min(2, usable_cores()), usable_cores()}):
        options = {"--data": data, "--rows": rows, "--repeats": repeats, "--model_path": model_path, "--cores": cores}
        command = [sys.executable, __file__, *(str(word) for pair in options.items() for word in pair)]
        figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        for name, (wall, spent) in figures.items():
            print(f"{name:38}{cores:6}{wall:10.3f}{spent:11.3f}{1000 / wall:8.0f}")
    padding(model_path, distinct_rows(data, rows))


def padding(model_path: str, rows: Sequence[Sample]) -> None:
    """How much of what is computed is padding, with the batches of a processor, and with those of a GPU."""
    judge = BERTJudge(model_path)
    runtime = judge._model.runtime
    kinds = {
        "batches of this processor": (runtime.batch_tokens, runtime.multiple, runtime.least_tokens, runtime.window),
        "batches of a GPU": (_BATCH_TOKENS["cuda"], 8, _LEAST_TOKENS["cuda"], _WINDOWS["cuda"]),
        "the same, filled, of 1,024 rows": (_BATCH_TOKENS["cuda"], 8, None, 1_024),
    }
    for name, (batch_tokens, multiple, least, window) in kinds.items():
        real = computed = 0
        for several in (rows[start : start + window] for start in range(0, len(rows), window)):
            tokens = [p.tokens for read in judge._reader(several) for p in read.prompts]
            limit = judge._model.max_tokens
            for batch in pack(tokens, batch_tokens, None, 0, multiple, limit, least=least):
                real, computed = real + int(batch.mask.sum()), computed + batch.ids.size
        print(f"{name:38}{1 - real / computed:6.1%} of the tokens are padding")


def distinct_rows(path: str, count: int) -> list[Sample]:
    """`count` rows with no two alike; where the file is too short its rows come again with another number in them."""
    rows = list(open_source(path, limit=count))
    rounds = -(-count // len(rows))
    repeated = [s if n == 0 else replace(s, candidate=f"{s.candidate} ({n})") for n in range(rounds) for s in rows]
    return list(dict.fromkeys(replace(s, id=None, gold=None) for s in repeated))[:count]


_LAUNCHER = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def command(*arguments: str) -> tuple[float, float]:
    """The seconds that a `bert-judge` command takes, and the most memory that it holds, in MiB."""
    line = [sys.executable, "-m", "bert_judge", *arguments]
    start = time.perf_counter()
    # On Linux the peak of a process starts at that of the one that began it: a small one begins it.
    process = subprocess.run([sys.executable, "-c", _LAUNCHER, *line], stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode:
        sys.exit(f"bert-judge {' '.join(arguments)} ended with status {process.returncode}")
    return time.perf_counter() - start, int(process.stdout) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measure(model_path: str, rows: Sequence[Sample], repeats: int, cores: int) -> dict[str, tuple[float, float]]:
    """Milliseconds a row of each part, by the clock and of processor time, on the first so many cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    judges = {n: BERTJudge(model_path, workers=n) for n in sorted({0, 1, cores})}
    judge = judges[0]
    windows = list(windows_of(rows, 1024))
    texts = [sorted({t for s in w for t in (s.question, s.candidate, *s.references) if t}) for w in windows]
    tokens = [[p.tokens for read in judge._reader(w) for p in read.prompts] for w in windows]
    runs: dict[str, Callable[[], object]] = {
        "tokenising": lambda: [judge._model.tokenizer.encode_batch(t, add_special_tokens=False) for t in texts],
        "reading, tokenising included": lambda: [judge._reader(window) for window in windows],
        "encoder": lambda: [judge._engine.run(inputs) for inputs in tokens],
    }
    free = {n: without_encoder(BERTJudge(model_path, workers=n)) for n in judges}
    for kind, measured in (("whole", judges), ("encoder for nothing", free)):
        for n, one in measured.items():
            runs[f"{kind}, workers {n}"] = lambda one=one: list(one.assess(rows))  # type: ignore[misc]
    best = dict.fromkeys(runs, (float("inf"), float("inf")))
    for _ in range(repeats):
        for name, run in runs.items():
            for forget in (text_values._read_short, text_values._read_long, matching._read_question):
                forget.cache_clear()
            before = seconds()
            run()
            spent = (1000 * (now - then) / len(rows) for now, then in zip(seconds(), before, strict=True))
            best[name] = tuple(map(min, zip(best[name], spent, strict=True)))  # type: ignore[assignment]
    return best


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def without_encoder(judge: BERTJudge) -> BERTJudge:
    """The judge with a runtime that costs nothing."""
    judge._model = replace(judge._model, runtime=FreeRuntime())
    judge._engine = Engine(judge._model)
    return judge


class FreeRuntime:
    """The same logits for every input, at once."""

    name, device, dtype, batch_tokens, multiple, at_once = "free", "cpu", "float32", 1_024, 4, 1
    least_tokens, window = None, 1_024

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, np.ndarray]]:
        for batch in batches:
            yield batch, np.zeros((len(batch.rows), 2), np.float32)


def seconds() -> tuple[float, float]:
    """The clock, and the processor time of this process and of those that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(usage.ru_utime + usage.ru_stime for usage in spent)


if __name__ == "__main__":
    main()
