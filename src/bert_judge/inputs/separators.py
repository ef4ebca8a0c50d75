"""Several references in one text: split at a separator, and noticed where nobody has named one."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Final

_SEPARATORS: Final = (" || ", "||", " | ", "|", "; ", ";", " / ", " or ")  # the longer of two that fit is named
_LONGEST_PART = 60  # characters; what is longer is prose, in which a separator says little
_FEWEST_ROWS, _SHARE = 3, 0.1


def parts_of(text: str, separator: str) -> list[str]:
    """The texts between separators, without those that are blank."""
    return [part.strip() for part in text.split(separator) if part.strip()]


class SeparatorCount:
    """Counts the references that look like several in one text."""

    def __init__(self) -> None:
        self._rows = 0
        self._found = Counter[str]()

    def add(self, references: tuple[str, ...]) -> None:
        """Look at the references of a row; several are split already."""
        self._rows += 1
        if len(references) == 1:
            self._found.update(separator for separator in _SEPARATORS if _splits(references[0], separator))

    def warn(self, name: str) -> None:
        """Warn where many rows of an input, called `name`, have a separator in their reference."""
        if not self._found:
            return
        separator, count = self._found.most_common(1)[0]  # the first of several that are as frequent
        if count >= max(_FEWEST_ROWS, _SHARE * self._rows):
            warnings.warn(
                f"{name}: {count:,} of {self._rows:,} references hold {separator!r} and are read as one answer each; "
                f"if it stands between several right answers, split them with reference_separator={separator!r}.",
                stacklevel=2,
            )


def _splits(text: str, separator: str) -> bool:
    """Whether a text looks like several short ones with a separator between them."""
    if separator not in text:
        return False
    parts = [part.strip() for part in text.split(separator)]
    return all(0 < len(part) <= _LONGEST_PART for part in parts)
