"""Scoring a stream of candidates: tokenise, embed each distinct text once, match, keep the best reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from bert_judge.bertscore.idf import Weights
from bert_judge.encoder.batching import windows
from bert_judge.encoder.engine import Engine, Model
from bert_judge.encoder.models import tokenizer_config
from bert_judge.records import Tokens

Pair = tuple[str, Sequence[str]]
"""A candidate and its references."""

Scores = NDArray[np.float32]
Vectors = NDArray[np.float32]
FIRST_WINDOW, WINDOW = 64, 4096  # pairs; the first window is small, so that the first scores come soon
_WINDOW_CHARACTERS = 1 << 20
_WINDOW_TOKENS = 1 << 15
_CELLS = 1 << 20  # of similarity matrices, at once
_VALUES = 1 << 22  # of gathered vectors, at once
_PREFIXING_CLASSES = frozenset(["RobertaTokenizer", "GPT2Tokenizer"])
# The architectures whose tokenizer has such a class if the model's files name none.
_PREFIXING_TYPES = frozenset(["roberta", "gpt2", "data2vec-text", "ibert", "roberta-prelayernorm"])


@dataclass(frozen=True, slots=True, eq=False)
class PairScore:
    """Precision, recall and F1 of a candidate, each an array with a number for each layer (one, or all).

    All three are of the reference with the best F1 (for each layer); `reference` is its index (for the last layer).
    `truncated` maps "candidate" and "reference", if they did not fit, to the number of characters cut (of all
    references). `empty` names a part without tokens, which scores 0 before rescaling. `unknown` says that both texts
    consist of unknown tokens, which all look the same to the model.
    """

    precision: Scores
    recall: Scores
    f1: Scores
    reference: int
    truncated: Mapping[str, int]
    empty: str | None
    unknown: bool = False


class _TokenPair(NamedTuple):
    """A candidate and one of its references; `last` says whether it is the last one."""

    candidate: Text
    reference: Text
    last: bool

    def size(self) -> int:
        """The number of tokens."""
        return len(self.candidate.tokens.ids) + len(self.reference.tokens.ids)


@dataclass(frozen=True, slots=True)
class PairScorer:
    """Scores pairs with an engine for hidden states, and a weight for each token of the vocabulary.

    `layers` is the number of layers in the engine's output. `baseline` (layers by P, R, F1) rescales. `defects` repeats
    the mistakes of bert-score: its padding in batches of `batch_size` pairs, its weights of special tokens, and its
    maxima of P, R and F1 over different references.
    """

    engine: Engine
    reader: TextReader
    weights: Weights
    layers: int
    baseline: Scores | None
    batch_size: int
    defects: bool

    def score_each(self, pairs: Iterable[Pair], first: int = FIRST_WINDOW) -> Iterator[PairScore]:
        """The scores of candidates with their references, in order, as a stream in constant memory.

        The first scores come after `first` pairs.
        """
        if self.defects:
            size = 16 * self.batch_size  # a multiple, as bert-score's batches must not be cut
            stream = windows(self._read(pairs, first), lambda _: 0, 1, size, size)
        else:
            stream = windows(self._read(pairs, first), _TokenPair.size, _WINDOW_TOKENS // self.layers, first, WINDOW)
        group: list[tuple[_TokenPair, Scores]] = []  # a candidate with each of its references
        for window in stream:
            for pair, scores in zip(window, self._score(window), strict=True):
                group.append((pair, scores))
                if pair.last:
                    yield self._best(group)
                    group = []

    def embed(self, texts: Sequence[Text]) -> EmbeddedTexts:
        """The token vectors of texts, of length one, with all layers (tokens by layers by dimensions)."""
        outputs = self.engine.run([text.tokens for text in texts], self.batch_size)
        flat = np.concatenate(outputs)
        flat = flat.reshape(len(flat), self.layers, flat.shape[-1])
        flat /= np.maximum(np.linalg.norm(flat, axis=-1, keepdims=True), np.finfo(np.float32).tiny)
        lengths = np.array([len(output) for output in outputs])
        starts = np.cumsum(lengths) - lengths
        return EmbeddedTexts(flat, self._text_weights(texts, starts, lengths), starts, lengths)

    def _read(self, pairs: Iterable[Pair], first: int) -> Iterator[_TokenPair]:
        """Tokenise each distinct text of a window once."""

        def characters(pair: Pair) -> int:
            return len(pair[0]) + sum(map(len, pair[1]))

        for window in windows(pairs, characters, _WINDOW_CHARACTERS, first, WINDOW):
            texts = list(dict.fromkeys(text for candidate, references in window for text in (candidate, *references)))
            tokenised = dict(zip(texts, self.reader.read(texts), strict=True))
            for candidate, references in window:
                for number, reference in enumerate(references, 1):
                    yield _TokenPair(tokenised[candidate], tokenised[reference], number == len(references))

    def _score(self, window: Sequence[_TokenPair]) -> Scores:
        """Precision, recall and F1 of pairs for each layer: pairs by layers by 3."""
        texts = {text.tokens.ids: text for pair in window for text in pair[:2] if text.tokens.ids}
        index = {ids: number for number, ids in enumerate(texts)}
        scores = np.zeros((len(window), self.layers, 3), np.float32)
        full = [row for row, pair in enumerate(window) if pair.candidate.tokens.ids and pair.reference.tokens.ids]
        if not full:
            return scores
        pairs = np.array([[index[text.tokens.ids] for text in window[row][:2]] for row in full])
        all_layers = self.embed(list(texts.values()))
        for layer in range(self.layers):
            of_layer = all_layers._replace(vectors=np.ascontiguousarray(all_layers.vectors[:, layer]))
            scores[full, layer, :2] = match(of_layer, pairs, self.batch_size if self.defects else None)
        scores[..., 2] = harmonic_mean(scores[..., 0], scores[..., 1])
        if not self.defects:
            scores[..., 2][np.abs(scores[..., 2]) > 1.001] = 0  # precision and recall nearly cancel out
            np.clip(scores, -1, 1, out=scores)  # rounding errors
        empty = [row for row, pair in enumerate(window) if any(map(self._is_empty, pair[:2]))]
        scores[empty, :, : 2 if self.defects else 3] = 0  # bert-score leaves the F1 that such a pair had
        return scores

    def _text_weights(self, texts: Sequence[Text], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Scores:
        """The weights of all tokens, adding up to 1 over each text; equal ones if all of a text's would be 0."""
        weights = self.weights[np.concatenate([text.tokens.ids for text in texts])]
        if self.defects:
            with np.errstate(invalid="ignore"):  # bert-score divides 0 by 0, too
                shares: Scores = weights / np.add.reduceat(weights, starts).repeat(lengths)
                return shares
        counted = np.concatenate([text.counted for text in texts]).astype(np.float32)
        weights = weights * counted
        weights = np.where((np.add.reduceat(weights, starts) == 0).repeat(lengths), counted, weights)
        sums = np.maximum(np.add.reduceat(weights, starts), np.finfo(np.float32).tiny)  # 0 for an empty text
        return np.divide(weights, sums.repeat(lengths), dtype=np.float32)

    def _is_empty(self, text: Text) -> bool:
        return len(text.tokens.ids) == 2 if self.defects else not text.counted.any()

    def _best(self, group: Sequence[tuple[_TokenPair, Scores]]) -> PairScore:
        """The score of a candidate from its scores with each of its references."""
        all_scores = np.stack([scores for _, scores in group])  # references by layers by 3
        best = all_scores[..., 2].argmax(axis=0)
        scores = all_scores.max(axis=0) if self.defects else all_scores[best, np.arange(len(best))]
        if self.baseline is not None:
            scores = (scores - self.baseline) / (1 - self.baseline)
        precision, recall, f1 = scores.T
        candidate, reference, _ = group[best[-1]][0]
        texts = {"candidate": candidate, "reference": reference}
        cut = {"candidate": candidate.cut, "reference": sum(pair.reference.cut for pair, _ in group)}
        return PairScore(
            precision,
            recall,
            f1,
            reference=int(best[-1]),
            truncated={name: count for name, count in cut.items() if count},
            empty=next((name for name, text in texts.items() if self._is_empty(text)), None),
            unknown=candidate.unknown and reference.unknown,
        )


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

    The class is named in the model's files, or else ("TokenizersBackend" names none) follows from the architecture.
    """
    name = tokenizer_config(folder).get("tokenizer_class") or config.get("tokenizer_class")
    if name in (None, "TokenizersBackend"):
        return config.get("model_type") in _PREFIXING_TYPES
    return str(name).removesuffix("Fast") in _PREFIXING_CLASSES


def tokenizer_of_bert_score(model: Model) -> tuple[Tokenizer, list[int]]:
    """The tokenizer as transformers makes it by its class, and the ids that bert-score gives no weight.

    Some classes build their own rules instead of reading tokenizer.json. The ids are those of [CLS] and [SEP] alone.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model.folder)
    ends = [token for token in (tokenizer.cls_token_id, tokenizer.sep_token_id) if token is not None]
    return getattr(tokenizer, "backend_tokenizer", model.tokenizer), ends


