"""What the `utils` of the paper's package have besides ours, and its base of generators; each thin over ours.

`from bert_judge.utils import parse_tasks` finds them as well, and `from bert_judge.generators import BaseGenerator`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.artifacts import format_number, model_folder, read_list, settings_suffix
from bert_judge.errors import InputError, MissingExtraError
from bert_judge.generators import split_trace
from bert_judge.generators.hf import load_language_model
from bert_judge.models import choose_device, fastest_dtype, find_model, load_config, quiet_transformers
from bert_judge.tasks import TaskFunction, discover
from bert_judge.types import Sampling
from bert_judge.utils import find_dataset

if TYPE_CHECKING:
    import torch

__all__ = [
    "BaseGenerator",
    "build_output_model_name",
    "discover_task_functions",
    "format_number",
    "get_model_name",
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
    """A JSON list from a file. Raises InputError where it is none."""
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
    """A model's name with what sets it apart in paths: reasoning, sampling, instruction, metric."""
    plain = Sampling()
    sampling = Sampling(
        temperature=plain.temperature if temperature is None else temperature,
        top_p=plain.top_p if top_p is None else top_p,
        top_k=plain.top_k if top_k is None else top_k,
        min_p=plain.min_p if min_p is None else min_p,
        presence_penalty=plain.presence_penalty if presence_penalty is None else presence_penalty,
        max_tokens=plain.max_tokens if max_tokens is None else max_tokens,
    )
    more = [name for name in (instruction_type, metric) if name and name != "soft"]
    return "_".join([model_name + settings_suffix(sampling, enable_thinking or None), *more])


def resolve_dataset_path(path: str) -> str:
    """Where a data set lies on the disk, or its name on the Hub."""
    return str(find_dataset(path) or path)


def resolve_model_path(path: str) -> str:
    """The place of a model in `LOCAL_MODELS_DIR`, if that is set and the path is no place itself."""
    local = os.environ.get("LOCAL_MODELS_DIR")
    return path if local is None or Path(path).exists() else str(Path(local) / path.split("/")[-1])


def resolve_torch_dtype(dtype: str | torch.dtype) -> str | torch.dtype:
    """The type of PyTorch of a name; "auto" stays. Raises InputError for a name that is none."""
    import torch

    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype != "auto" and not isinstance(found, torch.dtype):
        raise InputError(f"dtype is {dtype!r}; 'auto' or a type of PyTorch such as 'bfloat16' was expected.")
    return "auto" if dtype == "auto" else found  # type: ignore[return-value]


def load_hf_tokenizer(path: str, trust_remote_code: bool = False) -> Any:
    """The tokenizer of a model."""
    from transformers import AutoTokenizer

    with quiet_transformers():
        return AutoTokenizer.from_pretrained(find_model(path, trust_remote_code), trust_remote_code=trust_remote_code)


def load_hf_generator(path: str, trust_remote_code: bool = False, dtype: str | torch.dtype = "bfloat16") -> Any:
    """A causal language model. Raises ModelError where it can't be loaded."""
    folder = find_model(path, trust_remote_code)
    config = load_config(folder, trust_remote_code)
    name = fastest_dtype(choose_device("auto")) if dtype == "auto" else str(dtype).removeprefix("torch.")
    return load_language_model(folder, config, name)


def load_vllm_generator(
    path: str, trust_remote_code: bool = False, dtype: str = "bfloat16", tensor_parallel_size: int = 1
) -> Any:
    """vLLM's own object for a language model. Raises MissingExtraError without vLLM."""
    try:
        from vllm import LLM
    except ImportError as error:
        raise MissingExtraError("load_vllm_generator", "vllm", "vllm") from error
    folder = find_model(path, trust_remote_code)
    return LLM(str(folder), trust_remote_code=trust_remote_code, dtype=dtype, tensor_parallel_size=tensor_parallel_size)


class BaseGenerator:
    """What generators of one's own are derived from in the paper's package: settings as attributes, and a tokenizer.

    A derived class defines `generate(prompts) -> list[str]`. One for our pipeline derives from
    `bert_judge.generators.Generator`.
    """

    def __init__(
        self,
        model_path: str,
        trust_remote_code: bool = False,
        dtype: str = "bfloat16",
        enable_thinking: bool = False,
        think_token: str = "</think>",
        temperature: float = 0,
        top_p: float = 1.0,
        top_k: int = -1,
        min_p: float = 0.0,
        presence_penalty: float = 0.0,
        max_tokens: int = 2048,
    ) -> None:
        self.model_path, self.trust_remote_code, self.dtype = model_path, trust_remote_code, dtype
        self.enable_thinking, self.think_token = enable_thinking, think_token
        self.temperature, self.top_p, self.top_k, self.min_p = temperature, top_p, top_k, min_p
        self.presence_penalty, self.max_tokens = presence_penalty, max_tokens
        self.tokenizer = load_hf_tokenizer(model_path, trust_remote_code)
        self.tokenizer.truncation_side = "left"
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token_id = self.tokenizer.eos_token_id

    def _apply_chat_template(self, prompts: Sequence[str]) -> list[str]:
        """Each prompt as the user's turn of a chat, where the tokenizer has a template."""
        if not self.tokenizer.chat_template:
            return list(prompts)
        render: Callable[..., str] = self.tokenizer.apply_chat_template
        thinks = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": self.enable_thinking}
        return [render([{"role": "user", "content": prompt}], **thinks) for prompt in prompts]

    def _extract_answers(self, outputs: Sequence[str]) -> list[str]:
        """What stands behind the reasoning trace of each reply; all of it, if the trace never ends."""
        answers = (split_trace(output, self.think_token)[1] for output in outputs)
        return [output.strip() if answer is None else answer for output, answer in zip(outputs, answers, strict=True)]
