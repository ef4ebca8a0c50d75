"""Each difference to bert-score on an example where it shows: ours, and bert-score's under compat."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from base_encoders import WITH_FINAL_NORM, MakeBase, assert_equal, own_scorer, reference_scorer, reference_scores

from bert_judge import bert_score
from bert_judge.errors import InputError

one_special_token = pytest.mark.parametrize("architecture", ["t5", "mt5", "pegasus"])
COMPAT: dict[str, Any] = {"compat": "bert_score", "batch_size": 1}  # as `reference_scores` calls bert-score
WORDS = (
    "What is the capital of France Paris Germany Berlin England London hesitating between and would say it was".split()
)


def test_padding_wins_over_negative_similarities(make_base: MakeBase) -> None:
    """Words against words, then the same pairs in a batch with a longer one, which pads them all."""
    path = make_base("xlnet")
    pairs = [(one, other) for one in WORDS for other in WORDS]
    cands, refs = [one for one, _ in pairs], [other for _, other in pairs]
    company = ["and would say it was Berlin"], ["the capital of Germany, and of England"]
    original = reference_scorer(path, num_layers=0)
    alone = reference_scores(original, cands, refs)
    padded = reference_scores(original, cands + company[0], refs + company[1], 1000)
    raised = padded[2][:-1] - alone[2]
    assert raised.max() > 1e-3
    assert raised.min() > -1e-6

    compat = own_scorer(path, num_layers=0, compat="bert_score", batch_size=1000)
    assert_equal(compat.score(cands, refs, batch_size=1), alone)
    assert_equal(compat.score(cands + company[0], refs + company[1]), padded)
    exact = own_scorer(path, num_layers=0, batch_size=1000).score(cands + company[0], refs + company[1])
    assert_equal([part[:-1] for part in exact], alone)


def test_an_empty_text_scores_nothing(make_base: MakeBase, subtests: pytest.Subtests) -> None:
    for architecture in ["bert", "roberta", "xlnet", "bart"]:
        with subtests.test(architecture=architecture):
            path = make_base(architecture)
            cands, refs = ["", "Paris", " \n", "Paris"], ["Paris", "", "", "Paris"]
            original = reference_scorer(path, num_layers=2)
            ends = original._tokenizer("Paris")["input_ids"]
            restore_empty_texts(original, [token for token in ends if token in original._tokenizer.all_special_ids])
            expected = reference_scores(original, cands, refs)
            assert expected[2].tolist() == pytest.approx([0, 0, 0, 1])
            for options in ({}, COMPAT):
                assert_equal(own_scorer(path, num_layers=2, **options).score(cands, refs), expected)


def restore_empty_texts(original: Any, ids: list[int]) -> None:
    """What bert-score calls for an empty text was dropped in transformers 5."""
    original._tokenizer.build_inputs_with_special_tokens = lambda _: ids


@one_special_token
def test_a_text_of_one_token_is_not_empty(make_base: MakeBase, architecture: str) -> None:
    """bert-score takes two tokens for nothing, but T5 puts one only around a text; and then keeps the F1 of it."""
    path = make_base(architecture)
    original = reference_scorer(path, num_layers=2)
    short = next(word for word in WORDS if len(original._tokenizer(word)["input_ids"]) == 2)
    cands, refs = [short, "It was Paris", "Paris it is"], ["It was Paris", short, "Paris is the capital"]
    expected = reference_scores(original, cands, refs)
    assert expected[0].tolist()[:2] == expected[1].tolist()[:2] == [0, 0]
    assert_equal(own_scorer(path, num_layers=2, **COMPAT).score(cands, refs), expected)
    exact = own_scorer(path, num_layers=2)
    assert all(part.abs().min() > 1e-3 for part in exact.score(cands, refs))
    pairs = [(short, [short]), ("", [short]), (short, [" "])]
    assert [score.empty for score in exact.score_each(pairs)] == [None, "candidate", "reference"]


@one_special_token
def test_nothing_is_nothing_for_one_special_token_too(make_base: MakeBase, architecture: str) -> None:
    """bert-score compares the </s> that is all there is of an empty text."""
    path = make_base(architecture)
    original = reference_scorer(path, num_layers=2)
    restore_empty_texts(original, [original._tokenizer.eos_token_id])
    cands, refs = ["", "It is Paris"], ["It is Paris", ""]
    expected = reference_scores(original, cands, refs)
    assert expected[2].abs().min() > 1e-3
    assert_equal(own_scorer(path, num_layers=2, **COMPAT).score(cands, refs), expected)
    assert all(part.tolist() == [0, 0] for part in own_scorer(path, num_layers=2).score(cands, refs))


@one_special_token
def test_special_tokens_have_no_weight(make_base: MakeBase, architecture: str) -> None:
    """bert-score knows of two, and T5's </s> is neither."""
    path = make_base(architecture)
    cands, refs = ["The capital is Paris.", "London it was"], ["It is Berlin", "Paris is the capital of France."]
    original = reference_scorer(path, num_layers=2)
    with_end = reference_scores(original, cands, refs)
    original._idf, original._idf_dict = True, defaultdict(lambda: 1.0, {original._tokenizer.eos_token_id: 0.0})
    without = reference_scores(original, cands, refs)
    assert (with_end[2] - without[2]).abs().max() > 1e-3
    assert_equal(own_scorer(path, num_layers=2, **COMPAT).score(cands, refs), with_end)
    assert_equal(own_scorer(path, num_layers=2).score(cands, refs), without)


