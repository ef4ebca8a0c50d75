"""`bert-judge judge`: judge the candidates of models for tasks, with one judge or several."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from bert_judge.artifacts import CANDIDATES, ResultFolder, check_folder, scores_folder
from bert_judge.cli import log_shown, note, run, say
from bert_judge.cli.flags import Parser, add_flags, names_in, read_config, spellings
from bert_judge.cli.judging import judge_rows, say_failed
from bert_judge.cli.tasking import TaskOptions, read_tasks
from bert_judge.errors import InputError
from bert_judge.judges import JUDGES, Judge, LLMJudge, find_judge
from bert_judge.pipeline import CandidateRows, Summary, Task, open_result, summarise

_EXAMPLES = """examples:
  bert-judge judge --judge_type BERTJudge --tasks arc_easy_test,mmlu_test --candidate_model Llama-3.2-1B-Instruct
  bert-judge judge --judge_type BERTJudge,RegexJudge --tasks gsm8k_test
  bert-judge judge --judge_type LLMJudge --model_path my-model --backend openai --base_url http://localhost:8000/v1 \\
                   --tasks gsm8k_test --fail_on_undecided

It reads CANDIDATES_DIR/TASK/MODEL/candidates.json, as bert-judge generate writes it, and writes scores.json,
verdicts.jsonl and run.json to OUTPUT_DIR/TASK/MODEL/JUDGE/VARIANT. What is there already is not judged again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """What `judge` takes besides the flags of tasks and judges."""

    candidates_dir: Annotated[str, "folder of candidates"] = "artifacts/candidates"
    candidate_model: Annotated[tuple[str, ...], "models whose candidates are judged (default: all that are there)"] = ()
    output_dir: Annotated[str, "folder for scores"] = "artifacts/scores"
    no_texts: Annotated[bool, "leave the texts out of verdicts.jsonl"] = False
    overwrite: Annotated[bool, "judge again what is there already"] = False
    fail_on_undecided: Annotated[bool, "end with status 3 where a row is undecided"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


@dataclass(frozen=True, slots=True)
class _Result:
    rows: CandidateRows
    model: str
    judge: str
    folder: ResultFolder
    summary: Summary


def main(arguments: Sequence[str]) -> int:
    """Check tasks and candidates, load each judge once, judge everything, print a table."""
    names, flags, options, task_options = _parse(arguments)
    check_folder(options.output_dir)
    kinds = {name: find_judge(name) for name in names}
    work = list(_candidates(read_tasks(task_options), options))
    command = ["bert-judge", "judge", *arguments]
    results = []
    for name, kind in kinds.items():
        with log_shown(not options.quiet):
            judge = kind(**{flag: value for flag, value in flags.items() if flag in _parameters(kind)})
        results += [_judge(judge, name.split(":")[-1], model, rows, options, command) for model, rows in work]
        if isinstance(judge, LLMJudge) and not options.quiet:
            say(_costs(judge))
    if not options.quiet:
        say(_table(results))
    if failed := say_failed([result.folder for result in results], "bert-judge judge"):
        return failed
    return 3 if options.fail_on_undecided and any(result.summary.undecided for result in results) else 0


def _candidates(tasks: Iterator[Task], options: JudgeOptions) -> Iterator[tuple[str, CandidateRows]]:
    """The candidates of each model for each task."""
    directory = Path(options.candidates_dir)
    for task in tasks:
        there = [path.parent.name for path in sorted((directory / task.name).glob(f"*/{CANDIDATES}"))]
        models = options.candidate_model or there
        if not models:
            raise InputError(f"there are no candidates for {task.name} in {directory}; run bert-judge generate first.")
        for model in models:
            yield model, CandidateRows.read(task, directory, model)


def _judge(
    judge: Judge, name: str, model: str, rows: CandidateRows, options: JudgeOptions, command: Sequence[str]
) -> _Result:
    path = scores_folder(Path(options.output_dir), rows.task.name, model, name, judge.variant)
    fitted, folder = open_result(rows, judge, path, {"no_texts": options.no_texts}, options.overwrite)
    title = f"{name} {rows.task.name} {model}"
    judge_rows(rows, fitted, folder, title, texts=not options.no_texts, quiet=options.quiet, command=command)
    return _Result(rows, model, name, folder, summarise(folder.records()))


def _parse(arguments: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Any], JudgeOptions, TaskOptions]:
    """The judges' names, the flags that were given for them, and the options."""
    first = Parser("bert-judge judge", add_help=False)
    first.add_argument(*spellings("judge_type"))
    first.add_argument("--config")
    known = first.parse_known_args(arguments)[0]
    config = read_config(known.config) if known.config else {}
    names = names_in(known.judge_type or config.get("judge_type") or "BERTJudge")
    if any(":" in name for name in names):
        sys.path.append(str(Path.cwd()))  # a judge of one's own lies where one works

    parser = Parser("bert-judge judge", "--judge_type JUDGE --tasks TASKS [flags]", "Judge candidates.", _EXAMPLES)
    general = parser.add_argument_group("what is judged")
    general.add_argument("--config", metavar="FILE", help="YAML with names and values of flags; flags win")
    add_flags(general, JudgeOptions)
    add_flags(general, TaskOptions)
    chosen = parser.add_argument_group("the judges")
    chosen.add_argument(
        *spellings("judge_type"),
        default=names,
        metavar="NAME",
        help=f"{', '.join(JUDGES)} or module:Class; a,b: several",
    )
    taken: set[str] = set()
    for name in names:
        group = parser.add_argument_group(f"the judge {name}")
        taken.update(add_flags(group, find_judge(name), given_only=True, without=taken))
    others = _add_flags_of_others(parser, taken)
    parser.set_config(config, known.config)
    values = parser.parse(arguments)
    options = JudgeOptions(**{field.name: values[field.name] for field in fields(JudgeOptions)})
    tasks = TaskOptions(**{field.name: values[field.name] for field in fields(TaskOptions)})
    flags = {flag: values[flag] for flag in taken if flag in values}
    for flag, owners in others.items():
        if flag in values:
            note(f"--{flag} belongs to {' and '.join(owners)} and is not used by {', '.join(names)}.")
    for name in names:
        for parameter in _parameters(find_judge(name)).values():
            if parameter.default is parameter.empty and parameter.name not in flags:
                parser.error(f"{name} needs --{parameter.name}")
    return names, flags, options, tasks


