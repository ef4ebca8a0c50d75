"""`bert-judge score`: judge a file of answers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from bert_judge.cli import log_shown, run, say
from bert_judge.cli.flags import Parser, columns_in, options_from, peek
from bert_judge.cli.harness import beside_own_scores
from bert_judge.cli.inputs import InputOptions, input_settings, open_input
from bert_judge.cli.judging import (
    add_judges,
    add_trust,
    chosen_judges,
    explain_rows,
    judge_rows,
    made_judge,
    say_failed,
    trusts_files,
)
from bert_judge.cli.outputs import PAGE_ROWS, Load, NoReport, VerdictOptions, loader, write_page
from bert_judge.cli.rows import first_explained, where_explained
from bert_judge.errors import InputError, did_you_mean, named_in_errors
from bert_judge.inputs import HELD_BYTES, MissingColumnError, Source
from bert_judge.judges import Judge
from bert_judge.judges.base import Costs
from bert_judge.judges.cascade import Cascade, CascadePlan
from bert_judge.judges.naming import JudgeSpec, distinct, read_suite
from bert_judge.records import Signature
from bert_judge.report.cascade import stages_document
from bert_judge.report.comparison import Comparison, comparison_document
from bert_judge.report.document import Block, Document
from bert_judge.report.score import result_facts, saved_runs_table, suite_table, write_columns
from bert_judge.results import HARNESS_FILES, REPORT, RUN, SCORES, Identity, ResultFolder, is_remote, result_folder
from bert_judge.studies.compare import compare_models, rankings
from bert_judge.studies.pairing import question_of
from bert_judge.studies.score import open_result
from bert_judge.studies.table import PlacedRun, tabulate

_MODEL_COLUMNS = frozenset(("model", "candidate_model"))
_OF_A_MODEL = re.compile(
    r"model|system|agent|answer|response|output|prediction|completion|candidate|gpt|claude|gemini|gemma|llama|mistral|"
    r"mixtral|qwen|deepseek|phi|command|grok|olmo|baseline|finetuned",
    re.IGNORECASE,
)
"""What the name of a column with a model's answers often has in it."""

_EXAMPLES = """examples:
  bert-judge score answers.jsonl --output_dir out
  bert-judge score results/                                   # saved runs of lm-eval, inspect, lighteval …: with the
                                                              # tool's own scores beside the verdicts
  bert-judge score answers.csv --map question=q,reference=gold,candidate=out
  zcat answers.jsonl.gz | bert-judge score - --output_dir out --limit 1000
  bert-judge score answers.csv --candidates model_a,model_b   # a column for each model: all scored, and compared
  bert-judge score answers.jsonl --judge artefactory/BERTJudge --dtype float32
  bert-judge score answers.jsonl --judge BERTScore --lang en --idf
  bert-judge score answers.jsonl --judge starter,containment  # several judges, a folder each
  bert-judge score answers.jsonl --judge my_module:MyJudge
  bert-judge score answers.jsonl --explain 20                 # the 20 rows nearest the threshold: which words matter
  bert-judge score "s3://bucket/*.parquet" --engine ray --actors 1-8   # on a Ray cluster; verdicts in parquet parts
  bert-judge score answers.jsonl --store auto                 # rows that were judged before are not judged again
  bert-judge score answers.jsonl --suite suite.yaml           # several judges with names and settings of their own

Flags may be written with hyphens, too: --output-dir. A run that was stopped goes on where it stopped.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions(VerdictOptions, InputOptions):
    """What `score` takes besides the flags of the judge."""

    candidates: Annotated[str | None, "columns of several models' candidates, all scored and compared: a,b"] = None
    suite: Annotated[str | None, "YAML file of named judges: each has a folder of its name in the output folder"] = None
    no_report: NoReport = False


@dataclass(frozen=True, slots=True)
class _Job:
    """A judge's verdicts on a model's candidates: what they are called, and where they go."""

    name: str
    candidates: str
    judge: str
    source: Source
    options: Mapping[str, Any]
    folder: Path


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, load the judges, judge, and print what came out."""
    specs, options, files = _parse(arguments)
    output_dir = result_folder(options.output_dir)
    jobs = _jobs(specs, _open(files, options), options, output_dir)
    command = ["bert-judge", "score", *arguments]
    results: dict[str, ResultFolder] = {}
    for name, spec in specs.items():
        with named_in_errors(f"the judge {name}") if len(specs) > 1 or options.suite else nullcontext():
            with log_shown(not options.quiet):
                judge = made_judge(spec, options)
            for job in (job for job in jobs if job.judge == name):
                fitted, results[job.name] = _judge(job, judge, options, command)
                if len(jobs) > 1 and not options.quiet and (stages := _stages(spec, fitted, results[job.name])):
                    say(f"{job.name}\n{stages}\n")
    for job in jobs:
        job.source.release()  # the page holds all rows itself
    if len(jobs) == 1:
        _say_one(results[jobs[0].name], jobs[0].source, spec, fitted, options)
    else:
        _say_several(jobs, results, output_dir, options)
    return say_failed(results.values(), "bert-judge score")


