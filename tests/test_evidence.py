"""What counts as shared between two texts."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bert_judge.evidence import (
    Span,
    content_words,
    find_evidence,
    find_options,
    fold,
    name_option,
    touches,
    word_key,
    words,
)
from bert_judge.evidence.spans import compared_words, content_of


def shared(candidate: str, reference: str) -> tuple[list[str], list[str], float]:
    """The candidate's and the reference's shared words as texts, and the recall."""
    found = find_evidence(candidate, [reference])
    return (
        [candidate[slice(*span)] for span in found.candidate],
        [reference[slice(*span)] for span in found.references[0]],
        found.recall[0],
    )


def test_same_key(subtests: pytest.Subtests) -> None:
    for one, other in [
        ("1,000.0", "1000"),
        ("18.00", "18"),
        ("2.50", "2.5"),
        ("1,234,567", "1234567"),
        ("0.0", "0"),
        ("nine", "9"),
        ("Twenty", "20"),
        ("zero", "0"),
        ("ninety", "90"),
        ("1/2", "0.5"),
        ("3/4", "0.75"),
        ("III", "3"),
        ("Sept", "September"),
        ("Dec", "december"),
        ("cats", "cat"),
        ("Cafés", "cafe"),
        ("ÜBER", "uber"),
        ("Straße", "STRASSE"),
        ("ﬁsh", "fish"),
        ("Ё", "ё"),
    ]:
        with subtests.test(one=one, other=other):
            assert word_key(one) == word_key(other)
            assert shared(f"so {one} then", other) == ([one], [other], 1.0)


def test_different_keys(subtests: pytest.Subtests) -> None:
    for one, other in [
        ("1000", "10000"),
        ("100", "1"),  # zeros before the point count
        ("1.5", "15"),
        ("1.05", "1.5"),
        ("glass", "glas"),
        ("gas", "ga"),  # three letters are no plural
        ("nine", "nice"),
        ("cat", "car"),
        ("Москва", "Москве"),
    ]:
        with subtests.test(one=one, other=other):
            assert word_key(one) != word_key(other)
            assert shared(one, other) == ([], [], 0.0)


def test_table(subtests: pytest.Subtests) -> None:
    for candidate, reference, in_candidate, in_reference, recall in [
        ("It is 1,000.0 km.", "1000 km", ["1,000.0 km"], ["1000 km"], 1.0),
        ("It is 1,000.0", "1000 km", ["1,000.0"], ["1000"], 0.5),
        ("1,000 m", "1 km", ["1,000 m"], ["1 km"], 1.0),
        ("42.195 miles", "42.195 km", [], [], 0.0),
        ("1 hour and 30 minutes", "90 min", ["1 hour and 30 minutes"], ["90 min"], 1.0),
        ("5 feet 7 inches tall", "67 inches", ["5 feet 7 inches"], ["67 inches"], 1.0),
        ("ninety minutes", "1.5 hours", ["ninety minutes"], ["1.5 hours"], 1.0),
        ("2 weeks, 14 months", "14 days", ["2 weeks"], ["14 days"], 1.0),
        ("a 5-mile run", "8.04672 km", ["5-mile"], ["8.04672 km"], 1.0),
        ("-5 m", "5 m", [], [], 0.0),
        ("It boils at 212 °F.", "100 °C", ["212 °F"], ["100 °C"], 1.0),
        ("98.6 degrees Fahrenheit", "37°C", ["98.6 degrees Fahrenheit"], ["37°C"], 1.0),
        ("100 Celsius", "212 degrees F", ["100 Celsius"], ["212 degrees F"], 1.0),
        ("-40 °F", "-40 °C", ["-40 °F"], ["-40 °C"], 1.0),
        ("100 °F", "100 °C", [], [], 0.0),
        ("20 °C and 10 °C", "30 °C", [], [], 0.0),
        ("100 degrees", "100 °C", ["100"], ["100"], 0.5),
        ("5 f", "-15 °C", [], [], 0.0),
        ("signed on 1918-11-11", "11 November 1918", ["1918-11-11"], ["11 November 1918"], 1.0),
        (
            "Nov. 11th, 1918, a Monday",
            "the 11th of November in 1918",
            ["Nov. 11th, 1918"],
            ["11th of November in 1918"],
            1.0,
        ),
        ("signed on 1918-11-01", "11 November 1918", [], [], 0.0),
        ("July 4, 1776, not July 2, 1776", "July 4, 1776", ["July 4, 1776"], ["July 4, 1776"], 1.0),
        ("November 1918", "11 November 1918", ["November", "1918"], ["November", "1918"], 2 / 3),
        ("In 1918. November 11", "11 November 1918", ["1918", "November", "11"], ["11", "November", "1918"], 1.0),
        ("40 November 1918", "11 November 1918", ["November", "1918"], ["November", "1918"], 2 / 3),
        ("June 23, 1997", "June 19, 1997 or June 1997", ["June", "1997"], ["June", "1997", "June", "1997"], 0.8),
        ("1976/August 15, 1971/1934", "August 15, 1971", ["August 15, 1971"], ["August 15, 1971"], 1.0),
        ("10^-2 m", "1 m", [], [], 0.0),
        (f"{'9' * 400} m and {'9' * 400} %", "1 m", [], [], 0.0),
        ("in the 1990s", "1990 seconds", ["1990"], ["1990"], 0.5),
        ("1/8 of them", "12.5%", ["1/8"], ["12.5%"], 1.0),
        ("50 percent", "0.5", ["50 percent"], ["0.5"], 1.0),
        ("50%", "50", ["50"], ["50"], 1.0),
        ("The answer is A.", "(A)", ["A"], ["A"], 1.0),
        ("Option (A)", "A.", ["A"], ["A"], 1.0),
        ("A cat, a dog", "(A)", [], [], 0.0),
        ("(A)", "a cat", [], [], 0.0),
        ("I think (I)", "I.", ["I"], ["I"], 1.0),
        ("I think so", "(I)", [], [], 0.0),
        ("(B) London", "B", ["B"], ["B"], 1.0),
        ("no, it isn't", "No", ["no"], ["No"], 1.0),
        ("No", "yes", [], [], 0.0),
        ("Yes, of course.", "Yes", ["Yes"], ["Yes"], 1.0),
        ("to be", "To be or not to be", ["to", "be"], ["To", "be", "to", "be"], 4 / 6),  # nothing but stop words
        ("the cat of it", "the cat", ["cat"], ["cat"], 1.0),  # stop words beside a content word are no evidence
        ("the of", "the cat", [], [], 0.0),
        ("Paris, Paris!", "Paris", ["Paris", "Paris"], ["Paris"], 1.0),
        ("London", "London or Paris", ["London"], ["London"], 0.5),
        ("北京是首都", "北京", ["北", "京"], ["北", "京"], 1.0),
        ("東京タワー", "京都", ["京"], ["京"], 0.5),
        ("Это МОСКВА, да", "Москва", ["МОСКВА"], ["Москва"], 1.0),
        ("العاصمة هي القاهرة", "القاهرة", ["القاهرة"], ["القاهرة"], 1.0),
        ("Das U\u0308berfluss-Prinzip", "überfluss", ["U\u0308berfluss"], ["überfluss"], 1.0),  # a combining accent
        ("", "Paris", [], [], 0.0),
        ("Paris", "", [], [], 0.0),
        ("", "", [], [], 0.0),
        ("?!… --- 🚀", "🚀", [], [], 0.0),  # no words at all
    ]:
        with subtests.test(candidate=candidate, reference=reference):
            found = shared(candidate, reference)
            assert found[:2] == (in_candidate, in_reference)
            assert found[2] == pytest.approx(recall)


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
    for candidate, recall, added in [
        ("A, E, I, O, U", 1.0, []),
        ("U, O, I, E and A", 1.0, []),
        ("- A\n- E\n- I\n- O\n- U", 1.0, []),
        ("I say: A / E / I / O / U.", 1.0, ["say"]),
        ("E, I, O, U", 0.8, []),
        ("A, E, O, U", 0.8, []),
        ("A, E, I, O, R", 0.8, ["R"]),
        ("A, E, I, O, T", 0.8, ["T"]),
    ]:
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
    for text, keys in [
        ("fifty-two cards", "52 card"),
        ("Three Hundred and sixty-five", "365"),
        ("a hundred and five", "a 105"),
        ("two thousand and one", "2001"),
        ("1.5 million, 3 billion", "1500000 3000000000"),
        ("5 hundred thousand", "500000"),
        ("twelve hundred", "1200"),
        ("one two three", "1 2 3"),
        ("one and two", "1 and 2"),
        ("twenty nineteen", "20 19"),
        ("ten or twenty-one", "10 or 21"),
        ("the seventeenth century, 17th", "the 17 century 17 th"),
        ("twenty-first, forty-second; Twentieth", "21 42 20"),
        ("0,375 and 1,375", "0.375 and 1375"),
        ("one hundred and thirty-third", "133"),
        ("the first; a second and a third; one second", "the first a second and a third 1 second"),
        ("thirty seconds", "30 second"),
        ("a thousand; hundreds", "a 1000 100"),
        ("five thousand million", "5 1000 1000000"),
        ("sixty-fold", "60 fold"),
        ("1918-11-11", "1918 november 11"),
        ("on 1776-07-04.", "on 1776 july 4"),
        ("2020-13-01", "2020 13 1"),
        ("may 07", "may 7"),
        ("007 0.50 00.5", "7 0.5 0.5"),
        ("x = -4, (-0.50) −2 -1/2", "x -4 -0.5 -2 -0.5"),
        ("3-4 and 1990-1995, x-2, -0", "3 4 and 1990 1995 x 2 0"),
        (r"\frac{1}{4}, -\dfrac12 and \tfrac{10}{4}", "0.25 -0.5 and 2.5"),
        (r"\frac{1}{0} \frac{a}{b}", "frac 1 0 frac a b"),
        ("½ 2¾ ⅓", "0.5 2 0.75 0.333333"),
        ("x² + 10⁻³ + y¹²", "x ^2 10 ^-3 y ^12"),
        ("x^2 + 10^{-3} + y^(12) + 2^n", "x ^2 10 ^-3 y ^12 2 n"),
        ("3*x**2 + (y)**-1, **2** and 5**4**", "3 x ^2 y ^-1 2 and 5 4"),
        ("d.", "(d)"),
        ("5 km, 5km and ft 6 ft", "5 kilometer 5 kilometer and ft 6 foot"),
        ("the 1990s", "the 1990 s"),
        ("٣.٥ ١٢", "3.5 12"),
        ("5 kilometres, 2 litres, 3 feet, 4 inches", "5 kilometer 2 liter 3 foot 4 inch"),
        ("90 min of the Oz", "90 minute of the oz"),
        ("the 11th of 25 percent", "the 11 th of 25 percent"),
    ]:
        with subtests.test(text=text, keys=keys):
            assert [word.key for word in words(text)] == keys.split()


def test_words_that_are_written_as_one(subtests: pytest.Subtests) -> None:
    for one, other in [
        ("sea water", "seawater"),
        ("Robert Browning", "ROBERTBROWNING"),
        ("new-found-land", "Newfoundland"),
        ("video chat", "videochats"),
    ]:
        with subtests.test(one=one, other=other):
            assert shared(f"It is {one}.", other) == ([one], [other], 1.0)
            assert shared(f"It is {other}.", one) == ([other], [one], 1.0)
            assert find_evidence(f"It is {one}.", [other]).added == ()


def test_fractions_in_words_are_numbers_where_the_other_side_has_them(subtests: pytest.Subtests) -> None:
    for fraction, number in [
        ("half", "1/2"),
        ("a half", "0.5"),
        ("quarter", "0.25"),
        ("one quarter", "1/4"),
        ("Three-quarters", "¾"),
        ("3 quarters", "0.75"),
        ("five sixths", "5/6"),
        ("a third", "1/3"),
        ("two and a half", "2.5"),
        ("2 and three quarters", "2.75"),
    ]:
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
    for text, folded in [
        ("plain ASCII", "plain ASCII"),
        ("Ｐａｒｉｓ\u00a02００", "Paris 200"),
        ("Pаris", "Paris"),  # with a Cyrillic a
        ("Москва в Сочи", "Москва в Сочи"),
        ("“no” – it’s", '"no" - it\'s'),
        ("𝐏𝐚𝐫𝐢𝐬", "Paris"),
        ("x² and ½", "x² and ½"),
        ("naïve café", "naïve café"),
        ("a︱b", "a-b"),
    ]:
        with subtests.test(text=text, folded=folded):
            assert fold(text) == folded
            assert [word.key for word in words(text)] == [word.key for word in words(folded)]


@given(st.text())
def test_a_folded_text_is_as_long(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


def test_options_of_a_question(subtests: pytest.Subtests) -> None:
    for question, options in [
        ("Which?\n(A) iron ore\n(B) lead.", ["iron ore", "lead."]),
        ("Which?\nA) iron\nB) lead\nC) tin\n\nAnswer with a letter.", ["iron", "lead", "tin"]),
        ("Which? A. iron B. lead", ["iron", "lead"]),
        ("Which? A: iron; B: lead", ["iron", "lead"]),
        ("Is it (A) iron, (B) lead, or (C) tin", ["iron", "lead", "tin"]),
        ("a) iron\nb) lead", ["iron", "lead"]),
        ("Example: (A) one (B) two\nAnd now: (A) iron (B) lead", ["iron", "lead"]),
        ("Which? (A) iron (C) tin", []),
        ("Which? (B) iron (C) tin", []),
        ("What does vitamin A. do?", []),
        ("Which?\n(A)\n(B) lead", []),
        ("", []),
        ("Find both.\n(A) (a) 3 m, (b) 5 s\n(B) (a) 4 m, (b) 6 s", ["(a) 3 m, (b) 5 s", "(a) 4 m, (b) 6 s"]),
        ("Find both.\n(A) A) 3 m, B) 5 s\n(B) A) 4 m, B) 6 s", ["A) 3 m, B) 5 s", "A) 4 m, B) 6 s"]),
        ("Find (a) x and (b) y: (A) (a) 3, (b) 5 (B) (a) 4, (b) 6", ["(a) 3, (b) 5", "(a) 4, (b) 6"]),
        ("a) Say it.\nb) Choose: (A) iron (B) lead", ["iron", "lead"]),
    ]:
        with subtests.test(question=question, options=options):
            assert find_options(question) == dict(zip("ABC", options, strict=False))


def test_a_reference_that_names_an_option(subtests: pytest.Subtests) -> None:
    for reference, named in [
        ("A", "(A) iron ore"),
        ("b", "(B) lead"),
        ("B.", "(B) lead"),
        ("Option B", "(B) lead"),
        ("LEAD.", "(B) lead"),
        ("B: lead", "(B) lead"),
        ("(A) iron ore", "(A) iron ore"),
        ("A. gold", "A. gold"),
        ("C", "C"),
        ("gold", "gold"),
        ("", ""),
    ]:
        with subtests.test(reference=reference, named=named):
            assert name_option(reference, "Which one is it?\n(A) iron ore\n(B) lead") == named
            assert name_option(reference, "Which one is it?") == reference
            assert name_option(reference, None) == reference


def test_the_letter_of_another_option_is_no_symbol_of_the_right_one(subtests: pytest.Subtests):
    for candidate, reference, shared_letters in [
        ("The answer is (F).", "(G) slip, f = 16.7 Hz", []),
        ("so L = 2.5 m. The answer is (C).", "(D) 3 m at 5 °C", []),
        ("**B**", "(E) (a) all tall, (b) all short", []),
        ("The answer is (B)", "(E) (a) all tall, (b) all short", []),
        ("The answer is (G).", "(G) slip, f = 16.7 Hz", ["G"]),
        ("f is 16.7 Hz", "(G) slip, f = 16.7 Hz", ["f"]),
        ("The answer is (F).", "f = 16.7 Hz", ["F"]),
    ]:
        with subtests.test(candidate=candidate, reference=reference, shared_letters=shared_letters):
            assert [word for word in shared(candidate, reference)[0] if len(word) == 1] == shared_letters


def test_a_value_of_the_question_is_no_answer_where_it_is_to_be_converted(subtests: pytest.Subtests):
    for candidate, reference, question, found in [
        ("Three days have 36 hours.", "72 hours", "How many hours do three days have?", []),
        ("Three days have 72 hours.", "72 hours", "How many hours do three days have?", ["72 hours"]),
        ("3 days", "72 hours", "How many hours do three days have?", ["3 days"]),
        ("3 days", "72 hours", "How long are 13 days less 10 days?", ["3 days"]),
        ("What is 3/8 as a decimal number?", "0.375", "What is 3/8 as a decimal number?", []),
        ("3/8 = 0.375", "0.375", "What is 3/8 as a decimal number?", ["0.375"]),
        ("18/24 is 2/3", "3/4", "Write 18/24 in lowest terms.", []),
        ("18/24 is 3/4", "3/4", "Write 18/24 in lowest terms.", ["3/4"]),
        ("25% is 1/4", "1/4", "Write 25% as a fraction.", ["1/4"]),
        ("He has five left", "5", "He had five and lost 3 and found 3. How many are left?", ["five"]),
        ("72 hours", "72 hours", "Is it 72 hours or 2 days?", ["72 hours"]),
    ]:
        with subtests.test(candidate=candidate, reference=reference, question=question, found=found):
            spans = find_evidence(candidate, [reference], question).candidate
            assert [candidate[slice(*span)] for span in spans] == found
