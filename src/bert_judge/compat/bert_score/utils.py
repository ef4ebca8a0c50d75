"""The functions of `bert_score.utils` that other packages call, on PyTorch, for a model and tokenizer of transformers.

They give what bert-score's give: ids and embeddings of texts, idf weights, and the greedy matching with its defects
(padding is a token with similarity 0, a text of two tokens is empty). `device=None` is the model's own.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

import torch
from torch import Tensor
from transformers import AutoTokenizer

from bert_judge.bertscore.defaults import default_model, known_figures
from bert_judge.bertscore.scorer import get_hash as get_hash
from bert_judge.encoder.models import find_model, load_hf_backbone, quiet_transformers
from bert_judge.encoder.torch_runtime import cut_layers

__version__ = "0.3.12"  # what bert-score 0.3.13 calls itself, in its hashes too

lang2model: defaultdict[str, str] = defaultdict(
    lambda: default_model("", any_language=True), known_figures()["languages"]
)
model2layers: dict[str, int] = dict(known_figures()["layers"])
model_types = list(model2layers)

_NO_LIMIT = 1 << 24  # tokenizers without a limit have 1e30
_PREFIXED = ("Roberta", "GPT2")  # tokenizers that read a text as if a space stood before it


def cache_scibert(model_type: str, cache_folder: str = "") -> str:
    """The name of a model; the short names of SciBERT, whose files bert-score fetched itself, are those of the Hub."""
    owners = {"scibert-scivocab": "allenai", "scibert-basevocab": "nfliu"}
    owner = next((name for start, name in owners.items() if model_type.startswith(start)), None)
    return f"{owner}/{model_type.replace('-', '_')}" if owner else model_type


def get_tokenizer(model_type: str, use_fast: bool = False) -> Any:
    """The tokenizer of a model."""
    with quiet_transformers():
        return AutoTokenizer.from_pretrained(find_model(cache_scibert(model_type)), use_fast=use_fast)


def get_model(model_type: str, num_layers: int, all_layers: bool | None = None) -> Any:
    """The encoder of a model, in float32, cut after `num_layers` unless all layers are wanted."""
    model = load_hf_backbone(cache_scibert(model_type), dtype="float32")
    if not all_layers:
        cut_layers(model, num_layers)
    return model


def sent_encode(tokenizer: Any, sent: str) -> list[int]:
    """The ids of a text, special tokens included, at most as many as the tokenizer's limit."""
    text = sent.strip()
    if text and any(name in type(tokenizer).__name__ for name in _PREFIXED):
        text = f" {text}"
    limited = tokenizer.model_max_length < _NO_LIMIT
    limits = {"truncation": True, "max_length": tokenizer.model_max_length} if limited else {}
    return list(tokenizer.encode(text, add_special_tokens=True, **limits))


def process(a: Any, tokenizer: Any = None) -> set[int]:
    """The distinct ids of a text, or of ids where there is no tokenizer."""
    return set(a if tokenizer is None else sent_encode(tokenizer, a))


def get_idf_dict(arr: Sequence[str], tokenizer: Any, nthreads: int = 4) -> defaultdict[int, float]:
    """The weight of each id: log((texts + 1) / (texts with it + 1)). `nthreads` changes nothing."""
    counts = Counter(token for text in arr for token in process(text, tokenizer))
    weights: defaultdict[int, float] = defaultdict(lambda: log(len(arr) + 1))
    weights.update({token: log((len(arr) + 1) / (count + 1)) for token, count in counts.items()})
    return weights


def padding(arr: Sequence[Sequence[Any]], pad_token: Any, dtype: torch.dtype = torch.long) -> tuple[Tensor, ...]:
    """Rows filled up to the longest, as (rows by longest, lengths, mask)."""
    lengths = torch.tensor([len(row) for row in arr])
    mask = (torch.arange(int(lengths.max())) < lengths[:, None]).long()
    padded = torch.full(mask.shape, pad_token, dtype=dtype)
    padded[mask.bool()] = torch.tensor([value for row in arr for value in row], dtype=dtype)
    return padded, lengths, mask


def collate_idf(
    arr: Sequence[str], tokenizer: Any, idf_dict: Mapping[int, float], device: Any = None
) -> tuple[Tensor, ...]:
    """Texts as (ids, weights, lengths, mask), each row filled up to the longest."""
    ids = [sent_encode(tokenizer, text) for text in arr]
    padded, lengths, mask = padding(ids, tokenizer.pad_token_id)
    weights = padding([[idf_dict[token] for token in row] for row in ids], 0.0, torch.float)[0]
    return padded.to(device), weights, lengths.to(device), mask.to(device)


