"""Speed, drift and memory of BERTScore beside bert-score 0.3.13: `python benchmarks/bertscore.py --data FILE [FILE …]`.

Prints, for the same weights, layer, texts and machine, in one run:

- pairs/s of bert-score, of ours in float32 (OpenVINO and PyTorch) and of our default; ratios of medians over
  `--repeats` alternating rounds. A pair is a candidate and one reference; texts that come several times stay so.
- the share of this machine's matrix-product peak, measured here, that the encoder's arithmetic reaches
- the drift: the largest and the mean difference of a pair's F1 to bert-score's, and that of the mean over all pairs
- with `--memory`: the peak memory of `bert-judge score --judge_type BERTScore` over 1,000, 10,000 and 100,000 rows

`--data` takes files that `bert-judge score` reads, of which the first `--pairs` pairs together are taken, in equal
parts; without it, the project's examples.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import bert_score as peer
import torch
from judge import EXAMPLES, arithmetic, matrix_peak, memory, native_dtype, processor

from bert_judge.bertscore import BERTScorer
from bert_judge.encoder.models import find_model
from bert_judge.inputs import open_source

Triple = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", default=[str(EXAMPLES)], help="files of candidates and references")
    parser.add_argument("--pairs", type=int, default=1200, help="pairs to time (default: 1200)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--model_path", default="starter", help="a BERT-like encoder (default: starter)")
    parser.add_argument("--memory", action="store_true", help="measure peak memory too (some minutes)")
    parser.add_argument("--memory_rows", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    args = parser.parse_args()
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {processor()}")
    if args.memory:  # first: on Linux a child's peak starts at its parent's, which is still small here
        memory(args.data[0], args.memory_rows, "BERTScore")
    pairs = [pair for path in args.data for pair in islice(pairs_of(path), args.pairs // len(args.data))]
    speed(args.model_path, pairs, args.repeats)


def pairs_of(path: str):
    for sample in open_source(path):
        for reference in filter(
            str.strip, sample.references if sample.candidate.strip() else ()
        ):  # bert-score needs texts
            yield sample.candidate, reference


def speed(model_path: str, pairs: Sequence[tuple[str, str]], repeats: int) -> None:
    candidates, references = map(list, zip(*pairs, strict=True))
    default = BERTScorer(model_path)
    scorers = {
        "default": default,
        "openvino float32": BERTScorer(model_path, dtype="float32", runtime="openvino"),
        "torch float32": BERTScorer(model_path, dtype="float32", runtime="torch"),
    }
    with tempfile.TemporaryDirectory() as folder:
        theirs = peer.BERTScorer(prepared(model_path, Path(folder)), num_layers=default.num_layers, nthreads=0)
        runs = {name: scoring(scorer, candidates, references) for name, scorer in scorers.items()}
        runs["bert-score"] = lambda: theirs.score(candidates, references)
        seconds, scores = timed(runs, repeats)
    distinct = default._pairs.reader.read(list(dict.fromkeys([*candidates, *references])))
    lengths = [len(text.tokens.ids) for text in distinct]
    config_layers = json.loads((find_model(model_path) / "config.json").read_text())["num_hidden_layers"]
    operations = arithmetic(model_path, lengths) * default.num_layers / config_layers
    peak = matrix_peak("cpu")
    print(f"model:   {default.signature}")
    print(f"pairs:   {len(pairs)} of {len(distinct)} distinct texts, {sum(lengths)} tokens; {repeats} rounds, medians")
    print(f"peak:    {peak / 1e9:.0f} GFLOP/s in a {native_dtype('cpu')} matrix product, measured here\n")
    print(f"{'':18}{'pairs/s':>9}{'ratio':>7}{'of peak':>9}{'largest drift':>15}{'mean drift':>12}{'corpus':>9}")
    base = scores["bert-score"][2]
    for name, value in seconds.items():
        drift = (scores[name][2] - base).abs()
        corpus = abs(float(scores[name][2].double().mean() - base.double().mean()))
        print(
            f"{name:18}{len(pairs) / value:9.0f}{seconds['bert-score'] / value:7.1f}{operations / value / peak:9.0%}"
            f"{float(drift.max()):15.1e}{float(drift.mean()):12.1e}{corpus:9.1e}"
        )


def scoring(scorer: BERTScorer, candidates: Sequence[str], references: Sequence[str]) -> Callable[[], Triple]:
    """The whole way from texts to scores, with nothing remembered from the round before."""

    def run() -> Triple:
        return scorer.score(candidates, references)

    return run


def timed(runs: dict[str, Callable[[], Triple]], repeats: int) -> tuple[dict[str, float], dict[str, Triple]]:
    """Median seconds and the results, the runs taking turns, after one round that is not measured."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for round_ in range(repeats + 1):
            for name, run in runs.items():
                start = time.perf_counter()
                scores[name] = run()
                if round_:
                    seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}, scores


def prepared(model_path: str, folder: Path) -> str:
    """A copy of the model whose tokenizer names its limit, without which bert-score can't read it."""
    shutil.copytree(find_model(model_path), folder, dirs_exist_ok=True)
    config = {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": 512,
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
    }
    if not (folder / "tokenizer_config.json").exists():
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return str(folder)


if __name__ == "__main__":
    main()
