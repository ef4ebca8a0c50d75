"""TruthfulQA: questions that people often answer wrongly, one right option (mc1; Lin et al., arXiv 2109.07958)."""

from __future__ import annotations

from functools import partial

from bert_judge.tasks._benchmark import Benchmark, Item, Reading, Row, make_tasks
from bert_judge.tasks._prompts import OPTION, Order, ask_choice, lettered, paper_order, shuffled


def _read(row: Row, order: Order = shuffled) -> Item:
    targets = row["mc1_targets"]
    right = targets["choices"][targets["labels"].index(1)]
    options = order(targets["choices"], row["question"].strip())
    return Item(ask_choice(row["question"], options), lettered(options)[options.index(right)])


TASKS = make_tasks(
    [
        Benchmark(
            "truthful_qa_mc",
            "truthfulqa/truthful_qa",
            "multiple_choice",
            "validation",
            "Apache-2.0",
            "multiple choice",
        )
    ],
    _read,
    OPTION,
    paper=lambda: Reading(partial(_read, order=paper_order())),
)
