"""Small language models with random weights: with a chat template that thinks, and for plain text only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TEXTS = [
    "What is the capital of France? The capital of France is Paris, of Germany Berlin, of England London.",
    "Reply with one line and nothing else: Final answer: True, or Final answer: False. The candidate is right.",
]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined %}{% if enable_thinking %}<think>\n{% else %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}{% endif %}"
)


def save_language_model(folder: Path, template: str | None = TEMPLATE, **config: object) -> Path:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    fast = _tokenizer()
    fast.add_tokens(["<think>", "</think>"])
    fast.chat_template = template
    settings = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "max_position_embeddings": 256}
    settings |= {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": len(fast)}
    settings |= {name: getattr(fast, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    model = at_random(lambda: Qwen3ForCausalLM(Qwen3Config(**(settings | config))))
    model.generation_config.update(do_sample=True, temperature=0.3, repetition_penalty=1.5, top_k=2)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def byte_level_tokenizer(texts: Sequence[str], special: list[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _tokenizer() -> Any:
    """A byte-level tokenizer made from a few sentences, with a token before and after a text."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = byte_level_tokenizer(TEXTS, ["<s>", "<|im_start|>", "<|im_end|>", "<|end|>"])
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "<|end|>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A <|end|>", special_tokens=ends)
    tokens = {"bos_token": "<s>", "eos_token": "<|end|>", "pad_token": "<|end|>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **tokens)


def at_random(make: Callable[[], Any], seed: int = 0) -> Any:
    """Weights at random, the norm layers' too, so that no layer is an identity by chance."""
    import torch

    torch.manual_seed(seed)
    model = make()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    return model
