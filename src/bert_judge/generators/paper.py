"""The base class that users of the paper's package derive their generators from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bert_judge.encoder.models import find_model, quiet_transformers
from bert_judge.reading import split_trace


class BaseGenerator:
    """The base class of generators in the paper's package: settings as attributes, and a tokenizer.

    Subclasses define `generate(prompts) -> list[str]`. For our own pipeline, derive from
    `bert_judge.generators.Generator` instead.
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
        """Each prompt as the user's turn of a chat, if the tokenizer has a template."""
        if not self.tokenizer.chat_template:
            return list(prompts)
        render: Callable[..., str] = self.tokenizer.apply_chat_template
        settings = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": self.enable_thinking}
        return [render([{"role": "user", "content": prompt}], **settings) for prompt in prompts]

    def _extract_answers(self, outputs: Sequence[str]) -> list[str]:
        """The text after the reasoning trace of each reply, or the whole reply if the trace never ends."""
        answers = (split_trace(output, self.think_token)[1] for output in outputs)
        return [output.strip() if answer is None else answer for output, answer in zip(outputs, answers, strict=True)]


def load_hf_tokenizer(path: str, trust_remote_code: bool = False) -> Any:
    """Load a model's tokenizer, as the function of this name in the paper's package."""
    from transformers import AutoTokenizer

    with quiet_transformers():
        return AutoTokenizer.from_pretrained(find_model(path, trust_remote_code), trust_remote_code=trust_remote_code)
