"""The key of a question is frozen: another key could move a question from the test rows to the training rows."""

from __future__ import annotations

from bert_judge.measures.questions import question_key

KEYS = {
    "What is 7, really?": "what is 7 really",
    "  what IS 7.0 — really?!": "what is 7 really",
    "Who wrote “Les Misérables”?": "who wrote les miserable",
    "Ｗｈｏ is Рaul?": "who is paul",  # full-width letters, and a Cyrillic one
    "fifty-two plus 1.5 million, one hundred and five, the twenty-first": "52 plu 1500000 105 the 21",
    "one two three and three thousand five": "1 2 3 and 3 1000 5",
    "two hundred five hundred, ten million five thousand, one billion billion": (
        "2 100 5 100 10005000 1 1000000000 1000000000"
    ),
    "Henry VIII, chapter iii": "henry 8 chapter 3",
    "-1,000.50 + 0,375 - ½ * 3/4 + \\frac{1}{2} + \\frac34": "-1000.5 0.375 0.5 0.75 0.5 0.75",
    "x² x^2 x**2 x⁻¹ x^{10}": "x ^2 x ^2 x ^2 x ^-1 x ^10",
    "5 km in ft, 6 ft and 3 metres": "5 kilometer in ft 6 foot and 3 meter",
    "On 1969-07-20 or in Sept?": "on 1969 july 20 or in september",
    "A) a dog D. i. (I) option A <answer>D</answer>": "(a) a dog (d) i (i) option (a) answer (d) answer",
    "a": "(a)",
    "Qu'est-ce?": "qu est ce",
    "日本の首都は?": "日 本 の 首 都 は",
    "?!": "",
    "": "",
}


def test_the_keys_of_questions_stay_as_they_are() -> None:
    assert {text: question_key(text, ()) for text in KEYS} == KEYS
    assert question_key(None, ("Paris,", "FRANCE")) == "pari france"
    assert question_key("", ("Paris",)) == ""


def test_long_texts_take_linear_time() -> None:
    text = "twenty-one 5 km A) 2020-01-01 " * 20_000
    assert question_key(text, ()).startswith("21 5 kilometer (a) 2020 january 1 21")
