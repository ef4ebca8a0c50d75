"""The names of the paper's package that scripts import, called as they are there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bert_judge.errors import InputError, MissingExtraError
from bert_judge.generators import GeneratorOptions, HFGenerator, vLLMGenerator
from bert_judge.generators.base import Sampling
from bert_judge.utils import get_dataset_config_names, load_dataset_dict


def test_data_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets import Dataset, DatasetDict

    rows = Dataset.from_list([{"q": "x"}, {"q": "y"}])
    for config in ("one", "two"):
        DatasetDict({"train": rows, "test": rows.select([0])}).save_to_disk(tmp_path / "saved" / config)
        rows.save_to_disk(tmp_path / "local" / "split" / config / "test")
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path / "local"))
    assert get_dataset_config_names(str(tmp_path / "saved")) == get_dataset_config_names("org/split") == ["one", "two"]
    configs = load_dataset_dict(str(tmp_path / "saved"), ["one", "two"])
    assert {name: {split: len(part) for split, part in splits.items()} for name, splits in configs.items()} == {
        "one": {"train": 2, "test": 1},
        "two": {"train": 2, "test": 1},
    }
    assert len(load_dataset_dict("org/split", "one", ["test"])["one"]["test"]) == 2


def test_generators_take_the_papers_settings(chat_model: Path) -> None:
    prompts = ["Paris", "What is the capital of France?", "Why?"]
    settings = {"trust_remote_code": True, "dtype": "float32", "enable_thinking": False, "think_token": "</think>"}
    generator = HFGenerator(model_path=str(chat_model), max_tokens=6, temperature=0, top_p=1.0, top_k=-1, **settings)
    replies = generator.generate(prompts, batch_size=2)
    options = GeneratorOptions(trust_remote_code=True, dtype="float32", enable_thinking=False)
    assert replies == HFGenerator(str(chat_model), Sampling(max_tokens=6), options).generate(prompts)
    assert replies == generator.generate(prompts)
    with pytest.raises(InputError, match="'max_token' is not a setting of a generator"):
        HFGenerator(str(chat_model), max_token=6)
    with pytest.raises(MissingExtraError, match="vllm"):
        vLLMGenerator(model_path=str(chat_model), tensor_parallel_size=2, max_tokens=6)


def test_an_unknown_name_is_an_attribute_error() -> None:
    for module in ("utils", "generators"):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = sys.modules[f"bert_judge.{module}"].nothing
