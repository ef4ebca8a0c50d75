"""From a sample to token ids: the form, the marks, what is cut, and that no text can imitate a marker."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from bert_judge import Sample
from bert_judge.encoder.models import STARTER_FOLDER, load_tokenizer
from bert_judge.errors import ModelError
from bert_judge.reading import InputForm, JudgeConfig, Prompt, PromptEncoder, Scope
from conftest import MARKERS, NO_RECORDS, Refused, make_tokenizer

KINDS = {"WordPiece": "bert", "Unigram": "xlm-roberta", "BPE": "roberta"}
Q, C, R = MARKERS
ATTACKS = [*MARKERS, "[SEP]", "[CLS]", "[PAD]", "[MASK]", "</s>", "<s>", "<pad>", "<mask>"]


def kind_of(name: str) -> Tokenizer:
    """A tokenizer with the markers: a tiny one of each kind, the starter's, or one of whole words."""
    if name == "starter":
        return load_tokenizer(STARTER_FOLDER)
    if name == "words":
        return word_tokenizer()
    tokenizer = make_tokenizer(KINDS[name])
    tokenizer.add_tokens(list(MARKERS))
    return tokenizer


def word_tokenizer() -> Tokenizer:
    """Whole words between spaces; the numbers are words, and so are the special tokens."""
    words = ["<s>", "</s>", "<pad>", "<unk>", "|", *(str(n) for n in range(3000)), *"abcdefgh"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>", "<unk>"])
    tokenizer.add_tokens(list(MARKERS))
    return tokenizer


def encode(tokenizer: Tokenizer, sample: Sample, limit: int = 512, **form: object) -> list[Prompt]:
    return PromptEncoder(tokenizer, InputForm(**form), limit).encode([sample])[0]


def parts_of(tokenizer: Tokenizer, prompt: Prompt) -> dict[str, list[str]]:
    """The tokens after each marker."""
    parts: dict[str, list[str]] = {}
    for token in map(tokenizer.id_to_token, prompt.tokens.ids[:-1]):
        if token in MARKERS:
            parts[token] = []
        elif parts:
            parts[list(parts)[-1]].append(token)
    return parts


def numbers(start: int, stop: int) -> str:
    return " ".join(map(str, range(start, stop)))


def test_the_form_is_the_papers(subtests: pytest.Subtests) -> None:
    for name, question in product([*KINDS, "starter"], ["What is the capital of France?", None]):
        with subtests.test(name=name, question=question):
            tokenizer = kind_of(name)
            [prompt] = encode(tokenizer, Sample("It is Paris.", ("Paris",), question), forms=("qcr", "cr"))
            # Part by part: a tokenizer that puts a space before every text does so after a marker, too.
            expected = list(tokenizer.encode("", add_special_tokens=True).ids[:1])
            for marker, text in zip(MARKERS, (question, "It is Paris.", "Paris"), strict=True):
                if text is not None:
                    expected += [tokenizer.token_to_id(marker), *tokenizer.encode(text, add_special_tokens=False).ids]
            expected += tokenizer.encode("", add_special_tokens=True).ids[1:]
            assert list(prompt.tokens.ids) == expected
            text = (f"{Q}{question}" if question is not None else "") + f"{C}It is Paris.{R}Paris"
            assert list(prompt.tokens.ids) == tokenizer.encode(text).ids
            assert prompt.tokens.types is None
            assert (prompt.reference, prompt.truncated) == (0, {})


def test_forms(subtests: pytest.Subtests) -> None:
    for forms, question, markers in [
        (("qcr",), "q", [Q, C, R]),
        (("qcr",), None, [C, R]),  # the nearest form; the judge warns
        (("cr",), "q", [C, R]),
        (("qc",), "q", [Q, C]),
        (("qcr", "cr"), None, [C, R]),
        (("qcr", "cr"), "", [Q, C, R]),  # an empty question is a question
    ]:
        with subtests.test(forms=forms, question=question, markers=markers):
            tokenizer = kind_of("words")
            [prompt] = encode(tokenizer, Sample("a", ("b",), question), forms=forms)
            assert list(parts_of(tokenizer, prompt)) == markers


def specials(tokenizer: Tokenizer) -> set[int]:
    return {i for i, t in tokenizer.get_added_tokens_decoder().items() if t.content in ATTACKS}


def test_no_text_makes_a_special_token(subtests: pytest.Subtests) -> None:
    patterns = ("{}", "x {} y", "Paris{}London", "{0}{0}", " {} ")
    for name in (*KINDS, "starter", "words"):
        tokenizer = kind_of(name)
        special = specials(tokenizer)
        [innocent] = encode(tokenizer, Sample("x", ("y",), "z"))
        structural = [i for i in innocent.tokens.ids if i in special]
        assert len(structural) == 5  # two ends, three markers
        texts = [pattern.format(attack) for pattern in patterns for attack in ATTACKS]
        samples = [Sample(text, (text, text), text) for text in texts]
        for references in ("best", "joined"):
            with subtests.test(name=name, references=references):
                encoder = PromptEncoder(tokenizer, InputForm(references=references, marks=True), 512)
                for text, prompts in zip(texts, encoder.encode(samples), strict=True):
                    for prompt in prompts:
                        assert [i for i in prompt.tokens.ids if i in special] == structural, text


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*KINDS, "words"]),
    st.lists(st.sampled_from([*ATTACKS, "<|", "|>", " ", "a", "\uf8ff400\uf8ff", "reference"]), max_size=8).map(
        "".join
    ),
)
def test_no_mixture_of_texts_makes_a_special_token(name: str, text: str) -> None:
    tokenizer = kind_of(name)
    [prompt] = encode(tokenizer, Sample(text, (text,), text))
    assert len([i for i in prompt.tokens.ids if i in specials(tokenizer)]) == 5


