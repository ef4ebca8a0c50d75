"""Context extraction: a question about a text in the prompt; the reference is a span of that text.

SQuAD 2.0 (arXiv 1806.03822), HotpotQA (1809.09600), CoQA (1808.07042) and DROP (1903.00161).
"""

from __future__ import annotations

from bert_judge.tasks._benchmark import SPAN, Benchmark, Item, Row, ask_context, make_tasks

_FAMILY = "context extraction"
_LICENCE = "CC-BY-SA-4.0"
_SQUAD, _HOTPOT = "rajpurkar/squad_v2", "hotpotqa/hotpot_qa"
_UNANSWERABLE = "Unanswerable"


def _squad(row: Row) -> Item:
    """The first annotator's answer, as in the paper."""
    answers = row["answers"]["text"]
    return Item(ask_context(row["question"], row["context"]), answers[0] if answers else _UNANSWERABLE)


def _hotpot(row: Row) -> Item:
    """The context is those of the ten articles that hold the supporting facts."""
    gold, articles = set(row["supporting_facts"]["title"]), row["context"]
    context = "\n\n".join(
        f"{title}\n{''.join(sentences).strip()}"
        for title, sentences in zip(articles["title"], articles["sentences"], strict=True)
        if title in gold
    )
    return Item(ask_context(row["question"], context), row["answer"])


def _coqa(row: Row) -> Item:
    """The first question of the conversation about a story."""
    question, answer = row["questions"]["input_text"][0], row["answers"]["input_text"][0]
    return Item(ask_context(question, row["story"]), answer)


def _drop(row: Row) -> Item:
    return Item(ask_context(row["question"], row["passage"]), row["answers_spans"]["spans"][0])


_ANSWER_OR_NONE = f'{SPAN}, or "{_UNANSWERABLE}" if the context does not answer it'
_SPLITS = (("train", "train"), ("test", "validation"))
_COQA_LICENCE = "other: differs by the story's source"

TASKS = [
    *make_tasks(
        [Benchmark(f"squad_v2_{name}", _SQUAD, None, split, _LICENCE, _FAMILY) for name, split in _SPLITS],
        _squad,
        _ANSWER_OR_NONE,
    ),
    *make_tasks(
        [Benchmark(f"hotpot_qa_{name}", _HOTPOT, "distractor", split, _LICENCE, _FAMILY) for name, split in _SPLITS],
        _hotpot,
        SPAN,
    ),
    *make_tasks([Benchmark("coqa_test", "EleutherAI/coqa", None, "validation", _COQA_LICENCE, _FAMILY)], _coqa, SPAN),
    *make_tasks(
        [Benchmark("drop_test", "ucinlp/drop", None, "validation", _LICENCE, _FAMILY)],
        _drop,
        SPAN,
        keep=lambda row: len(set(row["answers_spans"]["spans"])) == 1,  # different ones may be alternatives or parts
    ),
]
