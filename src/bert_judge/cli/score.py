"""`bert-judge score`: judge a file of answers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from bert_judge.artifacts import BAD_ROWS, RUN, SCORES, VERDICTS, Identity, ResultFolder, check_folder
from bert_judge.cli import log_shown, say
from bert_judge.cli.flags import Parser, add_flags, read_config, spellings
from bert_judge.judges import JUDGES, Judge, find_judge
from bert_judge.pipeline import score_source, summarise
from bert_judge.sources import FORMATS, Source, open_source

_EXAMPLES = """examples:
  bert-judge score answers.jsonl --output_dir out
  bert-judge score answers.csv --map question=q,reference=gold,candidate=out
  zcat answers.jsonl.gz | bert-judge score - --output_dir out --limit 1000
  bert-judge score answers.jsonl --model_path artefactory/BERTJudge --dtype float32
  bert-judge score answers.jsonl --judge_type BERTScore --lang en --idf
  bert-judge score answers.jsonl --judge_type my_module:MyJudge

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
    no_texts: Annotated[bool, "leave the texts out of verdicts.jsonl"] = False
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
    ResultFolder(output_dir, identity, options.overwrite)  # refuses another input's result before a model loads
    with log_shown(not options.quiet):
        judge = find_judge(judge_type)(**judge_flags).fitted(source)
    folder = ResultFolder(output_dir, replace(identity, signature=judge.signature), options.overwrite)
    if not folder.finished:
        status = _judge(source, judge, folder, options, ["bert-judge", "score", *arguments])
        if status:
            return status
    elif not options.quiet:
        say(f"{folder.folder} holds this result already; --overwrite makes it anew.\n")
    if not options.quiet:
        say(_report(folder, source, judge.signature))
    return 0


def _parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any], ScoreOptions, str]:
    """The judge's name and flags, the options, and the file; flags win over the file of --config."""
    first = Parser("bert-judge score", add_help=False)
    first.add_argument(*spellings("judge_type"))
    first.add_argument("--config")
    known = first.parse_known_args(arguments)[0]
    config = read_config(known.config) if known.config else {}
    judge_type = known.judge_type or str(config.get("judge_type") or "BERTJudge")
    if ":" in judge_type:
        sys.path.append(str(Path.cwd()))  # a judge of one's own lies where one works

    parser = Parser("bert-judge score", "FILE [--output_dir FOLDER] [flags]", "Judge a file of answers.", _EXAMPLES)
    parser.add_argument("file", metavar="FILE", help="JSON lines, JSON, CSV, TSV, parquet, a datasets folder, or -")
    general = parser.add_argument_group("reading and writing")
    general.add_argument("--config", metavar="FILE", help="YAML with names and values of flags; flags win")
    own = add_flags(general, ScoreOptions)
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


def _judge(source: Source, judge: Judge, folder: ResultFolder, options: ScoreOptions, command: list[str]) -> int:
    """Run the judge with a progress bar; a run stopped by Ctrl-C says how to go on."""
    from tqdm import tqdm

    done, rows = folder.rows_done, len(source)
    if done and not options.quiet:
        print(f"{folder.folder} has {done} of {rows} rows already; going on from there.", file=sys.stderr)
    counts = score_source(source, judge, folder, texts=not options.no_texts, command=command)
    bar = tqdm(total=rows, initial=done, unit="row", desc="judging", disable=options.quiet, dynamic_ncols=True)
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


def _report(folder: ResultFolder, source: Source, signature: str) -> str:
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
    files = f"{folder.folder}/: {VERDICTS}, {SCORES}, {RUN}"
    return "\n".join([*lines, "", f"judge  {signature}", f"files  {files}"])


def _line(name: str, value: object, remark: str = "") -> str:
    return f"{name:16} {value!s:>8}  {remark}".rstrip()


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.1%}, {interval[1]:.1%}]  95 % Wilson interval"