def test_a_tokenizers_other_added_tokens_keep_their_ids() -> None:
    for name in KINDS:
        tokenizer = kind_of(name)
        tokenizer.add_tokens(["<tab>"])
        [prompt] = encode(tokenizer, Sample("<tab>", ("a",), "b"))
        assert tokenizer.token_to_id("<tab>") in prompt.tokens.ids


def test_marks_sit_on_the_shared_words() -> None:
    tokenizer = kind_of("starter")
    sample = Sample("The answer is Überraschung: 1,000.0 cats!", ("1000 dogs", "überraschung cat"), "Überraschung?")
    encoder = PromptEncoder(tokenizer, InputForm(marks=True, references="joined"), 512)
    [prompt] = encoder.encode([sample])[0]
    assert prompt.tokens.types is not None
    marked: dict[str, list[str]] = {part: [] for part in MARKERS}
    part = Q
    for i, kind in zip(prompt.tokens.ids, prompt.tokens.types, strict=True):
        token = tokenizer.id_to_token(i)
        part = token if token in MARKERS else part
        if kind:
            marked[part].append(token)
    text = {part: "".join(t.removeprefix("##") for t in tokens) for part, tokens in marked.items()}
    assert text == {Q: "", C: "uberraschung1,000.0cats", R: "uberraschungcat1000dogs"}
    assert len(prompt.tokens.types) == len(prompt.tokens.ids)


def typed(prompt: Prompt, tokenizer: Tokenizer) -> list[str]:
    """The tokens that have a type other than 0, with it."""
    pairs = zip(prompt.tokens.ids, prompt.tokens.types or (), strict=True)
    return [f"{tokenizer.id_to_token(i)}:{kind}" for i, kind in pairs if kind]


def test_a_reference_that_names_an_option_is_read_whole() -> None:
    """The letter alone, or the words alone, as both, if the judge was trained so."""
    tokenizer = kind_of("starter")
    sample = Sample("Lima", ("B",), "Which is the capital? (A) Rome (B) Lima")
    [plain] = encode(tokenizer, sample, marks=True)
    [whole] = encode(tokenizer, sample, marks=True, options=True)
    assert parts_of(tokenizer, plain)[R] == ["b"]
    assert parts_of(tokenizer, whole)[R] == ["(", "b", ")", "lima"]
    assert typed(plain, tokenizer) == ["lima:8", "b:9"]  # another option
    assert typed(whole, tokenizer) == ["lima:1", "b:9", "lima:1"]


