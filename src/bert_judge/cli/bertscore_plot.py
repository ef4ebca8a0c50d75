"""`bert-judge bertscore-plot`: which tokens of two texts BERTScore matches, as a picture, a page or data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from bert_judge.cli import log_shown, run, say
from bert_judge.cli.flags import Parser, add_flags, spellings
from bert_judge.errors import InputError

_PROG = "bert-judge bertscore-plot"
_EXAMPLES = """examples:
  bert-judge bertscore-plot -c "She died in her home." -r "He died at his house." -o alignment.png
  bert-judge bertscore-plot -c "She died in her home." -r "He died at his house." -o alignment.html
  bert-judge bertscore-plot -c "…" -r "…" -m roberta-large --lang en --rescale_with_baseline -o alignment.pdf

Flags may be written with hyphens, too: --num-layers.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerOptions:
    """What the command takes for BERTScorer, by the names of its parameters."""

    lang: Annotated[str | None, "language of the texts: chooses the model and the baseline"] = None
    rescale_with_baseline: Annotated[bool, "map similarities so that random pairs have about 0"] = False
    baseline_path: Annotated[str | None, "a baseline file: CSV with the header LAYER,P,R,F"] = None
    dtype: Annotated[str, "auto, float32 (exact) or bfloat16"] = "auto"
    device: Annotated[str, "auto, cpu, cuda, …"] = "auto"
    runtime: Annotated[Literal["auto", "torch", "openvino"], "what runs the encoder"] = "auto"
    max_tokens: Annotated[int | None, "the longest text in tokens (default: the model's limit)"] = None
    compat: Annotated[Literal["bert_score"] | None, "repeat the defects of bert-score 0.3.13"] = None
    trust_remote_code: Annotated[bool, "allow a model to bring code of its own"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, load the model, align, write the file, and print the scores."""
    values, options = _parse(arguments)
    path, idf_path = Path(values["output"]), values["idf_path"]
    for name in ("cand", "ref"):
        if not values[name].strip():
            raise InputError(f"the text of --{name} is empty; a text was expected.")
    if idf_path and not Path(idf_path).is_file():
        raise InputError(f"the idf file {idf_path} is not there; one that BERTScorer.save_idf wrote was expected.")
    from bert_judge.bertscore.plot import check_target, save
    from bert_judge.bertscore.scorer import BERTScorer

    check_target(path)
    with log_shown(True):
        scorer = BERTScorer(values["model"], values["num_layers"], **asdict(options))
    if idf_path:
        scorer.load_idf(idf_path)
    alignment = scorer.align(values["cand"], values["ref"])
    save(alignment, path)
    cut = [f"cut    {name}: {count} characters did not fit" for name, count in alignment.truncated.items()]
    scores = f"P {alignment.precision:.6f}  R {alignment.recall:.6f}  F1 {alignment.f1:.6f}"
    say("\n".join([scores, *cut, f"scorer {alignment.signature}", f"file   {path}"]))
    return 0


def _parse(arguments: Sequence[str]) -> tuple[dict[str, Any], ScorerOptions]:
    """The values of all flags, and those of the scorer; flags of bert-score-show have its names."""
    text = "Show which tokens of a candidate and a reference BERTScore matches."
    parser = Parser(_PROG, "-c TEXT -r TEXT [-o FILE] [flags]", text, _EXAMPLES)
    general = parser.add_argument_group("texts and file")
    general.add_argument("--cand", "-c", required=True, metavar="TEXT", help="the candidate")
    general.add_argument("--ref", "-r", required=True, metavar="TEXT", help="the reference")
    general.add_argument(
        *("--output", "-o", "--file", "-f"),
        default="alignment.png",
        metavar="FILE",
        help="what to write: .png, .svg or .pdf, a page (.html) or data (.json) (default: alignment.png)",
    )
    group = parser.add_argument_group("the metric")
    group.add_argument(
        *("--model", "-m", *spellings("model_path")),
        metavar="NAME",
        help="a folder, a name on the Hub, or starter (default: the model for --lang, without it starter)",
    )
    group.add_argument(
        *(*spellings("num_layers"), "-l"), type=int, metavar="N", help="the layer that is read (default: the best one)"
    )
    group.add_argument("-v", "--verbose", action="store_true", help="accepted, as bert-score-show has it; no effect")
    group.add_argument(*spellings("idf_path"), metavar="FILE", help="weigh tokens by counts that save_idf wrote")
    own = add_flags(group, ScorerOptions)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    values = parser.parse(arguments)
    if values["words"]:
        parser.error(f"there is a text without a flag, {values['words'][0]!r}: put each text in quotation marks")
    return values, ScorerOptions(**{name: values[name] for name in own})


if __name__ == "__main__":
    run("bertscore-plot")
