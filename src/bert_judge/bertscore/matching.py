"""Greedy matching: each token of one text with the most similar one of the other (arXiv 1904.09675, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_CELLS = 1 << 20  # of similarity matrices, at once
_VALUES = 1 << 22  # of gathered vectors, at once


class Texts(NamedTuple):
    """Token vectors of many texts, one after the other.

    `vectors` are of length one, tokens by dimensions. `weights` add up to 1 over each text. Text i has the `lengths[i]`
    tokens from `starts[i]` on.
    """

    vectors: Vectors
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def match(texts: Texts, pairs: NDArray[np.int64], padded_batches: int | None = None) -> NDArray[np.float32]:
    """Precision and recall of pairs (candidate, reference), rows of indices of texts.

    With candidate tokens x̂ and reference tokens x, precision = Σ w(x̂) max x·x̂ and recall = Σ w(x) max x·x̂, the weights
    of a text adding up to 1. Pairs are taken in batches of similar length, their similarities in one product.

    `padded_batches` repeats a defect of bert-score: batches are that many pairs in their order, and the padding is a
    token whose similarity to all others is 0. Where all similarities of a token are negative the padding wins, if the
    text is shorter than another one of its batch.
    """
    found = np.empty((len(pairs), 2), np.float32)
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
        found[rows, 0] = (similarity.max(axis=2) * candidate_weights).sum(axis=1)
        found[rows, 1] = (similarity.max(axis=1) * reference_weights).sum(axis=1)
    return found


def harmonic_mean(precision: NDArray[np.float32], recall: NDArray[np.float32]) -> NDArray[np.float32]:
    """F1 of precision and recall; 0 where it is undefined (both are 0, or one is not a number)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(2 * precision * recall / (precision + recall), posinf=0, neginf=0)


def _batches(lengths: NDArray[np.int64], dimensions: int) -> Iterator[NDArray[np.int64]]:
    """Rows of pairs of similar length, so many that their matrices stay within bounds."""
    order = np.lexsort((lengths[:, 0], lengths.max(axis=1)))[::-1]
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]].max())
        count = max(1, min(_CELLS // longest**2, _VALUES // (2 * longest * dimensions)))
        yield order[start : start + count]
        start += count


def _gather(texts: Texts, rows: NDArray[np.int64], padding: int | None) -> tuple[Vectors, NDArray[np.float32]]:
    """The vectors and weights of texts, filled up to the longest with the token `padding`, or with their last token.

    What is filled up has no weight; a token that the text has anyway can't change a maximum.
    """
    lengths = texts.lengths[rows, None]
    columns = np.arange(lengths.max())
    own = columns < lengths
    index = texts.starts[rows, None] + np.minimum(columns, lengths - 1)
    weights = np.where(own, texts.weights[index], 0)
    if padding is not None:
        index = np.where(own, index, padding)
    return texts.vectors[index], weights
