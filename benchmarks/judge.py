"""Speed, drift and memory of `BERTJudge` beside plain transformers loops: `python benchmarks/judge.py`.

Prints, for the starter judge (or `--model_path`) on the same rows, in one run:

- rows/s and tokens/s of the default (`BERTJudge()`), of its other runtimes, and of the two loops that people write:
  (a) one row at a time in bfloat16, the default of the paper's package; (b) batches of 32 in float32, unsorted, padded
  to the longest. The ratios are of medians over `--repeats` alternating rounds.
- the share of this machine's matrix-product peak, measured here, that the engine's arithmetic reaches
- the drift: the largest difference of a score to float32, and the verdicts that flip
- with `--profile`: which operations of the encoder the time goes to (OpenVINO, one thread)
- with `--parts`: reading and encoder apart, and the ceiling of a free encoder, with 1, 2 and all cores (`parts.py`)
- with `--llm`: a language model of each of these sizes (0.6B, 1.7B, 4B, 8B; random weights, as speed does not depend on
  them) that generates the paper's strict verdict for the same rows, and how many times as costly a row is
- with `--memory`: the peak memory of `bert-judge score` over 1,000, 10,000 and 100,000 distinct rows

`--device cuda` measures all of it on a GPU. On a processor that does not compute bfloat16 natively, where it takes
minutes, (a) and the peak are in float32.

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
from bert_judge.encoder.devices import fastest_dtype
from bert_judge.encoder.models import find_model, load_hf_encoder, read_config
from bert_judge.inputs import open_source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=str(EXAMPLES), help="a file of answers")
    parser.add_argument("--rows", type=int, default=300, help="rows to time (default: 300)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--model_path", default="starter", help="the judge (default: starter)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 (default: cpu)")
    parser.add_argument("--llm", nargs="*", default=[], choices=list(LLMS), help="sizes of language models to time")
    parser.add_argument("--llm_rows", type=int, default=16, help="rows that they judge, in one batch (default: 16)")
    parser.add_argument("--parts", action="store_true", help="measure reading and encoder apart, on 1, 2 and all cores")
    parser.add_argument("--memory", action="store_true", help="measure peak memory too (some minutes)")
    parser.add_argument("--profile", action="store_true", help="say which operations take the time")
    parser.add_argument("--memory_rows", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    args = parser.parse_args()
    rows = distinct_rows(args.data, args.rows)
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {processor()}")
    if args.memory:
        memory(args.data, args.memory_rows)
    rate = speed(args.model_path, rows, args.repeats, args.device)
    for size in args.llm:
        language_model(size, rows[: args.llm_rows], rate, args.device)
    if args.parts:
        parts(args.model_path, args.data, args.rows, args.repeats)
    if args.profile:
        profile(args.model_path, rows)


def speed(model_path: str, rows: Sequence[Sample], repeats: int, device: str) -> float:
    """Print the tables; returns rows/s of the default."""
    fast = native_dtype(device)
    judges = {
        "default": BERTJudge(model_path, device=device),
        "openvino float32": BERTJudge(model_path, dtype="float32", runtime="openvino"),
        f"torch {fast}": BERTJudge(model_path, dtype=fast, runtime="torch", device=device),
        "torch float32": BERTJudge(model_path, dtype="float32", runtime="torch", device=device),
    }
    if device != "cpu":
        del judges["openvino float32"]
    if fast != "bfloat16":
        print("bfloat16: left out, as this processor does not compute it natively; (a) is in float32")
    lengths = [len(p.tokens.ids) for group in judges["default"]._prompts.encode(rows) for p in group]
    runs: dict[str, tuple[Callable[[], list[float]], int]] = {
        name: (judging(judge, rows), sum(lengths)) for name, judge in judges.items()
    }
    runs[f"(a) batch 1, {fast}"] = plain_loop(model_path, rows, 1, fast, device)
    runs["(b) batch 32, float32"] = plain_loop(model_path, rows, 32, "float32", device)
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
    peak = matrix_peak(device)
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
    return len(rows) / median["default"]


def judging(judge: BERTJudge, rows: Sequence[Sample]) -> Callable[[], list[float]]:
    """The whole way from texts to scores, with nothing remembered from the round before."""
    questions = [sample.question or "" for sample in rows]
    candidates, references = [sample.candidate for sample in rows], [sample.references for sample in rows]

    def run() -> list[float]:
        return [score or 0.0 for score in judge.predict(questions, candidates, references)]

    return run


def plain_loop(
    model_path: str, rows: Sequence[Sample], batch_size: int, dtype: str, device: str
) -> tuple[Callable[[], list[float]], int]:
    """What a user writes with transformers: batches in the order of the rows, padded to the longest, cut where the
    model ends (as the paper's package does), the first reference only. Also returns the tokens read.
    """
    import torch
    from transformers import PreTrainedTokenizerFast

    folder = find_model(model_path)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]")
    model = load_hf_encoder(model_path, dtype="float32").to(device, getattr(torch, dtype))
    texts = [f"<|question|>{s.question}<|candidate|>{s.candidate}<|reference|>{s.references[0]}" for s in rows]
    limit = model.config.max_position_embeddings
    tokens = sum(len(ids) for ids in tokenizer(texts, truncation=True, max_length=limit).input_ids)

    def run() -> list[float]:
        scores = []
        for start in range(0, len(texts), batch_size):
            batch = tokenizer(
                texts[start : start + batch_size], return_tensors="pt", padding=True, truncation=True, max_length=limit
            ).to(device)
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


LLMS = {  # hidden size, layers, heads, heads of keys, inner size: those of Qwen3
    "0.6B": (1024, 28, 16, 8, 3072),
    "1.7B": (2048, 28, 16, 8, 6144),
    "4B": (2560, 36, 32, 8, 9728),
    "8B": (4096, 36, 32, 8, 12288),
}
_VERDICT_TOKENS = 5  # of "Final answer: True" in Qwen's tokenizer, which the paper's strict instruction asks for


def language_model(size: str, rows: Sequence[Sample], rate: float, device: str) -> None:
    """Time a language model of random weights over the paper's prompts, all rows in one batch, and print the ratio."""
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    from bert_judge.judges.llm import make_prompt

    hidden, layers, heads, keys, inner = LLMS[size]
    config = Qwen3Config(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=keys,
        head_dim=128,
        intermediate_size=inner,
        vocab_size=151_936,
        tie_word_embeddings=size in ("0.6B", "1.7B", "4B"),
        pad_token_id=0,
        eos_token_id=None,
    )
    dtype = getattr(torch, native_dtype(device))
    with torch.device(device):
        model = Qwen3ForCausalLM._from_config(config, dtype=dtype).eval()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(find_model("starter") / "tokenizer.json"), pad_token="[PAD]", padding_side="left"
    )
    prompts = [make_prompt(sample, "strict").text for sample in rows]
    batch = tokenizer(prompts, return_tensors="pt", padding=True, truncation=True, max_length=8192).to(device)
    tensors = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    settings = {"max_new_tokens": _VERDICT_TOKENS, "min_new_tokens": _VERDICT_TOKENS, "do_sample": False}
    times = []
    for _ in range(2):  # the second one is not the first of its shapes
        start = time.perf_counter()
        model.generate(**tensors, **settings)
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    speed = len(rows) / min(times)
    parameters = sum(weights.numel() for weights in model.parameters()) / 1e9
    tokens = batch.attention_mask.sum().item() / len(rows)
    print(
        f"language model {size:5} ({parameters:.1f}G parameters, {dtype}): {speed:8.2f} rows/s of {tokens:.0f} tokens "
        f"and {_VERDICT_TOKENS} generated; a row costs {rate / speed:.0f} times as much"
    )