def test_each_value_carries_its_relation_to_the_other_side() -> None:
    """Function words have none; several references are told apart."""
    tokenizer = kind_of("starter")
    sample = Sample("The capital of Chile is Lima.", ("Santiago de Chile", "Lima"), "What is the capital?")
    [joined] = encode(tokenizer, sample, marks=True, references="joined")
    assert typed(joined, tokenizer) == ["capital:3", "chile:1", "lima:1", "lima:1", "santiago:9", "de:9", "chile:1"]
    [first, second] = encode(tokenizer, sample, marks=True)
    assert typed(first, tokenizer) == ["capital:3", "chile:1", "lima:9", "santiago:9", "de:9", "chile:1"]
    assert typed(second, tokenizer) == ["capital:3", "chile:9", "lima:1", "lima:1"]
    [units] = encode(tokenizer, Sample("5 km, 7 h", ("5000 m",)), marks=True)
    assert typed(units, tokenizer) == ["5:4", "km:4", "7:9", "h:9", "5000:4", "m:4"]


def test_marks_in_every_kind_of_tokenizer(subtests: pytest.Subtests) -> None:
    for name in KINDS:
        with subtests.test(name=name):
            tokenizer = kind_of(name)
            for candidate, shared in [("I'd say Paris, (A)", "paris"), ("London or Paris", "paris"), ("Berlin", "")]:
                [prompt] = encode(tokenizer, Sample(candidate, ("Paris",), "Paris?"), marks=True)
                assert prompt.tokens.types is not None
                pairs = list(zip(prompt.tokens.ids, prompt.tokens.types, strict=True))
                start = prompt.tokens.ids.index(tokenizer.token_to_id(C))
                assert not any(kind for _, kind in pairs[: start + 1])
                pieces = [tokenizer.id_to_token(i) for i, kind in pairs if kind == 1]
                spelt = "".join(pieces).replace("▁", "").replace("Ġ", "").replace("##", "")
                assert spelt.casefold() == shared * 2  # in the candidate and in the reference


def test_nothing_is_cut_while_everything_fits(subtests: pytest.Subtests) -> None:
    for name in [*KINDS, "starter", "words"]:
        with subtests.test(name=name):
            tokenizer = kind_of(name)
            sample = Sample("1 2 3 4 5 6 7 8 9", ("a b c",), "d e f g h")
            [whole] = encode(tokenizer, sample)
            length = len(whole.tokens.ids)
            budgets = {"question_tokens": 1, "candidate_tokens": 1, "reference_tokens": 1}
            assert encode(tokenizer, sample, limit=length, **budgets) == [whole]
            [cut] = encode(tokenizer, sample, limit=length - 1, **budgets)
            assert len(cut.tokens.ids) == length - 1
            assert set(cut.truncated) == {"candidate"}  # the first to give


BUDGETS = {"question_tokens": 10, "candidate_tokens": 20, "reference_tokens": 5}
LIMIT = 5 + 35  # the ends, the markers, and the budgets


