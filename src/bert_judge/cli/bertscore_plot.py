"""`bert-judge bertscore-plot`: which tokens of two texts BERTScore matches, as a picture, a page or data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bert_judge.cli import run, say
from bert_judge.cli.bertscore import add_scorer_flags, make_scorer
from bert_judge.cli.flags import Parser, spellings
from bert_judge.errors import InputError

_PROG = "bert-judge bertscore-plot"
_EXAMPLES = """examples:
  bert-judge bertscore-plot -c "She died in her home." -r "He died at his house." -o alignment.png
  bert-judge bertscore-plot -c "…" -r "…" -m roberta-large --lang en --rescale_with_baseline -o alignment.pdf

Flags may be written with hyphens, too: --num-layers.
"""


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, load the model, align, write the file, and print the scores."""
    values = _parse(arguments)
    path, idf_path = Path(values["output"]), values["idf_path"]
    for name in ("cand", "ref"):
        if not values[name].strip():
            raise InputError(f"the text of --{name} is empty; a text was expected.")
    if idf_path and not Path(idf_path).is_file():
        raise InputError(f"the idf file {idf_path} does not exist; one that BERTScorer.save_idf wrote was expected.")
    from bert_judge.bertscore.plot import check_target, save

    check_target(path)
    scorer = make_scorer(values)
    if idf_path:
        scorer.load_idf(idf_path)
    alignment = scorer.align(values["cand"], values["ref"])
    save(alignment, path)
    cut = [f"cut    {name}: {count} characters did not fit" for name, count in alignment.truncated.items()]
    scores = f"P {alignment.precision:.6f}  R {alignment.recall:.6f}  F1 {alignment.f1:.6f}"
    say("\n".join([scores, *cut, f"scorer {alignment.signature}", f"file   {path}"]))
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    """The values of all flags; those of bert-score-show have its names."""
    text = "Show which tokens of a candidate and a reference BERTScore matches."
    parser = Parser(_PROG, "-c TEXT -r TEXT [-o FILE] [flags]", text, _EXAMPLES)
    general = parser.add_argument_group("texts and file")
    general.add_argument("--cand", "-c", required=True, metavar="TEXT", help="the candidate")
    general.add_argument("--ref", "-r", required=True, metavar="TEXT", help="the reference")
    general.add_argument(
        *("--output", "-o", "--file", "-f"),
        default="alignment.png",
        metavar="FILE",
        help="what to write: .png, .svg, .pdf or data (.json) (default: alignment.png)",
    )
    group = parser.add_argument_group("the metric")
    add_scorer_flags(group, "model", "num_layers", "lang", "rescale_with_baseline", "baseline_path")
    add_scorer_flags(group, "dtype", "device", "runtime", "max_tokens", "compat", "trust_remote_code", "allow_pickle")
    group.add_argument("-v", "--verbose", action="store_true", help="accepted, as bert-score-show has it; no effect")
    group.add_argument(*spellings("idf_path"), metavar="FILE", help="weigh tokens by counts that save_idf wrote")
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    values = parser.parse(arguments)
    if values["words"]:
        parser.error(f"there is a text without a flag, {values['words'][0]!r}: put each text in quotation marks")
    return values


if __name__ == "__main__":
    run("bertscore-plot")
