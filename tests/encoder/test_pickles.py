"""Weights that are pickles: refused, converted where that is allowed, and never run."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from bert_judge import BERTJudge
from bert_judge.bertscore import BERTScorer
from bert_judge.encoder.models import load_hf_encoder
from bert_judge.errors import ModelError
from conftest import Command, MakeJudge
from json_lines import EXAMPLES

ANSWERS = (["q", "q"], ["Paris", "It was London."], ["Paris", "Paris"])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BERT_JUDGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def pickled(make_judge: MakeJudge, tmp_path: Path) -> Path:
    """A judge whose weights are a pickle, and beside it the same as safetensors."""
    original = make_judge("bert", seed=3)
    folder = tmp_path / "pickled"
    shutil.copytree(original, folder)
    shutil.copytree(original, tmp_path / "plain")
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_a_pickle_is_refused_then_converted_once(pickled: Path, tmp_path: Path, cache: Path) -> None:
    with pytest.raises(ModelError, match=r"only pytorch_model.bin, a pickle that can run code.*allow_pickle=True"):
        BERTJudge(str(pickled))
    assert not (cache / "converted").exists()
    expected = BERTJudge(str(tmp_path / "plain")).predict(*ANSWERS)
    judge = BERTJudge(str(pickled), allow_pickle=True)
    assert judge.predict(*ANSWERS) == expected
    assert judge.info.name == "pickled"
    assert BERTJudge(str(pickled)).predict(*ANSWERS) == expected  # what was converted is a model like any other
    assert len(list((cache / "converted").iterdir())) == 1
    assert not list((cache / "converted").glob("*/*.bin"))


def test_shards_are_one_model(pickled: Path, tmp_path: Path) -> None:
    weights = torch.load(pickled / "pytorch_model.bin")
    names = sorted(weights)
    for number, shard in enumerate((names[::2], names[1::2]), 1):
        torch.save({name: weights[name] for name in shard}, pickled / f"pytorch_model-0000{number}-of-00002.bin")
    (pickled / "pytorch_model.bin").unlink()
    (pickled / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": {}}))
    expected = BERTScorer(str(tmp_path / "plain"), num_layers=1).score(["Paris"], ["It is Paris"])
    scorer = BERTScorer(str(pickled), num_layers=1, allow_pickle=True)
    assert [part.tolist() for part in scorer.score(["Paris"], ["It is Paris"])] == [part.tolist() for part in expected]


class Attack:
    """What a pickle can do when it is read."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.target,)


@pytest.mark.parametrize("kind", ["torch", "plain"])
def test_code_in_a_pickle_does_not_run(pickled: Path, tmp_path: Path, cache: Path, kind: str) -> None:
    target = tmp_path / "owned"
    content = {"a": Attack(str(target))}
    if kind == "torch":
        torch.save(content, pickled / "pytorch_model.bin")
    else:
        (pickled / "pytorch_model.bin").write_bytes(pickle.dumps(content))
    for options in ({"runtime": "torch"}, {"runtime": "openvino"}, {"trust_remote_code": True}):
        with pytest.raises(ModelError, match=r"pytorch_model.bin.*safetensors"):
            BERTJudge(str(pickled), **options)
    with pytest.raises(ModelError, match="pickle"):
        load_hf_encoder(str(pickled), new_head=True)
    with pytest.raises(ModelError, match=r"can't be converted .*pytorch_model.bin holds more than weights"):
        BERTJudge(str(pickled), allow_pickle=True)
    torch.save({"a": 1}, pickled / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pytorch_model.bin holds more than weights"):
        BERTJudge(str(pickled), allow_pickle=True)
    assert not target.exists()
    assert not (cache / "converted").exists()
    pickle.loads(pickle.dumps(content))
    assert target.exists()  # it would have run


def test_a_changed_file_is_converted_anew(pickled: Path, cache: Path) -> None:
    first = BERTJudge(str(pickled), allow_pickle=True).predict(*ANSWERS)
    weights = torch.load(pickled / "pytorch_model.bin")
    torch.save({name: value * 1.5 for name, value in weights.items()}, pickled / "pytorch_model.bin")
    with pytest.raises(ModelError, match="allow_pickle=True"):
        BERTJudge(str(pickled))
    assert BERTJudge(str(pickled), allow_pickle=True).predict(*ANSWERS) != first
    assert len(list((cache / "converted").iterdir())) == 2


def test_commands_take_the_flag(pickled: Path, command: Command, folder: Path) -> None:
    words = ("score", EXAMPLES, "--judge", pickled, "--limit", 3, "--quiet")
    status, _, error = command(*words)
    assert status == 1
    assert "--allow_pickle" in error
    assert command(*words, "--allow_pickle")[0] == 0
    (folder / "a.txt").write_text("Paris\n")
    words = ("bertscore", "-r", "a.txt", "-c", "a.txt", "-m", pickled, "-l", 1)
    assert command(*words, "--allow_pickle")[0] == 0
