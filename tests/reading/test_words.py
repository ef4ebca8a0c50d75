"""Characters that look alike are read as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bert_judge.reading import fold
from tables import table


def test_characters_that_look_alike_are_one(subtests: pytest.Subtests) -> None:
    for text, folded in table("evidence")["folded"]:
        with subtests.test(text=text, folded=folded):
            assert fold(text) == folded


@given(st.text())
def test_a_folded_text_is_as_long(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)
