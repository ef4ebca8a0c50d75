"""Scoring a stream of candidates: tokenise, embed each distinct text once, match, keep the best reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bert_judge.bertscore.idf import Weights
from bert_judge.bertscore.matching import EmbeddedTexts, harmonic_mean, match
from bert_judge.bertscore.texts import Text, TextReader
from bert_judge.encoder.batching import windows
from bert_judge.encoder.engine import Engine

Pair = tuple[str, Sequence[str]]
"""A candidate and its references."""

Scores = NDArray[np.float32]
FIRST_WINDOW, WINDOW = 64, 4096  # pairs; the first window is small, so that the first scores come soon
_WINDOW_CHARACTERS = 1 << 20
_WINDOW_TOKENS = 1 << 15


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
