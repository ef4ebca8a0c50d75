"""`bert-judge quantize`: an int8 copy of a judge, for processors without bfloat16, beside the judge itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated

from bert_judge.cli import log_shown, run, say
from bert_judge.cli.flags import Parser, made
from bert_judge.cli.inputs import InputOptions, open_input
from bert_judge.encoder.models import STARTER
from bert_judge.judges.quantize import MAX_FLIPS, Quantized, quantize
from bert_judge.report.document import Content, Document, Facts, Table

_READ = 100_000

_EXAMPLES = """examples:
  bert-judge quantize answers.jsonl --output_dir starter-int8
  bert-judge quantize answers.jsonl --model_path models/my-judge --output_dir my-judge-int8
  bert-judge quantize answers.jsonl --output_dir starter-int8 --max_flips 0.005 --json | jq .flips
  bert-judge score answers.jsonl --judge starter-int8

It pays on processors that multiply eight-bit integers (VNNI, AMX, Arm's DotProd); the table says what it is worth
on this one. The answers need no labels; take some of the kind that you judge.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizeOptions(InputOptions):
    """What `quantize` takes besides the answers."""

    output_dir: Annotated[str, "folder for the int8 judge"]
    model_path: Annotated[str, "the judge: starter, a folder, or a name on the Hub"] = STARTER
    calibration_rows: Annotated[int, "answers that choose how numbers are rounded"] = 300
    test_rows: Annotated[int, "other answers, which compare the two judges"] = 4_000
    max_flips: Annotated[float, "write nothing where more than this fraction of the labels differ"] = MAX_FLIPS
    overwrite: Annotated[bool, "replace an int8 judge in the folder"] = False
    trust_remote_code: Annotated[bool, "run the model's own code if transformers lacks its architecture"] = False
    allow_pickle: Annotated[bool, "convert weights that are pickles (once; their tensors alone are read)"] = False
    json: Annotated[bool, "print one JSON object"] = False


def main(arguments: Sequence[str]) -> int:
    """Read answers, make the judge, and print what it gains and loses."""
    text = "Make an int8 copy of a judge: faster on many processors, and half as large."
    parser = Parser("bert-judge quantize", "FILE --output_dir FOLDER [flags]", text, _EXAMPLES)
    parser.add_argument("input", metavar="FILE", help="answers, in any format that score reads")
    parser.flags("flags", QuantizeOptions)
    values = parser.parse(arguments)
    options = made(QuantizeOptions, values)
    rows = list(islice(open_input(values["input"], options), _READ))
    with log_shown(not options.json):
        found = quantize(
            options.model_path,
            rows,
            options.output_dir,
            calibration_rows=options.calibration_rows,
            test_rows=options.test_rows,
            max_flips=options.max_flips,
            overwrite=options.overwrite,
            trust_remote_code=options.trust_remote_code,
            allow_pickle=options.allow_pickle,
        )
    if options.json:
        say(json.dumps({**asdict(found), "folder": str(found.folder)}))
    else:
        say(_document(found, options).text())
    return 0


def _document(found: Quantized, options: QuantizeOptions) -> Document:
    agreements = [None if a is None else f"{a:.1%}" for a in (found.exact_agreement, found.agreement)]
    body: list[list[Content]] = [
        ["float32", round(found.exact_speed), agreements[0]],
        ["int8", round(found.speed), agreements[1]],
    ]
    below = f"of {found.rows:,} answers that it was not made with; agreement: with their labels, where they have one"
    facts = [
        ("flips", f"{found.flips:,} of {found.rows:,} labels differ ({found.flips / found.rows:.2%})"),
        ("scores", f"differ by {found.mean_drift:.4f} in the mean, by {found.max_drift:.3f} at most"),
        ("speed", f"{found.speed / found.exact_speed:.1f} times that of float32"),
        ("judge", f"{options.output_dir} ({found.size / 1e6:.0f} MB), made with {found.calibration_rows:,} answers"),
    ]
    return Document("Int8 judge", [Table("", ["", "rows/s", "agreement"], body, below), Facts(facts)])


if __name__ == "__main__":
    run("quantize")