def bert_encode(model: Any, x: Tensor, attention_mask: Tensor, all_layers: bool = False) -> Tensor:
    """Embeddings as rows by tokens by dimensions, or rows by tokens by layers by dimensions."""
    model.eval()
    with torch.no_grad():
        outputs = model(x, attention_mask=attention_mask, output_hidden_states=all_layers)
    return torch.stack(outputs.hidden_states, dim=2) if all_layers else outputs[0]


def get_bert_embedding(
    all_sens: Sequence[str],
    model: Any,
    tokenizer: Any,
    idf_dict: Mapping[int, float],
    batch_size: int = -1,
    device: Any = None,
    all_layers: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """(embeddings, mask, weights) of texts, computed in batches (-1: all in one)."""
    ids, weights, _, mask = collate_idf(all_sens, tokenizer, idf_dict, device or model.device)
    size = len(ids) if batch_size == -1 else batch_size
    parts = zip(torch.split(ids, size), torch.split(mask, size), strict=True)
    return torch.cat([bert_encode(model, *part, all_layers=all_layers) for part in parts]), mask, weights


def greedy_cos_idf(
    ref_embedding: Tensor,
    ref_masks: Tensor,
    ref_idf: Tensor,
    hyp_embedding: Tensor,
    hyp_masks: Tensor,
    hyp_idf: Tensor,
    all_layers: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """(P, R, F1) of rows of candidates ("hyp") and references, each by row, or by layer and row.

    Embeddings are as `bert_encode` gives them, masks and weights rows by tokens.
    """
    layers = [part if all_layers else part.unsqueeze(2) for part in (hyp_embedding, ref_embedding)]
    hyp, ref = (torch.nn.functional.normalize(part, dim=-1, eps=0).transpose(1, 2) for part in layers)
    pairs = hyp_masks.float()[:, None, :, None] * ref_masks.float()[:, None, None, :]
    similarity = hyp @ ref.transpose(2, 3) * pairs.to(hyp.device)
    shares = [weights / weights.sum(dim=1, keepdim=True) for weights in (hyp_idf, ref_idf)]
    hyp_share, ref_share = (share.to(hyp.device)[:, None, :] for share in shares)
    precision = (similarity.amax(dim=3) * hyp_share).sum(dim=2)
    recall = (similarity.amax(dim=2) * ref_share).sum(dim=2)
    f1 = 2 * precision * recall / (precision + recall)
    for name, masks in (("candidate", hyp_masks), ("reference", ref_masks)):
        empty = masks.sum(dim=1).eq(2)[:, None].to(precision.device)
        if empty.any():
            print(f"Warning: Empty {name} sentence detected; its scores are 0.", file=sys.stderr)  # noqa: T201
            precision, recall = precision.masked_fill(empty, 0.0), recall.masked_fill(empty, 0.0)
    f1 = f1.masked_fill(f1.isnan(), 0.0)
    scores = tuple(part.T if all_layers else part[:, 0] for part in (precision, recall, f1))
    return scores[0], scores[1], scores[2]


def bert_cos_score_idf(
    model: Any,
    refs: Sequence[str],
    hyps: Sequence[str],
    tokenizer: Any,
    idf_dict: Mapping[int, float],
    verbose: bool = False,
    batch_size: int = 64,
    device: Any = None,
    all_layers: bool = False,
) -> Tensor:
    """P, R and F1 of candidates ("hyps") and references: rows by 3, or layers by rows by 3, on the CPU.

    Each distinct text is encoded once, the longest first; `verbose` changes nothing.
    """
    texts = sorted(dict.fromkeys([*refs, *hyps]), key=lambda text: len(text.split(" ")), reverse=True)
    known: dict[str, tuple[Tensor, Tensor]] = {}
    for start in range(0, len(texts), batch_size):
        batch = texts[start : start + batch_size]
        embeddings = get_bert_embedding(batch, model, tokenizer, idf_dict, device=device, all_layers=all_layers)
        for text, embedding, mask, weights in zip(batch, *(part.cpu() for part in embeddings), strict=True):
            length = int(mask.sum())
            known[text] = embedding[:length], weights[:length]
    scores = [
        torch.stack(
            greedy_cos_idf(
                *_stacked(known[text] for text in refs[start : start + batch_size]),
                *_stacked(known[text] for text in hyps[start : start + batch_size]),
                all_layers,
            ),
            dim=-1,
        )
        for start in range(0, len(refs), batch_size)
    ]
    return torch.cat(scores, dim=1 if all_layers else 0)


def _stacked(texts: Iterable[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings, mask and weights of texts, filled up to the longest."""
    embeddings, weights = zip(*texts, strict=True)
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones(len(row), dtype=torch.long) for row in weights], batch_first=True)
    return pad(list(embeddings), batch_first=True, padding_value=2.0), mask, pad(list(weights), batch_first=True)