def _open(files: Sequence[str], options: ScoreOptions) -> dict[str, Source]:
    """The input; with --candidates once for each of its columns, by the folder's name of that."""
    columns = columns_in(options.candidates) if options.candidates else []
    asked = dict(options.map or {})
    if columns and "candidate" in asked:
        raise InputError("--candidates and --map candidate= both name columns of candidates; give one of them.")
    if columns and "-" in files:
        raise InputError("--candidates reads its input once for each column; a file was expected, not standard input.")
    if columns and not {"label", "gold"} & asked.keys():
        asked["label"] = ""  # a label can't be that of several candidates
    folders = distinct([re.sub(r"[^\w.-]+", "_", column).strip("._") or "candidate" for column in columns])
    maps = {name: {**asked, "candidate": column} for name, column in zip(folders, columns, strict=True)}
    maps = maps or {"": asked}
    held = HELD_BYTES // len(maps)
    try:
        return {
            name: open_input(
                files,
                options,
                columns=chosen,
                model=name or None,
                without=columns,
                held_bytes=held,
                part_rows=options.part_rows,
            )
            for name, chosen in maps.items()
        }
    except MissingColumnError as error:
        if error.role != "candidate" or "candidate" in asked:
            raise
        if columns:
            there = did_you_mean(error.column, error.unread)
            where = str(error).partition(", which")[0]  # FILE has no column NAME
            raise InputError(f"{where}, which --candidates names; {there}") from error
        models = [name for name in error.unread if _OF_A_MODEL.search(name)]
        if len(models) < 2:
            raise
        names = ",".join(f'"{name}"' if "," in name else name for name in models)
        hint = (
            f"or, if several columns are models' answers, score and compare them with --candidates {shlex.quote(names)}"
        )
        raise InputError(f"{str(error).removesuffix('.')}, {hint}.") from error


def _jobs(
    specs: Mapping[str, JudgeSpec], sources: Mapping[str, Source], options: ScoreOptions, output_dir: Path
) -> list[_Job]:
    """Each judge on each column of candidates, in output_dir/COLUMN/JUDGE as far as there are several.

    A folder with the result of another input is refused here, before a model loads.
    """
    jobs = []
    for judge in specs:
        for column, source in sources.items():
            parts = [*([column] if column else []), *([judge] if len(specs) > 1 or options.suite else [])]
            written, folder = _what_is_written(options, column, source), output_dir.joinpath(*parts)
            ResultFolder(folder, Identity(None, source.sha256, written), options.overwrite)
            jobs.append(_Job("/".join(parts), column, judge, source, written, folder))
    return jobs


def _judge(job: _Job, judge: Judge, options: ScoreOptions, command: list[str]) -> tuple[Judge, ResultFolder]:
    """The judge, fitted to these rows, and its whole result."""
    fitted, folder = open_result(job.source, judge, job.folder, job.options, options.overwrite)
    if folder.finished and not options.quiet:
        say(f"{folder.folder} holds this result already; --overwrite redoes it.\n")
    title, texts = job.name or "judging", not options.no_texts
    judge_rows(job.source, fitted, folder, title, texts=texts, quiet=options.quiet, command=command)
    explain_rows(job.source, fitted, folder, options.explain, options.quiet)
    return fitted, folder


def _say_one(folder: ResultFolder, source: Source, spec: JudgeSpec, judge: Judge, options: ScoreOptions) -> None:
    load = loader([folder])
    page = "" if options.no_report else write_page([folder], folder.folder / REPORT, load)
    compares = source.saved_runs and not options.no_texts and not is_remote(folder.folder)
    beside = beside_own_scores(folder, load(folder)) if compares else None
    if not options.quiet:
        written = page + "".join(f", {name}" for name in HARNESS_FILES if beside)
        say(_report(folder, source, judge.info.signature, written, options))
        if beside:
            say(f"\n{beside.text()}")
        if by := _column_of_models(folder, load):
            say(f"\nbert-judge compare {folder.folder} --by {by} compares the models that the column {by} names")
        if explained := first_explained(load(folder)) if options.explain else "":
            say(f"\n{explained}")
        if stages := _stages(spec, judge, folder):
            say(f"\n{stages}")


def _column_of_models(folder: ResultFolder, load: Load) -> str:
    """The column by which two models answered a question; empty where no rows say so, or `compare` can't read it."""
    if is_remote(folder.folder):
        return ""
    first: dict[tuple[str, Hashable], object] = {}
    for row in load(folder).rows:
        for column in _MODEL_COLUMNS & row.meta.keys():
            if first.setdefault((column, question_of(row)), row.meta[column]) != row.meta[column]:
                return column
    return ""


def _stages(spec: JudgeSpec, judge: Judge, folder: ResultFolder) -> str:
    """What the stages of a cascade did, wherever it ran; nothing for other judges."""
    if not issubclass(spec.kind, Cascade) or judge.costs is None:
        return ""
    plan = CascadePlan.load(spec.settings["model_path"])
    return stages_document(plan, Costs.of(folder.run["costs"]).stages, folder.records()).text()


