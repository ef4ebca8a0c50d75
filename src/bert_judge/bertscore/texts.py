"""Tokenising texts for BERTScore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from bert_judge.encoder.engine import Model
from bert_judge.encoder.models import tokenizer_class
from bert_judge.records import Tokens

_PREFIXING_CLASSES = frozenset(["RobertaTokenizer", "GPT2Tokenizer"])
# The architectures whose tokenizer has such a class if the model's files name none.
_PREFIXING_TYPES = frozenset(["roberta", "gpt2", "data2vec-text", "ibert", "roberta-prelayernorm"])


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A tokenised text. `counted` is true for the tokens of the text and false for those that the tokenizer added.

    `cut` is the number of characters that did not fit into the model's input. `unknown` says that the text consists of
    unknown tokens, so that it looks like any other such text to the model.
    """

    tokens: Tokens
    counted: NDArray[np.bool_]
    cut: int
    unknown: bool


class TextReader:
    """Tokenises texts; those of more than `limit` tokens lose their end.

    A special token written in a text is plain text, unless `parse_specials`. With `prefix_space` a text is read with a
    space before it, as words have in RoBERTa. The reader changes the settings of `tokenizer`.
    """

    def __init__(self, tokenizer: Tokenizer, limit: int, prefix_space: bool, parse_specials: bool) -> None:
        tokenizer.no_padding()
        tokenizer.enable_truncation(limit)
        tokenizer.encode_special_tokens = not parse_specials
        self._tokenizer = tokenizer
        self._prefix = " " if prefix_space else ""
        unknown = getattr(tokenizer.model, "unk_token", None)  # None if texts are read byte by byte
        self._unknown: int | None = tokenizer.token_to_id(unknown) if unknown else None
        self.vocabulary = max(tokenizer.get_vocab().values()) + 1  # ids may have gaps

    def read(self, texts: Sequence[str]) -> list[Text]:
        """The tokens of each text."""
        stripped = [self._prefix + text.strip() if text.strip() else "" for text in texts]
        try:
            encodings = self._tokenizer.encode_batch_fast(stripped)
        except TypeError:  # half of a surrogate pair, which UTF-8 can't express
            stripped = [text.encode(errors="replace").decode() for text in stripped]
            encodings = self._tokenizer.encode_batch_fast(stripped)
        return [self._text(text, encoding) for text, encoding in zip(stripped, encodings, strict=True)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of consecutive tokens."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def _text(self, text: str, encoding: Encoding) -> Text:
        counted = np.array(encoding.special_tokens_mask, dtype=np.int8) == 0
        cut = 0
        if encoding.overflowing:  # rare; encoded again, since encode_batch_fast gives no offsets
            cut = len(text) - max(end for _, end in self._tokenizer.encode(text).offsets)
        ids = np.array(encoding.ids, dtype=np.int64)[counted]
        unknown = self._unknown is not None and bool(len(ids)) and bool((ids == self._unknown).all())
        return Text(Tokens(tuple(encoding.ids)), counted, cut, unknown)


def has_prefix_space(folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether bert-score puts a space before a text, as it does for two classes of (slow) tokenizers.

    The class is named in the model's files, or else follows from the architecture.
    """
    name = tokenizer_class(folder, config)
    return name in _PREFIXING_CLASSES if name else config.get("model_type") in _PREFIXING_TYPES


def tokenizer_of_bert_score(model: Model) -> tuple[Tokenizer, list[int]]:
    """The tokenizer as transformers makes it by its class, and the ids that bert-score gives no weight.

    Some classes build their own rules instead of reading tokenizer.json. The ids are those of [CLS] and [SEP] alone.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model.folder)
    ends = [token for token in (tokenizer.cls_token_id, tokenizer.sep_token_id) if token is not None]
    return getattr(tokenizer, "backend_tokenizer", model.tokenizer), ends
