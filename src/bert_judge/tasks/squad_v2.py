"""SQuAD 2.0: questions about a paragraph, a part of which it does not answer (Rajpurkar et al., arXiv 1806.03822)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import SPAN, ask_context

_DATA, _LICENCE, _FAMILY = "rajpurkar/squad_v2", "CC-BY-SA-4.0", "context extraction"
_UNANSWERABLE = "Unanswerable"


def _read(row: Row) -> Item:
    """The first annotator's answer, as in the paper."""
    answers = row["answers"]["text"]
    return Item(ask_context(row["question"], row["context"]), answers[0] if answers else _UNANSWERABLE)


TASKS = make_tasks(
    [
        Benchmark("squad_v2_train", _DATA, None, "train", _LICENCE, _FAMILY),
        Benchmark("squad_v2_test", _DATA, None, "validation", _LICENCE, _FAMILY),
    ],
    _read,
    f'{SPAN}, or "{_UNANSWERABLE}" if the context does not answer it',
)
