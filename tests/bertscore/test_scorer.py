"""A pair's score is that of its two texts, whatever else is asked for; and the interface is bert-score's."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from base_encoders import MakeBase, assert_equal, own_scorer, quietly
from hypothesis import given, settings
from hypothesis import strategies as st

from bert_judge import BERTScorer, bert_score
from bert_judge.bertscore import PairScore
from bert_judge.errors import InputError
from conftest import record_rows
from streams import CountedStream

NAMES = ("starter", "roberta", "t5")
WORDS = (
    "what is the capital of France Paris , Germany Berlin and England London . I would say (A) or (B) ? 12.5 % 1,977 "
    "Überfluss réponse déjà Москва 北京 \U0001f680 </s> [SEP] naïve"
).split()
TEXTS = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=9)
Pair = tuple[str, list[str]]
MakeScorer = Callable[..., BERTScorer]


def make_pairs(number: int, seed: int = 0) -> list[Pair]:
    """Pairs of very different lengths, with one to three references, all different."""
    chance = random.Random(seed)
    text = lambda: " ".join(chance.choices(WORDS, k=chance.choice([1, 2, 5, 9, 20, 30])))  # noqa: E731
    return [(f"{text()} {n}", [text() for _ in range(chance.choice([1, 1, 2, 3]))]) for n in range(number)]


def numbers(scores: Sequence[PairScore]) -> np.ndarray:
    """P, R and F1, pairs by 3."""
    return np.array([[score.precision[0], score.recall[0], score.f1[0]] for score in scores])


@pytest.fixture(scope="module")
def make_scorer(make_base: MakeBase) -> MakeScorer:
    """Exact scorers by the name of their model and their settings; each is loaded once."""
    loaded: dict[str, BERTScorer] = {}

    def make(name: str, **options: Any) -> BERTScorer:
        key = f"{name}{options}"
        if key not in loaded:
            runtime = "openvino" if name == "starter" else "torch"
            path = name if name == "starter" else make_base(name)
            loaded[key] = own_scorer(path, num_layers=2, runtime=runtime, **options)
        return loaded[key]

    return make


def test_scores_do_not_depend_on_company(make_scorer: MakeScorer, subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(name=name):
            pairs = make_pairs(40)
            scorer = make_scorer(name)
            expected = numbers([next(scorer.score_each([pair])) for pair in pairs])
            order = random.Random(1).sample(range(40), 40)
            shuffled = numbers(list(scorer.score_each([pairs[n] for n in order])))
            ways = {
                "together": scorer.score_each(pairs),
                "repeated": scorer.score_each(pairs * 3),
                "one row": make_scorer(name, batch_size=1).score_each(pairs),
                "seven rows": scorer.score_each(pairs, batch_size=7),
                "few tokens": make_scorer(name, batch_tokens=40).score_each(pairs),
                "many tokens": make_scorer(name, batch_tokens=10**6).score_each(pairs),
            }
            assert shuffled == pytest.approx(expected[order], abs=1e-5)
            for way, scores in ways.items():
                last = numbers(list(scores))[-40:]
                assert last == pytest.approx(expected, abs=1e-5), way
            assert expected[:, 2].std() > 0.01  # there is something to tell apart


@settings(max_examples=30)
@given(PAIRS, st.integers(1, 5))
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_single_references(
    make_scorer: MakeScorer, name: str, pairs: list[Pair], batch_size: int
) -> None:
    """Of several references the best counts, with all three of its numbers and its index."""
    scorer = make_scorer(name)
    singly = {
        (candidate, reference): next(scorer.score_each([(candidate, [reference])]))
        for candidate, references in pairs
        for reference in references
    }
    for (candidate, references), score in zip(pairs, scorer.score_each(pairs, batch_size), strict=True):
        alone = singly[candidate, references[score.reference]]
        assert numbers([score]) == pytest.approx(numbers([alone]), abs=1e-5)
        assert score.f1[0] >= max(singly[candidate, reference].f1[0] for reference in references) - 1e-5
        assert score.empty == alone.empty


@settings(max_examples=60)
@given(TEXTS, TEXTS)
@pytest.mark.parametrize("name", NAMES)
def test_swapping_texts_swaps_precision_and_recall(make_scorer: MakeScorer, name: str, one: str, other: str) -> None:
    scorer = make_scorer(name)
    forth, back, same = scorer.score_each([(one, [other]), (other, [one]), (one, [one])])
    (precision, recall, f1), swapped = numbers([forth])[0], numbers([back])[0]
    assert [recall, precision, f1] == pytest.approx(swapped, abs=1e-6)
    assert min(precision, recall) - 1e-6 <= f1 <= max(precision, recall) + 1e-6
    assert max(precision, recall) <= 1 + 1e-6
    assert numbers([same])[0] == pytest.approx([0 if same.empty else 1] * 3, abs=1e-5)
    assert (same.empty is None) == bool(one.strip())


def test_no_pair_meets_the_reference_of_another_row(make_scorer: MakeScorer, subtests: pytest.Subtests) -> None:
    for name, options in product(["roberta", "t5"], [{}, {"compat": "bert_score", "batch_size": 1}]):
        with subtests.test(name=name, options=options):
            pairs = make_pairs(100, seed=3)  # over two windows
            scorer = make_scorer(name, **options)
            alone = numbers([next(scorer.score_each([pair])) for pair in pairs])
            assert numbers(list(scorer.score_each(pairs))) == pytest.approx(alone, abs=1e-5)
            rolled = [(candidate, pairs[n - 1][1]) for n, (candidate, _) in enumerate(pairs)]
            assert (np.abs(numbers(list(scorer.score_each(rolled))) - alone).max(axis=1) > 1e-3).mean() > 0.9


def test_each_distinct_text_is_embedded_once(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = own_scorer(make_base("roberta"), num_layers=2)
    rows = record_rows(monkeypatch, scorer._model.runtime)
    cands, refs = ["Paris", "London", "Paris", " Berlin"], [["London", "Paris"], ["Berlin"], ["Paris "], ["Berlin"]]
    scorer.score(cands, refs)
    assert rows == [3]


@pytest.mark.parametrize("options", [{}, {"compat": "bert_score", "batch_size": 4}], ids=["default", "compat"])
def test_a_stream_is_read_as_it_is_needed(make_scorer: MakeScorer, options: dict[str, Any]) -> None:
    endless = CountedStream((f"It is {n % 50}", [f"It was {n % 70}"]) for n in itertools.count())
    stream = make_scorer("roberta", **options).score_each(endless)
    assert endless.read == 0
    next(stream)
    assert endless.read <= 128  # the first scores come soon
    ahead = max(endless.read - yielded for yielded, _ in enumerate(itertools.islice(stream, 9000), 2))
    assert ahead <= 2 * 4096
    stream.close()


def test_an_error_in_the_stream_comes_through(make_scorer: MakeScorer) -> None:
    def rows() -> Iterator[Pair]:
        yield from make_pairs(70)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(make_scorer("roberta").score_each(rows()))


def test_the_interface_is_that_of_bert_score() -> None:
    """Names in the same places, with the same defaults; `score` takes its batch size from the scorer."""
    with quietly():
        import bert_score as original

    functions: list[tuple[Any, Any]] = [
        (original.score, bert_score),
        (original.BERTScorer.__init__, BERTScorer.__init__),
        (original.BERTScorer.score, BERTScorer.score),
        (original.BERTScorer.compute_idf, BERTScorer.compute_idf),
        (original.BERTScorer.plot_example, BERTScorer.plot_example),
    ]
    for model, function in functions:
        expected = inspect.signature(model).parameters
        parameters = list(inspect.signature(function).parameters.values())[: len(expected)]
        assert [parameter.name for parameter in parameters] == list(expected)
        for parameter in parameters:
            if (function, parameter.name) != (BERTScorer.score, "batch_size"):
                assert parameter.default == expected[parameter.name].default, (function, parameter.name)


def test_what_score_gives(make_scorer: MakeScorer, capsys: pytest.CaptureFixture[str]) -> None:
    scorer = make_scorer("roberta")
    capsys.readouterr()
    cands, refs = ["Paris", "It is Paris", "London"], ["London", ["Paris", "It was Paris"], ("London",)]
    scores = scorer.score(cands, refs)
    assert all(isinstance(part, torch.Tensor) and part.dtype == torch.float32 for part in scores)
    assert [tuple(part.shape) for part in scores] == [(3,)] * 3
    assert capsys.readouterr() == ("", "")
    loud, digest = scorer.score(cands, refs, verbose=True, return_hash=True)
    assert digest == scorer.hash == str(scorer.signature)
    assert_equal(loud, scores, 0)
    assert "pairs/sec" in capsys.readouterr().err
    assert [tuple(part.shape) for part in scorer.score([], [])] == [(0,)] * 3
    scorer = make_scorer("roberta", all_layers=True)
    assert [tuple(part.shape) for part in scorer.score(["Paris", "x"], ["London", "y"])] == [(4, 2)] * 3
    assert [tuple(part.shape) for part in scorer.score([], [])] == [(4, 0)] * 3


def test_the_function_is_the_scorer(make_base: MakeBase, make_scorer: MakeScorer) -> None:
    cands, refs = ["Paris", "It is Paris"], ["London", "It was Paris"]
    options: dict[str, Any] = {"dtype": "float32", "runtime": "torch"}
    scores, digest = bert_score(cands, refs, str(make_base("roberta")), 2, return_hash=True, **options)
    assert_equal(scores, make_scorer("roberta").score(cands, refs), 1e-6)
    assert digest == make_scorer("roberta").hash


def test_rescaling_is_linear(make_base: MakeBase, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.3,0.2,0.1\n2,0.5,0.6,0.7\n3,0.1,0.1,0.1\n")
    cands, refs = ["Paris", "It is Paris", ""], ["London", "It was Paris", "Berlin"]
    options = {"rescale_with_baseline": True, "baseline_path": str(tmp_path / "own.csv")}
    scorer = own_scorer(make_base("roberta"), num_layers=2, **options)
    assert scorer.baseline_vals.tolist() == pytest.approx([0.5, 0.6, 0.7])
    raw = own_scorer(make_base("roberta"), num_layers=2)
    expected = [(one - mean) / (1 - mean) for one, mean in zip(raw.score(cands, refs), (0.5, 0.6, 0.7), strict=True)]
    assert_equal(scorer.score(cands, refs), expected, 1e-6)
    del options["rescale_with_baseline"]  # a baseline that is named is used
    layered = own_scorer(make_base("roberta"), all_layers=True, **options)
    assert layered.rescale_with_baseline
    assert tuple(layered.baseline_vals.shape) == (4, 1, 3)
    assert_equal([part[2] for part in layered.score(cands, refs)], expected, 1e-5)
    with pytest.raises(InputError, match=r"^the scorer has no baseline; make it with rescale_with_baseline=True\.$"):
        _ = raw.baseline_vals


def test_the_signature_changes_when_and_only_when_a_number_can(
    make_base: MakeBase, make_scorer: MakeScorer, tmp_path: Path
) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.csv").write_text(f"LAYER,P,R,F\n0,0,0,0\n1,0,0,0\n2,0.{number},0.1,0.1\n3,0,0,0\n")
    path = make_base("roberta")
    compat, rescaled = {"compat": "bert_score"}, {"rescale_with_baseline": True}
    different = [{}, {"num_layers": 1}, {"all_layers": True}, {"idf": ["Paris"]}, {"max_tokens": 50}]
    different += [{"dtype": "bfloat16"}, {"runtime": "openvino"}]
    different += [compat, compat | {"batch_size": 3}, compat | {"use_fast_tokenizer": True}]
    different += [rescaled | {"baseline_path": str(tmp_path / name)} for name in ("1.csv", "2.csv")]
    signatures = [own_scorer(path, **({"num_layers": 2} | options)).signature for options in different]
    signatures.append(own_scorer(make_base("roberta", layer_norm_eps=1e-3), num_layers=2).signature)
    assert len(set(signatures)) == len(different) + 1
    same = own_scorer(path, num_layers=2, batch_size=3, batch_tokens=99, nthreads=1, use_fast_tokenizer=True)
    assert same.signature == signatures[0]


def test_identical_texts_score_at_most_one(make_scorer: MakeScorer) -> None:
    texts = ["Paris", "one two three four five six seven", "北京是中国的首都。", "x " * 300]
    assert all(part.max() <= 1 for part in make_scorer("starter").score(texts, texts))