def test_a_word_at_the_start_is_a_word_for_roberta(make_base: MakeBase, tmp_path: Path) -> None:
    """A fast tokenizer as the Hub has it reads a first word without the space that all others have."""
    spaced = make_base("roberta")
    spaceless = Path(shutil.copytree(spaced, tmp_path / "roberta"))
    set_prefix_space(spaceless, False)
    cands, refs = ["Paris it is", "London is the capital"], ["It is Paris", "The capital is London"]
    slow, fast = (reference_scores(reference_scorer(path, num_layers=2), cands, refs) for path in (spaced, spaceless))
    assert (slow[2] - fast[2]).abs().min() > 1e-3
    assert_equal(own_scorer(spaceless, num_layers=2).score(cands, refs), slow)
    assert_equal(own_scorer(spaceless, num_layers=2, use_fast_tokenizer=True).score(cands, refs), slow)
    assert_equal(own_scorer(spaceless, num_layers=2, **COMPAT).score(cands, refs), slow)
    compat = own_scorer(spaceless, num_layers=2, **COMPAT, use_fast_tokenizer=True)
    assert_equal(compat.score(cands, refs), fast)


def set_prefix_space(folder: Path, space: bool) -> None:
    content = json.loads((folder / "tokenizer.json").read_text())
    content["pre_tokenizer"]["add_prefix_space"] = space
    (folder / "tokenizer.json").write_text(json.dumps(content))


def set_tokenizer_config(folder: Path, **values: Any) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_the_space_goes_by_the_class_of_the_tokenizer(make_base: MakeBase, tmp_path: Path) -> None:
    """Longformer with RoBERTa's, and the other way round; a slow tokenizer is a fast one that adds the space itself."""
    cands, refs = ["Paris it is", "London is the capital"], ["It is Paris", "The capital is London"]
    cases = [
        ("longformer", "RobertaTokenizer", True),
        ("longformer", "RobertaTokenizerFast", True),
        ("longformer", "LongformerTokenizer", False),
        ("bart", "BartTokenizer", False),
        ("bart", "GPT2Tokenizer", True),
        ("roberta", "RobertaTokenizer", True),
        ("roberta", "BartTokenizer", False),
    ]
    for architecture, named, spaced in cases:
        exact, slow = (tmp_path / f"{architecture}-{named}-{name}" for name in ("exact", "slow"))
        for folder, space in ((exact, False), (slow, spaced)):
            shutil.copytree(make_base(architecture), folder)
            set_prefix_space(folder, space)
        set_tokenizer_config(exact, tokenizer_class=named)
        expected = reference_scores(reference_scorer(slow, num_layers=2), cands, refs)
        for options in ({}, COMPAT):
            assert_equal(own_scorer(exact, num_layers=2, **options).score(cands, refs), expected)


