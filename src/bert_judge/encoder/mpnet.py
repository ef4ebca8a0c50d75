"""MPNet with token types, which its own architecture lacks: judges read match marks as token types."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import MPNetConfig, MPNetForSequenceClassification


class MarkedMPNetForSequenceClassification(MPNetForSequenceClassification):  # type: ignore[misc]
    """MPNet whose word embeddings have an embedding of each token's type added, before the first norm.

    `config.type_vocab_size` is the number of types. A pretrained encoder has one, zero, which adds nothing.
    """

    def __init__(self, config: MPNetConfig) -> None:
        config.type_vocab_size = getattr(config, "type_vocab_size", 1)
        super().__init__(config)
        self.mpnet.embeddings.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if module is getattr(self.mpnet.embeddings, "token_type_embeddings", None):
            nn.init.zeros_(module.weight)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        **flags: Any,
    ) -> Any:
        """The arguments and outputs are those of transformers; all inputs are rows by tokens."""
        embeddings = self.mpnet.embeddings
        hidden = embeddings.word_embeddings(input_ids)
        if token_type_ids is not None:
            hidden = hidden + embeddings.token_type_embeddings(token_type_ids)
        return super().forward(inputs_embeds=hidden, attention_mask=attention_mask, labels=labels, **flags)
