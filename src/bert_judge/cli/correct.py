"""`bert-judge correct`: the accuracy of a run without the judge's error, by human labels of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from bert_judge.cli.flags import Argument, FormatOptions, Parser, options_from
from bert_judge.inputs import ColumnMap
from bert_judge.report.evaluation import correction_document
from bert_judge.results.runs import find_folders, left_out, load_run, open_run
from bert_judge.studies.correct import as_one, correct
from bert_judge.studies.pairing import read_labels

_EXAMPLES = """examples:
  bert-judge correct out --labels labels.jsonl
  bert-judge correct out                        # if some rows of the judged file have labels
  bert-judge correct out --labels people.csv --map label=is_right
  bert-judge correct out --labels labels.jsonl --by model     # each model, and their differences
  bert-judge correct models --labels labels.jsonl --by model  # the same of results below a folder, or of several
  bert-judge correct out --labels labels.jsonl --format json | jq .corrected

bert-judge label writes such a file. Any file with texts (or ids) and labels will do, if its rows were drawn at random
or a column named probability says how likely each was to be drawn.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectOptions(FormatOptions):
    """What `correct` takes."""

    results: Annotated[tuple[str, ...], "folders that score or judge wrote, or above these", Argument("RESULT")]
    labels: Annotated[str | None, "file of human labels, besides those in the run"] = None
    map: Annotated[ColumnMap | None, "which column of that file is what: label=is_right"] = None
    by: Annotated[str | None, "column whose groups to correct and compare, such as model"] = None
    confidence: Annotated[float, "confidence level of the intervals"] = 0.95


def main(arguments: Sequence[str]) -> int:
    """Match labels and rows, and print every estimate with its interval."""
    parser = Parser("correct", "RESULT … [--labels FILE] [flags]", _EXAMPLES, {"flags": CorrectOptions})
    options = options_from(CorrectOptions, parser.parse(arguments))
    if options.map and not options.labels:
        parser.error("--map names columns of the file of --labels, which is missing")
    folders = find_folders(options.results)
    run = open_run(folders[0]) if len(folders) == 1 else as_one([load_run(folder) for folder in folders])
    labels = read_labels(options.labels, options.map) if options.labels else None
    correction = correct(run, labels, options.confidence, options.by)
    correction = replace(correction, notes=[*left_out(options.results), *correction.notes])
    document = correction_document(correction, run.signature, options.confidence, labels is not None, options.by)
    options.show(document, {**asdict(correction), "signature": asdict(run.signature)})
    return 0
