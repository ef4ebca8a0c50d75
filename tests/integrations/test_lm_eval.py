"""The filter of lm-evaluation-harness and what reads it; `tests/real_tools.py` runs both inside the harness."""

from __future__ import annotations

import math

import pytest

from bert_judge import BERTJudge
from bert_judge.integrations.lm_eval import judged, process_results
from conftest import Refused

DOCS = [
    {"question": "What is the capital of France?", "answer": "Paris"},
    {"question": "How many legs has a spider?", "answer": ["8", "eight"]},
]


def test_all_responses_of_a_task_are_judged_and_averaged(starter: BERTJudge) -> None:
    judged_docs = judged()([["It is Paris.", "Lyon"], ["eight"]], DOCS)
    replies = [[(record["response"], record["correct"]) for record in records] for records in judged_docs]
    assert replies == [[("It is Paris.", 1), ("Lyon", 0)], [("eight", 1)]]
    questions = [DOCS[0]["question"], DOCS[0]["question"], DOCS[1]["question"]]
    alone = starter.predict(questions, ["It is Paris.", "Lyon", "eight"], ["Paris", "Paris", ["8", "eight"]])
    assert [record["score"] for records in judged_docs for record in records] == pytest.approx(alone, abs=1e-2)
    assert process_results(DOCS[0], [judged_docs[0]])["correct"] == 0.5
    assert process_results(DOCS[1], [judged_docs[1]]) == {"correct": 1, "score": judged_docs[1][0]["score"]}
    undecided = process_results({}, [[{"response": "", "score": None, "correct": None}]])
    assert all(map(math.isnan, undecided.values()))


def test_columns_and_functions_of_the_document() -> None:
    docs = [{"q": "Where?", "target": {"aliases": ["Paris", "Lutetia"]}}]
    filter_fn = judged("containment", question="q", reference=lambda doc: doc["target"]["aliases"])
    assert filter_fn([["In Lutetia."]], docs) == [[{"response": "In Lutetia.", "score": 1.0, "correct": 1}]]


def test_bad_input_is_told_in_a_sentence(refused: Refused) -> None:
    with refused("did you mean containment"):
        judged("containmnt")
    with refused("a document has no column 'answer' for the reference; did you mean answers?"):
        judged("containment")([["a"]], [{"question": "Where?", "answers": "Paris"}])
    with refused("process_results got 'It is Paris.'; the output of judged"):
        process_results(DOCS[0], ["It is Paris."])
