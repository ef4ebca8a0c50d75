"""The PyTorch modules that runtimes run: token ids in, logits or hidden states out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bert_judge.encoder.engine import LOGITS, Hidden, Output
from bert_judge.encoder.models import count_layers, load_hf_backbone, load_hf_encoder
from bert_judge.errors import ModelError

_HEAD_READS_FIRST_TOKEN = frozenset(["bert", "roberta", "xlm-roberta"])
_FINAL_NORMS = ("final_layer_norm", "final_norm", "layer_norm", "norm")  # T5; ModernBERT; mBART, Pegasus; EuroBERT


class Encoder(nn.Module):
    """Takes the arrays named in `inputs`, each rows by tokens; `read` picks the tensor from the model's output."""

    def __init__(self, model: Any, read: Callable[[Any], torch.Tensor], **flags: bool) -> None:
        super().__init__()
        typed = getattr(model.config, "type_vocab_size", 0) > 1
        self.inputs = ("input_ids", "attention_mask", *(["token_type_ids"] if typed else []))
        self._model, self._read, self._flags = model, read, flags

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Logits as rows by outputs; hidden states as rows by tokens by dimensions, or with layers before the last."""
        return self._read(self._model(**dict(zip(self.inputs, inputs, strict=True)), **self._flags))

    def avoid_empty_attention(self) -> None:
        """Use plain attention in models with sliding windows (ModernBERT).

        There, padding far from any token attends to nothing, of which OpenVINO's fused attention makes NaN.
        """
        if "sliding_attention" in (getattr(self._model.config, "layer_types", None) or ()):
            self._model.set_attn_implementation("eager")


def make_encoder(folder: Path, output: Output, trust_remote_code: bool) -> Encoder:
    """Load the model of a folder in float32, for one kind of output."""
    if output == LOGITS:
        model = first_token_only(load_hf_encoder(str(folder), trust_remote_code, "float32"))
        return Encoder(model, lambda output: output.logits)
    model = load_hf_backbone(str(folder), trust_remote_code, "float32")
    if output.layer is None:
        return Encoder(model, _all_layers(model, output), output_hidden_states=True)
    if output.layer == 0 and model.config.model_type == "deberta-v2":  # transformers fails where it has no layer
        cut_layers(model, 1)
        return Encoder(model, lambda output: output.hidden_states[0], output_hidden_states=True)
    cut_layers(model, output.layer)
    return Encoder(model, lambda output: output.last_hidden_state)


def first_token_only(model: Any) -> Any:
    """If the head reads only the first token, compute only that token in the last layer: the same logits for less.

    The attention still sees every token. In a model of six layers this saves a tenth of the arithmetic, also in
    training, since the rest of the last layer has no gradient.
    """

    def first(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(hidden[:, :1] for hidden in inputs)

    if model.config.model_type in _HEAD_READS_FIRST_TOKEN:
        model.base_model.encoder.layer[-1].attention.output.register_forward_pre_hook(first)
    return model


def cut_layers(model: Any, layer: int) -> None:
    """Drop the layers after `layer`; what the model does after its last layer (a norm, say) then follows `layer`."""
    layers = count_layers(model.config.to_dict())
    architecture = model.config.model_type
    if architecture == "albert":  # one layer, run again and again
        model.encoder.config.num_hidden_layers = layer
    elif architecture in ("xlm", "flaubert"):  # each part of a layer is in its own list
        model.n_layers = layer
    else:
        stacks = (
            (parent, name, child)
            for parent in model.modules()
            for name, child in parent.named_children()
            if isinstance(child, nn.ModuleList) and len(child) == layers
        )
        parent, name, stack = next(stacks, (None, "", None))
        if parent is None or stack is None:
            raise ModelError(
                f"the layers of the architecture {architecture!r} were not found in its module; use another model."
            )
        setattr(parent, name, stack[:layer])


def _all_layers(model: Any, output: Hidden) -> Callable[[Any], torch.Tensor]:
    """Stacks the hidden states of all layers, each as if the model were cut there."""
    norm = next((getattr(model, name) for name in _FINAL_NORMS if hasattr(model, name)), None)

    def read(model_output: Any) -> torch.Tensor:
        *inner, last = model_output.hidden_states  # the model has applied its norm to the last one
        if norm is not None and output.final_norm:
            inner = [norm(hidden) for hidden in inner]
        return torch.stack([*inner, last], dim=2)

    return read