class EmbeddedTexts(NamedTuple):
    """Token vectors of many texts, one after the other.

    `vectors` have length one, tokens by dimensions. `weights` add up to 1 over each text. Text i has the `lengths[i]`
    tokens from `starts[i]` on.
    """

    vectors: Vectors
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def match(texts: EmbeddedTexts, pairs: NDArray[np.int64], padded_batches: int | None = None) -> NDArray[np.float32]:
    """Precision and recall of pairs (candidate, reference), which are rows of two indices of texts.

    With candidate tokens x̂ and reference tokens x, precision = Σ w(x̂) max x·x̂ and recall = Σ w(x) max x·x̂, the weights
    of a text adding up to 1. Pairs of similar length are matched together, by one matrix product.

    `padded_batches` repeats a defect of bert-score: it takes that many pairs at a time, in their order, and pads them
    with a token whose similarity to all others is 0. If all similarities of a token are negative, the padding wins.
    """
    results = np.empty((len(pairs), 2), np.float32)
    padding = None
    batches = _batches(texts.lengths[pairs], texts.vectors.shape[1])
    if padded_batches:
        padding = len(texts.vectors)
        zero = np.zeros((1, texts.vectors.shape[1]), np.float32)
        texts = texts._replace(vectors=np.concatenate([texts.vectors, zero]))
        order = np.arange(len(pairs))
        batches = (order[start : start + padded_batches] for start in range(0, len(pairs), padded_batches))
    for rows in batches:
        candidates, candidate_weights = _gather(texts, pairs[rows, 0], padding)
        references, reference_weights = _gather(texts, pairs[rows, 1], padding)
        similarity = candidates @ references.transpose(0, 2, 1)
        results[rows, 0] = (similarity.max(axis=2) * candidate_weights).sum(axis=1)
        results[rows, 1] = (similarity.max(axis=1) * reference_weights).sum(axis=1)
    return results


