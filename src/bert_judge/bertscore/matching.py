"""Greedy matching of each token with the most similar one of the other text (arXiv 1904.09675, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_CELLS = 1 << 20  # of similarity matrices, at once
_VALUES = 1 << 22  # of gathered vectors, at once


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
