"""GPQA: questions of doctoral level with four options (Rein et al., arXiv 2311.12022). The data set is gated."""

from __future__ import annotations

from functools import partial

from bert_judge.tasks._benchmark import Benchmark, Item, Reading, Row, make_tasks
from bert_judge.tasks._prompts import OPTION, Order, ask_choice, lettered, paper_order, shuffled


def _read(row: Row, order: Order = shuffled) -> Item:
    right = row["Correct Answer"].strip()
    wrong = [row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3)]
    options = order([right, *wrong], row["Question"].strip())
    return Item(ask_choice(row["Question"], options), lettered(options)[options.index(right)])


TASKS = gpqa, gpqa_soft, gpqa_strict = make_tasks(
    [Benchmark("gpqa", "Idavidrein/gpqa", "gpqa_main", "train", "CC-BY-4.0", "multiple choice")],
    _read,
    OPTION,
    paper=lambda: Reading(partial(_read, order=paper_order())),
)
