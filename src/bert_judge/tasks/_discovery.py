"""Finding tasks in this folder and in a user's, and reading files of questions."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from bert_judge.errors import InputError, first_line
from bert_judge.inputs import ColumnMap, open_source
from bert_judge.tasks._benchmark import BenchmarkTask

if TYPE_CHECKING:
    from datasets import Dataset

TaskFunction: TypeAlias = "Callable[[], Dataset]"
"""A function without arguments that returns a dataset with `question` and `reference`."""


def discover(tasks_dir: str | Path | None = None) -> dict[str, TaskFunction]:
    """All tasks of the package and of the files in `tasks_dir`, by name.

    A task is a public function, defined in the file itself, that can be called without arguments; or an entry of the
    list `TASKS` that `make_tasks` made. Files in `tasks_dir` may import from the package as if they were in
    `bert_judge/tasks` (`from ..utils import load_dataset`), and from each other (`from ._shared import …`).

    Raises InputError for a file that can't be imported, a name that is defined twice, and a folder without tasks.
    """
    tasks: dict[str, tuple[TaskFunction, Path]] = {}
    for module in _modules("bert_judge.tasks", Path(__file__).parent):
        _add(tasks, module)
    if tasks_dir is not None:
        folder = Path(tasks_dir).expanduser().resolve()
        if not folder.is_dir():
            state = "a file" if folder.exists() else "not there"
            raise InputError(f"the folder of tasks {tasks_dir} is {state}; a folder of Python files is needed.")
        if not sum(_add(tasks, module) for module in _modules(_package(folder), folder)):
            raise InputError(
                f"{tasks_dir} has no tasks; a Python file with a public function that takes no arguments was expected."
            )
    return {name: task for name, (task, _) in tasks.items()}


def from_file(path: str | Path, columns: ColumnMap | None = None) -> Dataset:
    """A dataset with `question` and `reference`, like a task's, from a file that `bert_judge.inputs.open_source` reads.

    `columns` maps "question" and "reference" to the file's columns; others are recognised. References are texts, or
    lists of texts if some row has several.

    Raises InputError, which names the row and what is wrong with it.
    """
    from datasets import Dataset

    roles = ("question", "reference")
    if unknown := set(columns or {}).difference(roles):
        raise InputError(f"the map names {min(unknown)!r}; a task has only a question and a reference.")
    unread = dict.fromkeys(("candidate", "id", "label"), "")
    rows = list(open_source(Path(path).expanduser(), columns={**(columns or {}), **unread}, required=roles))
    several = any(len(row.references) > 1 for row in rows)
    references = [list(row.references) if several else row.references[0] for row in rows]
    return Dataset.from_dict({"question": [row.question for row in rows], "reference": references})


def _modules(package: str, folder: Path) -> Iterator[ModuleType]:
    """Import the public files of a folder, in the order of their names."""
    for file in sorted(folder.glob("*.py")):
        if not file.stem.startswith("_"):
            try:
                yield importlib.import_module(f"{package}.{file.stem}")
            except Exception as error:  # a user's file can raise anything
                reason = f"{type(error).__name__}: {first_line(error)}"
                raise InputError(f"the file of tasks {file} can't be imported: {reason}.") from error


def _package(folder: Path) -> str:
    """A package beside `bert_judge.tasks` whose modules are the files of the folder."""
    name = f"bert_judge.tasks_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name, f"The tasks in {folder}.")
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def _add(tasks: dict[str, tuple[TaskFunction, Path]], module: ModuleType) -> int:
    """Add the tasks of a module; returns their number."""
    file = Path(str(module.__file__))
    new = [(name, value) for name, value in vars(module).items() if _is_task(name, value, module)]
    listed = getattr(module, "TASKS", None)
    if isinstance(listed, list):
        new += [(task.name, task) for task in listed if isinstance(task, BenchmarkTask)]
    for name, task in new:
        if name in tasks:
            places = " and ".join(dict.fromkeys([str(tasks[name][1]), str(file)]))
            raise InputError(f"the task {name} is defined twice, in {places}; rename one of them.")
        tasks[name] = (task, file)
    return len(new)


def _is_task(name: str, value: Any, module: ModuleType) -> bool:
    """Whether it is a public function, defined in the module itself, that can be called without arguments."""
    imported = getattr(value, "__module__", None) != module.__name__
    if name.startswith("_") or isinstance(value, type) or not callable(value) or imported:
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(value).parameters.values()
    return all(param.kind in variadic or param.default is not inspect.Parameter.empty for param in parameters)
