"""Packing inputs of many lengths into batches of few padding tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bert_judge.records import Tokens

T = TypeVar("T")

WINDOW = 1024
"""How many rows are held and sorted by length together, on a processor."""

_SPREAD = 0.9


class Batch(NamedTuple):
    """Inputs of similar length, padded to one: `ids`, `mask` and `types` are int64 arrays of rows by tokens."""

    rows: tuple[int, ...]
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    types: NDArray[np.int64]

    def arrays(self, names: Sequence[str]) -> list[NDArray[np.int64]]:
        """The arrays with these names of the model's inputs."""
        arrays = {"input_ids": self.ids, "attention_mask": self.mask, "token_type_ids": self.types}
        return [arrays[name] for name in names]

    def halves(self) -> tuple[Batch, Batch]:
        """The batch in two, for when it is too large for the memory."""
        middle = len(self.rows) // 2
        return self._part(slice(None, middle)), self._part(slice(middle, None))

    def _part(self, rows: slice) -> Batch:
        return Batch(self.rows[rows], self.ids[rows], self.mask[rows], self.types[rows])


def windows(
    items: Iterable[T], weight: Callable[[T], int], max_weight: int, first: int, last: int
) -> Iterator[list[T]]:
    """Cut a stream into lists of `first` items (so that results come soon), twice as many, and so on up to `last`.

    A list ends early once the weights of its items (characters, say) reach `max_weight`.
    """
    size = first
    window: list[T] = []
    total = 0
    for item in items:
        window.append(item)
        total += weight(item)
        if len(window) == size or total >= max_weight:
            yield window
            window, total, size = [], 0, min(2 * size, last)
    if window:
        yield window


def pack(
    inputs: Sequence[Tokens],
    batch_tokens: int,
    batch_size: int | None,
    pad_id: int,
    multiple: int,
    max_tokens: int,
    at_once: int = 1,
    least: int | None = None,
) -> list[Batch]:
    """Batches of at most `batch_tokens` tokens, padding included, and `batch_size` rows; the longest inputs first.

    Longest first, so that lack of memory shows at once. An input longer than `batch_tokens` is a batch by itself.
    Lengths are rounded up to a multiple of `multiple`, but not above `max_tokens`, where the model's positions end. A
    batch that has `least` tokens (None: is full) ends where inputs are shorter than nine tenths of its longest, to save
    padding. Inputs that would fill fewer than `at_once` batches are divided among that many, to use all cores.
    """
    if at_once > 1:
        tokens = sum(-(-len(tokens.ids) // multiple) * multiple for tokens in inputs)
        batch_tokens = min(batch_tokens, -(-tokens // at_once))
    order = sorted(range(len(inputs)), key=lambda i: (-len(inputs[i].ids), inputs[i].ids))
    batches = []
    start = 0
    while start < len(order):
        longest = len(inputs[order[start]].ids)
        width = max(longest, min(-(-longest // multiple) * multiple, max_tokens))
        count = max(1, min(batch_tokens // width, batch_size or batch_tokens))
        rows = tuple(islice(order, start, start + count))
        enough = -(-(least or batch_tokens) // width)
        short = (place for place in range(enough, len(rows)) if len(inputs[rows[place]].ids) < _SPREAD * width)
        rows = rows[: next(short, len(rows))]
        batches.append(pad(rows, [inputs[i] for i in rows], width, pad_id))
        start += len(rows)
    return batches


def pad(rows: tuple[int, ...], inputs: Sequence[Tokens], width: int, pad_id: int) -> Batch:
    """Inputs as one batch, `width` tokens wide; token types are 0 if an input has none."""
    ids = np.full((len(inputs), width), pad_id, dtype=np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for row, tokens in enumerate(inputs):
        n = len(tokens.ids)
        ids[row, :n] = tokens.ids
        mask[row, :n] = 1
        if tokens.types is not None:
            types[row, :n] = tokens.types
    return Batch(rows, ids, mask, types)
