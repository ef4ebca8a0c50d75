"""Finding and loading models and data sets; nothing heavy is imported before it is needed."""

import importlib

from bert_judge.utils.data import (
    find_dataset,
    get_dataset_config_names,
    load_dataset,
    load_dataset_dict,
    quiet_datasets,
)
from bert_judge.utils.models import (
    STARTER,
    STARTER_FOLDER,
    cache_folder,
    choose_device,
    count_layers,
    fastest_dtype,
    find_model,
    has_native_bf16,
    hash_files,
    load_config,
    load_hf_backbone,
    load_hf_encoder,
    load_tokenizer,
    max_input_tokens,
    quiet_transformers,
    read_config,
    tokenizer_class,
    tokenizer_files,
    tokenizer_limit,
    unlimited_input,
)

__all__ = [
    "STARTER",
    "STARTER_FOLDER",
    "cache_folder",
    "choose_device",
    "count_layers",
    "fastest_dtype",
    "find_dataset",
    "find_model",
    "get_dataset_config_names",
    "has_native_bf16",
    "hash_files",
    "load_config",
    "load_dataset",
    "load_dataset_dict",
    "load_hf_backbone",
    "load_hf_encoder",
    "load_tokenizer",
    "max_input_tokens",
    "quiet_datasets",
    "quiet_transformers",
    "read_config",
    "tokenizer_class",
    "tokenizer_files",
    "tokenizer_limit",
    "unlimited_input",
]

_PAPERS = frozenset(
    "build_output_model_name discover_task_functions format_number get_model_name "
    "load_hf_generator load_hf_tokenizer load_json_list load_vllm_generator parse_tasks "
    "resolve_dataset_path resolve_model_path resolve_torch_dtype".split()
)


def __getattr__(name: str) -> object:
    """What else the paper's `utils` have; it stands above this package and is imported when it is asked for."""
    if name in _PAPERS:
        return getattr(importlib.import_module("bert_judge.compat.paper"), name)
    raise AttributeError(f"module 'bert_judge.utils' has no attribute {name!r}")
