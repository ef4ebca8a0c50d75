"""What the paper's `utils` have, and nothing more: loading data sets and encoders by its names."""

import importlib

from bert_judge.models import load_hf_encoder
from bert_judge.utils.data import (
    find_dataset,
    get_dataset_config_names,
    load_dataset,
    load_dataset_dict,
    quiet_datasets,
)

__all__ = [
    "find_dataset",
    "get_dataset_config_names",
    "load_dataset",
    "load_dataset_dict",
    "load_hf_encoder",
    "quiet_datasets",
]

_PAPERS = frozenset(
    "build_output_model_name discover_task_functions format_number get_model_name "
    "load_hf_generator load_hf_tokenizer load_json_list load_vllm_generator parse_tasks "
    "resolve_dataset_path resolve_model_path resolve_torch_dtype".split()
)


def __getattr__(name: str) -> object:
    """The paper's other names; they stand above this package and are imported when they are asked for."""
    if name in _PAPERS:
        return getattr(importlib.import_module("bert_judge.compat.paper"), name)
    raise AttributeError(f"module 'bert_judge.utils' has no attribute {name!r}")