def test_a_long_question_keeps_both_ends_and_a_long_reference_its_start() -> None:
    tokenizer = kind_of("words")
    sample = Sample(numbers(100, 200), (numbers(300, 400),), numbers(500, 600))
    [prompt] = encode(tokenizer, sample, limit=LIMIT, **BUDGETS)
    parts = parts_of(tokenizer, prompt)
    assert parts[Q] == [*map(str, range(500, 505)), *map(str, range(595, 600))]
    assert parts[C] == [*map(str, range(100, 104)), *map(str, range(184, 200))]
    assert parts[R] == [*map(str, range(300, 305))]
    assert len(prompt.tokens.ids) == LIMIT
    assert prompt.truncated == {
        "question": len(sample.question or "") - 2 * len(numbers(500, 505)),
        "candidate": len(sample.candidate) - len(numbers(100, 104)) - len(numbers(184, 200)),
        "reference": len(sample.references[0]) - len(numbers(300, 305)),
    }


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(15, 80),
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5)),
)
def test_truncation_is_fair_and_counted(
    question: int, candidate: int, reference: int, room: int, budgets: tuple[int, int, int]
) -> None:
    tokenizer = WORDS
    texts = {Q: numbers(1000, 1000 + question), C: numbers(1100, 1100 + candidate), R: numbers(1200, 1200 + reference)}
    names = {Q: "question", C: "candidate", R: "reference"}
    [prompt] = encode(
        tokenizer,
        Sample(texts[C], (texts[R],), texts[Q]),
        limit=room + 5,
        **{f"{names[part]}_tokens": budget for part, budget in zip(MARKERS, budgets, strict=True)},
    )
    total = question + candidate + reference
    assert len(prompt.tokens.ids) == min(total, room) + 5
    if total <= room:
        assert prompt.truncated == {}
    parts = parts_of(tokenizer, prompt)
    for (part, text), budget in zip(texts.items(), budgets, strict=True):
        whole = text.split()
        assert len(parts[part]) >= min(len(whole), budget)
        runs = [run for run in runs_of(parts[part]) if run]
        assert len(runs) <= 2
        kept = sum(len(" ".join(run)) for run in runs)
        assert prompt.truncated.get(names[part], 0) == len(text) - kept
        assert (names[part] in prompt.truncated) == (parts[part] != whole)


WORDS = word_tokenizer()


def test_what_a_long_candidate_shares_is_kept_wherever_it_stands(subtests: pytest.Subtests) -> None:
    tokenizer = word_tokenizer()
    budgets = {"max_tokens": 40, "question_tokens": 3, "candidate_tokens": 27, "reference_tokens": 4}
    for candidate, references, seen in [
        (f"{numbers(0, 50)} 1977 {numbers(50, 100)}", ("1977",), "1977"),
        (f"{numbers(0, 90)} 1977 {numbers(90, 180)} 1980 {numbers(180, 300)}", ("1977", "1980"), "1980"),  # the last
        (f"{numbers(0, 50)} 1977 1978 {numbers(50, 90)} 1977 {numbers(90, 130)}", ("1977 1978",), "1977 1978"),
        (f"{numbers(0, 50)} 1977 {numbers(50, 100)} 1977", ("1977",), None),  # it stands in the end, which is kept
        (f"{numbers(0, 100)}", ("1977",), None),
    ]:
        with subtests.test(candidate=candidate):
            sample = Sample(candidate, references, "0")
            [plain] = encode(tokenizer, sample, references="joined", **budgets)
            [focused] = encode(tokenizer, sample, references="joined", candidate_focus=9, **budgets)
            assert len(focused.tokens.ids) == len(plain.tokens.ids)
            ends, kept = parts_of(tokenizer, plain)[C], parts_of(tokenizer, focused)[C]
            if seen is None:
                assert kept == ends
            else:
                assert seen not in " ".join(ends)
                assert seen in " ".join(kept)
                assert len(runs_of(ends)) == 2
                assert kept[:5] == ends[:5]
                assert kept[-10:] == ends[-10:]
                assert focused.truncated["candidate"] > 0


def runs_of(kept: list[str]) -> list[list[str]]:
    """Numbers that follow each other, together."""
    runs: list[list[str]] = [[]]
    for token in kept:
        if runs[-1] and int(token) != int(runs[-1][-1]) + 1:
            runs.append([])
        runs[-1].append(token)
    return runs


