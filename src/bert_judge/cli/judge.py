"""`bert-judge judge`: judge the candidates of models for tasks, with one judge or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from bert_judge.cli import log_shown, run
from bert_judge.cli.flags import Parser, options_from
from bert_judge.cli.judging import VerdictOptions, add_judges, judged_result, made_judge, say_failed
from bert_judge.cli.show import where_explained
from bert_judge.cli.tasks import TaskOptions, read_tasks
from bert_judge.errors import InputError
from bert_judge.judges import RegexJudge
from bert_judge.judges.base import Costs
from bert_judge.judges.naming import JudgeSpec
from bert_judge.paths import scores_folder
from bert_judge.pipeline import CandidateRows, Task
from bert_judge.report.document import Document
from bert_judge.report.score import task_table
from bert_judge.results import CANDIDATES, PART_ROWS, check_folder
from bert_judge.results.summary import Summary

_EXAMPLES = """examples:
  bert-judge judge --tasks arc_easy_test,mmlu_test --candidate_model Llama-3.2-1B-Instruct
  bert-judge judge --judge starter,RegexJudge --tasks gsm8k_test
  bert-judge judge --judge LLMJudge --model_path my-model --backend openai --base_url http://localhost:8000/v1 \\
                   --tasks gsm8k_test --fail_on_undecided
  bert-judge judge --tasks arc_easy_test --explain 20     # which words matter; bert-judge show prints them
  bert-judge judge --judge RegexJudge --no-whole_candidate --tasks gsm8k_test   # its answer alone

It reads CANDIDATES_DIR/TASK/MODEL/candidates.json, as bert-judge generate writes it, and writes scores.json,
verdicts.jsonl and run.json to OUTPUT_DIR/TASK/MODEL/JUDGE/VARIANT. Nothing is judged twice.
"""


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(VerdictOptions):
    """What `judge` takes besides the flags of tasks and judges."""

    candidates_dir: Annotated[str, "folder of candidates"] = "artifacts/candidates"
    candidate_model: Annotated[tuple[str, ...], "models whose candidates are judged (default: all)"] = ()
    output_dir: Annotated[str, "folder for scores", "-o"] = "artifacts/scores"
    fail_on_undecided: Annotated[bool, "exit with status 3 if any row is undecided"] = False


def main(arguments: Sequence[str]) -> int:
    """Check tasks and candidates, load each judge once, judge everything, print a table."""
    groups = {"what is judged": JudgeOptions, "which tasks": TaskOptions}
    parser = Parser("judge", "--tasks TASKS [--judge JUDGE] [flags]", _EXAMPLES, groups)
    read_judges = add_judges(parser, arguments, several="several judges", others=True)
    values = parser.parse(arguments)
    specs, options = list(map(_as_in_the_paper, read_judges(values).values())), options_from(JudgeOptions, values)
    output_dir = check_folder(options.output_dir)
    work = list(_candidates(read_tasks(options_from(TaskOptions, values)), options))
    lines: list[tuple[str, str, str, Summary]] = []
    folders = []
    for spec in specs:
        with log_shown(not options.quiet):
            judge = made_judge(spec, options)
        name, command = spec.kind.__name__, ["bert-judge", "judge", *arguments]
        for model, rows in work:
            task = rows.task.name
            path = scores_folder(output_dir, task, model, name, judge.info.name)
            _, folder = judged_result(rows, judge, path, options.settings, options, f"{name} {task} {model}", command)
            folders.append(folder)
            lines.append((task, model, f"{name}/{path.name}", folder.summary))
        if judge.info.paid and judge.costs and not options.quiet:
            options.mention(_costs(judge.costs))
    if not options.quiet:
        results = {"/".join(line[:3]): folder.run for line, folder in zip(lines, folders, strict=True)}
        options.show(Document("Scores of tasks", [task_table(lines)]), {"results": results})
        if options.explain:
            options.mention(f"\n{where_explained(output_dir)}")
    if failed := say_failed(folders, "bert-judge judge"):
        return failed
    return 3 if options.fail_on_undecided and any(folder.summary.undecided for folder in folders) else 0


def _candidates(tasks: Iterator[Task], options: JudgeOptions) -> Iterator[tuple[str, CandidateRows]]:
    """The candidates of each model for each task."""
    directory = Path(options.candidates_dir)
    for task in tasks:
        there = [path.parent.name for path in sorted((directory / task.name).glob(f"*/{CANDIDATES}"))]
        models = options.candidate_model or there
        if not models:
            raise InputError(f"there are no candidates for {task.name} in {directory}; run bert-judge generate first.")
        for model in models:
            yield model, replace(CandidateRows.read(task, directory, model), part_rows=options.part_rows or PART_ROWS)


def _as_in_the_paper(spec: JudgeSpec) -> JudgeSpec:
    """RegexJudge searches whole candidates, as in the paper's package, unless that is set."""
    if spec.kind is not RegexJudge or spec.by_name:
        return spec
    return replace(spec, settings={"whole_candidate": True, **spec.settings})


def _costs(costs: Costs) -> str:
    money = "" if costs.money is None else f", {costs.money:.4f} in money"
    return (
        f"{costs.requests} requests, {costs.cached} replies from the store, {costs.failed} failed; "
        f"{costs.prompt_tokens} tokens in, {costs.completion_tokens} out, {costs.seconds:.0f} s{money}"
    )


if __name__ == "__main__":
    run("judge")
