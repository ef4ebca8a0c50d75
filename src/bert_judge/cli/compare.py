"""`bert-judge compare`: saved results against each other, two models or two judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from bert_judge.cli.flags import Argument, FormatOptions, Parser, options_from
from bert_judge.measures import BootstrapSettings
from bert_judge.records import __version__
from bert_judge.report.comparison import Comparison, comparison_document, comparison_record
from bert_judge.report.document import Document
from bert_judge.results import check_folder, write_files
from bert_judge.results.runs import load_run
from bert_judge.studies.agree import agree, disagreement_records, disagreements
from bert_judge.studies.compare import compare_models, differing, rankings
from bert_judge.studies.table import comparison_table
from bert_judge.wording import public_command

_EXAMPLES = """examples:
  bert-judge compare out-model-a out-model-b               # two models, the same questions and judge
  bert-judge compare out --by model                        # the models that the column model names
  bert-judge compare out-starter out-regex                 # two judges of the same answers: do they agree?
  bert-judge compare out-starter out-regex --by model      # both: do they put the models in the same order?
  bert-judge compare out1 out2 --flips 20 --output_dir comparison

Runs with different answers to the same questions compare models; runs of different judges on the same answers compare
the judges. Human labels in the runs are taken into account.
"""

_MORE = "{:,} more; --flips shows more, --output_dir writes all"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(FormatOptions):
    """What `compare` takes besides the settings of the bootstrap."""

    runs: Annotated[tuple[str, ...], "folders that score or judge wrote", Argument("RUN")]
    by: Annotated[str | None, "column that names the model behind each answer, such as model"] = None
    what: Annotated[Literal["models", "judges"] | None, "what the runs differ in (default: as the runs suggest)"] = None
    flips: Annotated[int, "answers to print, of each kind, on which two models or judges differ", 0] = 10
    output_dir: Annotated[str | None, "folder for compare.json, compare.md and disagreements.jsonl", "-o"] = None
    sample: Annotated[int, "most rows of a result; a larger one is sampled by question; 0: all", 0] = 500_000
    quiet: Annotated[bool, "print nothing"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the runs, find what differs, and print and write how far."""
    groups = {"flags": CompareOptions, "what is measured": BootstrapSettings}
    values = Parser("compare", "RUN [RUN …] [flags]", _EXAMPLES, groups).parse(arguments)
    options, settings = options_from(CompareOptions, values), options_from(BootstrapSettings, values)
    folder = None if options.output_dir is None else check_folder(options.output_dir)
    runs = [load_run(path, options.sample or None) for path in options.runs]
    table = comparison_table(runs, options.what, options.by)
    several = len(table.judges) > 1
    models = compare_models(table, settings)
    comparison = Comparison(models, rankings(models), agree(table, settings) if several else None, table.notes)
    document = comparison_document(comparison, f"Comparison: {', '.join(options.runs)}")
    record = {
        "version": __version__,
        "command": public_command(["bert-judge", "compare", *arguments]),
        "runs": [
            {"folder": str(run.folder), "rows": len(run.rows), "signature": asdict(run.signature)} for run in runs
        ],
        **comparison_record(comparison),
    }
    if folder:
        _write(folder, document, record, [*(disagreement_records(table) if several else ()), *differing(table)])
    if options.format == "text":  # with answers, and without most of many pairs
        apart = disagreements(table) if several else []
        document = comparison_document(comparison, "", apart, options.flips, every_pair=False, more=_MORE)
    if not options.quiet:
        options.show(document, record)
        if folder:
            options.mention(f"\nfiles  {folder}/: compare.json, compare.md, disagreements.jsonl")
    return 0


def _write(folder: Path, document: Document, record: Mapping[str, Any], records: Iterable[dict[str, Any]]) -> None:
    """Write the data, the tables and the differing answers, each in one step."""
    contents = {
        "compare.json": json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        "compare.md": document.markdown(),
        "disagreements.jsonl": "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records),
    }
    write_files(folder, contents)