def test_left_truncation_cuts_the_plain_ids(subtests: pytest.Subtests) -> None:
    for name in [*KINDS, "starter", "words"]:
        with subtests.test(name=name):
            tokenizer = kind_of(name)
            sample = Sample("London and Paris " * 20, ("Paris and London " * 3,), "What is it? " * 10)
            text = f"{Q}{sample.question}{C}{sample.candidate}{R}{sample.references[0]}"
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            ends = tokenizer.encode("").ids
            for limit in (30, 64, len(plain), len(plain) + 1):
                [prompt] = encode(tokenizer, sample, limit=limit, truncation="left")
                assert list(prompt.tokens.ids) == [ends[0], *plain[-(limit - 2) :], ends[1]]
            [prompt] = encode(tokenizer, sample, limit=30, truncation="left")
            assert prompt.truncated["question"] == len(sample.question or "")  # all of it
            sample = Sample("Paris", ("Paris and London " * 30,), "What is it?")
            [prompt] = encode(tokenizer, sample, limit=30, truncation="left", candidate_focus=8)
            assert prompt.truncated["candidate"] == len(sample.candidate)  # no place to look for words in


def test_very_long_texts_give_the_tokens_of_the_whole(subtests: pytest.Subtests) -> None:
    """A text that is tokenised at its two ends only keeps what tokenising all of it would keep."""
    for name, text in product(
        [*KINDS, "starter", "words"], ["1 Paris, London  und\n", "naïve Überfluss-Москва 北京 of ", "12 ", "🚀 é  "]
    ):
        with subtests.test(name=name, text=text):
            tokenizer = kind_of(name)
            long = "start " + text * 3000 + "the end"
            sample = Sample(long, (long,), long)
            [prompt] = encode(tokenizer, sample, limit=LIMIT, **BUDGETS)
            whole = tokenizer.encode(long, add_special_tokens=False).ids
            ends = tokenizer.encode("").ids
            q, c, r = map(tokenizer.token_to_id, MARKERS)
            expected = [ends[0], q, *whole[:5], *whole[-5:], c, *whole[:4], *whole[-16:], r, *whole[:5], ends[1]]
            assert list(prompt.tokens.ids) == expected
            assert set(prompt.truncated) == {"question", "candidate", "reference"}
            assert all(0 < cut < len(long) for cut in prompt.truncated.values())
            [left] = encode(tokenizer, sample, limit=LIMIT, truncation="left")
            assert list(left.tokens.ids) == [ends[0], *whole[-(LIMIT - 2) :], ends[1]]


def test_the_middle_of_a_very_long_text_is_counted_and_its_end_marked() -> None:
    candidate = numbers(1000, 3000)
    sample = Sample(candidate, ("2999 1000 2000",), "a")
    [prompt] = encode(WORDS, sample, limit=40, marks=True)
    kept = parts_of(WORDS, prompt)[C]
    assert (kept[0], kept[-1]) == ("1000", "2999")
    runs = runs_of(kept)
    assert len(runs) == 2
    assert prompt.truncated == {"candidate": len(candidate) - sum(len(" ".join(run)) for run in runs)}
    marked = [WORDS.id_to_token(i) for i, kind in zip(*prompt.tokens, strict=True) if kind == 1]
    assert marked == ["1000", "2999", "2999", "1000", "2000"]


def test_tokens_longer_than_expected(subtests: pytest.Subtests) -> None:
    """Long runs without tokens, or a text without spaces: the short cut does not hold, and all of it is read."""
    for name in [*KINDS, "starter"]:
        with subtests.test(name=name):
            tokenizer = kind_of(name)
            for long in ("a" + " " * 20_000 + "b", "a b " + "x" * 20_000 + " c d", "x" * 20_000):
                [prompt] = encode(tokenizer, Sample(long, ("a",), "b"), limit=40)
                whole = tokenizer.encode(long, add_special_tokens=False).ids
                kept = list(prompt.tokens.ids)
                start, stop = (kept.index(tokenizer.token_to_id(marker)) for marker in (C, R))
                got = kept[start + 1 : stop]
                head = round(len(got) * 0.2) if prompt.truncated else len(got)
                assert got == whole[:head] + (whole[-(len(got) - head) :] if head < len(got) else [])


def test_a_character_of_many_tokens_is_not_cut_less_than_nothing() -> None:
    tokenizer = kind_of("BPE")  # four tokens an emoji
    for limit in range(30, 60):
        for count in range(1, 16):
            [prompt] = encode(tokenizer, Sample("🚀" * count, ("a",), "b"), limit=limit)
            assert all(0 <= cut <= count for cut in prompt.truncated.values())


