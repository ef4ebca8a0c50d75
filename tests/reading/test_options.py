"""Options that a question lists, and references that name one."""

from __future__ import annotations

import pytest

from bert_judge.reading import name_option, split_options
from tables import table


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