def native_dtype(device: str) -> str:
    """The fastest type that the device computes natively."""
    import torch

    return fastest_dtype(torch.device(device))


def matrix_peak(device: str) -> float:
    """Operations per second of a large matrix product in that type: the best of several."""
    import torch

    size, dtype = 3072 if device == "cpu" else 8192, getattr(torch, native_dtype(device))
    x, y = (torch.randn(size, size, dtype=dtype, device=device) for _ in range(2))
    times = []
    for _ in range(8):
        start = time.perf_counter()
        x @ y
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 2 * size**3 / min(times)


def profile(model_path: str, rows: Sequence[Sample]) -> None:
    """Time by kind of operation, on one thread."""
    import openvino as ov

    from bert_judge.encoder import openvino_runtime
    from bert_judge.encoder.batching import pack
    from bert_judge.encoder.torch_runtime import make_encoder

    judge = BERTJudge(model_path, runtime="openvino")
    model, runtime = judge._model, judge._model.runtime
    precision = openvino_runtime._PRECISIONS[runtime.dtype]
    hints = {"INFERENCE_PRECISION_HINT": precision, "PERF_COUNT": True, "INFERENCE_NUM_THREADS": 1}
    core = ov.Core()
    make = partial(make_encoder, model.folder, model.output, trust_remote_code=False)
    converted = openvino_runtime.read_converted(core, make, f"{model.hashes['weights']}-{model.output}")
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
