"""The `utils` of the paper's package, which scripts import; each thin over ours. Nothing of ours imports it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.encoder.devices import choose_device, fastest_dtype
from bert_judge.encoder.models import find_model, load_config, load_hf_encoder, load_language_model
from bert_judge.errors import InputError, import_extra
from bert_judge.generators.base import Sampling
from bert_judge.inputs.datasets import find_dataset, get_dataset_config_names, load_dataset, load_dataset_dict
from bert_judge.paths import format_number, model_folder, settings_suffix
from bert_judge.results import read_list
from bert_judge.tasks import TaskFunction, discover

if TYPE_CHECKING:
    import torch

__all__ = [
    "build_output_model_name",
    "discover_task_functions",
    "find_dataset",
    "format_number",
    "get_dataset_config_names",
    "get_model_name",
    "load_dataset",
    "load_dataset_dict",
    "load_hf_encoder",
    "load_hf_generator",
    "load_hf_tokenizer",
    "load_json_list",
    "load_vllm_generator",
    "parse_tasks",
    "resolve_dataset_path",
    "resolve_model_path",
    "resolve_torch_dtype",
]


def parse_tasks(task_values: Iterable[str]) -> list[str]:
    """The names in texts that separate them by commas."""
    return [name.strip() for value in task_values for name in value.split(",") if name.strip()]


def discover_task_functions(package_name: str = "bert_judge.tasks") -> dict[str, TaskFunction]:
    """The tasks of the files of a package, by name. Raises InputError as `discover` does."""
    return discover(package=package_name)


def load_json_list(path: str | Path) -> list[Any]:
    """A JSON list from a file. Raises InputError where it is not one."""
    return read_list(Path(path), "values")


def get_model_name(model_path: str | Path) -> str:
    """A model's name in paths."""
    return model_folder(str(model_path))


def build_output_model_name(
    model_name: str,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    min_p: float | None = None,
    presence_penalty: float | None = None,
    max_tokens: int | None = None,
    enable_thinking: bool | None = None,
    instruction_type: str | None = None,
    metric: str | None = None,
) -> str:
    """A model's name in paths with its suffixes: reasoning, sampling, instruction, metric."""
    arguments = locals()
    names = [field.name for field in fields(Sampling) if arguments.get(field.name) is not None]
    sampling = Sampling(**{name: arguments[name] for name in names})
    more = [name for name in (instruction_type, metric) if name and name != "soft"]
    return "_".join([model_name + settings_suffix(sampling, enable_thinking or None), *more])


def resolve_dataset_path(path: str) -> str:
    """Where a data set is on the disk, or its name on the Hub."""
    return str(find_dataset(path) or path)


def resolve_model_path(path: str) -> str:
    """The path of a model in `LOCAL_MODELS_DIR`, if that is set and the given path does not exist."""
    local = os.environ.get("LOCAL_MODELS_DIR")
    return path if local is None or Path(path).exists() else str(Path(local) / path.split("/")[-1])


def resolve_torch_dtype(dtype: str | torch.dtype) -> str | torch.dtype:
    """The type of PyTorch with a name; "auto" stays. Raises InputError for another name."""
    import torch

    resolved = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype != "auto" and not isinstance(resolved, torch.dtype):
        raise InputError(f"dtype is {dtype!r}; 'auto' or a type of PyTorch such as 'bfloat16' was expected.")
    return "auto" if dtype == "auto" else resolved  # type: ignore[return-value]


def load_hf_generator(path: str, trust_remote_code: bool = False, dtype: str | torch.dtype = "bfloat16") -> Any:
    """A causal language model. Raises ModelError where it can't be loaded."""
    folder = find_model(path, trust_remote_code)
    config = load_config(folder, trust_remote_code)
    name = fastest_dtype(choose_device("auto")) if dtype == "auto" else str(dtype).removeprefix("torch.")
    return load_language_model(folder, config, name)


def load_hf_tokenizer(path: str, trust_remote_code: bool = False) -> Any:
    """A model's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(find_model(path, trust_remote_code), trust_remote_code=trust_remote_code)


def load_vllm_generator(
    path: str, trust_remote_code: bool = False, dtype: str = "bfloat16", tensor_parallel_size: int = 1
) -> Any:
    """vLLM's own object for a language model. Raises MissingExtraError without vLLM."""
    vllm = import_extra("vllm", "load_vllm_generator", "vllm")
    folder = find_model(path, trust_remote_code)
    return vllm.LLM(
        str(folder), trust_remote_code=trust_remote_code, dtype=dtype, tensor_parallel_size=tensor_parallel_size
    )
