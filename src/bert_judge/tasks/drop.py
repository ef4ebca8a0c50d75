"""DROP: questions about a paragraph that need counting and comparing (Dua et al., arXiv 1903.00161)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import SPAN, ask_context


def _has_one_answer(row: Row) -> bool:
    """Whether the spans of all annotators are one and the same; several may be alternatives or parts."""
    return len(set(row["answers_spans"]["spans"])) == 1


def _read(row: Row) -> Item:
    return Item(ask_context(row["question"], row["passage"]), row["answers_spans"]["spans"][0])


TASKS = make_tasks(
    [Benchmark("drop_test", "ucinlp/drop", None, "validation", "CC-BY-SA-4.0", "context extraction")],
    _read,
    SPAN,
    keep=_has_one_answer,
)
