"""`bert-judge score`: judge a file of answers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from bert_judge.artifacts import BAD_ROWS, REPORT, RUN, SCORES, VERDICTS, Identity, ResultFolder, check_folder
from bert_judge.cli import log_shown, say
from bert_judge.cli.cascade import cascade_report
from bert_judge.cli.flags import Parser, add_flags, read_config, spellings
from bert_judge.cli.suite import read_suite, suite_table, write_columns
from bert_judge.errors import InputError, named_in_errors
from bert_judge.evaluation.runs import load_run
from bert_judge.judges import JUDGES, Judge, find_judge
from bert_judge.judges.cascade import Cascade
from bert_judge.judges.naming import JudgeSpec
from bert_judge.pipeline import score_source, summarise
from bert_judge.report import write_report
from bert_judge.sources import FORMATS, Source, open_source

PAGE_ROWS = 100_000
_EXAMPLES = """examples:
  bert-judge score answers.jsonl --output_dir out
  bert-judge score answers.csv --map question=q,reference=gold,candidate=out
  zcat answers.jsonl.gz | bert-judge score - --output_dir out --limit 1000
  bert-judge score answers.jsonl --model_path artefactory/BERTJudge --dtype float32
  bert-judge score answers.jsonl --judge_type BERTScore --lang en --idf
  bert-judge score answers.jsonl --judge_type my_module:MyJudge
  bert-judge score answers.jsonl --suite suite.yaml        # several named judges, a folder each

