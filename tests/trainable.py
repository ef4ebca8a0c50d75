"""An encoder that is small enough to train in tests, and rows that it can learn."""

from __future__ import annotations

import random
from pathlib import Path

from bert_judge import Sample
from bert_judge.reading import InputForm
from bert_judge.training import TrainConfig
from conftest import CORPUS, make_tokenizer

CITIES = "Paris London Berlin Moskau Madrid Rom Wien Bern Oslo Riga".split()
FORM = InputForm(forms=("qcr", "cr"), marks=True, references="joined", max_tokens=48)
CONFIG = TrainConfig(
    num_train_epochs=6, batch_size=16, learning_rate=3e-3, dev_share=0.2, evaluations=4, bf16=False, quiet=True, seed=3
)


def rows(count: int = 300) -> list[Sample]:
    """Answers that are right if they name the reference: what match marks show."""
    chance = random.Random(0)
    samples = []
    for n in range(count):
        right, wrong = chance.sample(CITIES, 2)
        candidate = f"It is {right if n % 2 else wrong}."
        samples.append(Sample(candidate, (right,), f"What is the capital of {n % 60}?", gold=n % 2))
    return samples


def save_encoder(folder: Path) -> Path:
    """A BERT as it comes from pretraining: no head, no markers."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    pieces = "quest candi refer".split()  # the markers' names are several tokens
    tokenizer = make_tokenizer("bert", [*CORPUS[:2], *CITIES * 2, *pieces * 2])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(fast), max_position_embeddings=64, pad_token_id=fast.pad_token_id, **sizes)
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
