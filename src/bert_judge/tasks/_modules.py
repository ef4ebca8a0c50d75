"""Modules of single benchmarks, as the paper's package has them: `from bert_judge.tasks.gsm8k_test import gsm8k_test`.

Ours hold a family each (`gsm8k.py`), so these have no files: a finder makes them of the tasks that there are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from bert_judge.tasks._benchmark import BenchmarkTask
from bert_judge.tasks._discovery import discover

_PACKAGE = "bert_judge.tasks."


class _BenchmarkModules(MetaPathFinder, Loader):
    """Finds `bert_judge.tasks.NAME` where no file is called so: a module with the task in each of its forms."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module for a benchmark's name, and none for any other."""
        name = fullname.removeprefix(_PACKAGE)
        ours = fullname.startswith(_PACKAGE) and name.isidentifier() and not name.startswith("_")
        return ModuleSpec(fullname, self) if ours and _tasks_of(name) else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the tasks into the module."""
        name = module.__name__.removeprefix(_PACKAGE)
        module.__doc__ = f"The tasks of {name}."
        vars(module).update(_tasks_of(name))


def _tasks_of(name: str) -> dict[str, BenchmarkTask]:
    """The tasks of a benchmark, by name."""
    tasks = (task for task in discover().values() if isinstance(task, BenchmarkTask))
    return {task.name: task for task in tasks if task.benchmark.name == name}


_FINDER = _BenchmarkModules()


def offer_modules() -> None:
    """Let Python find these modules, after all files."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