def _say_several(
    jobs: Sequence[_Job], results: Mapping[str, ResultFolder], output_dir: Path, options: ScoreOptions
) -> None:
    """Write the table and the page of all results, and print how the judges, or the models, compare."""
    rows, models = len(jobs[0].source), len({job.candidates for job in jobs})
    load = loader(list(results.values()))
    table = ""
    if not is_remote(output_dir):
        path = write_columns(results, output_dir, candidate=models == 1)
        page = path.with_name(f"{path.stem}.html")
        written = "" if options.no_report else write_page(list(results.values()), page, load)
        table = f"{path}{written}, and "
    if options.quiet:
        return
    sources = dict.fromkeys(job.source for job in jobs)
    say(Document("", _what_was_read(options, *sources)).text() + "\n")
    if models > 1 and rows * len(jobs) <= PAGE_ROWS:
        say(_comparison(jobs, results, load))
        say(f"\nbert-judge compare {jobs[0].folder} {jobs[1].folder} shows the answers in which they differ")
    else:
        say(suite_table(results, "judge" if models == 1 else "candidates").text())
    if options.explain and not is_remote(output_dir):
        say(f"\n{where_explained(output_dir)}")
    if models == 1 and (by := _column_of_models(results[jobs[0].name], load)):
        folders = " ".join(str(job.folder) for job in jobs)
        say(f"\nbert-judge compare {folders} --by {by} compares the models that the column {by} names")
    named_by_judge = jobs[0].name != jobs[0].candidates
    verdicts = results[jobs[0].name].verdicts
    below = "/".join(["CANDIDATES"] * bool(jobs[0].candidates) + ["JUDGE"] * named_by_judge)
    say(f"\nfiles  {table}in {output_dir}/{below}: {verdicts}, {SCORES}, {RUN}")


def _comparison(jobs: Sequence[_Job], results: Mapping[str, ResultFolder], load: Load) -> str:
    """The models against each other, by each judge."""
    table = tabulate([PlacedRun(job.judge, job.candidates, load(results[job.name])) for job in jobs])
    models = compare_models(table)
    return comparison_document(Comparison(models, rankings(models), None, ()), "", every_pair=False).text()


def _parse(arguments: Sequence[str]) -> tuple[dict[str, JudgeSpec], ScoreOptions, list[str]]:
    """The judges by name, the options, and the files."""
    asked = peek(arguments, "suite", "judge", "judge_type")
    suite, named = asked["suite"], asked["judge"] or asked["judge_type"]
    if suite and named:
        raise InputError(f"--suite {suite} names the judges; leave {named} out, or put it into that file.")
    parser = Parser("bert-judge score", "FILE … [--output_dir FOLDER] [flags]", "Judge a file of answers.", _EXAMPLES)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="JSON lines, JSON, CSV, TSV, parquet, a saved run of another tool, a folder of these or of datasets, or -",
    )
    parser.flags("reading and writing", ScoreOptions)
    read_judges = None if suite else add_judges(parser, chosen_judges(arguments), several="several, a folder each")
    if suite:
        add_trust(parser)
    values = parser.parse(arguments)
    judges = read_judges(values) if read_judges else read_suite(Path(suite), trusts_files(arguments))
    return judges, options_from(ScoreOptions, values), values["files"]


def _what_is_written(options: ScoreOptions, column: str, source: Source) -> dict[str, Any]:
    """The options that change the files: two runs that differ in them are not the same."""
    settings = {**input_settings(options), **options.settings}
    return (
        {**settings, "map": {**(options.map or {}), "candidate": source.columns["candidate"]}} if column else settings
    )


def _report(folder: ResultFolder, source: Source, signature: Signature, page: str, options: ScoreOptions) -> str:
    """The table that a person reads."""
    facts = result_facts(folder.summary, len(source.bad_rows))
    files = f"files  {folder.folder}/: {folder.verdicts}, {SCORES}, {RUN}{page}"
    return Document("", [*_what_was_read(options, source), *facts], judges=[("", signature)]).text() + f"\n{files}"


def _what_was_read(options: ScoreOptions, *sources: Source) -> list[Block]:
    """The columns that were read; of saved runs of other tools what was found, and columns where some were named."""
    runs = sources[0].saved_runs
    tables: list[Block] = [saved_runs_table(runs, sources[0].unread)] if runs else []
    named = options.map or options.candidates or not runs
    return [*tables, *([_columns_read(*sources)] if named else [])]


def _columns_read(*sources: Source) -> str:
    """Which columns were read; of several sources, each column of candidates."""
    columns = {**sources[0].columns, "candidate": ", ".join(source.columns["candidate"] for source in sources)}
    read = ", ".join(f"{role} from {name}" for role, name in columns.items())
    without = "" if "question" in columns else "; no question (name it with --map question=COLUMN)"
    return f"read   {read}{without}"


if __name__ == "__main__":
    run("score")
