"""`bert-judge bertscore-baseline`: a rescaling baseline for any model, from one's own texts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bert_judge.cli import run, say
from bert_judge.cli.bertscore import add_scorer_flags, make_scorer, read_lines
from bert_judge.cli.flags import Parser
from bert_judge.errors import InputError

_EXAMPLES = """examples:
  bert-judge bertscore-baseline --model answerdotai/ModernBERT-base --texts news.txt -o modernbert.csv
  bert-judge bertscore -r refs.txt -c hyps.txt -m answerdotai/ModernBERT-base --baseline_path modernbert.csv

Texts are lines of a file, of the kind and language that will be scored; some thousands are enough. Random pairs of
them are scored at every layer, and the means are written as bert-score's baseline files are: LAYER,P,R,F.
"""
_FLAGS = ("device", "dtype", "runtime", "max_tokens", "batch_tokens", "trust_remote_code", "allow_pickle")


def main(arguments: Sequence[str]) -> int:
    """Score random pairs of texts at all layers, and write the means."""
    parser = Parser(
        "bert-judge bertscore-baseline",
        "--model NAME --texts FILE [-o baseline.csv]",
        "Make a rescaling baseline for BERTScore.",
        _EXAMPLES,
    )
    add_scorer_flags(parser.add_argument_group("the model"), "model", *_FLAGS, model_required=True)
    parser.add_argument("--texts", required=True, metavar="FILE", help="texts, one a line")
    parser.add_argument("-o", "--output", default="baseline.csv", metavar="FILE", help="(default: baseline.csv)")
    parser.add_argument("--pairs", type=int, default=10_000, metavar="N", help="random pairs (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="chooses the pairs (default: 0)")
    options = parser.parse(arguments)
    if options["pairs"] < 1:
        raise InputError(f"pairs is {options['pairs']}; a number of at least 1 was expected.")
    output = Path(options["output"])
    if output.is_dir():
        raise InputError(f"{output} is a folder; the name of a file was expected.")
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {output.parent} for the baseline; make it first.")
    texts = read_lines(options["texts"])
    from bert_judge.bertscore.baseline import measure_baseline, write_baseline
    from bert_judge.bertscore.defaults import choose_layer

    scorer = make_scorer(options, all_layers=True)
    rows = measure_baseline(scorer, texts, options["pairs"], options["seed"], progress=sys.stderr.isatty())
    write_baseline(output, rows)
    layer = choose_layer(options["model"], None, options["trust_remote_code"])
    precision, recall, f1 = rows[layer.number]
    say(f"layer {layer.number} ({layer.chosen})  P: {precision:.6f} R: {recall:.6f} F1: {f1:.6f}\nwritten to {output}")
    return 0


if __name__ == "__main__":
    run("bertscore-baseline")
