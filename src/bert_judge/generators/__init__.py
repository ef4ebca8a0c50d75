"""Generators: language models that answer prompts, and the table of their backends."""

from __future__ import annotations

from bert_judge.errors import InputError, did_you_mean
from bert_judge.generators.base import BackendGenerator, Generator, GeneratorOptions, KeptGenerator, Sampling
from bert_judge.generators.hf import HFGenerator
from bert_judge.generators.openai import OpenAIGenerator
from bert_judge.generators.vllm import VLLMGenerator

__all__ = [
    "GENERATORS",
    "Generator",
    "GeneratorOptions",
    "HFGenerator",
    "KeptGenerator",
    "OpenAIGenerator",
    "VLLMGenerator",
    "make_generator",
    "vLLMGenerator",
]

vLLMGenerator = VLLMGenerator  # noqa: N816 - the paper's spelling

GENERATORS: dict[str, type[BackendGenerator]] = {
    backend.backend: backend for backend in (HFGenerator, OpenAIGenerator, VLLMGenerator)
}


def make_generator(
    backend: str,
    model_path: str,
    sampling: Sampling | None = None,
    options: GeneratorOptions | None = None,
    choices: int = 0,
) -> Generator:
    """A model on one of `GENERATORS`. Raises InputError for an unknown backend, and what the backend raises."""
    if backend not in GENERATORS:
        raise InputError(f"there is no backend {backend!r}; {did_you_mean(backend, GENERATORS)}")
    return GENERATORS[backend](model_path, sampling, options, choices)
