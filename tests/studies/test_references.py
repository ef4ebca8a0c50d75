"""References against which several answers agree."""

from __future__ import annotations

import json

import pytest

from bert_judge.records import Row, Verdict
from bert_judge.studies.references import doubted_record, doubted_references, final_answer, same_answer

MOON = "Who was the first on the Moon?"


def row(candidate: str | None, label: int | None = 0, reference: str = "Buzz Aldrin", **meta: object) -> Row:
    question = str(meta.pop("question", MOON))
    score = None if label is None else float(label)
    return Row(str(meta.pop("id", 1)), Verdict(score, label), None, question, (reference,), candidate, meta=meta)


def test_models_that_agree_against_the_reference_are_listed() -> None:
    rows = [
        row("It was Neil Armstrong.", model="a", task="t", id=1),
        row("Neil Armstrong", model="b", task="t", id=2),
        row("Yuri Gagarin", model="c", task="t"),
        row("Buzz Aldrin", 1, model="d", task="t"),
        # Another question, and one with other references: nothing is the same.
        row("Neil Armstrong", model="a", question="Who was the first on the Sun?"),
        row("Neil Armstrong", model="e", reference="Gagarin"),
    ]
    (found,) = doubted_references(lambda: rows)
    assert (found.models, found.correct, found.incorrect) == (("a", "b"), 1, 3)
    assert [each.id for each in found.rows] == ["1", "2"]
    record = json.loads(json.dumps(doubted_record(found)))
    assert (record["question"], record["references"], record["answer"]) == (
        MOON,
        ["Buzz Aldrin"],
        "It was Neil Armstrong",
    )
    assert record["rows"][1] == {"id": "2", "task": "t", "model": "b", "score": 0.0, "candidate": "Neil Armstrong"}


def test_answers_of_one_model_count_where_they_are_most(subtests: pytest.Subtests) -> None:
    table = {
        "all": ([("Armstrong", 0)] * 3, 3),
        "most": ([("Armstrong", 0), ("Armstrong.", 0), ("Buzz Aldrin", 1)], 2),
        "half": ([("Armstrong", 0), ("Armstrong", 0), ("Buzz Aldrin", 1), ("Aldrin", 1)], 0),
        "one": ([("Armstrong", 0)], 0),
        "different": ([("Armstrong", 0), ("Gagarin", 0)], 0),
    }
    for name, (answers, expected) in table.items():
        with subtests.test(name=name):
            rows = [row(text, label, model="m", epoch=n) for n, (text, label) in enumerate(answers)]
            assert [len(each.rows) for each in doubted_references(lambda rows=rows: rows)] == [expected] * bool(
                expected
            )


def test_more_models_come_first_and_files_stand_for_models() -> None:
    rows = [
        *(row("Armstrong", file=f"{name}.jsonl") for name in "ab"),
        *(row("7", reference="8", question="How many?", model=name) for name in "abc"),
    ]
    assert [each.models for each in doubted_references(lambda: rows)] == [("a", "b", "c"), ("a.jsonl", "b.jsonl")]


def test_what_says_nothing_is_passed_over() -> None:
    texts = ["", "  ", "I don't know.", "<think>it is", None]
    assert not doubted_references(lambda: [row(text, model=name) for text in texts for name in "ab"])
    assert not doubted_references(lambda: [row("Armstrong", None, model=name) for name in "ab"])
    assert not doubted_references(list)


def test_what_an_answer_says_in_the_end(subtests: pytest.Subtests) -> None:
    options = "Which is in France?\nA) Rome\nB) Lyon"
    table = [
        ("3 + 4 = 7, and 2 x 7 = 14.", "15", "How many?", "14"),
        ("The answer is 14 apples. 7 are mine.", "15", "How many?", "14"),
        ("It is 15, no: \\boxed{14}", "15", "How many?", "14"),
        ("3 + 4 is 7.\n#### 14", "15", "How many?", "14"),
        ("I go for B) Lyon.", "A", options, "B"),
        ("<think>Rome? No.</think>The answer is **Lyon**. Sure.", "Rome", "Which?", "Lyon"),
        ("Lyon, I think", "Rome", "Which?", "Lyon, I think"),
    ]
    for text, reference, question, expected in table:
        with subtests.test(text=text):
            assert final_answer(row(text, reference=reference, question=question)) == expected


def test_which_answers_are_the_same(subtests: pytest.Subtests) -> None:
    table = [
        ("It is Lyon.", "lyon", True),
        ("12 April 1961", "April 12, 1961", True),
        ("3 km", "3,000 m", True),
        ("The first was Armstrong", "Armstrong", True),
        ("not Lyon", "Lyon", False),
        ("Lyon or Paris", "Lyon", False),
        ("1961", "1962", False),
        ("", "", False),
        ("x " * 200 + "7", "x " * 200 + "7.", True),
        ("x " * 200 + "7", "x", False),
    ]
    for one, other, expected in table:
        for pair in ((one, other), (other, one)):
            with subtests.test(pair=pair):
                assert same_answer(*pair, MOON) is expected
