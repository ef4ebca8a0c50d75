"""What holds for the evidence of any two texts."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from bert_judge.reading import Relation, match
from bert_judge.reading.arrangement import compare_arrangements, compare_expressions

WORDS = "copper apples apple the a of city cities walking walk sea water seawater world health organization".split()
# fmt: off
VALUES = [
    "7", "-5", "1,000.0", "1 000 000", "3.14", "3.1416", "1/2", "½", "2/3", "0.667", "1e6", "fifty-two", "五十二",
    "1.2 million", "7th", "first", "VI", "5 km", "5000 m", "6 km", "2500 cm²", "12-inch", "100 km/h", "50 %", "$5",
    "25 °C", "77 °F", "1 hour and 30 minutes", "90 min", "3 May 1918", "1918-05-03", "May 1918", "May", "1918",
    "05/03/1918", "3:30 pm", "15:30", "(B)", "A", "B", "I", "\\boxed{B}", "a) zinc", "1. tin", "x^2+1", "U.S.",
    "NASA", "AIDS", "news", "O'Brien", '"Hamlet"', "Zürich", "Москва", "北京", "القاهرة", "...", "\n", "- ",
]
# fmt: on
AWKWARD = ["9" * 5000, "1e999999999", "10^999999999", "1/0", "\\frac{1}{0}", "5 km" * 200, "(" * 500, "²", "\ud800"]
AWKWARD += ["\x00"]
WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
TYPOGRAPHY = {"width": WIDE, "spaces": {" ": "\u00a0"}, "quotes": {"'": "’", '"': "”"}, "dashes": {"-": "\u2010"}}
SWAPPED = {"MORE": "LESS", "LESS": "MORE"}

words = st.lists(st.sampled_from([word for word in WORDS if len(word) > 1]), min_size=1, max_size=4).map(" ".join)
phrases = st.lists(st.sampled_from([*WORDS, *VALUES]), max_size=6).map(" ".join)
texts = phrases | st.text(max_size=60)

Named = list[tuple[int, int, str]]


def marks(candidate: str, reference: str, question: str | None = None) -> tuple[Named, Named]:
    """The marks of both sides, with the names of the relations."""
    matched = match(candidate, (reference,), question)
    sides = matched.candidate, matched.references[0]
    named = [[(start, end, relation.name) for start, end, relation in side] for side in sides]
    return named[0], named[1]


def names(candidate: str, reference: str) -> list[list[str]]:
    return [[name for _, _, name in side] for side in marks(candidate, reference)]


@example(candidate="3 May 1918 May", reference="May 1918")
@given(candidate=texts, reference=texts)
def test_swapped_texts_have_the_same_relations_but_more_and_less_exchanged(candidate: str, reference: str) -> None:
    # Texts that are compared as a whole have no such symmetry: the reference says which part of the candidate counts.
    for one, other in ((candidate, reference), (reference, candidate)):
        assume(not compare_arrangements(one, other, "") and not compare_expressions(one, other, ""))
    there, back = marks(candidate, reference), marks(reference, candidate)
    exchanged = [[(start, end, SWAPPED.get(name, name)) for start, end, name in side] for side in back]
    assert list(there) == exchanged[::-1]


@given(text=texts)
def test_a_text_agrees_with_itself(text: str) -> None:
    assert {name for side in names(text, text) for name in side} <= {"SAME", "NONE"}


@given(candidate=texts, reference=texts, question=st.none() | texts)
def test_the_same_texts_have_the_same_marks(candidate: str, reference: str, question: str | None) -> None:
    assert marks(candidate, reference, question) == marks(candidate, reference, question)


@settings(max_examples=300)
@example(candidate="5000 m", reference="m", question=None)  # a word of grammar within a value
@given(candidate=texts, reference=texts, question=st.none() | texts)
def test_marks_are_in_order_inside_the_text_and_do_not_overlap(
    candidate: str, reference: str, question: str | None
) -> None:
    for text, side in zip((candidate, reference), marks(candidate, reference, question), strict=True):
        edges = [edge for start, end, _ in side for edge in (start, end)]
        assert edges == sorted(edges)
        assert all(start < end <= len(text) for start, end, _ in side)
        assert all(name in Relation.__members__ for _, _, name in side)


@example(text="", other="")
@given(text=st.text(), other=st.text())
def test_any_text_can_be_matched(text: str, other: str) -> None:
    assert marks(text, other, text)


@pytest.mark.parametrize("text", AWKWARD, ids=lambda text: ascii(text[:12]))
def test_awkward_texts_can_be_matched(text: str) -> None:
    for reference in (text, "42", "5 km"):
        assert marks(text, reference, text)


@pytest.mark.parametrize("name", TYPOGRAPHY)
@given(candidate=phrases, reference=phrases)
def test_width_spaces_quotes_and_dashes_do_not_count(name: str, candidate: str, reference: str) -> None:
    assert marks(candidate.translate(str.maketrans(TYPOGRAPHY[name])), reference) == marks(candidate, reference)


@given(candidate=words, reference=words)
def test_the_case_and_the_accents_of_words_do_not_count(candidate: str, reference: str) -> None:
    plain = names(candidate, reference)
    assert names(candidate.title(), reference) == plain
    assert names(candidate.replace("a", "á").replace("o", "ö"), reference) == plain
    assert names(candidate.replace("e", "e\u0301"), reference) == plain