Flags may be written with hyphens, too: --output-dir. A run that was stopped goes on where it stopped.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """What `score` takes besides the flags of the judge."""

    output_dir: Annotated[str, "folder for verdicts.jsonl, scores.json and run.json"] = "bert-judge-out"
    map: Annotated[
        Mapping[str, str] | None, "columns by name: question=q,reference=gold,candidate=out (also id=, label=)"
    ] = None
    input_format: Annotated[str | None, f"{', '.join(FORMATS)} (default: told by the name)"] = None
    limit: Annotated[int | None, "judge only the first N rows"] = None
    skip_bad_rows: Annotated[bool, "set unreadable rows aside in bad_rows.jsonl instead of stopping"] = False
    numbers_as_text: Annotated[bool, "take numbers in text columns as the text that stands there"] = False
    suite: Annotated[str | None, "YAML file of named judges: each has a folder of its name in the output folder"] = None
    no_texts: Annotated[bool, "leave the texts out of verdicts.jsonl"] = False
    no_report: Annotated[bool, f"write no {REPORT}; results of over {PAGE_ROWS:,} rows get none by themselves"] = False
    overwrite: Annotated[bool, "replace a result of another judge or input in the folder"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, load the judge, judge, and print what came out."""
    judge_type, judge_flags, options, file = _parse(arguments)
    output_dir = Path(options.output_dir)
    check_folder(output_dir)
    source = open_source(
        file,
        columns=options.map,
        input_format=options.input_format,
        skip_bad_rows=options.skip_bad_rows,
        numbers_as_text=options.numbers_as_text,
        limit=options.limit,
    )
    identity = Identity(None, source.sha256, _what_is_written(options))
    command = ["bert-judge", "score", *arguments]
    if options.suite:
        return _score_suite(read_suite(Path(options.suite)), source, identity, options, command)
    ResultFolder(output_dir, identity, options.overwrite)  # refuses another input's result before a model loads
    with log_shown(not options.quiet):
        judge = find_judge(judge_type)(**judge_flags).fitted(source)
    folder, status = _scored(source, judge, output_dir, identity, options, command)
    if status:
        return status
    page = _page([folder], output_dir / REPORT, len(source), options)
    if not options.quiet:
        say(_report(folder, source, judge.signature, page))
        if isinstance(judge, Cascade):
            say("\n" + cascade_report(judge, folder.records()))
    return 0


def _scored(
    source: Source,
    judge: Judge,
    output_dir: Path,
    identity: Identity,
    options: ScoreOptions,
    command: list[str],
    title: str = "judging",
) -> tuple[ResultFolder, int]:
    """The finished result of a judge, or an unfinished one with the status to leave with."""
    folder = ResultFolder(output_dir, replace(identity, signature=judge.signature), options.overwrite)
    if not folder.finished:
        return folder, _judge(source, judge, folder, options, command, title)
    if not options.quiet:
        say(f"{folder.folder} holds this result already; --overwrite makes it anew.\n")
    return folder, 0


def _score_suite(
    suite: Mapping[str, JudgeSpec], source: Source, identity: Identity, options: ScoreOptions, command: list[str]
) -> int:
    """Judge with one named judge after the other; what is finished is kept, should one of them fail."""
    folders = {name: Path(options.output_dir) / name for name in suite}
    for path in folders.values():
        ResultFolder(path, identity, options.overwrite)
    results: dict[str, ResultFolder] = {}
    for name, spec in suite.items():
        with named_in_errors(f"{name} of the suite"), log_shown(not options.quiet):
            judge = spec.make().judge.fitted(source)
            results[name], status = _scored(source, judge, folders[name], identity, options, command, name)
        if status:
            return status
        if isinstance(judge, Cascade) and not options.quiet:
            say(f"{name}\n{cascade_report(judge, results[name].records())}\n")
    path = write_columns(results, Path(options.output_dir))
    page = _page(list(results.values()), path.with_name(f"{path.stem}.html"), len(source), options)
    if not options.quiet:
        say(suite_table(results))
        say(f"\nfiles  {path}{page}, and in {options.output_dir}/NAME: {VERDICTS}, {SCORES}, {RUN}")
    return 0


def _page(results: Sequence[ResultFolder], path: Path, rows: int, options: ScoreOptions) -> str:
    """Write the results as a page, unless it is there or unwanted; its name for the list of files, or nothing.

    Verdicts are written as a stream, but a page holds all rows at once: so many are left to `bert-judge report`.
    """
    newest = max((result.folder / RUN).stat().st_mtime for result in results)
    if options.no_report or rows > PAGE_ROWS:
        return ""
    if not path.exists() or path.stat().st_mtime < newest:
        write_report([load_run(result.folder) for result in results], path)
    return f", {path.name}"


def _parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any], ScoreOptions, list[str]]:
    """The judge's name and flags, the options, and the file; flags win over the file of --config."""
    first = Parser("bert-judge score", add_help=False)
    first.add_argument(*spellings("judge_type"))
    first.add_argument("--suite")
    first.add_argument("--config")
    known = first.parse_known_args(arguments)[0]
    config = read_config(known.config) if known.config else {}
    chosen, suite = known.judge_type or config.get("judge_type"), known.suite or config.get("suite")
    if suite and chosen:
        raise InputError(
            f"--suite {suite} names the judges; leave --judge_type {chosen} out, or put it into the suite."
        )
    judge_type = str(chosen or "BERTJudge")
    if ":" in judge_type or suite or find_judge(judge_type) is Cascade:
        sys.path.append(str(Path.cwd()))  # a judge of one's own lies where one works

    parser = Parser("bert-judge score", "FILE … [--output_dir FOLDER] [flags]", "Judge a file of answers.", _EXAMPLES)
    parser.add_argument(
        "file",
        nargs="+",
        metavar="FILE",
        help="JSON lines, JSON, CSV, TSV, parquet, a folder of these or of datasets, or -",
    )
    general = parser.add_argument_group("reading and writing")
    general.add_argument("--config", metavar="FILE", help="YAML with names and values of flags; flags win")
    own = add_flags(general, ScoreOptions)
    judge_flags = []
    if not suite:
        group = parser.add_argument_group(f"the judge ({judge_type})")
        group.add_argument(
            *spellings("judge_type"), default=judge_type, metavar="NAME", help=f"{', '.join(JUDGES)}, or module:Class"
        )
        judge_flags = add_flags(group, find_judge(judge_type))
    parser.set_config(config, known.config)
    values = parser.parse(arguments)
    options = ScoreOptions(**{name: values[name] for name in own})
    return judge_type, {name: values[name] for name in judge_flags}, options, values["file"]


def _what_is_written(options: ScoreOptions) -> dict[str, Any]:
    """The options that change the files: two runs that differ in them are not the same."""
    names = ("map", "limit", "skip_bad_rows", "numbers_as_text", "no_texts")
    return {name: getattr(options, name) for name in names}


def _judge(
    source: Source, judge: Judge, folder: ResultFolder, options: ScoreOptions, command: list[str], title: str
) -> int:
    """Run the judge with a progress bar; a run stopped by Ctrl-C says how to go on."""
    from tqdm import tqdm

    done, rows = folder.rows_done, len(source)
    if done and not options.quiet:
        print(f"{folder.folder} has {done} of {rows} rows already; going on from there.", file=sys.stderr)
    counts = score_source(source, judge, folder, texts=not options.no_texts, command=command)
    bar = tqdm(total=rows, initial=done, unit="row", desc=title, disable=options.quiet, dynamic_ncols=True)
    try:
        with bar, closing(counts):
            for done in counts:
                bar.update(done - bar.n)
    except KeyboardInterrupt:
        print(
            f"\nstopped after {done} of {rows} rows; they are kept in {folder.folder}, "
            "and the same command goes on from there.",
            file=sys.stderr,
        )
        return 130
    return 0


def _report(folder: ResultFolder, source: Source, signature: str, page: str) -> str:
    """The table that a person reads."""
    summary = summarise(folder.records())
    read = ", ".join(f"{role} from {name}" for role, name in source.columns.items())
    lines = [
        f"read   {read}"
        + ("" if "question" in source.columns else "; no question (name it with --map question=COLUMN)"),
        "",
        _line("rows", summary.rows, f"{len(source.bad_rows)} set aside in {BAD_ROWS}" if source.bad_rows else ""),
        _line("judged", summary.judged),
        _line("undecided", summary.undecided),
        _line("truncated", summary.truncated, "inputs longer than the judge reads" if summary.truncated else ""),
        _line("mean score", _number(summary.mean_score)),
        _line("accuracy", _share(summary.accuracy), _interval(summary.accuracy_interval)),
    ]
    if summary.undecided:
        lines.append(_line("", _share(summary.accuracy_all), "with undecided rows as wrong"))
    if agreement := summary.agreement:
        lines += [
            "",
            f"agreement with the {agreement.rows} labels of the file",
            _line("  accuracy", _share(agreement.accuracy), _interval(agreement.accuracy_interval)),
            _line("  F1", _number(agreement.f1)),
            _line("  Cohen's kappa", _number(agreement.kappa)),
        ]
    files = f"{folder.folder}/: {VERDICTS}, {SCORES}, {RUN}{page}"
    return "\n".join([*lines, "", f"judge  {signature}", f"files  {files}"])


def _line(name: str, value: object, remark: str = "") -> str:
    return f"{name:16} {value!s:>8}  {remark}".rstrip()


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.1%}, {interval[1]:.1%}]  95 % Wilson interval"
