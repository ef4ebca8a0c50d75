"""Speed, drift and memory of `BERTJudge` beside plain transformers loops: `python benchmarks/judge.py`.

Prints, for the starter judge (or `--model_path`) on the same rows, in one run:

- rows/s and tokens/s of the default (`BERTJudge()`), of its other runtimes, and of the two loops that people write:
  (a) one row at a time in bfloat16, the default of the paper's package; (b) batches of 32 in float32, unsorted, padded
  to the longest. The ratios are of medians over `--repeats` alternating rounds.
- the share of this machine's matrix-product peak, measured here, that the engine's arithmetic reaches
- the drift: the largest difference of a score to float32, and the verdicts that flip
- with `--profile`: which operations of the encoder the time goes to (OpenVINO, one thread)
- with `--parts`: reading and encoder apart, and the ceiling of a free encoder, with 1, 2 and all cores (`parts.py`)
- with `--memory`: the peak memory of `bert-judge score` over 1,000, 10,000 and 100,000 distinct rows

On a processor that does not compute bfloat16 natively, where it takes minutes, (a) and the peak are in float32.

`--data` takes any file that `bert-judge score` reads; without it, rows are made from the project's examples.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from parts import EXAMPLES, command, distinct_rows, parts, processor

from bert_judge import BERTJudge, Sample
from bert_judge.models import fastest_dtype, find_model, load_hf_encoder, read_config
from bert_judge.sources import open_source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=str(EXAMPLES), help="a file of answers")
    parser.add_argument("--rows", type=int, default=300, help="rows to time (default: 300)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--model_path", default="starter", help="the judge (default: starter)")
    parser.add_argument("--parts", action="store_true", help="measure reading and encoder apart, on 1, 2 and all cores")
    parser.add_argument("--memory", action="store_true", help="measure peak memory too (some minutes)")
    parser.add_argument("--profile", action="store_true", help="say which operations take the time")
    parser.add_argument("--memory_rows", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    args = parser.parse_args()
    rows = distinct_rows(args.data, args.rows)
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {processor()}")
    if args.memory:
        memory(args.data, args.memory_rows)
    speed(args.model_path, rows, args.repeats)
    if args.parts:
        parts(args.model_path, args.data, args.rows, args.repeats)
    if args.profile:
        profile(args.model_path, rows)


def speed(model_path: str, rows: Sequence[Sample], repeats: int) -> None:
    fast = processor_dtype()
    judges = {
        "default": BERTJudge(model_path),
        "openvino float32": BERTJudge(model_path, dtype="float32", runtime="openvino"),
        f"torch {fast}": BERTJudge(model_path, dtype=fast, runtime="torch"),
        "torch float32": BERTJudge(model_path, dtype="float32", runtime="torch"),
    }
    if fast != "bfloat16":
        print("bfloat16: left out, as this processor does not compute it natively; (a) is in float32")
    lengths = [len(p.tokens.ids) for group in judges["default"]._prompts.encode(rows) for p in group]
    runs: dict[str, tuple[Callable[[], list[float]], int]] = {
        name: (judging(judge, rows), sum(lengths)) for name, judge in judges.items()
    }
    runs[f"(a) batch 1, {fast}"] = plain_loop(model_path, rows, 1, fast)
    runs["(b) batch 32, float32"] = plain_loop(model_path, rows, 32, "float32")
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    scores: dict[str, list[float]] = {}
    for run, _ in runs.values():
        run()  # once unmeasured: kernels are compiled for the shapes that come
    for _ in range(repeats):
        for name, (run, _) in runs.items():
            start = time.perf_counter()
            scores[name] = run()
            seconds[name].append(time.perf_counter() - start)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    peak = matrix_peak()
    print(f"judge:   {judges['default'].signature}")
    print(f"rows:    {len(rows)} distinct; {repeats} rounds, medians")
    print(f"peak:    {peak / 1e9:.0f} GFLOP/s in a {fast} matrix product, measured here")
    print(f"\n{'':24}{'rows/s':>8}{'x (a)':>7}{'x (b)':>7}{'tokens':>8}{'tokens/s':>10}{'of peak':>9}")
    a, b = median[f"(a) batch 1, {fast}"], median["(b) batch 32, float32"]
    per_token = arithmetic(model_path, lengths) / sum(lengths)
    for name, value in median.items():
        tokens = runs[name][1]
        print(
            f"{name:24}{len(rows) / value:8.0f}{a / value:7.1f}{b / value:7.1f}{tokens / len(rows):8.0f}"
            f"{tokens / value:10.0f}{per_token * tokens / value / peak:9.0%}"
        )
    exact = scores["torch float32"]
    print(f"\n{'drift to torch float32':24}{'largest':>9}{'mean':>9}{'flipped':>9}")
    for name in judges:
        differences = [abs(x - y) for x, y in zip(scores[name], exact, strict=True)]
        flips = sum((x >= 0.5) != (y >= 0.5) for x, y in zip(scores[name], exact, strict=True))
        print(f"{name:24}{max(differences):9.1e}{statistics.mean(differences):9.1e}{flips:9}")


def judging(judge: BERTJudge, rows: Sequence[Sample]) -> Callable[[], list[float]]:
    """The whole way from texts to scores, with nothing remembered from the round before."""
    questions = [sample.question or "" for sample in rows]
    candidates, references = [sample.candidate for sample in rows], [sample.references for sample in rows]

    def run() -> list[float]:
        judge._engine.forget()
        return [score or 0.0 for score in judge.predict(questions, candidates, references)]

    return run


def plain_loop(
    model_path: str, rows: Sequence[Sample], batch_size: int, dtype: str
) -> tuple[Callable[[], list[float]], int]:
    """What a user writes with transformers: batches in the order of the rows, padded to the longest, cut where the
    model ends (as the paper's package does), the first reference only. Also returns the tokens read.
    """
    import torch
    from transformers import PreTrainedTokenizerFast

    folder = find_model(model_path)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]")
    model = load_hf_encoder(model_path, dtype="float32").to(getattr(torch, dtype))
    texts = [f"<|question|>{s.question}<|candidate|>{s.candidate}<|reference|>{s.references[0]}" for s in rows]
    limit = model.config.max_position_embeddings
    tokens = sum(len(ids) for ids in tokenizer(texts, truncation=True, max_length=limit).input_ids)

    def run() -> list[float]:
        scores = []
        for start in range(0, len(texts), batch_size):
            batch = tokenizer(
                texts[start : start + batch_size], return_tensors="pt", padding=True, truncation=True, max_length=limit
            )
            with torch.no_grad():
                logits = model(**batch).logits
            scores += torch.sigmoid(logits[:, 1] - logits[:, 0]).tolist()
        return scores

    return run, tokens


def arithmetic(model_path: str, lengths: Sequence[int]) -> float:
    """Floating-point operations of the encoder's matrix products over inputs of these lengths, without padding."""
    config = read_config(find_model(model_path))
    d, layers, inner = config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    return float(sum(layers * (2 * n * (4 * d * d + 2 * d * inner) + 4 * n * n * d) for n in lengths))


def processor_dtype() -> str:
    """The fastest type that this processor computes natively."""
    import torch

    return fastest_dtype(torch.device("cpu"))


def matrix_peak() -> float:
    """Operations per second of a large matrix product in that type: the best of several."""
    import torch

    size, dtype = 3072, getattr(torch, processor_dtype())
    x, y = torch.randn(size, size, dtype=dtype), torch.randn(size, size, dtype=dtype)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        x @ y
        times.append(time.perf_counter() - start)
    return 2 * size**3 / min(times)


def profile(model_path: str, rows: Sequence[Sample]) -> None:
    """Time by kind of operation, on one thread."""
    import openvino as ov

    from bert_judge.encoder import openvino_runtime
    from bert_judge.encoder.batching import pack
    from bert_judge.encoder.modules import make_encoder

    judge = BERTJudge(model_path, runtime="openvino")
    model, runtime = judge._model, judge._model.runtime
    precision = openvino_runtime._PRECISIONS[runtime.dtype]
    hints = {"INFERENCE_PRECISION_HINT": precision, "PERF_COUNT": True, "INFERENCE_NUM_THREADS": 1}
    core = ov.Core()
    make = partial(make_encoder, model.folder, model.output, trust_remote_code=False)
    converted = openvino_runtime._read_converted(core, make, f"{model.hashes['weights']}-{model.output}")
    request = core.compile_model(converted, "CPU", hints).create_infer_request()
    start = time.perf_counter()
    inputs = [prompt.tokens for group in judge._prompts.encode(rows) for prompt in group]
    reading = time.perf_counter() - start
    times: Counter[str] = Counter()
    for batch in pack(inputs, runtime.batch_tokens, None, model.pad_id, runtime.multiple, model.max_tokens):
        request.infer(dict(zip(runtime._inputs, batch.arrays(runtime._inputs), strict=True)))
        for operation in request.profiling_info:
            times[operation.node_type] += operation.real_time.total_seconds()
    print(f"\nreading (evidence, tokens): {1000 * reading / len(rows):.2f} ms a row, before the encoder")
    print("time by operation:", ", ".join(f"{name} {t / times.total():.1%}" for name, t in times.most_common(6)))


def memory(data: str, counts: Sequence[int], judge_type: str = "BERTJudge") -> None:
    """Peak resident memory of whole `bert-judge score` processes; short rows, all distinct."""
    print(f"\n{f'peak memory of score with {judge_type}':40}{'rows/s':>8}")
    words = [sample for sample in open_source(data) if len(sample.candidate) < 80]
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            with path.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in numbered(words, count))
            seconds, peak = command(
                "score", str(path), "--judge_type", judge_type, "--output_dir", f"{folder}/out", "--quiet"
            )
        print(f"{count:>10,} rows {peak:>16.0f} MiB {count / seconds:>14.0f}")


def numbered(samples: Sequence[Sample], count: int) -> Iterator[dict[str, object]]:
    for n in range(count):
        sample = samples[n % len(samples)]
        yield {"question": f"{n}?", "references": [sample.references[0][:40]], "candidate": f"{sample.candidate} {n}"}


if __name__ == "__main__":
    main()
