"""CoQA: conversations about a story, of which the first question is asked (Reddy et al., arXiv 1808.07042)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import SPAN, ask_context


def _read(row: Row) -> Item:
    question, answer = row["questions"]["input_text"][0], row["answers"]["input_text"][0]
    return Item(ask_context(question, row["story"]), answer)


TASKS = make_tasks(
    [
        Benchmark(
            "coqa_test",
            "EleutherAI/coqa",
            None,
            "validation",
            "other: differs by the story's source",
            "context extraction",
        )
    ],
    _read,
    SPAN,
)
