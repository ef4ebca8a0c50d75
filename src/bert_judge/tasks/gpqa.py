"""GPQA: questions of doctoral level with four options (Rein et al., arXiv 2311.12022). The data set is gated."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import OPTION, ask_choice, lettered, shuffled


def _read(row: Row) -> Item:
    right = row["Correct Answer"].strip()
    wrong = [row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3)]
    options = shuffled([right, *wrong], row["Question"].strip())
    return Item(ask_choice(row["Question"], options), lettered(options)[options.index(right)])


TASKS = make_tasks(
    [Benchmark("gpqa", "Idavidrein/gpqa", "gpqa_main", "train", "CC-BY-4.0", "multiple choice")],
    _read,
    OPTION,
)
