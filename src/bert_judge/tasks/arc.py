"""ARC: science questions of schools with three to five options (Clark et al., arXiv 1803.05457)."""

from __future__ import annotations

from bert_judge.errors import InputError
from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import OPTION, ask_choice, lettered

_DATA, _LICENCE, _FAMILY = "allenai/ai2_arc", "CC-BY-SA-4.0", "multiple choice"


def _read(row: Row) -> Item:
    """Options are labelled A, B, … or 1, 2, … in the data set; here always A, B, …"""
    labels, options, key = row["choices"]["label"], row["choices"]["text"], row["answerKey"]
    if key not in labels:
        raise InputError(f"a question of ARC has the key {key!r}, which is not one of its options {', '.join(labels)}.")
    return Item(ask_choice(row["question"], options), lettered(options)[labels.index(key)])


TASKS = make_tasks(
    [
        Benchmark("arc_easy_train", _DATA, "ARC-Easy", "train", _LICENCE, _FAMILY),
        Benchmark("arc_easy_test", _DATA, "ARC-Easy", "test", _LICENCE, _FAMILY),
        Benchmark("arc_challenge_train", _DATA, "ARC-Challenge", "train", _LICENCE, _FAMILY),
        Benchmark("arc_challenge_test", _DATA, "ARC-Challenge", "test", _LICENCE, _FAMILY),
    ],
    _read,
    OPTION,
)
