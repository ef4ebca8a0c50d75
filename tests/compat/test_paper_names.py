"""The names of the paper's package that scripts import, called as they are there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bert_judge.errors import InputError, MissingExtraError
from bert_judge.generators import GeneratorOptions, HFGenerator, vLLMGenerator
from bert_judge.generators.base import Sampling
from bert_judge.utils import (
    build_output_model_name,
    discover_task_functions,
    format_number,
    get_dataset_config_names,
    get_model_name,
    load_dataset_dict,
    load_hf_generator,
    load_hf_tokenizer,
    load_json_list,
    load_vllm_generator,
    parse_tasks,
    resolve_dataset_path,
    resolve_model_path,
    resolve_torch_dtype,
)


def test_names_in_paths() -> None:
    assert get_model_name("meta-llama/Llama-3.2-1B-Instruct/") == "Llama_3.2_1B_Instruct"
    assert [format_number(value) for value in (0.7, 1.0, -1, 2048, 1e-05)] == ["0_7", "1", "-1", "2048", "1e-05"]
    sampled = {"temperature": 0.7, "top_p": 0.9, "top_k": -1, "min_p": 0.0, "presence_penalty": 0.0, "max_tokens": 8}
    assert build_output_model_name("m") == build_output_model_name("m", 0.0, max_tokens=8) == "m"
    assert build_output_model_name("m", **sampled) == "m_t0_7_p0_9_k-1_mp0_pp0_mt8"
    assert build_output_model_name("m", enable_thinking=True, instruction_type="strict") == "m_think_strict"
    assert build_output_model_name("m", instruction_type="soft", metric="EM") == "m_EM"


def test_tasks_and_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_tasks(["a,b", " c ", ",d,"]) == ["a", "b", "c", "d"]
    assert {"gsm8k_test", "gpqa_soft", "hendrycks_math_train_strict"} <= discover_task_functions().keys()
    package = tmp_path / "some_tasks"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text("def gsm8k_test():\n    return 5\n\n\ndef _hidden():\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = discover_task_functions("some_tasks")
    assert {name: task() for name, task in found.items()} == {"gsm8k_test": 5}
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "object.json").write_text("{}")
    assert load_json_list(tmp_path / "list.json") == [1, 2]
    for name in ("object.json", "none.json"):
        with pytest.raises(InputError, match=name):
            load_json_list(tmp_path / name)


def test_data_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets import Dataset, DatasetDict

    rows = Dataset.from_list([{"q": "x"}, {"q": "y"}])
    for config in ("one", "two"):
        DatasetDict({"train": rows, "test": rows.select([0])}).save_to_disk(tmp_path / "saved" / config)
        rows.save_to_disk(tmp_path / "local" / "split" / config / "test")
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path / "local"))
    assert resolve_dataset_path("org/split") == str(tmp_path / "local" / "split")
    assert resolve_dataset_path("org/nothing") == "org/nothing"
    assert get_dataset_config_names(str(tmp_path / "saved")) == get_dataset_config_names("org/split") == ["one", "two"]
    found = load_dataset_dict(str(tmp_path / "saved"), ["one", "two"])
    assert {name: {split: len(part) for split, part in each.items()} for name, each in found.items()} == {
        "one": {"train": 2, "test": 1},
        "two": {"train": 2, "test": 1},
    }
    assert len(load_dataset_dict("org/split", "one", ["test"])["one"]["test"]) == 2


def test_models(chat_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("LOCAL_MODELS_DIR", str(chat_model.parent))
    name = f"org/{chat_model.name}"
    assert resolve_model_path(name) == str(chat_model)
    assert resolve_model_path(str(chat_model)) == str(chat_model)
    tokenizer = load_hf_tokenizer(name)
    ids = torch.tensor([tokenizer("Paris")["input_ids"]])
    for dtype in ("float32", torch.float32, "auto"):
        assert load_hf_generator(name, dtype=dtype).generate(ids, max_new_tokens=2, do_sample=False).shape[0] == 1
    assert load_hf_generator(name).dtype == torch.bfloat16 == resolve_torch_dtype("bfloat16")
    assert resolve_torch_dtype(torch.float16) == torch.float16
    assert resolve_torch_dtype("auto") == "auto"
    with pytest.raises(InputError, match="dtype is 'nn'"):
        resolve_torch_dtype("nn")


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
    with pytest.raises(MissingExtraError, match="vllm"):
        load_vllm_generator(str(chat_model))


def test_an_unknown_name_is_an_attribute_error() -> None:
    for module in ("utils", "generators"):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = sys.modules[f"bert_judge.{module}"].nothing
