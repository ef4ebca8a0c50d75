"""From a text to the tokens that BERTScore compares."""

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
# The architectures whose tokenizer is of such a class where the model's files name none.
_PREFIXING_TYPES = frozenset(["roberta", "gpt2", "data2vec-text", "ibert", "roberta-prelayernorm"])


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A tokenised text. `counted` is true for its own tokens and false for those that the tokenizer put around it.

    `cut` is the number of characters that did not fit into the model's input. `unknown`: all its own tokens stand for
    what the model does not know, so that it is the same to the model as any other such text.
    """

    tokens: Tokens
    counted: NDArray[np.bool_]
    cut: int
    unknown: bool


class TextReader:
    """Tokenises texts of at most `limit` tokens; what is longer loses its end.

    A special token that stands in a text is plain text, unless `parse_specials`. With `prefix_space` a text is read as
    if a space stood before it, as RoBERTa's words have it. The tokenizer is this reader's own from here on.
    """

    def __init__(self, tokenizer: Tokenizer, limit: int, prefix_space: bool, parse_specials: bool) -> None:
        tokenizer.no_padding()
        tokenizer.enable_truncation(limit)
        tokenizer.encode_special_tokens = not parse_specials
        self._tokenizer = tokenizer
        self._prefix = " " if prefix_space else ""
        self._unknown = _unknown_ids(tokenizer)
        self.vocabulary = max(tokenizer.get_vocab().values()) + 1  # ids may have gaps

    def read(self, texts: Sequence[str]) -> list[Text]:
        """The tokens of each text."""
        shown = [self._prefix + stripped if (stripped := text.strip()) else "" for text in texts]
        try:
            encodings = self._tokenizer.encode_batch_fast(shown)
        except TypeError:  # half of a surrogate pair, which UTF-8 can't express
            shown = [text.encode(errors="replace").decode() for text in shown]
            encodings = self._tokenizer.encode_batch_fast(shown)
        return [self._text(text, encoding) for text, encoding in zip(shown, encodings, strict=True)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some tokens in a row."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def _text(self, text: str, encoding: Encoding) -> Text:
        counted = np.array(encoding.special_tokens_mask, dtype=np.int8) == 0
        cut = 0
        if encoding.overflowing:  # rare; encode_batch_fast gives no offsets
            cut = len(text) - max(end for _, end in self._tokenizer.encode(text).offsets)
        tokens = [token for token, own in zip(encoding.ids, counted, strict=True) if own]
        unknown = bool(tokens) and self._unknown.issuperset(tokens)
        return Text(Tokens(tuple(encoding.ids)), counted, cut, unknown)


def _unknown_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The id of the token for what is not in the vocabulary; none where texts are read by their bytes."""
    name = getattr(tokenizer.model, "unk_token", None)
    number = tokenizer.token_to_id(name) if name else None
    return frozenset() if number is None else frozenset((number,))


def has_prefix_space(folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether bert-score puts a space before a text, as it does for two classes of (slow) tokenizers.

    The class is what the model's files name; where they name none, that of its architecture.
    """
    named = tokenizer_class(folder, config)
    return named in _PREFIXING_CLASSES if named else config.get("model_type") in _PREFIXING_TYPES


def tokenizer_of_bert_score(model: Model) -> tuple[Tokenizer, list[int]]:
    """The tokenizer that transformers makes by its class, and the ids that bert-score gives no weight.

    Some classes build their own rules and leave those of tokenizer.json unread. The ids are of [CLS] and [SEP], and
    of no other special token.
    """
    from transformers import AutoTokenizer

    found = AutoTokenizer.from_pretrained(model.folder)
    ends = [token for token in (found.cls_token_id, found.sep_token_id) if token is not None]
    return getattr(found, "backend_tokenizer", model.tokenizer), ends
