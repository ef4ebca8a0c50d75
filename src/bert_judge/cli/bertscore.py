"""`bert-judge bertscore`: BERTScore of candidates and references, with the command line of bert-score."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bert_judge.cli import log_shown, run, say
from bert_judge.cli.flags import AddUp, Parser, named_columns, spellings
from bert_judge.errors import InputError

Pair = tuple[str, Sequence[str]]

_EXAMPLES = """examples:
  bert-judge bertscore -r refs.txt -c hyps.txt --lang en
  bert-judge bertscore -r refs.txt refs2.txt -c hyps.txt --lang en --rescale_with_baseline -s
  bert-judge bertscore -r refs.txt -c hyps.txt -m roberta-large -l 17 --idf --idf_path idf.json
  bert-judge bertscore --texts -r "It was cold." -c "The weather was freezing."
  echo '{"candidate": "Hi there", "references": ["Hello there"]}' | bert-judge bertscore --json

One text a line; several reference files are several references for each line of the candidates. Without --lang and
--model the texts are compared by the encoder that ships inside this package. It prints

  <signature> P: 0.957378 R: 0.961325 F1: 0.959333

and with -s a line "P<tab>R<tab>F1" for each pair; with --json {"bertscore_f1": 0.959333}.
"""


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the texts, load the model, print the scores."""
    options = _parse(arguments)
    pairs = _pairs(options)
    if not pairs:
        raise InputError("there is nothing to score: the input is empty.")
    from bert_judge.bertscore import BERTScorer

    with log_shown(options["verbose"]):
        scorer = BERTScorer(
            options["model"],
            options["num_layers"],
            options["batch_size"],
            device=options["device"],
            lang=options["lang"],
            rescale_with_baseline=options["rescale_with_baseline"],
            baseline_path=options["baseline_path"],
            use_fast_tokenizer=options["use_fast_tokenizer"],
            dtype=options["dtype"],
            runtime=options["runtime"],
            compat=options["compat"],
            max_tokens=options["max_tokens"],
            batch_tokens=options["batch_tokens"],
            trust_remote_code=options["trust_remote_code"],
        )
    path = Path(options["idf_path"]) if options["idf_path"] else None
    if path and path.exists():
        scorer.load_idf(path)
    elif options["idf"] or path:
        scorer.compute_idf([reference for _, references in pairs for reference in references])
        if path:
            scorer.save_idf(path)
    candidates, references = zip(*pairs, strict=True)
    scores = scorer.score(candidates, references, verbose=options["verbose"] or sys.stderr.isatty())
    rows = list(zip(*(part.tolist() for part in scores), strict=True))
    say("\n".join(_json_lines(rows, scorer.hash, options) if options["json"] else _lines(rows, scorer.hash, options)))
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    parser = Parser(
        "bert-judge bertscore", "-r REFS [REFS …] -c CANDS [flags]", "BERTScore (arXiv 1904.09675) of texts.", _EXAMPLES
    )
    texts = parser.add_argument_group("texts")
    texts.add_argument("-r", "--ref", nargs="+", metavar="FILE", help="references, one a line; several files; or texts")
    texts.add_argument("-c", "--cand", metavar="FILE", help="candidates, one a line; or a text")
    texts.add_argument("--texts", action="store_true", help="-r and -c are texts themselves, not files")
    texts.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help='rows {"candidate": …, "references": […]} of a file (or standard input); JSON comes out',
    )
    texts.add_argument(
        "--map",
        type=named_columns,
        action=AddUp,
        metavar="NAME=COLUMN,…",
        help="with --json: candidate=answer,reference=gold",
    )
    shown = parser.add_argument_group("what is printed")
    shown.add_argument("-s", *spellings("seg_level"), action="store_true", help="the scores of each pair, too")
    shown.add_argument("--details", action="store_true", help="with --json: precision, recall and the signature, too")
    shown.add_argument("-v", "--verbose", action="store_true", help="a progress bar and the speed")
    metric = parser.add_argument_group("the metric")
    metric.add_argument("--lang", help="language of the texts: en, zh, de …, or en-sci for scientific English")
    metric.add_argument(
        "-m", "--model", *spellings("model_path"), metavar="NAME", help="a Hub name, folder or 'starter'"
    )
    metric.add_argument("-l", *spellings("num_layers"), type=int, metavar="N", help="layer (default: the best known)")
    metric.add_argument("--idf", action="store_true", help="weigh tokens by how rare they are among the references")
    metric.add_argument(
        *spellings("idf_path"), metavar="FILE", help="file of these weights: read if it is there, else written"
    )
    metric.add_argument(*spellings("rescale_with_baseline"), action="store_true", help="unrelated texts score about 0")
    metric.add_argument(*spellings("baseline_path"), metavar="FILE", help="a baseline file of your own")
    metric.add_argument(
        *spellings("max_tokens"), type=int, metavar="N", help="longest text (default: the model's limit)"
    )
    metric.add_argument(*spellings("batch_tokens"), type=int, metavar="N", help="most tokens in a batch")
    metric.add_argument("--compat", choices=["bert_score"], help="repeat the defects of bert-score 0.3.13")
    metric.add_argument(  # bert-score's command has the fast tokenizer by default, and turns it off by this flag
        *spellings("use_fast_tokenizer"), action="store_false", help="with --compat: not the fast tokenizer, as there"
    )
    machine = parser.add_argument_group("the machine")
    machine.add_argument(
        "-b", *spellings("batch_size"), type=int, default=64, metavar="N", help="most texts in a batch"
    )
    machine.add_argument("--nthreads", type=int, metavar="N", help="accepted, as bert-score has it; changes nothing")
    machine.add_argument("--device", default="auto", help="auto, cpu, cuda, mps …")
    machine.add_argument("--dtype", default="auto", help="auto, float32 (exact), bfloat16 or float16")
    machine.add_argument("--runtime", choices=["auto", "torch", "openvino"], default="auto", help="runs the encoder")
    machine.add_argument(
        *spellings("trust_remote_code"), action="store_true", help="run code that comes with the model, if it must be"
    )
    options = parser.parse(arguments)
    given = [name for name in ("ref", "cand") if options[name] is not None]
    if options["json"] not in (None, "-") and given:
        parser.error("the texts are in the file of --json, or those of -r and -c, not both")
    if len(given) == 1 or not (given or options["json"]):
        parser.error("references (-r) and candidates (-c) are needed, or --json")
    return options


