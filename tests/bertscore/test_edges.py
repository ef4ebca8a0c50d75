"""What users run into: odd arguments, odd tokenizers, what is cut or rescaled without their noticing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bert_judge import BERTScorer
from bert_judge.encoder.models import STARTER_FOLDER
from bert_judge.errors import InputError
from conftest import Refused


@pytest.fixture(scope="module")
def scorer() -> BERTScorer:
    return BERTScorer(dtype="float32")


def test_a_path_is_a_model(tmp_path: Path, scorer: BERTScorer) -> None:
    folder = Path(shutil.copytree(STARTER_FOLDER, tmp_path / "copy"))
    scores = BERTScorer(folder, dtype="float32").score(["A cat."], ["The cat."])
    assert [part.item() for part in scores] == [part.item() for part in scorer.score(["A cat."], ["The cat."])]


def test_half_characters_are_texts(scorer: BERTScorer) -> None:
    f1 = scorer.score(["abc \ud800", "abc"], ["abc", "abc"])[2]
    assert 0 < f1[0] < 1 == pytest.approx(f1[1].item())


def test_ids_with_gaps(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STARTER_FOLDER, tmp_path / "gaps"))
    raw = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words = raw["model"]["vocab"]
    last = max((word for word in words if word.isalpha() and len(word) > 3), key=words.__getitem__)
    for word in [word for word in words if word.startswith("[unused")]:
        del words[word]
    (folder / "tokenizer.json").write_text(json.dumps(raw), encoding="utf-8")
    (folder / "judge.json").unlink()  # which is of the whole one
    assert words[last] >= len(words)
    assert BERTScorer(str(folder), dtype="float32").score([last], [last])[2].item() == pytest.approx(1, abs=1e-5)


def test_a_reference_that_was_cut_is_told_though_another_one_won(scorer: BERTScorer) -> None:
    pairs = [("A cat sat", ["A cat sat", "cat " * 2000])]
    [score] = scorer.score_each(pairs)
    assert score.reference == 0
    assert score.truncated["reference"] > 4000
    with pytest.warns(UserWarning, match="1 of 1 pairs hold a text of more than 512 tokens"):
        scorer.score([pairs[0][0]], [pairs[0][1]])


def test_a_baseline_that_is_named_is_used(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("LAYER,P,R,F\n" + "".join(f"{layer},0.5,0.5,0.5\n" for layer in range(7)))
    raw = BERTScorer(dtype="float32").score(["A cat."], ["The cat."])[2].item()
    named = BERTScorer(dtype="float32", baseline_path=str(path))
    assert named.rescale_with_baseline
    assert named.score(["A cat."], ["The cat."])[2].item() == pytest.approx((raw - 0.5) / 0.5, abs=1e-5)
    with pytest.raises(InputError, match=r"nofile\.csv can't be read"):
        BERTScorer(baseline_path="nofile.csv")


def test_nothing_exceeds_one(scorer: BERTScorer) -> None:
    texts = ["Paris", "one two three four five six seven", "北京是中国的首都。", "x " * 300]
    assert all(part.max() <= 1 for part in scorer.score(texts, texts))


def test_ids_of_numpy_are_ids(scorer: BERTScorer) -> None:
    plain = {1037: 5.0, 4937: 0.01, 1012: 0.01}
    typed = {np.int64(token): np.float32(weight) for token, weight in plain.items()}
    scores = [BERTScorer(dtype="float32", idf=idf).score(["A cat."], ["The cat."])[2].item() for idf in (plain, typed)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    assert scores[0] != pytest.approx(scorer.score(["A cat."], ["The cat."])[2].item(), abs=1e-2)


def test_bad_arguments_are_told_in_a_sentence(refused: Refused) -> None:
    for options, message in [
        ({"idf": {"a": 1.0}}, "the idf dictionary holds 'a'"),
        ({"idf": {5: "x"}}, "the idf dictionary holds 5: 'x'"),
        ({"idf": {5: -1.0}}, "holds a weight below 0"),
        ({"runtime": "jax"}, "runtime is 'jax'"),
        ({"memory": -1}, "memory is -1; a number of at least 0"),
        ({"lang": "de", "model_type": "starter", "rescale_with_baseline": True}, "is for the language 'en'"),
    ]:
        with refused(match=message, options=options):
            BERTScorer(**options)


def test_lists_that_are_none(scorer: BERTScorer) -> None:
    with pytest.raises(InputError, match="the references are a NoneType"):
        scorer.score(["a"], None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the candidates are a generator"):
        scorer.score((text for text in "ab"), ["a", "b"])  # type: ignore[arg-type]