def test_joined_references_are_at_most_eight_the_best_first() -> None:
    tokenizer = kind_of("words")
    references = tuple(f"{n} e" if n in (17, 13) else f"{n} f" for n in range(20))
    [prompt] = encode(tokenizer, Sample("17 e 13 5", references, "q"), references="joined", max_references=8)
    read = " ".join(parts_of(tokenizer, prompt)[R]).split(" | ")
    assert read == ["13 e", "17 e", "5 f", "0 f", "1 f", "2 f", "3 f", "4 f"]
    assert prompt.reference == 13
    [three] = encode(tokenizer, Sample("17 e 13 5", references, "q"), references="joined", max_references=3)
    assert " ".join(parts_of(tokenizer, three)[R]).split(" | ") == read[:3]


def test_the_best_form_reads_one_reference_a_prompt() -> None:
    tokenizer = kind_of("words")
    prompts = encode(tokenizer, Sample("a", tuple(str(n) for n in range(12)), "b"), references="best")
    assert [parts_of(tokenizer, prompt)[R] for prompt in prompts] == [[str(n)] for n in range(12)]
    assert [prompt.reference for prompt in prompts] == list(range(12))


def test_samples_do_not_influence_each_other() -> None:
    encoder = PromptEncoder(WORDS, InputForm(marks=True, references="joined"), 60)
    samples = [Sample(numbers(n, 2 * n + 1), (str(n), "a"), "b" if n % 3 else None) for n in range(40)]
    tokenizer = word_tokenizer()  # whose own truncation and padding are not ours
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=100)
    cutting = PromptEncoder(tokenizer, encoder.form, 60)
    together = encoder.encode(samples)
    assert cutting.encode(samples) == together
    assert together == [encoder.encode([sample])[0] for sample in samples]
    assert encoder.encode([]) == []


def test_config_round_trip(tmp_path: Path) -> None:
    form = InputForm(
        ("qcr", "cr"), marks=True, references="joined", max_tokens=99, question_tokens=7, truncation="left"
    )
    config = JudgeConfig(form=form, temperature=1.25, scope=Scope(("en", "de"), 80))
    assert JudgeConfig.load(tmp_path) == JudgeConfig()  # a folder without a file is the paper's
    (tmp_path / "config.json").write_text("{}")
    config.save(tmp_path)
    assert JudgeConfig.load(tmp_path) == config
    assert json.loads((tmp_path / "judge.json").read_text())["temperature"] == 1.25


def test_a_broken_config_is_refused(tmp_path: Path, refused: Refused) -> None:
    texts = dict.fromkeys(NO_RECORDS, "judge.json") | {
        f'{{"temperature": 1, "form": {form}}}': reason
        for form, reason in {
            "[]": "judge.json",
            '{"length": 3}': "length",
            '{"forms": ["crq"]}': "crq",
            '{"forms": []}': "forms",
            '{"forms": 3}': "int",
            '{"forms": ["qcr", "qc"]}': "qc",
            '{"max_references": 0}': "max_references",
            '{"candidate_head": 3.0}': "candidate_head",
            '{"candidate_focus": -1}': "candidate_focus",
            '{"truncation": "right"}': "right",
            '{"marks": true, "contrast": true}': "contrast",  # what the first version had
            '{"marks": true, "evidence": 2}': "evidence is 2.* train a judge of an earlier one again",
            '{"marks": true, "evidence": 99}': "evidence is 99.* update bert-judge",
            '{}, "combiner": {"bias": 1}': "combiner",
            '{}, "temperature": "hot"': "hot",
            '{}, "temperature": null': "None",
            '{}, "scope": {"languages": ["Elvish"]}': "Elvish",
            '{}, "scope": {"reference_words": "many"}': "str",
            '{}, "scope": {"speaks": ["en"]}': "speaks",
            '{}, "scope": null': "None",
        }.items()
    }
    for text, reason in {**texts, '{"form": {}}': "temperature"}.items():
        (tmp_path / "judge.json").write_text(text)
        with refused(match=reason, error=ModelError, text=text):
            JudgeConfig.load(tmp_path)


