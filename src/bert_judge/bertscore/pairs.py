"""Scoring a stream of candidates: read, embed each distinct text once, match in batches, keep the best reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bert_judge.bertscore.idf import Weights
from bert_judge.bertscore.matching import Texts, harmonic_mean, match
from bert_judge.bertscore.texts import Text, TextReader
from bert_judge.encoder.batching import windows
from bert_judge.encoder.engine import Engine

Pair = tuple[str, Sequence[str]]
"""A candidate and its references."""

Scores = NDArray[np.float32]
FIRST_WINDOW, WINDOW = 64, 4096  # pairs: a stream gives its first scores soon
_WINDOW_CHARACTERS = 1 << 20
_WINDOW_TOKENS = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class PairScore:
    """What a candidate scored: precision, recall and F1, each an array with a number for each layer (one, or all).

    They are of the same reference, the one (by index) with the best F1; with all layers the best of each layer, and
    `reference` is the last layer's. `truncated` maps "candidate" and "reference", where they did not fit, to the number
    of characters that were cut (of all references). `empty` names the part that has no tokens; its scores are 0 before
    rescaling. `unknown`: the model knows no token of either text, and all such texts are the same to it.
    """

    precision: Scores
    recall: Scores
    f1: Scores
    reference: int
    truncated: Mapping[str, int]
    empty: str | None
    unknown: bool = False


class _Pair(NamedTuple):
    """A candidate and one of its references; `last` says whether it is the last one."""

    candidate: Text
    reference: Text
    last: bool

    def size(self) -> int:
        """How many tokens it has."""
        return len(self.candidate.tokens.ids) + len(self.reference.tokens.ids)


@dataclass(frozen=True, slots=True)
class PairScorer:
    """Scores pairs with an engine that gives hidden states, and a weight for each token of the vocabulary.

    `layers` is the number of layers in the engine's output. `baseline` (layers by P, R, F1) rescales. `defects` repeats
    what bert-score does wrong: its padding in batches of `batch_size` pairs, its weights of special tokens, its
    maxima of P, R and F1 over several references.
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

        The first ones come when `first` pairs are done.
        """
        if self.defects:
            whole = 16 * self.batch_size  # bert-score's batches must not be cut
            stream = windows(self._read(pairs, first), lambda _: 0, 1, whole, whole)
        else:
            stream = windows(self._read(pairs, first), _Pair.size, _WINDOW_TOKENS // self.layers, first, WINDOW)
        group: list[tuple[_Pair, Scores]] = []  # a candidate with each of its references
        for window in stream:
            for pair, scores in zip(window, self._score(window), strict=True):
                group.append((pair, scores))
                if pair.last:
                    yield self._best(group)
                    group = []

    def vectors(self, texts: Sequence[Text]) -> Texts:
        """The token vectors of texts, of length one, for all layers at once (tokens by layers by dimensions)."""
        outputs = self.engine.run([text.tokens for text in texts], self.batch_size)
        flat = np.concatenate(outputs)
        flat = flat.reshape(len(flat), self.layers, flat.shape[-1])
        flat /= np.maximum(np.linalg.norm(flat, axis=-1, keepdims=True), np.finfo(np.float32).tiny)
        lengths = np.array([len(output) for output in outputs])
        starts = np.cumsum(lengths) - lengths
        return Texts(flat, self._text_weights(texts, starts, lengths), starts, lengths)

    def _read(self, pairs: Iterable[Pair], first: int) -> Iterator[_Pair]:
        """Tokenise, each distinct text of a window once."""

        def characters(pair: Pair) -> int:
            return len(pair[0]) + sum(map(len, pair[1]))

        for window in windows(pairs, characters, _WINDOW_CHARACTERS, first, WINDOW):
            texts = list(dict.fromkeys(text for candidate, references in window for text in (candidate, *references)))
            read = dict(zip(texts, self.reader.read(texts), strict=True))
            for candidate, references in window:
                for number, reference in enumerate(references, 1):
                    yield _Pair(read[candidate], read[reference], number == len(references))

    def _score(self, window: Sequence[_Pair]) -> Scores:
        """Precision, recall and F1 of pairs for each layer: pairs by layers by 3."""
        texts = {text.tokens.ids: text for pair in window for text in pair[:2] if text.tokens.ids}
        index = {ids: number for number, ids in enumerate(texts)}
        scores = np.zeros((len(window), self.layers, 3), np.float32)
        full = [row for row, pair in enumerate(window) if pair.candidate.tokens.ids and pair.reference.tokens.ids]
        if not full:
            return scores
        pairs = np.array([[index[text.tokens.ids] for text in window[row][:2]] for row in full])
        all_layers = self.vectors(list(texts.values()))
        for layer in range(self.layers):
            of_layer = all_layers._replace(vectors=np.ascontiguousarray(all_layers.vectors[:, layer]))
            scores[full, layer, :2] = match(of_layer, pairs, self.batch_size if self.defects else None)
        scores[..., 2] = harmonic_mean(scores[..., 0], scores[..., 1])
        if not self.defects:
            scores[..., 2][np.abs(scores[..., 2]) > 1.001] = 0  # precision and recall nearly cancel each other out
            np.clip(scores, -1, 1, out=scores)  # rounding
        empty = [row for row, pair in enumerate(window) if any(map(self._is_empty, pair[:2]))]
        scores[empty, :, : 2 if self.defects else 3] = 0  # bert-score leaves the F1 that such a pair had
        return scores

    def _text_weights(self, texts: Sequence[Text], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Scores:
        """The weights of all tokens, adding up to 1 over each text; where all of a text's would be 0, equal ones."""
        weights = self.weights[np.concatenate([text.tokens.ids for text in texts])]
        if self.defects:
            with np.errstate(invalid="ignore"):  # bert-score divides 0 by 0, too
                parts: Scores = weights / np.add.reduceat(weights, starts).repeat(lengths)
                return parts
        counted = np.concatenate([text.counted for text in texts]).astype(np.float32)
        weights = weights * counted
        weights = np.where((np.add.reduceat(weights, starts) == 0).repeat(lengths), counted, weights)
        sums = np.maximum(np.add.reduceat(weights, starts), np.finfo(np.float32).tiny)  # of an empty text it is 0
        return np.divide(weights, sums.repeat(lengths), dtype=np.float32)

    def _is_empty(self, text: Text) -> bool:
        return len(text.tokens.ids) == 2 if self.defects else not text.counted.any()

    def _best(self, group: Sequence[tuple[_Pair, Scores]]) -> PairScore:
        """The score of a candidate from those with each of its references (references by layers by 3)."""
        all_scores = np.stack([scores for _, scores in group])
        best = all_scores[..., 2].argmax(axis=0)
        found = all_scores.max(axis=0) if self.defects else all_scores[best, np.arange(len(best))]
        if self.baseline is not None:
            found = (found - self.baseline) / (1 - self.baseline)
        precision, recall, f1 = found.T
        candidate, reference, _ = group[best[-1]][0]
        parts = {"candidate": candidate, "reference": reference}
        cut = {"candidate": candidate.cut, "reference": sum(pair.reference.cut for pair, _ in group)}
        return PairScore(
            precision,
            recall,
            f1,
            reference=int(best[-1]),
            truncated={name: count for name, count in cut.items() if count},
            empty=next((name for name, text in parts.items() if self._is_empty(text)), None),
            unknown=candidate.unknown and reference.unknown,
        )
