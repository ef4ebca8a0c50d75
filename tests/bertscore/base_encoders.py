"""Encoders without a head, three layers deep, of every architecture that BERTScore is compared on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from bert_judge import BERTScorer
from bert_judge.encoder.models import quiet_transformers
from conftest import make_tokenizer
from language_models import at_random

EXACT = 1e-5
Scores = Sequence[torch.Tensor]
MakeBase = Callable[..., Path]

_STACK = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48}
_COMMON = {"max_position_embeddings": 130}
_BERT = _STACK | _COMMON
_DEBERTA = _BERT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
_MODERN = {"global_attn_every_n_layers": 2, "local_attention": 16, "reference_compile": False}
_BOTH_SIDES = {"d_model": 32, "encoder_layers": 3, "decoder_layers": 1, **_COMMON}
_BOTH_SIDES |= dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 2)
_BOTH_SIDES |= dict.fromkeys(["encoder_ffn_dim", "decoder_ffn_dim"], 48)
_T5 = {"d_model": 32, "d_kv": 16, "d_ff": 48, "num_layers": 3, "num_heads": 2}


class Kind(NamedTuple):
    """How an architecture is made: its configuration, its kind of tokenizer, and what that puts around a text."""

    config: dict[str, Any]
    tokenizer: str = "bert"  # as tests/conftest.py has them: WordPiece, Unigram ("xlm-roberta") or byte-level BPE
    template: str = "<s> $A </s>"


KINDS = {
    "bert": Kind(_BERT),
    "roberta": Kind(_BERT | {"type_vocab_size": 1}, "roberta"),
    "deberta": Kind(_DEBERTA, "roberta"),
    "deberta-v2": Kind(_DEBERTA, "xlm-roberta"),
    "xlm-roberta": Kind(_BERT | {"type_vocab_size": 1}, "xlm-roberta"),
    "albert": Kind(_BERT | {"embedding_size": 16}, "xlm-roberta"),
    "distilbert": Kind({"dim": 32, "n_layers": 3, "n_heads": 2, "hidden_dim": 48, **_COMMON}),
    "xlnet": Kind({"d_model": 32, "n_layer": 3, "n_head": 2, "d_inner": 48}, "xlm-roberta", "$A </s> <s>"),
    "bart": Kind(_BOTH_SIDES, "roberta"),
    "mbart": Kind(_BOTH_SIDES, "xlm-roberta"),
    "t5": Kind(_T5, "xlm-roberta", "$A </s>"),
    "mt5": Kind(_T5, "xlm-roberta", "$A </s>"),
    "electra": Kind(_BERT | {"embedding_size": 16}),
    "mpnet": Kind(_BERT),
    "modernbert": Kind(_BERT | _MODERN, "roberta"),
    "eurobert": Kind(_STACK | {"num_key_value_heads": 2, "max_position_embeddings": 128}, "roberta"),
    "xlm": Kind({"emb_dim": 32, "n_layers": 3, "n_heads": 2, **_COMMON}),
    "pegasus": Kind(_BOTH_SIDES, "xlm-roberta", "$A </s>"),
    "longformer": Kind(_BERT | {"attention_window": 16, "type_vocab_size": 1}, "roberta"),
    "big_bird": Kind(_BERT | {"attention_type": "original_full"}, "xlm-roberta"),
}
LAYERS = 3
WITH_FINAL_NORM = ("t5", "mt5", "mbart", "modernbert", "eurobert", "pegasus")


def base_maker(tmp_path_factory: pytest.TempPathFactory) -> MakeBase:
    """A function that makes the encoder of an architecture, each once; it takes settings of its configuration, too."""
    folders: dict[str, Path] = {}

    def make(architecture: str, **config: Any) -> Path:
        key = f"{architecture}-{json.dumps(config, sort_keys=True)}"
        if key not in folders:
            folders[key] = tmp_path_factory.mktemp("encoder") / f"tiny-{architecture}"
            save_base_encoder(architecture, folders[key], config)
        return folders[key]

    return make


def save_base_encoder(architecture: str, folder: Path, config: dict[str, Any]) -> None:
    from tokenizers import pre_tokenizers, processors
    from transformers import CONFIG_MAPPING, AutoModel, PreTrainedTokenizerFast

    kind = KINDS[architecture]
    tokenizer = make_tokenizer(kind.tokenizer)
    if architecture == "roberta":  # as its slow tokenizer in bert-score reads a text
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>") if token in kind.template]
    tokenizer.post_processor = processors.TemplateProcessing(single=kind.template, special_tokens=ends)
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
    names |= {"cls_token": "<s>", "sep_token": "</s>"} if "<s>" in kind.template else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=100, **names)
    settings = kind.config | {"pad_token_id": fast.pad_token_id, "vocab_size": len(fast)} | config
    model_config = CONFIG_MAPPING[architecture](**settings)
    at_random(lambda: AutoModel.from_config(model_config)).save_pretrained(folder)
    fast.save_pretrained(folder)


@contextmanager
def quietly() -> Iterator[None]:
    """bert-score and the libraries that it calls in old ways warn of much that is not ours."""
    with quiet_transformers(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def reference_scorer(path: Path, **options: Any) -> Any:
    """bert-score's own, with a model that it is told to find in a folder."""
    with quietly():
        import bert_score

        return bert_score.BERTScorer(str(path), nthreads=0, device="cpu", **options)


def reference_scores(scorer: Any, cands: Sequence[str], refs: Sequence[Any], batch_size: int = 1) -> Scores:
    """P, R and F1 of bert-score; with one text and one pair a batch there is no padding."""
    with quietly():
        return scorer.score(list(cands), list(refs), batch_size=batch_size)


def own_scorer(path: Path | str, **options: Any) -> BERTScorer:
    """Ours, exact; on PyTorch, which needs no conversion."""
    return BERTScorer(str(path), **{"runtime": "torch", "dtype": "float32", **options})


def assert_equal(scores: Scores, expected: Scores, within: float = EXACT) -> None:
    """Equal within a tolerance, float32, and numbers."""
    for one, other in zip(scores, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == torch.float32
        assert one.numpy() == pytest.approx(other.numpy(), abs=within)
        assert one.isfinite().all()
