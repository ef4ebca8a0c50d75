"""A place in a text, and a word there."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


class Word(NamedTuple):
    """One word of a text: the key it is compared by, and where it stands."""

    key: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The characters of the word."""
        return Span(self.start, self.end)