def test_a_tokenizer_that_its_class_builds_is_the_one_of_bert_score(make_base: MakeBase, tmp_path: Path) -> None:
    """XLNet's class reads the space before a typed token otherwise than the tokenizer.json of this folder."""
    folder = Path(shutil.copytree(make_base("xlnet"), tmp_path / "xlnet"))
    set_tokenizer_config(folder, tokenizer_class="XLNetTokenizer")
    cands, refs = ["typed <s> a </s>", "it is <s> </s>"], ["It is Paris", "typed <s> a </s>"]
    for batch_size in (1, 2):
        expected = reference_scores(reference_scorer(folder, num_layers=2), cands, refs, batch_size)
        compat = own_scorer(folder, num_layers=2, compat="bert_score", batch_size=batch_size)
        assert_equal(compat.score(cands, refs), expected)
    as_it_stands = own_scorer(make_base("xlnet"), num_layers=2, compat="bert_score", batch_size=2).score(cands, refs)
    assert (as_it_stands[2] - expected[2]).abs().max() > 1e-2


def test_the_three_scores_are_of_one_reference(make_base: MakeBase) -> None:
    """The first reference has the best precision and F1, the second the best recall, whatever the weights are.

    Without any layer a token's vector depends on its position alone, so a reference that the candidate begins with has
    a recall of 1, and one that differs in the last word is close in everything.
    """
    path = make_base("bert")
    cands = ["the capital of France is Paris"]
    refs = [["the capital of France is Berlin", "the", "London it was"]]
    exact = own_scorer(path, num_layers=0)
    singly = [tuple(part.item() for part in exact.score(cands, [reference])) for reference in refs[0]]
    precision, recall, f1 = (part.item() for part in exact.score(cands, refs))
    assert max(singly, key=lambda scores: scores[2]) == singly[0] != singly[1]
    assert (precision, recall, f1) == pytest.approx(singly[0], abs=1e-6)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)
    assert [score.reference for score in exact.score_each([(cands[0], refs[0])])] == [0]

    expected = reference_scores(reference_scorer(path, num_layers=0), cands, refs)
    mixed_precision, mixed_recall, mixed_f1 = (part.item() for part in expected)
    assert mixed_f1 == pytest.approx(f1, abs=1e-5)
    assert mixed_precision == pytest.approx(precision, abs=1e-5)
    assert mixed_recall == pytest.approx(1.0, abs=1e-5) and recall < 1 - 1e-3
    compat = own_scorer(path, num_layers=0, **COMPAT)
    assert_equal(compat.score(cands, refs), expected)


def test_a_missing_baseline_is_said(make_base: MakeBase) -> None:
    """bert_score.score rescales nothing and says so on the terminal; its hash says that it did."""
    path, cands, refs = str(make_base("bert")), ["Paris it is"], ["It is Paris"]
    with pytest.raises(InputError, match=r"^there is no rescaling baseline for \S+; give a file as baseline_path\.$"):
        own_scorer(path, num_layers=2, lang="en", rescale_with_baseline=True)
    with pytest.warns(UserWarning, match=r"no rescaling baseline for .* As bert-score does, scores are not rescaled"):
        compat = own_scorer(path, num_layers=2, lang="en", rescale_with_baseline=True, **COMPAT)
    original = reference_scorer(path, num_layers=2)
    assert_equal(compat.score(cands, refs), reference_scores(original, cands, refs))
    assert compat.hash == reference_scorer(path, num_layers=2, lang="en", rescale_with_baseline=True).hash


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("baseline", [False, True])
def test_the_hash_is_that_of_bert_score(
    make_base: MakeBase, tmp_path: Path, baseline: bool, idf: bool, fast: bool
) -> None:
    options: dict[str, Any] = {"num_layers": 1, "use_fast_tokenizer": fast}
    if idf:
        options |= {"idf": True, "idf_sents": ["Paris", "London"]}
    if baseline:
        (tmp_path / "own.csv").write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n")
        options |= {"rescale_with_baseline": True, "lang": "en", "baseline_path": str(tmp_path / "own.csv")}
    path = make_base("bert")
    exact = own_scorer(path, **COMPAT, **options)
    assert exact.hash == reference_scorer(path, **options).hash
    assert exact.score(["Paris"], ["London"], return_hash=True)[1] == exact.hash
    assert exact.hash in repr(exact)
    default = own_scorer(path, **options)
    assert default.hash == str(default.signature) != str(exact.signature)
    assert exact.signature.settings["compat"].startswith("bert_score")


