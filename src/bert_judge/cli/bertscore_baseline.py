"""`bert-judge bertscore-baseline`: a rescaling baseline for any model, from one's own texts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bert_judge.cli import log_shown, run, say
from bert_judge.cli.bertscore import read_lines
from bert_judge.cli.flags import Parser, spellings
from bert_judge.errors import InputError

_EXAMPLES = """examples:
  bert-judge bertscore-baseline --model answerdotai/ModernBERT-base --texts news.txt -o modernbert.csv
  bert-judge bertscore -r refs.txt -c hyps.txt -m answerdotai/ModernBERT-base --baseline_path modernbert.csv

Texts are lines of a file, of the kind and language that will be scored; some thousands are enough. Random pairs of
them are scored at every layer, and the means are written as bert-score's baseline files are: LAYER,P,R,F.
"""


def main(arguments: Sequence[str]) -> int:
    """Score random pairs of texts at all layers, and write the means."""
    parser = Parser(
        "bert-judge bertscore-baseline",
        "--model NAME --texts FILE [-o baseline.csv]",
        "Make a rescaling baseline for BERTScore.",
        _EXAMPLES,
    )
    parser.add_argument(
        "-m", "--model", *spellings("model_path"), required=True, help="a Hub name, folder or 'starter'"
    )
    parser.add_argument("--texts", required=True, metavar="FILE", help="texts, one a line")
    parser.add_argument("-o", "--output", default="baseline.csv", metavar="FILE", help="(default: baseline.csv)")
    parser.add_argument("--pairs", type=int, default=10_000, metavar="N", help="random pairs (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="chooses the pairs (default: 0)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, mps …")
    parser.add_argument("--dtype", default="auto", help="auto, float32 (exact), bfloat16 or float16")
    parser.add_argument("--runtime", choices=["auto", "torch", "openvino"], default="auto", help="runs the encoder")
    parser.add_argument(
        *spellings("max_tokens"), type=int, metavar="N", help="longest text (default: the model's limit)"
    )
    parser.add_argument(*spellings("batch_tokens"), type=int, metavar="N", help="most tokens in a batch")
    parser.add_argument(*spellings("trust_remote_code"), action="store_true", help="run code that comes with the model")
    options = parser.parse(arguments)
    if options["pairs"] < 1:
        raise InputError(f"pairs is {options['pairs']}; a number of at least 1 was expected.")
    output = Path(options["output"])
    if output.is_dir():
        raise InputError(f"{output} is a folder; the name of a file was expected.")
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {output.parent} for the baseline; make it first.")
    texts = read_lines(options["texts"])
    from bert_judge.bertscore import BERTScorer
    from bert_judge.bertscore.baseline import measure_baseline, write_baseline
    from bert_judge.bertscore.defaults import choose_layer

    with log_shown(True):
        scorer = BERTScorer(
            options["model"],
            all_layers=True,
            device=options["device"],
            dtype=options["dtype"],
            runtime=options["runtime"],
            max_tokens=options["max_tokens"],
            batch_tokens=options["batch_tokens"],
            trust_remote_code=options["trust_remote_code"],
        )
    rows = measure_baseline(scorer, texts, options["pairs"], options["seed"], progress=sys.stderr.isatty())
    write_baseline(output, rows)
    layer = choose_layer(options["model"], None, options["trust_remote_code"])
    precision, recall, f1 = rows[layer.number]
    say(f"layer {layer.number} ({layer.chosen})  P: {precision:.6f} R: {recall:.6f} F1: {f1:.6f}\nwritten to {output}")
    return 0


if __name__ == "__main__":
    run("bertscore-baseline")