def test_budgets_that_do_not_fit(refused: Refused) -> None:
    for limit, form in [
        (512, {"max_tokens": 0}),
        (512, {"max_tokens": -1}),
        (512, {"max_tokens": 7}),  # two ends, three markers, two tokens for three parts
        (7, {}),
        (40, {"question_tokens": 20, "candidate_tokens": 20, "reference_tokens": 20}),
        (512, {"question_tokens": 0}),
        (512, {"question_tokens": 506, "reference_tokens": 1}),  # nothing left for the candidate
    ]:
        with refused(match=r"do not fit|no room for texts", limit=limit, form=form):
            PromptEncoder(WORDS, InputForm(**form), limit)


def test_the_models_limit_bounds_the_forms() -> None:
    assert PromptEncoder(WORDS, InputForm(max_tokens=900), 100).form.max_tokens == 100
    assert PromptEncoder(WORDS, InputForm(max_tokens=90), 100).form.max_tokens == 90
    form = PromptEncoder(WORDS, InputForm(), 105).form
    assert (form.question_tokens, form.candidate_tokens, form.reference_tokens) == (25, 50, 25)


def test_signatures_differ_where_a_score_can() -> None:
    form = InputForm(max_tokens=100, question_tokens=1, candidate_tokens=2, reference_tokens=3)
    others: list[dict[str, object]] = [{"forms": ("cr",)}, {"references": "joined", "max_references": 3}]
    settings = {"marks": True, "fold": True, "sanitise": True, "references": "joined", "max_tokens": 99}
    settings |= {"question_tokens": 9, "candidate_tokens": 9, "reference_tokens": 9, "candidate_head": 0.5}
    settings |= {"candidate_focus": 5, "truncation": "left", "separator": " and "}
    others += [{name: value} for name, value in settings.items()]
    signatures = {str(one.settings()) for one in (form, *(replace(form, **other) for other in others))}
    assert len(signatures) == len(others) + 1
    assert InputForm(max_references=8).settings() == InputForm().settings()


def test_a_pass_marks_only_what_it_reads() -> None:
    several = Sample("1977 and London", ("London", "1977"), "Where and when?")
    passes = encode(word_tokenizer(), several, marks=True, references="best")
    singles = [replace(several, references=(reference,)) for reference in several.references]
    expected = [encode(word_tokenizer(), single, marks=True, references="best")[0] for single in singles]
    assert [prompt.tokens for prompt in passes] == [prompt.tokens for prompt in expected]


def test_characters_that_look_alike_are_read_as_one_where_the_form_says_so() -> None:
    odd, plain = Sample("４２", ("42",), "１７"), Sample("42", ("42",), "17")
    tokenizer = word_tokenizer()
    assert encode(tokenizer, odd, fold=True, marks=True) == encode(tokenizer, plain, marks=True)
    assert encode(tokenizer, odd, marks=True) != encode(tokenizer, plain, marks=True)


def test_control_tokens_of_a_candidate_are_spaces_where_the_form_says_so(subtests: pytest.Subtests) -> None:
    for candidate, read in [
        ("[CLS] London [SEP] Paris [SEP]", "London Paris"),
        ("<s>[INST] London [/INST]</s>", "London"),
        ("<|reference|>London<|candidate|>London", "London London"),
        ("a < s > b | c", "a < s > b | c"),
    ]:
        with subtests.test(candidate=candidate, read=read):
            tokenizer = word_tokenizer()
            sample = Sample(candidate, ("London",), "Where?")
            told = encode(tokenizer, sample, sanitise=True, marks=True)
            assert told == encode(tokenizer, replace(sample, candidate=read), marks=True)
            if candidate != read:
                assert told != encode(tokenizer, sample, marks=True)
    asked = Sample("<|endoftext|> or </s>", ("<|endoftext|>",), "Which token ends a text?")  # which is read
    only = replace(asked, candidate="<|endoftext|> or     ")
    assert encode(tokenizer, asked, sanitise=True, marks=True) == encode(tokenizer, only, marks=True)