def test_sentences_for_idf_need_no_second_word(make_base: MakeBase) -> None:
    """bert-score counts `idf_sents` and then does not use them without `idf=True`; its page says to give both."""
    path = make_base("bert")
    options: dict[str, Any] = {"num_layers": 2, "idf_sents": ["Paris it is", "it is London", "the capital"]}
    cands, refs = ["the capital is Paris"], ["it is Paris"]
    original = reference_scorer(path, **options)
    compat = own_scorer(path, **COMPAT, **options)
    assert_equal(compat.score(cands, refs), reference_scores(original, cands, refs))
    assert compat.hash == original.hash
    weighed = own_scorer(path, idf=True, **options).score(cands, refs)
    assert_equal(own_scorer(path, **options).score(cands, refs), weighed)
    assert (weighed[2] - reference_scores(original, cands, refs)[2]).abs().item() > 1e-3


@pytest.mark.parametrize("architecture", ["bert", "t5"])
def test_a_special_token_in_a_text_is_text(make_base: MakeBase, architecture: str) -> None:
    path = make_base(architecture)
    cands, refs = ["Paris </s> London", "Paris <mask>"], ["Paris London", "Paris <pad> it is"]
    compat = own_scorer(path, num_layers=2, **COMPAT).score(cands, refs)
    assert_equal(compat, reference_scores(reference_scorer(path, num_layers=2), cands, refs))
    exact = own_scorer(path, num_layers=2).score(cands, refs)
    assert all((one - other).abs().max() > 1e-3 for one, other in zip(exact, compat, strict=True))
    spelt = own_scorer(path, num_layers=2)._pairs.reader.read(["</s>"])[0]
    assert spelt.counted.sum() > 1


@pytest.mark.parametrize("architecture", ["bert", "t5"])
def test_idf_of_one_reference_weighs_all_tokens_alike(make_base: MakeBase, architecture: str) -> None:
    """All its tokens are in all documents: the weights are 0, and what bert-score divides by is, too."""
    path = make_base(architecture)
    options: dict[str, Any] = {"num_layers": 2, "idf": True, "idf_sents": ["Paris is the capital"]}
    cands, refs = ["the capital is Paris", "Paris is London"], ["Paris is the capital"] * 2
    expected = reference_scores(reference_scorer(path, **options), cands, refs)
    assert expected[1].isnan().all()
    assert expected[2].tolist() == [0, 0]
    compat = own_scorer(path, **COMPAT, **options).score(cands, refs)
    for one, other in zip(compat, expected, strict=True):
        assert one.tolist() == pytest.approx(other.tolist(), abs=1e-5, nan_ok=True)
    exact, plain = own_scorer(path, **options), own_scorer(path, num_layers=2)
    assert exact.score(cands, refs)[1].tolist() == pytest.approx(plain.score(cands, refs)[1].tolist(), abs=1e-6)
    assert all(part.isfinite().all() for part in exact.score(cands, refs))
    assert all(part.isfinite().all() for part in bert_score(cands[:1], refs[:1], str(path), 2, idf=True))


def test_compat_computes_in_float32(make_base: MakeBase) -> None:
    for architecture in ("bert", *WITH_FINAL_NORM[:1]):
        compat = own_scorer(make_base(architecture), num_layers=2, dtype="auto", compat="bert_score")
        assert compat.signature.settings["dtype"] == "float32"
