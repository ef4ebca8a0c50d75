"""`bert-judge evaluate`: judges against human labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from bert_judge.cli import log_shown
from bert_judge.cli.flags import Argument, Parser, options_from
from bert_judge.cli.judging import InputOptions, OutputOptions, judged_result, open_input, say_failed, trusts_files
from bert_judge.encoder.models import STARTER
from bert_judge.errors import InputError
from bert_judge.inputs import Source
from bert_judge.inputs.finding import holds_answers
from bert_judge.judges.naming import JudgeSpec, distinct, read_judges
from bert_judge.records import Row, __version__
from bert_judge.report.evaluation import evaluation_document
from bert_judge.report.sentences import judge_sentence
from bert_judge.results import ResultFolder, check_folder, write_files
from bert_judge.results.runs import Run, load_run
from bert_judge.studies.evaluate import Evaluation, EvaluationSettings, check_labelled, evaluate, labelled_part
from bert_judge.studies.pairing import Labels, file_stem, read_labels, relabelled
from bert_judge.studies.table import check_columns, collect
from bert_judge.wording import public_command

_EXAMPLES = """examples:
  bert-judge evaluate labelled.jsonl --judge starter,containment,my.yaml --output_dir out
  bert-judge evaluate out1 out2                                           # saved results of score; nothing is judged
  bert-judge evaluate out1 --labels human.jsonl --by topic,difficulty

A judge is starter, a folder or a name on the Hub (a BERTJudge), a name of `score --judge`, a metric such as
containment or exact_match (on the whole candidate), or a YAML file with judge_type and the flags of that judge.
Verdicts are kept in OUTPUT_DIR/FILE/JUDGE: a run that was stopped goes on, and what is there is not judged again.
"""


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(OutputOptions, InputOptions):
    """What `evaluate` takes besides what is measured."""

    paths: Annotated[tuple[str, ...], "labelled files to judge, and saved results", Argument("FILE|RESULT")]
    judge: Annotated[tuple[str, ...] | None, f"judges for the labelled files (default: {STARTER})"] = None
    labels: Annotated[str | None, "file with human labels, of the same texts or the same ids"] = None
    output_dir: Annotated[str, "folder for evaluation.json and .md", "-o"] = "bert-judge-evaluation"
    sample: Annotated[int, "rows that are drawn, whole questions at random, of results with more; 0: all", 0] = 500_000
    trust_remote_code: Annotated[bool, "import the classes that a file of judges names as module:Class"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, judge what is not judged yet, and compare with the labels."""
    groups = {"flags": EvaluateOptions, "what is measured": EvaluationSettings}
    values = Parser("evaluate", "FILE|RESULT … [flags]", _EXAMPLES, groups).parse(arguments)
    options, settings = options_from(EvaluateOptions, values), options_from(EvaluationSettings, values)
    command = ["bert-judge", "evaluate", *arguments]
    folder = check_folder(options.output_dir)
    files, folders = _sorted_out(options)
    sample = options.sample or None
    saved = [load_run(path, sample) for path in folders]
    specs = read_judges(options.judge or ([STARTER] if files and not saved else []), trusts_files(arguments))
    sources = [open_input(path, options) for path in files]
    labels = read_labels(options.labels, options.map if files else None) if options.labels else None
    _check(sources, saved, labels, options, settings)
    results = _judge_all(specs, sources, options, command)
    judged = [(name, load_run(result.folder, sample)) for name, result in results]
    named = [*judged, *zip(distinct([run.name for run in saved]), saved, strict=True)]
    table = collect([run for _, run in named], names=[name for name, _ in named])
    if labels:
        table = replace(table, rows=list(relabelled(table.rows, labels, columns=True)), labels=labels.where)
    table = labelled_part(table)
    evaluation = evaluate(table, settings)
    document = evaluation_document(evaluation, f"Judges against human labels: {', '.join(options.paths)}")
    record = {"version": __version__, "command": public_command(command), **_record(evaluation)}
    contents = {
        "evaluation.json": json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        "evaluation.md": document.markdown(),
    }
    write_files(folder, contents)
    if not options.quiet:
        options.show(document, record)
        options.mention(f"\nfiles  {folder}/: {', '.join(contents)}")
    return say_failed([result for _, result in results], "bert-judge evaluate")


def _sorted_out(options: EvaluateOptions) -> tuple[list[str], list[str]]:
    """What is to be judged, and what is judged already."""
    if "-" in options.paths:
        raise InputError("evaluate reads its input more than once; a file was expected, not standard input.")
    folders = [path for path in options.paths if Path(path).is_dir() and not holds_answers(Path(path))]
    files = [path for path in options.paths if path not in folders]
    if options.judge and not files:
        raise InputError("--judge names judges, but only saved results were given; give a labelled file to judge.")
    return files, folders


def _check(
    sources: Sequence[Source],
    saved: Sequence[Run],
    labels: Labels | None,
    options: EvaluateOptions,
    settings: EvaluationSettings,
) -> None:
    """Before a model loads: whether there are labels of both kinds, and the columns that were named."""
    rows: Sequence[Row] = [Row.of(sample) for source in sources for sample in source] or [*saved[0].rows]
    if labels:
        rows = list(relabelled(rows, labels, columns=True))
    check_labelled(rows)
    check_columns(rows, [column for column in settings.by if column != "input"])  # which several inputs get later


def _judge_all(
    specs: Sequence[JudgeSpec], sources: Sequence[Source], options: EvaluateOptions, command: list[str]
) -> list[tuple[str, ResultFolder]]:
    """The results of each judge on all files, there already or made now; one judge is in memory at a time."""
    stems = distinct([file_stem(source.path) for source in sources])
    results = []
    for spec in specs:
        with log_shown(not options.quiet):
            judge = spec.make()
        for source, stem in zip(sources, stems, strict=True):
            folder = Path(options.output_dir) / stem / spec.name
            settings = options.input_settings
            _, result = judged_result(source, judge, folder, settings, options, spec.name, command)
            results.append((spec.name, result))
    return results


def _record(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation as JSON has it: curves of few points, rows without what they have not."""
    judges = [replace(judge, curve=judge.curve and judge.curve.thinned()) for judge in evaluation.judges]
    record = asdict(replace(evaluation, judges=judges))
    for judge, evaluated in zip(record["judges"], judges, strict=True):
        judge["sentence"] = judge_sentence(evaluation, evaluated)
        judge["worst"] = [
            {name: value for name, value in row.items() if value not in (None, {}, ())} for row in judge["worst"]
        ]
    return record
