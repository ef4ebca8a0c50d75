"""What speaks for and against a candidate as numbers, and the regression that adds them to a logit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bert_judge.errors import InputError
from bert_judge.evidence import SIGNALS, Combiner, find_signals
from conftest import Refused
from tables import table


def test_signals(subtests: pytest.Subtests) -> None:
    for candidate, references, expected in table("signals")["values"]:
        with subtests.test(candidate=candidate, references=references, expected=expected):
            found = find_signals(candidate, references)
            assert {name: getattr(found, name) for name in expected} == expected


def test_words_of_the_question_are_no_addition() -> None:
    told = find_signals("The capital of Peru is Quito", ["Lima"], "What is the capital of Peru?")
    assert told.added == pytest.approx(1 / 3)


def test_signals_in_words(subtests: pytest.Subtests) -> None:
    for candidate, reference, words in table("signals")["words"]:
        with subtests.test(candidate=candidate, reference=reference, words=words):
            assert find_signals(candidate, [reference]).describe() == words


@given(st.text(max_size=60), st.lists(st.text(max_size=30), min_size=1, max_size=3))
def test_signals_are_in_range(candidate: str, references: list[str]) -> None:
    found = find_signals(candidate, references)
    assert len(found.vector()) == len(SIGNALS)
    assert all(-1 <= value <= 1 for value in found.vector())


def test_a_combiner_without_weights_changes_nothing() -> None:
    signals = find_signals("Paris", ["Paris"])
    assert Combiner().combine(1.5, signals) == 1.5
    assert Combiner(bias=1, logit=2, weights={"equal": 3.0}).combine(1.5, signals) == 7.0


def test_a_fitted_combiner_learns_what_the_encoder_missed() -> None:
    """The logit is noise; the last number decides."""
    candidates = [str(n % 7) for n in range(210)]
    signals = [find_signals(text, ["3"]) for text in candidates]
    golds = [int(text == "3") for text in candidates]
    logits = [math.sin(n) for n in range(210)]
    combiner = Combiner.fit(logits, signals, golds)
    assert [combiner.combine(z, s) > 0 for z, s in zip(logits, signals, strict=True)] == [bool(g) for g in golds]
    assert combiner.weights["number"] > 0.1
    assert abs(combiner.logit) < 0.5
    assert combiner.digest() != Combiner().digest()


def test_a_soft_label_is_a_probability() -> None:
    signals = [find_signals("Paris", ["Paris"])] * 200
    combiner = Combiner.fit([0.0] * 200, signals, [0.8] * 200)
    assert 1 / (1 + math.exp(-combiner.combine(0.0, signals[0]))) == pytest.approx(0.8, abs=0.01)


def test_bad_rows_are_told(refused: Refused) -> None:
    for logits, golds, message in [
        ([1.0], [1, 0], "1 logits, 1 signals and 2 labels were given; one each was expected."),
        ([1.0], [1], "a combiner needs right and wrong rows to be fitted on; only one kind was given."),
    ]:
        with refused(match=f"^{message}$", logits=logits, golds=golds):
            Combiner.fit(logits, [find_signals("a", ["b"])] * len(logits), golds)


def test_an_unknown_signal_is_told() -> None:
    with pytest.raises(InputError, match=r"^there is no signal 'luck'; one of equal, contains, .* was expected\.$"):
        Combiner(weights={"luck": 1.0})
