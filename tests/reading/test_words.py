"""Characters that look alike are read as one; options that a question lists, and references that name one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bert_judge.reading import fold, name_option, split_options
from tables import table


def test_characters_that_look_alike_are_one(subtests: pytest.Subtests) -> None:
    for text, folded in table("evidence")["folded"]:
        with subtests.test(text=text, folded=folded):
            assert fold(text) == folded


@given(st.text())
def test_a_folded_text_is_as_long(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


def test_options_of_a_question(subtests: pytest.Subtests) -> None:
    for question, options in table("evidence")["options"]:
        with subtests.test(question=question, options=options):
            assert split_options(question).options == dict(zip("ABC", options, strict=False))


def test_a_reference_that_names_an_option(subtests: pytest.Subtests) -> None:
    for reference, named in table("evidence")["named"]:
        with subtests.test(reference=reference, named=named):
            assert name_option(reference, "Which one is it?\n(A) iron ore\n(B) lead") == named
            assert name_option(reference, "Which one is it?") == reference
            assert name_option(reference, None) == reference
