"""HotpotQA: questions that need two articles, which are given (Yang et al., arXiv 1809.09600)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import SPAN, ask_context

_DATA, _LICENCE, _FAMILY = "hotpotqa/hotpot_qa", "CC-BY-SA-4.0", "context extraction"


def _read(row: Row) -> Item:
    """Of the ten articles of a row, those that hold the supporting facts."""
    gold, articles = set(row["supporting_facts"]["title"]), row["context"]
    context = "\n\n".join(
        f"{title}\n{''.join(sentences).strip()}"
        for title, sentences in zip(articles["title"], articles["sentences"], strict=True)
        if title in gold
    )
    return Item(ask_context(row["question"], context), row["answer"])


TASKS = make_tasks(
    [
        Benchmark("hotpot_qa_train", _DATA, "distractor", "train", _LICENCE, _FAMILY),
        Benchmark("hotpot_qa_test", _DATA, "distractor", "validation", _LICENCE, _FAMILY),
    ],
    _read,
    SPAN,
)
