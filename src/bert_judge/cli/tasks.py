"""`bert-judge tasks`: which tasks there are; and the flags that choose tasks, for the commands that work on them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from bert_judge.cli import note, say
from bert_judge.cli.flags import Parser, options_from
from bert_judge.errors import InputError
from bert_judge.inputs import ColumnMap
from bert_judge.pipeline import Task
from bert_judge.report.document import Table
from bert_judge.tasks import Benchmark, BenchmarkTask, TaskFunction, discover, from_file, unknown_task

_EXAMPLES = """examples:
  bert-judge tasks
  bert-judge tasks --tasks_dir my_tasks
  bert-judge tasks --json | jq -r .name

Rows are counted where the data set is on the disk: in LOCAL_DATASETS_DIR, or in a folder of its name.
"""
_COLUMNS = ("task", "split", "rows", "data set", "licence", "questions")
_FORMS = (
    'Each with free answers; NAME_soft asks for reasoning that ends in "Final answer: X", NAME_strict for that alone.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """Which rows a command works on."""

    tasks: Annotated[tuple[str, ...], "names of tasks, see bert-judge tasks: a,b or a b"] = ()
    tasks_dir: Annotated[str | None, "folder with files of tasks of your own"] = None
    dataset: Annotated[str | None, "a file instead of a task: JSON lines, CSV or parquet"] = None
    map: Annotated[ColumnMap | None, "its columns: question=q,reference=gold"] = None
    limit: Annotated[int | None, "only the first N rows of each task", 1] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """What `tasks` takes."""

    tasks_dir: Annotated[str | None, "folder with files of tasks of your own"] = None
    json: Annotated[bool, "one JSON object a line, for each name"] = False


def main(arguments: Sequence[str]) -> int:
    """List the tasks, the user's own included."""
    parser = Parser("tasks", "[--tasks_dir FOLDER] [--json]", _EXAMPLES, {"flags": ListOptions})
    options = options_from(ListOptions, parser.parse(arguments))
    tasks = discover(options.tasks_dir)
    rows = _count_rows(tasks.values())
    if options.json:
        for name, task in tasks.items():
            say(json.dumps(_record(name, task, rows), ensure_ascii=False))
    else:
        say(_table(tasks, rows))
    return 0


def read_tasks(options: TaskOptions) -> Iterator[Task]:
    """The tasks that are asked for, each loaded when it comes. All names are checked before the first one is loaded."""
    from datasets import disable_progress_bars

    disable_progress_bars()  # ours show what takes long
    if bool(options.tasks) == bool(options.dataset):
        raise InputError("name the rows to work on by --tasks, or by --dataset (not both).")
    if options.dataset:
        name = Path(options.dataset).name.split(".")[0]
        makers: dict[str, TaskFunction] = {name: partial(from_file, options.dataset, options.map)}
    else:
        tasks = discover(options.tasks_dir)
        for name in options.tasks:
            if name not in tasks:
                raise unknown_task(name, tasks)
        makers = {name: tasks[name] for name in options.tasks}
    return (_task(name, make, options.limit) for name, make in makers.items())


def _task(name: str, make: TaskFunction, limit: int | None) -> Task:
    """A task with its first rows, and with that of the paper's package, made when it is asked for, where it differs."""
    task = Task.of(name, make())
    task = replace(task, questions=task.questions[:limit], references=task.references[:limit])
    if isinstance(make, BenchmarkTask) and make.paper:
        return replace(task, as_in_paper=cache(partial(_task, name, make.as_in_paper, limit)))
    return task


def _count_rows(tasks: Iterable[TaskFunction]) -> dict[Benchmark, int | None]:
    """The rows of each benchmark on the disk; of one that can't be read it is said why."""
    rows: dict[Benchmark, int | None] = {}
    for benchmark in dict.fromkeys(task.benchmark for task in tasks if isinstance(task, BenchmarkTask)):
        try:
            rows[benchmark] = benchmark.local_rows()
        except InputError as error:
            rows[benchmark] = None
            note(f"{benchmark.name}: {error}")
    return rows


def _record(name: str, task: TaskFunction, rows: Mapping[Benchmark, int | None]) -> dict[str, Any]:
    if not isinstance(task, BenchmarkTask):
        return {"name": name, "file": _file(task)}
    source = task.benchmark
    return {
        "name": name,
        "dataset": source.dataset,
        "config": source.config,
        "split": source.split,
        "rows": rows[source],
        "licence": source.licence,
        "family": source.family,
    }


def _table(tasks: Mapping[str, TaskFunction], rows: Mapping[Benchmark, int | None]) -> str:
    """A line for each benchmark, and one for each function of the user's."""
    body = []
    for source, count in rows.items():
        several = f"{len(source.config)} configurations" if isinstance(source.config, tuple) else source.config
        data = f"{source.dataset} ({several})" if several else source.dataset
        body.append([source.name, source.split, count, data, source.licence, source.family])
    user_tasks = [[name, _file(task)] for name, task in tasks.items() if not isinstance(task, BenchmarkTask)]
    tables = [Table("", _COLUMNS, body, f"\n{_FORMS}", left=(0, 1, 3, 4, 5))]
    if user_tasks:
        tables.append(Table("", ["task of your own", "file"], user_tasks, left=(0, 1)))
    return "\n\n".join(table.text() for table in tables)


def _file(task: TaskFunction) -> str | None:
    """Where a function of the user's is defined."""
    return getattr(sys.modules.get(task.__module__), "__file__", None)
