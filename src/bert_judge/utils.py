"""The `utils` of the paper's package: what scripts and files of tasks import. Nothing of ours imports it."""

from bert_judge.encoder.models import load_hf_encoder
from bert_judge.generators.paper import load_hf_tokenizer
from bert_judge.inputs.datasets import find_dataset, get_dataset_config_names, load_dataset, load_dataset_dict

__all__ = [
    "find_dataset",
    "get_dataset_config_names",
    "load_dataset",
    "load_dataset_dict",
    "load_hf_encoder",
    "load_hf_tokenizer",
]
