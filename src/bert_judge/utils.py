"""The `utils` of the paper's package: what scripts and files of tasks import. Nothing of ours imports it."""

from typing import Any

from bert_judge.encoder.models import find_model, load_hf_encoder
from bert_judge.inputs.datasets import find_dataset, get_dataset_config_names, load_dataset, load_dataset_dict

__all__ = [
    "find_dataset",
    "get_dataset_config_names",
    "load_dataset",
    "load_dataset_dict",
    "load_hf_encoder",
    "load_hf_tokenizer",
]


def load_hf_tokenizer(path: str, trust_remote_code: bool = False) -> Any:
    """A model's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(find_model(path, trust_remote_code), trust_remote_code=trust_remote_code)