def harmonic_mean(precision: NDArray[np.float32], recall: NDArray[np.float32]) -> NDArray[np.float32]:
    """F1 of precision and recall; 0 where it is undefined (both are 0, or one is NaN)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(2 * precision * recall / (precision + recall), posinf=0, neginf=0)


def _batches(lengths: NDArray[np.int64], dimensions: int) -> Iterator[NDArray[np.int64]]:
    """Rows of pairs of similar length, as many as bounded matrices allow."""
    order = np.lexsort((lengths[:, 0], lengths.max(axis=1)))[::-1]
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]].max())
        count = max(1, min(_CELLS // longest**2, _VALUES // (2 * longest * dimensions)))
        yield order[start : start + count]
        start += count


def _gather(texts: EmbeddedTexts, rows: NDArray[np.int64], padding: int | None) -> tuple[Vectors, NDArray[np.float32]]:
    """The vectors and weights of texts, padded to the longest with the token `padding`, or with their last token.

    Padding has no weight. A repetition of a text's last token doesn't change any maximum either.
    """
    lengths = texts.lengths[rows, None]
    columns = np.arange(lengths.max())
    in_text = columns < lengths
    index = texts.starts[rows, None] + np.minimum(columns, lengths - 1)
    weights = np.where(in_text, texts.weights[index], 0)
    if padding is not None:
        index = np.where(in_text, index, padding)
    return texts.vectors[index], weights
