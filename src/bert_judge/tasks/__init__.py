"""Tasks: functions without arguments that return a dataset of questions and references.

    from bert_judge.tasks import discover

    dataset = discover()["gsm8k_test_soft"]()   # a datasets.Dataset with the columns question and reference

Each file of this folder has the benchmarks of one family. A file put beside them, or into another folder that
`discover` is told of, adds its tasks. Files whose names begin with an underscore have none.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

from bert_judge.tasks import context_extraction, math_problems, multiple_choice
from bert_judge.tasks._benchmark import (
    FORMS,
    Benchmark,
    BenchmarkTask,
    Item,
    ask_choice,
    ask_context,
    lettered,
    make_tasks,
    shuffled,
)
from bert_judge.tasks._discovery import TaskFunction, discover, from_file

__all__ = [
    "FORMS",
    "Benchmark",
    "BenchmarkTask",
    "Item",
    "TaskFunction",
    "ask_choice",
    "ask_context",
    "discover",
    "from_file",
    "lettered",
    "make_tasks",
    "shuffled",
]

# The paper's package has a module for each benchmark: `from bert_judge.tasks.gsm8k_test import gsm8k_test_soft`.
for _task in (*context_extraction.TASKS, *math_problems.TASKS, *multiple_choice.TASKS):
    _name = f"{__name__}.{_task.benchmark.name}"
    if not Path(__file__).with_name(f"{_task.benchmark.name}.py").exists():  # a user's file of that name wins
        _module = sys.modules.setdefault(_name, module_from_spec(ModuleSpec(_name, None)))
        setattr(_module, _task.name, _task)
