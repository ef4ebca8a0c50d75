"""What the commands on tasks share: the flags that choose tasks, and reading them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bert_judge.errors import InputError
from bert_judge.inputs import ColumnMap
from bert_judge.pipeline import Task

if TYPE_CHECKING:
    from bert_judge.tasks import TaskFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """Which rows a command works on."""

    tasks: Annotated[tuple[str, ...], "names of tasks, see bert-judge tasks: a,b or a b"] = ()
    tasks_dir: Annotated[str | None, "folder with files of tasks of your own"] = None
    dataset: Annotated[str | None, "a file instead of a task: JSON lines, CSV or parquet"] = None
    map: Annotated[ColumnMap | None, "its columns: question=q,reference=gold"] = None
    limit: Annotated[int | None, "only the first N rows of each task"] = None


def read_tasks(options: TaskOptions) -> Iterator[Task]:
    """The tasks that are asked for, each loaded when it comes. All names are checked before the first one is loaded."""
    from datasets import disable_progress_bars

    from bert_judge.tasks import discover, from_file, unknown_task

    disable_progress_bars()  # ours show what takes long

    if options.limit is not None and options.limit < 1:
        raise InputError(f"limit is {options.limit}; a number of at least 1 was expected.")
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
    from bert_judge.tasks import BenchmarkTask

    task = Task.of(name, make())
    task = replace(task, questions=task.questions[:limit], references=task.references[:limit])
    if isinstance(make, BenchmarkTask) and make.paper:
        return replace(task, as_in_paper=cache(partial(_task, name, make.as_in_paper, limit)))
    return task
