"""`bert-judge tasks`: which tasks there are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bert_judge.cli import note, run, say
from bert_judge.cli.flags import Parser, spellings
from bert_judge.errors import InputError
from bert_judge.report.document import Table
from bert_judge.tasks import Benchmark, BenchmarkTask, TaskFunction, discover

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


def main(arguments: Sequence[str]) -> int:
    """List the tasks, the user's own included."""
    parser = Parser("bert-judge tasks", "[--tasks_dir FOLDER] [--json]", "List the tasks.", _EXAMPLES)
    parser.add_argument(*spellings("tasks_dir"), metavar="FOLDER", help="a folder of files with tasks of your own")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for each name")
    options = parser.parse(arguments)
    tasks = discover(options["tasks_dir"])
    rows = _count_rows(tasks.values())
    if options["json"]:
        for name, task in tasks.items():
            say(json.dumps(_record(name, task, rows), ensure_ascii=False))
    else:
        say(_table(tasks, rows))
    return 0


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


if __name__ == "__main__":
    run("tasks")
