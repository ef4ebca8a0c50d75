"""What counts as shared between two texts."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bert_judge.evidence import find_options, fold, name_option
from bert_judge.evidence.first.spans import (
    compared_words,
    content_of,
    content_words,
    find_evidence,
    touches,
    word_key,
    words,
)
from bert_judge.evidence.first.word import Span
from tables import table


def shared(candidate: str, reference: str) -> tuple[list[str], list[str], float]:
    """The candidate's and the reference's shared words as texts, and the recall."""
    found = find_evidence(candidate, [reference])
    return (
        [candidate[slice(*span)] for span in found.candidate],
        [reference[slice(*span)] for span in found.references[0]],
        found.recall[0],
    )


def test_same_key(subtests: pytest.Subtests) -> None:
    for one, other in table("evidence")["same"]:
        with subtests.test(one=one, other=other):
            assert word_key(one) == word_key(other)
            assert shared(f"so {one} then", other) == ([one], [other], 1.0)


def test_different_keys(subtests: pytest.Subtests) -> None:
    for one, other in table("evidence")["different"]:
        with subtests.test(one=one, other=other):
            assert word_key(one) != word_key(other)
            assert shared(one, other) == ([], [], 0.0)


def test_what_two_texts_share(subtests: pytest.Subtests) -> None:
    for candidate, reference, in_candidate, in_reference, recall in table("evidence")["shared"]:
        with subtests.test(candidate=candidate, reference=reference):
            found = shared(candidate, reference)
            assert found[:2] == (in_candidate, in_reference)
            assert found[2] == pytest.approx(recall, abs=1e-6)


def test_a_number_beyond_all_floats_is_no_quantity() -> None:
    assert shared(f"{'9' * 400} m and {'9' * 400} %", "1 m") == ([], [], 0.0)


def test_several_references_are_seen_each_for_itself() -> None:
    found = find_evidence("It was Paris in 1900", ["London", "Paris 1901", "Paris", "in Paris"])
    assert found.recall == (0.0, 0.5, 1.0, 1.0)
    assert found.best_reference == 2  # the first of equals
    assert found.references == ((), (Span(0, 5),), (Span(0, 5),), (Span(3, 8),))
    assert found.candidate == (Span(7, 12),)


def test_content_words_are_all_words_if_there_is_nothing_else() -> None:
    assert [word.key for word in content_words("the cat is on a mat")] == ["cat", "mat"]
    assert [word.key for word in content_words("Not to be!")] == ["not", "to", "be"]
    assert content_words("…") == []


def test_an_a_or_an_i_in_a_list_of_letters_is_no_function_word(subtests: pytest.Subtests) -> None:
    for candidate, recall, added in table("evidence")["vowels"]:
        with subtests.test(candidate=candidate, recall=recall, added=added):
            found = find_evidence(candidate, ["A, E, I, O, U"])
            assert found.recall == (recall,)
            assert [candidate[start:end] for start, end in found.added] == added


def test_an_a_is_an_article_where_the_other_side_lists_no_letters() -> None:
    assert find_evidence("A dog, I and A, B", ["a dog"]).recall == (1.0,)
    assert find_evidence("E, as in a story", ["A, E"]).recall == (1.0,)


def test_numbers_stay_whole_and_letters_apart() -> None:
    assert [word.key for word in words("1,977 or 12.5% x2 3,14")] == ["1977", "or", "12.5", "x", "2", "3", "14"]


TEXT = st.text() | st.lists(
    st.sampled_from(["(A)", "A.", "a", "I", "1,000.0", "nine", "the", "Cafés", "e\u0301", "北京", "Москва", "no", "."])
).map(" ".join)


@given(TEXT)
def test_spans_index_their_words_in_order(text: str) -> None:
    found = words(text)
    end = 0
    for word in found:
        assert end <= word.span.start < word.span.end <= len(text)
        end = word.span.end
        if len(word.key) < 3:  # longer ones may be units, or numbers of several words
            assert word.key.strip("()") == word_key(fold(text)[slice(*word.span)]).strip("()")
    assert set(content_words(text)) <= set(found)
    assert bool(content_words(text)) == bool(found)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_evidence_is_shared_by_both_sides(candidate: str, references: list[str]) -> None:
    found = find_evidence(candidate, references)
    said, every = compared_words(candidate, references)
    keys = {word.span: word.key for word in said}
    in_references: set[str] = set()
    for wanted, spans, recall in zip(every, found.references, found.recall, strict=True):
        theirs = {word.span: word.key for word in wanted}
        in_references |= {theirs[span] for span in spans}
        assert 0 <= recall <= 1
        assert (recall > 0) == bool(spans)
        assert list(spans) == sorted(spans)
    assert {keys[span] for span in found.candidate} == in_references
    assert list(found.candidate) == sorted(found.candidate)


@given(TEXT)
@example("(A) B")
def test_a_text_covers_itself(text: str) -> None:
    found = find_evidence(text, [text])
    assert found.recall == (float(bool(words(text))),)
    assert found.references[0] == tuple(word.span for word in content_of(compared_words(text, [text])[0]))


def test_a_reference_with_less_of_a_date_is_enough() -> None:
    found = find_evidence("June 23, 1997", ["June 19, 1997", "1997"])
    assert found.recall == (2 / 3, 1.0)


SPANS = st.lists(st.integers(0, 40), unique=True, max_size=12).map(
    lambda cuts: [Span(a, b) for a, b in zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False)]
)


@given(st.tuples(st.integers(0, 40), st.integers(1, 9)), SPANS)
def test_touches_is_overlap(span: tuple[int, int], spans: list[Span]) -> None:
    probe = Span(span[0], span[0] + span[1])
    inside = set(range(*probe))
    assert touches(probe, spans) == any(inside & set(range(*other)) for other in spans)


def test_touching_ends_do_not_overlap() -> None:
    assert not touches(Span(3, 5), [Span(0, 3), Span(5, 9)])
    assert touches(Span(2, 4), [Span(0, 3)])
    assert not touches(Span(0, 1), [])


def test_very_long_texts_are_read_to_their_end() -> None:
    candidate = "so the sum is 42. " * 50_000 + "Paris"
    found = find_evidence(candidate, ["Paris"])
    assert found.candidate == (Span(len(candidate) - 5, len(candidate)),)


def test_dates_are_no_fractions() -> None:
    assert [word.key for word in words("12/03/1990, 1914/11")] == ["12", "3", "1990", "1914", "11"]


def test_numbers_and_dates(subtests: pytest.Subtests) -> None:
    for text, keys in table("evidence")["keys"]:
        with subtests.test(text=text, keys=keys):
            assert [word.key for word in words(text)] == keys.split()


def test_words_that_are_written_as_one(subtests: pytest.Subtests) -> None:
    for one, other in table("evidence")["joined"]:
        with subtests.test(one=one, other=other):
            assert shared(f"It is {one}.", other) == ([one], [other], 1.0)
            assert shared(f"It is {other}.", one) == ([other], [one], 1.0)
            assert find_evidence(f"It is {one}.", [other]).added == ()


def test_fractions_in_words_are_numbers_where_the_other_side_has_them(subtests: pytest.Subtests) -> None:
    for fraction, number in table("evidence")["fractions"]:
        with subtests.test(fraction=fraction, number=number):
            assert shared(f"It is {fraction}.", number) == ([fraction], [number], 1.0)
            assert shared(number, f"It is {fraction}.")[1] == [fraction]


def test_fractions_in_words_are_counts_elsewhere() -> None:
    assert shared("He has three quarters.", "3") == (["three"], ["3"], 1.0)
    assert shared("six quarters", "6 quarters")[2] == 1.0
    assert shared("12 in the first half", "12 in the first half")[2] == 1.0
    assert shared("a half", "half")[2] == 1.0


def test_short_words_and_words_that_are_there_are_not_joined() -> None:
    assert shared("to day", "today")[2] == 0
    assert shared("sea water or seawater", "seawater") == (["seawater"], ["seawater"], 1.0)


def test_numbers_of_any_length_are_read() -> None:
    long = "7" * 5_000
    for text in (
        f"{long} and a half",
        long,
        rf"\frac{{{long}}}{{{long}}}",
        f"-{long}.5",
        f"{long} million",
        f"1/{long}",
        f"{long} hundred",
    ):
        assert words(text)


def test_the_sign_of_a_number_counts_and_carries_the_mark() -> None:
    assert shared("it is -4", "4")[2] == 0
    assert shared("it is −4", "-4") == (["−4"], ["-4"], 1.0)
    assert shared("fifty-two", "52") == (["fifty-two"], ["52"], 1.0)


@given(st.integers(21, 10**9))
def test_whole_numbers_in_words(number: int) -> None:
    """Written by a grammar of its own: groups of three digits, each with its scale."""
    small = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    names = [*small.split(), "seventeen", "eighteen", "nineteen"]
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()

    def below_1000(n: int) -> str:
        hundreds, rest = divmod(n, 100)
        low = names[rest] if rest < 20 else tens[rest // 10 - 2] + (f"-{names[rest % 10]}" if rest % 10 else "")
        return " ".join(filter(None, [f"{names[hundreds]} hundred" if hundreds else "", low if rest else ""]))

    groups = [(number // 10**9, "billion"), (number // 10**6 % 1000, "million"), (number // 1000 % 1000, "thousand")]
    text = " ".join([*(f"{below_1000(n)} {scale}" for n, scale in groups if n), below_1000(number % 1000)]).strip()
    assert [word.key for word in words(text)] == [str(number)]


def test_a_letter_in_markup_names_an_option(subtests: pytest.Subtests) -> None:
    for candidate in [
        "<answer>A</answer>",
        "**A**",
        "\\boxed{A}",
        '{"answer": "A"}',
        "Option A is right.",
        "A<|im_end|> and more",
    ]:
        with subtests.test(candidate=candidate):
            assert find_evidence(candidate, ("A",)).recall == (1.0,)
            assert find_evidence(candidate, ("(A) iron",)).recall == (0.5,)


def test_a_letter_that_names_no_option_is_an_article(subtests: pytest.Subtests) -> None:
    for candidate in ["A<sub>2</sub> is it", 'the "A dog" film', "x*A*y or so", "optional A levels"]:
        with subtests.test(candidate=candidate):
            assert find_evidence(candidate, ("(A) iron",)).recall == (0.0,)


def test_characters_that_look_alike_are_one(subtests: pytest.Subtests) -> None:
    for text, folded in table("evidence")["folded"]:
        with subtests.test(text=text, folded=folded):
            assert fold(text) == folded
            assert [word.key for word in words(text)] == [word.key for word in words(folded)]


@given(st.text())
def test_a_folded_text_is_as_long(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


def test_options_of_a_question(subtests: pytest.Subtests) -> None:
    for question, options in table("evidence")["options"]:
        with subtests.test(question=question, options=options):
            assert find_options(question) == dict(zip("ABC", options, strict=False))


def test_a_reference_that_names_an_option(subtests: pytest.Subtests) -> None:
    for reference, named in table("evidence")["named"]:
        with subtests.test(reference=reference, named=named):
            assert name_option(reference, "Which one is it?\n(A) iron ore\n(B) lead") == named
            assert name_option(reference, "Which one is it?") == reference
            assert name_option(reference, None) == reference


def test_the_letter_of_another_option_is_no_symbol_of_the_right_one(subtests: pytest.Subtests):
    for candidate, reference, shared_letters in table("evidence")["letters"]:
        with subtests.test(candidate=candidate, reference=reference, shared_letters=shared_letters):
            assert [word for word in shared(candidate, reference)[0] if len(word) == 1] == shared_letters


def test_a_value_of_the_question_is_no_answer_where_it_is_to_be_converted(subtests: pytest.Subtests):
    for candidate, reference, question, found in table("evidence")["converted"]:
        with subtests.test(candidate=candidate, reference=reference, question=question, found=found):
            spans = find_evidence(candidate, [reference], question).candidate
            assert [candidate[slice(*span)] for span in spans] == found
