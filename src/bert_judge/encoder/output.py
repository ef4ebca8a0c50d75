"""What can be read of an encoder: logits, or hidden states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden states of an input's tokens after `layer` layers (0: the embeddings), or of all layers (None).

    Models that end with a norm (T5, mBART, ModernBERT, EuroBERT) apply it to a layer that they are cut at. Of all
    layers it is applied to each, so that a layer is the same in both ways, unless `final_norm` is False: then the
    inner layers are as they are within the model.
    """

    layer: int | None
    final_norm: bool = True

    def __str__(self) -> str:
        if self.layer is not None:
            return f"layer{self.layer}"
        return "layers" if self.final_norm else "rawlayers"


LOGITS: Final = "logits"
Output = Literal["logits"] | Hidden
"""The logits of a classification head, or hidden states."""