def _add_flags_of_others(parser: Parser, taken: Set[str]) -> dict[str, list[str]]:
    """Accept the flags of judges that are not chosen, as scripts for all judges give them; returns whose they are."""
    group = parser.add_argument_group()
    owners: dict[str, list[str]] = {}
    for name, kind in JUDGES.items():
        add_flags(group, kind, given_only=True, without={*taken, *owners}, hidden=True)
        for flag in _parameters(kind):
            if flag not in taken:
                owners.setdefault(flag, []).append(name)
    return owners


def _parameters(kind: type[Judge]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(kind).parameters


def _table(results: Sequence[_Result]) -> str:
    """A line for each result."""
    lines = [
        f"{'task':22} {'model':26} {'judge':26} {'rows':>7} {'score':>7} {'right':>7}  {'95 % interval':16}undecided"
    ]
    for result in results:
        summary = result.summary
        right = "-" if summary.accuracy is None else f"{summary.accuracy:.1%}"
        interval = "" if summary.accuracy_interval is None else "[{:.1%}, {:.1%}]".format(*summary.accuracy_interval)
        score = "-" if summary.mean_score is None else f"{summary.mean_score:.3f}"
        judge = f"{result.judge}/{result.folder.folder.name}"
        lines.append(
            f"{result.rows.task.name:22} {result.model:26} {judge:26} {summary.rows:7} {score:>7} {right:>7}  "
            f"{interval:16}{summary.undecided or ''}"
        )
    return "\n".join(lines)


def _costs(judge: LLMJudge) -> str:
    costs = judge.costs
    money = "" if costs.money is None else f", {costs.money:.4f} in money"
    return (
        f"{costs.requests} requests, {costs.cached} replies from the store, {costs.failed} failed; "
        f"{costs.prompt_tokens} tokens in, {costs.completion_tokens} out, {costs.seconds:.0f} s{money}"
    )


if __name__ == "__main__":
    run("judge")
