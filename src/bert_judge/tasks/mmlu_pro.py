"""MMLU-Pro: harder questions with up to ten options (Wang et al., arXiv 2406.01574)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import OPTION, ask_choice, lettered


def _read(row: Row) -> Item:
    return Item(ask_choice(row["question"], row["options"]), lettered(row["options"])[row["answer_index"]])


TASKS = mmlu_pro, mmlu_pro_soft, mmlu_pro_strict = make_tasks(
    [Benchmark("mmlu_pro", "TIGER-Lab/MMLU-Pro", None, "test", "MIT", "multiple choice")],
    _read,
    OPTION,
)
