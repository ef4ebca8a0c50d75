"""What judging costs: BERTJudge beside a language model as the judge: `python benchmarks/cost.py`.

Both judge the same rows on this machine. The language model has the shape of Qwen3-0.6B and random weights, which
suffice for time; it reads the prompt of LLMJudge and then writes a verdict alone (`strict`, 8 tokens) or with a
rationale (`soft`, --rationale tokens). Prompt and generated tokens both count. Printed are, for each:

- rows/s, tokens in and out a row, and the arithmetic a row (2 operations a weight and token; attention is left out for
  the language models, word embeddings for all); for 8 B and 70 B extrapolated by arithmetic from the time of 0.6 B
- joules a row, where this machine lets its meter be read (Intel and AMD, /sys/class/powercap)
- money for a million rows: of this machine at --machine_price an hour, and of a hosted model at --prices, a million
  tokens each

`--data` takes any file that `bert-judge score` reads; without it, rows are the project's examples.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from judge import EXAMPLES, arithmetic, distinct_rows, processor

from bert_judge import BERTJudge, LLMJudge, Sample
from bert_judge.encoder.models import STARTER_FOLDER

STRICT_TOKENS = 8
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
SHAPE = {  # Qwen3-0.6B
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151_936,
    "tie_word_embeddings": True,
}
SIZES = {"0.6 B": 0.44e9, "8 B": 7.0e9, "70 B": 68.5e9}  # weights without the embeddings that are only looked up


class Line(NamedTuple):
    """What one judge took for a row."""

    name: str
    seconds: float
    tokens_in: float
    tokens_out: float
    operations: float
    joules: float | None
    measured: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=str(EXAMPLES), help="a file of answers")
    parser.add_argument("--rows", type=int, default=12, help="rows for the language model (default: 12)")
    parser.add_argument("--bert_rows", type=int, default=300, help="rows for BERTJudge (default: 300)")
    parser.add_argument("--rationale", type=int, default=128, help="tokens of a verdict with rationale (default: 128)")
    parser.add_argument("--machine_price", type=float, default=0.10, help="of this machine, an hour (default: 0.10)")
    parser.add_argument(
        "--prices",
        type=float,
        nargs=4,
        default=[0.05, 0.10, 0.40, 0.60],
        metavar=("IN8", "OUT8", "IN70", "OUT70"),
        help="hosted 8 B and 70 B, a million tokens in and out (default: 0.05 0.10 0.40 0.60)",
    )
    args = parser.parse_args()
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {processor()}")
    lines = [bert_line(distinct_rows(args.data, args.bert_rows))]
    rows = distinct_rows(args.data, args.rows)
    with tempfile.TemporaryDirectory() as folder:
        model = random_model(Path(folder) / "Random-0.6B")
        for kind, length in (("strict", STRICT_TOKENS), ("soft", args.rationale)):
            lines += llm_lines(model, rows, kind, length)
    hosted = {"8 B": args.prices[:2], "70 B": args.prices[2:]}
    show(lines, args.machine_price, hosted)


def bert_line(rows: Sequence[Sample]) -> Line:
    judge = BERTJudge()
    list(judge.assess(rows))  # once unmeasured: kernels are compiled for the shapes that come
    lengths = [len(p.tokens.ids) for group in judge._prompts.encode(rows) for p in group]
    seconds, joules = measured(lambda: list(judge.assess(rows)))
    n = len(rows)
    operations = arithmetic(str(STARTER_FOLDER), lengths) / n
    return Line("BERTJudge (starter)", seconds / n, sum(lengths) / n, 0, operations, joules and joules / n, True)


def random_model(folder: Path) -> str:
    """A language model of random weights, with the starter's tokenizer: its tokens are about as long as others'."""
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(STARTER_FOLDER / "tokenizer.json"), pad_token="[PAD]", eos_token="[unused1]"
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    with torch.device("cpu"):
        torch.set_default_dtype(torch.bfloat16)
        model = Qwen3ForCausalLM(Qwen3Config(**SHAPE, pad_token_id=0, bos_token_id=None, eos_token_id=2))
        torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def llm_lines(model: str, rows: Sequence[Sample], kind: str, length: int) -> list[Line]:
    judge = LLMJudge(model, "hf", instruction_type=kind, max_tokens=length, store="off", hard_scores=True)
    list(judge.assess([replace(rows[0], id=None)]))
    before = judge.costs
    seconds, joules = measured(lambda: list(judge.assess(rows[1:])))
    costs, n = judge.costs, len(rows) - 1
    tokens_in = (costs.prompt_tokens - before.prompt_tokens) / n
    tokens_out = (costs.completion_tokens - before.completion_tokens) / n
    base = 2 * SIZES["0.6 B"] * (tokens_in + tokens_out)
    lines = []
    for size, weights in SIZES.items():
        operations = 2 * weights * (tokens_in + tokens_out)
        factor = operations / base
        lines.append(
            Line(
                f"LLMJudge {size}, {kind}",
                seconds / n * factor,
                tokens_in,
                tokens_out,
                operations,
                joules and joules / n * factor,
                size == "0.6 B",
            )
        )
    return lines


def measured(run: Callable[[], object]) -> tuple[float, float | None]:
    """Seconds, and joules of all processors if they can be read."""
    meters = sorted(Path("/sys/class/powercap").glob("*-rapl:?/energy_uj"))
    try:
        energy = [int(meter.read_text()) for meter in meters]
    except OSError:
        meters = []
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    if not meters:
        return seconds, None
    return seconds, sum(int(m.read_text()) - before for m, before in zip(meters, energy, strict=True)) / 1e6


def show(lines: Sequence[Line], machine_price: float, hosted: dict[str, Sequence[float]]) -> None:
    base = lines[0]
    print(
        f"\n{'':24}{'rows/s':>10}{'x time':>9}{'tokens in':>11}{'out':>6}{'GFLOP a row':>13}{'x FLOP':>9}"
        f"{'J a row':>9}{'$ here':>10}{'$ hosted':>10}"
    )
    for line in lines:
        prices = next((values for size, values in hosted.items() if f" {size}," in line.name), None)
        host = f"{line.tokens_in * prices[0] + line.tokens_out * prices[1]:.0f}" if prices else ""
        joules = "" if line.joules is None else f"{line.joules:.2f}"
        print(
            f"{line.name:24}{1 / line.seconds:10.3g}{line.seconds / base.seconds:9.0f}{line.tokens_in:11.0f}"
            f"{line.tokens_out:6.0f}{line.operations / 1e9:13.1f}{line.operations / base.operations:9.0f}{joules:>9}"
            f"{line.seconds * 1e6 / 3600 * machine_price:10.2f}{host:>10}{'' if line.measured else '  (by arithmetic)'}"
        )
    print("\n$: a million rows. This machine at", machine_price, "an hour; hosted at the prices of --prices.")
    if base.joules is None:
        print("joules: this machine's meter can't be read")


if __name__ == "__main__":
    main()
