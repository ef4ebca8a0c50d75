"""Attention for training in bfloat16 on a processor."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

_NAME = "products_of_matrices"


def use_plain_attention(model: Any) -> None:
    """Have a model compute attention as plain products of matrices, instead of by PyTorch's fused kernel.

    On a processor that kernel takes two to four times as long in bfloat16, mostly for the gradient. The plain products
    hold all attention weights of a layer at once, which grow with the square of the length. Models that have no fused
    attention stay as they are.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    if model.config._attn_implementation == "sdpa":
        AttentionInterface.register(_NAME, _attend)
        AttentionMaskInterface.register(_NAME, eager_mask)
        model.set_attn_implementation(_NAME)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """What transformers asks of an attention: rows by heads by tokens by dimensions in, heads after tokens out."""
    groups = query.shape[1] // key.shape[1]  # heads that share a key
    if groups > 1:
        key, value = (each.repeat_interleave(groups, dim=1) for each in (key, value))
    weights = (query * (scaling or query.shape[-1] ** -0.5)) @ key.transpose(2, 3)
    if attention_mask is not None:
        lowest = torch.finfo(weights.dtype).min  # the mask's own is infinite in a shorter type
        weights = weights + attention_mask.clamp(min=lowest).to(weights.dtype)
    weights = functional.dropout(weights.softmax(-1), dropout, module.training)
    return (weights @ value).transpose(1, 2).contiguous(), None
