"""P, R and F1 are those of bert-score 0.3.13 on the same weights, for every architecture and in every mode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from base_encoders import KINDS, LAYERS, WITH_FINAL_NORM, assert_equal, own_scorer, reference_scorer, reference_scores

from bert_judge.encoder.openvino_runtime import ARCHITECTURES

CANDIDATES = [
    "The capital is Paris.",
    "London it was",
    "I would say Berlin or " * 4,
    "the very same text here",
    "(A) 12.5 % of them",
    "Paris, it is",
    "Die Antwort lautet: London, und nicht Überfluss",
]
REFERENCES = [
    ["Paris is the capital of France.", "It is Paris"],
    ["It was Berlin, (A) or (B)?", "London, London"],
    ["It is none of these", "I'm hesitating between Paris and London. I would say London", "Berlin, or so I would say"],
    ["the very same text here"],
    ["(B) 1,977 of them", "12.5 %, as they say"],
    ["Die Antwort lautet London", "Paris it is", "La réponse est Paris."],
    ["The answer is London " * 3, "London"],
]
FIRST = [references[0] for references in REFERENCES]
CORPUS = [reference for references in REFERENCES for reference in references]
IDF: dict[str, Any] = {"idf": True, "idf_sents": CORPUS}
WAYS: dict[str, dict[str, Any]] = {
    "embeddings": {"num_layers": 0},
    "middle": {"num_layers": 2},
    "last": {"num_layers": LAYERS},
    "idf": {"num_layers": 2, **IDF},
    "rescaled": {"num_layers": 2, "rescale_with_baseline": True},
    "idf, rescaled": {"num_layers": 1, **IDF, "rescale_with_baseline": True},
    "all": {"num_layers": 2, "all_layers": True},
    "all, idf, rescaled": {"num_layers": 2, "all_layers": True, **IDF, "rescale_with_baseline": True},
}


def ways_of(architecture: str) -> list[str]:
    """Every third of them, so that each is taken by a third of the architectures.

    transformers runs no DeBERTa-v2 without a layer; "all" has its embeddings.
    """
    first = list(KINDS).index(architecture) % 3
    return [way for way in list(WAYS)[first::3] if (architecture, way) != ("deberta-v2", "embeddings")]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("baseline") / "own.csv"
    path.write_text("LAYER,P,R,F\n0,0.11,0.12,0.13\n1,0.31,0.29,0.28\n2,0.21,0.22,0.23\n3,-0.1,-0.2,-0.15\n")
    return path


def arguments(way: str, baseline: Path) -> dict[str, Any]:
    rescaled = {"lang": "en", "baseline_path": str(baseline)} if "rescale_with_baseline" in WAYS[way] else {}
    return WAYS[way] | rescaled


@pytest.mark.parametrize("architecture", KINDS)
def test_compat_gives_the_numbers_of_bert_score(
    architecture: str, make_base: Callable[..., Path], baseline: Path, subtests: pytest.Subtests
) -> None:
    """With the padding of batches of three."""
    path = make_base(architecture)
    for way in ways_of(architecture):
        with subtests.test(way=way):
            options = arguments(way, baseline)
            scorer = own_scorer(path, compat="bert_score", batch_size=3, **options)
            original = reference_scorer(path, **options)
            for refs in [FIRST] if "all" in way else [FIRST, REFERENCES]:
                scores = scorer.score(CANDIDATES, refs)
                assert_equal(scores, reference_scores(original, CANDIDATES, refs, 3))
                assert scores[2].max() - scores[2].min() > 0.01  # there is something to tell apart


@pytest.mark.parametrize("architecture", KINDS)
def test_the_default_gives_the_numbers_of_bert_score_without_padding(
    architecture: str, make_base: Callable[..., Path], baseline: Path, subtests: pytest.Subtests
) -> None:
    """One text and one pair a batch leave bert-score nothing to pad, and so no other to look at."""
    path = make_base(architecture)
    for way in ways_of(architecture):
        if "all" in way and architecture in WITH_FINAL_NORM:
            continue  # bert-score's inner layers lack the norm: see below
        with subtests.test(way=way):
            options = arguments(way, baseline)
            scorer, original = own_scorer(path, **options), reference_scorer(path, **options)
            give_specials_no_weight(original, options)
            assert_equal(scorer.score(CANDIDATES, FIRST), reference_scores(original, CANDIDATES, FIRST))
            if "all" not in way:
                expected = reference_scores(original, CANDIDATES, REFERENCES)
                assert_equal(scorer.score(CANDIDATES, REFERENCES)[2:], expected[2:])


def give_specials_no_weight(original: Any, options: dict[str, Any]) -> None:
    """bert-score knows [CLS] and [SEP] only; T5 ends with </s>. Counted by idf, it has no weight in any case."""
    if "idf" not in options and original._tokenizer.sep_token_id is None:
        original._idf, original._idf_dict = True, defaultdict(lambda: 1.0, {original._tokenizer.eos_token_id: 0.0})


def test_each_of_all_layers_is_the_layer_alone(make_base: Callable[..., Path], subtests: pytest.Subtests) -> None:
    """With several references, too, where bert-score takes the maximum over layers for one over references."""
    for architecture in KINDS:
        with subtests.test(architecture=architecture):
            path = make_base(architecture)
            stacked = own_scorer(path, all_layers=True, **IDF).score(CANDIDATES, REFERENCES)
            for layer in range(LAYERS + 1):
                alone = own_scorer(path, num_layers=layer, **IDF).score(CANDIDATES, REFERENCES)
                assert_equal([part[layer] for part in stacked], alone)
            original = reference_scorer(path, num_layers=2, all_layers=True, **IDF)
            with pytest.raises((IndexError, RuntimeError)):  # there are more pairs than layers
                reference_scores(original, CANDIDATES, REFERENCES)


def test_inner_layers_of_bert_score_lack_the_final_norm(
    make_base: Callable[..., Path], subtests: pytest.Subtests
) -> None:
    """In its all_layers, that is: cut at the layer, a model applies its norm, and compat repeats both."""
    for architecture in WITH_FINAL_NORM:
        with subtests.test(architecture=architecture):
            path = make_base(architecture)
            raw = own_scorer(path, all_layers=True, compat="bert_score").score(CANDIDATES, FIRST)
            cut = own_scorer(path, num_layers=1, compat="bert_score").score(CANDIDATES, FIRST)
            last = own_scorer(path, num_layers=LAYERS, compat="bert_score").score(CANDIDATES, FIRST)
            assert (raw[2][1] - cut[2]).abs().max() > 1e-3
            assert_equal([part[LAYERS] for part in raw], last)


@pytest.mark.parametrize("way", ["embeddings", "middle", "idf, rescaled", "all"])
def test_the_starter_gives_the_numbers_of_bert_score(starter_folder: Path, baseline: Path, way: str) -> None:
    options = arguments(way, baseline)
    cands, refs = [*CANDIDATES, "Это предложение написано по-русски."], [*FIRST, "北京是中国的首都。"]
    original = reference_scorer(starter_folder, **options)
    for compat, batch_size in (("bert_score", 8), (None, 1)):
        for runtime in ("torch", "openvino") if way == "middle" else ("torch",):
            scorer = own_scorer("starter", compat=compat, batch_size=batch_size, runtime=runtime, **options)
            assert_equal(scorer.score(cands, refs), reference_scores(original, cands, refs, batch_size))


def test_runtimes_agree(make_base: Callable[..., Path], subtests: pytest.Subtests) -> None:
    odd = ["Berlin and London. " * 60, "", "Paris"]  # over the limit; nothing; the shortest
    kinds = cycle([{"num_layers": 0}, {"num_layers": 2}, {"all_layers": True}])
    for layers, architecture in zip(kinds, sorted(ARCHITECTURES), strict=False):
        with subtests.test(layers=layers, architecture=architecture):
            path = make_base(architecture)
            scorers = [own_scorer(path, runtime=runtime, **layers) for runtime in ("torch", "openvino")]
            with pytest.warns(UserWarning, match="2 of 10 pairs"):
                one, other = (scorer.score([*CANDIDATES, *odd], [*FIRST, *odd[::-1]]) for scorer in scorers)
            assert_equal(one, other, 1e-4)
