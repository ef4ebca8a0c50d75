"""`bert_judge.compat.bert_score` in the place of `bert_score`: the names that others call, and their numbers."""

from __future__ import annotations

import warnings
from collections import defaultdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from base_encoders import MakeBase, assert_equal, quietly, reference_scores

import bert_judge
from bert_judge.compat import bert_score
from bert_judge.compat.bert_score import utils
from bert_judge.compat.bert_score.scorer import BERTScorer
from bert_judge.errors import InputError

CANDS = ["the capital of France is Paris", "London", "it was Berlin, and would say it was", "Paris  is it "]
REFS = ["Paris is the capital of France", "Paris", "I would say it was London", ""]


@pytest.fixture(autouse=True)
def as_old_packages_are() -> Any:
    """bert-score warns of much; and it calls a method for empty texts that transformers 5 lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def original() -> Any:
    with quietly():
        import bert_score.utils

        return bert_score


def test_the_names_are_those_of_bert_score(original: Any) -> None:
    for name, value in vars(original.utils).items():
        assert getattr(value, "__module__", "") != original.utils.__name__ or hasattr(utils, name), name
    assert utils.model2layers == original.utils.model2layers
    for code in ("en", "zh", "xx", "tr", "en-sci", "de"):
        assert utils.lang2model[code] == original.utils.lang2model[code]
    for settings in [("m", 9, False, False, False, False), ("m", 9, True, True, True, True), ("m", 0, 0, True, 0, 0)]:
        assert utils.get_hash(*settings) == original.utils.get_hash(*settings)
    assert bert_score.__version__ == original.__version__
    assert bert_score.utils is utils
    assert bert_judge.score is bert_judge.bert_score
    assert callable(bert_judge.plot_example)
    assert utils.cache_scibert("scibert-scivocab-uncased") == "allenai/scibert_scivocab_uncased"
    assert utils.cache_scibert("roberta-large") == "roberta-large"


def test_the_functions_of_utils_give_the_same(make_base: MakeBase, original: Any, subtests: pytest.Subtests) -> None:
    for architecture, all_layers in product(["bert", "roberta", "t5", "albert"], [False, True]):
        with subtests.test(architecture=architecture, all_layers=all_layers):
            path, refs = str(make_base(architecture)), REFS[:3]
            with quietly():
                model, tokenizer = original.utils.get_model(path, 2, all_layers), original.utils.get_tokenizer(path)
                own_model, own_tokenizer = utils.get_model(path, 2, all_layers), utils.get_tokenizer(path)
                for text in [*CANDS[:3], " Paris "]:
                    assert utils.sent_encode(own_tokenizer, text) == original.utils.sent_encode(tokenizer, text)
                weights = original.utils.get_idf_dict(refs, tokenizer, nthreads=0)
                own_weights = utils.get_idf_dict(refs, own_tokenizer)
                assert own_weights == weights
                assert own_weights[-1] == weights[-1]
                call: dict[str, Any] = {"device": "cpu", "all_layers": all_layers}
                expected = original.utils.get_bert_embedding(refs, model, tokenizer, weights, **call)
                values = utils.get_bert_embedding(refs, own_model, own_tokenizer, own_weights, batch_size=2, **call)
                for one, other in zip(values, expected, strict=True):
                    assert one.shape == other.shape
                    kept = expected[1].view(*expected[1].shape, *[1] * (one.dim() - 2))
                    assert torch.allclose(one.float() * kept, other.float() * kept, atol=1e-5)
                for batch_size in (1, 64):
                    call["batch_size"] = batch_size
                    expected = original.utils.bert_cos_score_idf(model, refs, CANDS[:3], tokenizer, weights, **call)
                    values = utils.bert_cos_score_idf(own_model, refs, CANDS[:3], own_tokenizer, own_weights, **call)
                    assert values.shape == expected.shape
                    assert torch.allclose(values, expected, atol=1e-5)


def test_empty_texts_score_nothing_in_the_functions(make_base: MakeBase) -> None:
    path = str(make_base("bert"))
    model, tokenizer = utils.get_model(path, 2), utils.get_tokenizer(path)
    weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
    values = utils.bert_cos_score_idf(model, ["", "Paris"], ["Paris", "Paris"], tokenizer, weights)
    assert values.tolist()[0][:2] == [0, 0]
    assert values.tolist()[1] == pytest.approx([1, 1, 1], abs=1e-6)


def test_the_scorer_and_the_function_give_the_same(
    make_base: MakeBase, original: Any, subtests: pytest.Subtests
) -> None:
    """As `evaluate` calls them: get_hash and BERTScorer, the fast tokenizer by partial."""
    for idf, architecture in product([False, True], ["bert", "roberta"]):
        with subtests.test(idf=idf, architecture=architecture):
            path, refs = str(make_base(architecture)), REFS[:3]
            with quietly():
                settings = {"model_type": path, "num_layers": 2, "idf": idf, "lang": None, "nthreads": 0}
                settings["device"] = "cpu"
                expected = original.BERTScorer(idf_sents=refs, **settings)
                scorer = partial(bert_score.BERTScorer, use_fast_tokenizer=False)(idf_sents=refs, **settings)
                hashed = partial(bert_score.utils.get_hash, use_fast_tokenizer=False)(
                    model=path, num_layers=2, idf=idf, rescale_with_baseline=False, use_custom_baseline=False
                )
                assert scorer.hash == expected.hash == hashed
                values, code = scorer.score(cands=CANDS[:3], refs=refs, verbose=False, batch_size=1, return_hash=True)
                assert_equal(values, reference_scores(expected, CANDS[:3], refs))
                assert code == expected.hash
                several = CANDS[:3], [[refs[0], "London"], [refs[1]], [refs[2], "Paris"]], path, 2
                assert_equal(bert_score.score(*several, batch_size=1), original.score(*several, batch_size=1))
                call = {"idf": idf, "nthreads": 0, "return_hash": True}
                (_, _, one), code = bert_score.score(CANDS[:3], refs, path, 2, **call)
                (_, _, other), expected_code = original.score(CANDS[:3], refs, path, 2, **call)
                assert torch.allclose(one, other, atol=1e-5)
                assert code == expected_code


def test_a_model_can_be_added_to_the_table(make_base: MakeBase) -> None:
    """As scripts do for models that bert-score does not know."""
    path = str(make_base("bert"))
    utils.model2layers[path] = 1
    utils.lang2model["tlh"] = path
    try:
        scorer = BERTScorer(lang="TLH")
        assert (scorer.model_type, scorer.num_layers, scorer.lang) == (path, 1, "TLH")
    finally:
        del utils.model2layers[path], utils.lang2model["tlh"]


def test_what_is_missing_is_said(make_base: MakeBase) -> None:
    path = str(make_base("bert"))
    with pytest.raises(InputError, match=r"^model_type or lang is needed"):
        bert_score.score(["a"], ["b"])
    with pytest.raises(InputError, match=r"^rescale_with_baseline needs lang"):
        BERTScorer(path, 2, rescale_with_baseline=True)
    scorer = BERTScorer(path, 2, lang="en", rescale_with_baseline=True)
    with pytest.raises(ValueError, match="baseline"):
        scorer.score(["a"], ["b"])
    assert torch.is_tensor(bert_score.score(["Paris"], ["Paris"], path, 2, lang="en", rescale_with_baseline=True)[0])


def test_plot_example_draws(make_base: MakeBase, tmp_path: Path) -> None:
    path = str(make_base("bert"))
    for draw in (bert_score.plot_example, bert_judge.plot_example):
        figure = draw("Paris it is", "It is Paris", model_type=path, num_layers=2, fname=str(tmp_path / "out.png"))
        assert figure.axes
        assert (tmp_path / "out.png").stat().st_size > 1000
        (tmp_path / "out.png").unlink()
