"""Tasks: questions with their references. A task is a function without arguments that returns a dataset of both.

    from bert_judge.tasks import discover

    dataset = discover()["gsm8k_test_soft"]()   # a datasets.Dataset with the columns question and reference

Each file of this folder holds the tasks of one family of benchmarks, and a file that is put beside them, or into the
folder of `--tasks_dir`, adds its own. Files whose names begin with an underscore hold none. A benchmark's own module
(`from bert_judge.tasks.gsm8k_test import gsm8k_test`) is there, too, without a file.
"""

from __future__ import annotations

from bert_judge.tasks._benchmark import FORMS, Benchmark, BenchmarkTask, Item, Reading, make_tasks
from bert_judge.tasks._discovery import TaskFunction, discover, unknown_task
from bert_judge.tasks._files import from_file
from bert_judge.tasks._modules import offer_modules
from bert_judge.tasks._prompts import ask_choice, ask_context, lettered, shuffled

__all__ = [
    "FORMS",
    "Benchmark",
    "BenchmarkTask",
    "Item",
    "Reading",
    "TaskFunction",
    "ask_choice",
    "ask_context",
    "discover",
    "from_file",
    "lettered",
    "make_tasks",
    "shuffled",
    "unknown_task",
]

offer_modules()
