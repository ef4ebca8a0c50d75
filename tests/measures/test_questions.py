"""The key of a question is frozen: another key could move a question from the test rows to the training rows."""

from __future__ import annotations

from bert_judge.measures.questions import question_key
from tables import table


def test_the_keys_of_questions_stay_as_they_are() -> None:
    keys = table("question_keys")
    assert {text: question_key(text, ()) for text in keys} == keys
    assert question_key(None, ("Paris,", "FRANCE")) == "pari france"
    assert question_key("", ("Paris",)) == ""
    assert question_key("twenty f\u0131ve", ()) == "20 f\u0131ve"  # a letter that ignoring case takes for an i


def test_long_texts_take_linear_time() -> None:
    text = "twenty-one 5 km A) 2020-01-01 " * 20_000
    assert question_key(text, ()).startswith("21 5 kilometer (a) 2020 january 1 21")
