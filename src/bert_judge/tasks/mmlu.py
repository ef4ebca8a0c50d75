"""MMLU: questions of 57 subjects with four options (Hendrycks et al., arXiv 2009.03300)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import OPTION, ask_choice, lettered

_FAMILY = "multiple choice"


def _read(row: Row) -> Item:
    return Item(ask_choice(row["question"], row["choices"]), lettered(row["choices"])[row["answer"]])


TASKS = make_tasks(
    [
        Benchmark("mmlu_train", "cais/mmlu", "all", "auxiliary_train", "MIT", _FAMILY),
        Benchmark("mmlu_test", "cais/mmlu", "all", "test", "MIT", _FAMILY),
    ],
    _read,
    OPTION,
)