def _pairs(options: dict[str, Any]) -> list[Pair]:
    """Candidates with their references: texts given as such, lines of files, or rows of JSON."""
    if options["cand"] is None:
        return list(_json_rows(options["json"], options["map"]))
    names = [options["cand"], *options["ref"]]
    files = any(name == "-" or os.path.isfile(name) for name in names)  # noqa: PTH113 - a text can be too long for Path
    if options["texts"] or not files:
        if not options["texts"]:
            warnings.warn(f"{' and '.join(map(repr, names))} are no files: compared as texts.", stacklevel=2)
        return [(options["cand"], options["ref"])]
    hint = "; to compare two texts given here, add --texts"
    candidates = read_lines(options["cand"], hint)
    references = [read_lines(path, hint) for path in options["ref"]]
    for path, lines in zip(options["ref"], references, strict=True):
        if len(lines) != len(candidates):
            raise InputError(
                f"{path} has {len(lines)} lines, but {options['cand']} has {len(candidates)}; "
                "one reference for each candidate was expected."
            )
    return list(zip(candidates, zip(*references, strict=True), strict=True))


def read_lines(path: str, hint: str = "") -> list[str]:
    """The lines of a UTF-8 file, or of standard input for "-"; raises InputError where it can't be read."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"the file {path!r} can't be read ({error.strerror}){hint}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); convert it first.") from error
    lines = text.replace("\r\n", "\n").split("\n")  # not splitlines: a form feed, say, ends no line here
    return lines[:-1] if lines[-1] == "" else lines


def _json_rows(path: str, columns: Mapping[str, str] | None) -> Iterator[Pair]:
    from bert_judge.sources import open_source

    for sample in open_source(path, columns=columns, input_format="jsonl" if path == "-" else None):
        yield sample.candidate, sample.references


def _lines(rows: Sequence[Sequence[float]], signature: str, options: dict[str, Any]) -> Iterator[str]:
    """As bert-score prints."""
    precision, recall, f1 = _means(rows)
    yield f"{signature} P: {precision:.6f} R: {recall:.6f} F1: {f1:.6f}"
    if options["seg_level"]:
        yield from ("\t".join(f"{value:.6f}" for value in row) for row in rows)


def _json_lines(rows: Sequence[Sequence[float]], signature: str, options: dict[str, Any]) -> Iterator[str]:
    """An object with the means; before it, with -s, one for each pair."""

    def line(row: Sequence[float], **more: str) -> str:
        precision, recall, f1 = (round(value, 6) for value in row)
        details = {"bertscore_precision": precision, "bertscore_recall": recall} if options["details"] else {}
        return json.dumps({**details, "bertscore_f1": f1, **more})

    if options["seg_level"]:
        yield from map(line, rows)
    yield line(_means(rows), **({"signature": signature} if options["details"] else {}))


def _means(rows: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    precision, recall, f1 = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return precision, recall, f1


if __name__ == "__main__":
    run("bertscore")
