"""Streams that say how far they were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class CountedStream(Generic[T]):
    """An iterator over `items` that counts in `read` how many were taken."""

    def __init__(self, items: Iterable[T]) -> None:
        self.read = 0
        self._items = iter(items)

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        item = next(self._items)
        self.read += 1
        return item
