"""Multiple choice: the options are lettered, and the reference is the letter and text of the correct one.

ARC (arXiv 1803.05457), MMLU (2009.03300), MMLU-Pro (2406.01574), GPQA (2311.12022; its data set is gated), and
TruthfulQA with one correct option (mc1, 2109.07958).
"""

from __future__ import annotations

from functools import partial

from bert_judge.errors import InputError
from bert_judge.tasks._benchmark import (
    OPTION,
    Benchmark,
    Item,
    Order,
    Row,
    RowConversion,
    ask_choice,
    lettered,
    make_tasks,
    paper_order,
    shuffled,
)

_FAMILY = "multiple choice"
_ARC = "allenai/ai2_arc"


def _arc(row: Row) -> Item:
    """The data set labels options A, B, … or 1, 2, …; here it is always A, B, …"""
    labels, options, key = row["choices"]["label"], row["choices"]["text"], row["answerKey"]
    if key not in labels:
        raise InputError(f"a question of ARC has the key {key!r}, which is not one of its options {', '.join(labels)}.")
    return Item(ask_choice(row["question"], options), lettered(options)[labels.index(key)])


def _mmlu(row: Row) -> Item:
    return Item(ask_choice(row["question"], row["choices"]), lettered(row["choices"])[row["answer"]])


def _mmlu_pro(row: Row) -> Item:
    return Item(ask_choice(row["question"], row["options"]), lettered(row["options"])[row["answer_index"]])


def _gpqa(row: Row, order: Order = shuffled) -> Item:
    right = row["Correct Answer"].strip()
    wrong = [row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3)]
    options = order([right, *wrong], row["Question"].strip())
    return Item(ask_choice(row["Question"], options), lettered(options)[options.index(right)])


def _truthful_qa(row: Row, order: Order = shuffled) -> Item:
    targets = row["mc1_targets"]
    right = targets["choices"][targets["labels"].index(1)]
    options = order(targets["choices"], row["question"].strip())
    return Item(ask_choice(row["question"], options), lettered(options)[options.index(right)])


TASKS = [
    *make_tasks(
        [
            Benchmark(f"arc_{level.lower()}_{split}", _ARC, f"ARC-{level}", split, "CC-BY-SA-4.0", _FAMILY)
            for level in ("Easy", "Challenge")
            for split in ("train", "test")
        ],
        _arc,
        OPTION,
    ),
    *make_tasks(
        [
            Benchmark("mmlu_train", "cais/mmlu", "all", "auxiliary_train", "MIT", _FAMILY),
            Benchmark("mmlu_test", "cais/mmlu", "all", "test", "MIT", _FAMILY),
        ],
        _mmlu,
        OPTION,
    ),
    *make_tasks([Benchmark("mmlu_pro", "TIGER-Lab/MMLU-Pro", None, "test", "MIT", _FAMILY)], _mmlu_pro, OPTION),
    *make_tasks(
        [Benchmark("gpqa", "Idavidrein/gpqa", "gpqa_main", "train", "CC-BY-4.0", _FAMILY)],
        _gpqa,
        OPTION,
        paper=lambda: RowConversion(partial(_gpqa, order=paper_order())),
    ),
    *make_tasks(
        [Benchmark("truthful_qa_mc", "truthfulqa/truthful_qa", "multiple_choice", "validation", "Apache-2.0", _FAMILY)],
        _truthful_qa,
        OPTION,
        paper=lambda: RowConversion(partial(_truthful_qa, order=paper_order())),
    ),
]
