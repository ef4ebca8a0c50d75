"""Lexical measures: tables of the rules, and what holds for any two texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bert_judge.metrics import containment, exact_match, normalise, token_f1

MEASURES = [exact_match, containment, token_f1]
texts = st.one_of(st.text(), st.text(alphabet="aAthe nP.,'é北京 \n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \t\n", ""),
        ("  The   Eiffel\tTower. ", "eiffel tower"),
        ("an apple a day", "apple day"),
        ("theatre another", "theatre another"),
        ("1,000", "1000"),
        ("$5 + 7%", "5 7"),
        ("12.5", "125"),
        ("state-of-the-art", "stateoftheart"),
        ("“Café” – «Zürich»…", "café zürich"),
        ("cafe\u0301", "café"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ＦＵＬＬ　ｗｉｄｔｈ，ﬁne", "full widthfine"),
        ("北京。", "北京"),
        ("¿Qué?", "qué"),
        ("(A)", "a"),
        ("The", "the"),
        ("The A", "the a"),
        ("...", ""),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("The Paris.", "paris", 1.0),
        ("PARIS", "paris", 1.0),
        ("Paris, France", "Paris", 0.0),
        ("Cafe", "Café", 0.0),
        ("A", "The", 0.0),
        ("(B)", "B.", 1.0),
        ("", "", 1.0),
        ("", "Paris", 0.0),
        ("北京。", "北京", 1.0),
    ],
)
def test_exact_match(candidate: str, reference: str, expected: float) -> None:
    assert exact_match(candidate, reference) == expected


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("It is Paris, I think.", "Paris", 1.0),
        ("Parisian food", "Paris", 0.0),
        ("It was in New York City.", "new york", 1.0),
        ("New, in York", "New York", 0.0),
        ("It was 19770", "1977", 0.0),
        ("Paris", "It is Paris", 0.0),
        ("lord of rings", "The Lord of the Rings", 1.0),
        ("Paris", "", 0.0),
        ("", "", 0.0),
        ("Paris", "?!", 0.0),
        ("中国的首都是北京。", "北京", 1.0),
        ("中国的首都是北京。", "南京", 0.0),
        ("2008年在北京", "2008", 1.0),
        ("東京タワーです", "東京 タワー", 1.0),
        ("كانت القاهرة عاصمة", "القاهرة", 1.0),
    ],
)
def test_containment(candidate: str, reference: str, expected: float) -> None:
    assert containment(candidate, reference) == expected


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("Paris", "paris", 1.0),
        ("Paris", "London", 0.0),
        ("it is Paris", "Paris", 0.5),
        ("red green", "green, red", 1.0),
        ("red red red", "red blue", 0.4),
        ("red red", "red red", 1.0),
        ("", "", 1.0),
        ("", "Paris", 0.0),
        ("Paris", "", 0.0),
        ("北京市", "北京", 0.8),
        ("南京", "北京", 0.5),
    ],
)
def test_token_f1(candidate: str, reference: str, expected: float) -> None:
    assert token_f1(candidate, reference) == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None)
@given(candidate=texts, reference=texts)
def test_measures_lie_between_0_and_1(measure, candidate: str, reference: str) -> None:
    assert 0 <= measure(candidate, reference) <= 1


@settings(deadline=None)
@given(candidate=texts, reference=texts)
def test_f1_is_symmetric_and_1_where_texts_match(candidate: str, reference: str) -> None:
    assert token_f1(candidate, reference) == token_f1(reference, candidate)
    if exact_match(candidate, reference):
        assert token_f1(candidate, reference) == 1


@settings(deadline=None)
@given(before=texts, reference=texts, after=texts)
def test_a_reference_between_other_words_is_contained(before: str, reference: str, after: str) -> None:
    inner = normalise(reference)
    if {"a", "an", "the"}.isdisjoint(inner.split()):
        assert containment(f"{normalise(before)} {inner} {normalise(after)}", inner) == bool(inner)


@settings(deadline=None)
@given(text=st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_normalise_is_stable_and_single_spaced(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert normalise(f" {text}\n") == once
    assert once == " ".join(once.split())


@settings(deadline=None)
@given(text=st.text(alphabet=st.characters(max_codepoint=0x7F)))
def test_normalise_ignores_case(text: str) -> None:
    assert normalise(text.upper()) == normalise(text.lower())
