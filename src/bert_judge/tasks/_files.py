"""A task from a file: any rows with a question and a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bert_judge.errors import InputError
from bert_judge.sources import ColumnMap, open_source

if TYPE_CHECKING:
    from datasets import Dataset

_ROLES = ("question", "reference")


def from_file(path: str | Path, columns: ColumnMap | None = None) -> Dataset:
    """A dataset with `question` and `reference` from a file, as a task returns it.

    The file is anything that `bert_judge.sources.open_source` reads. `columns` maps "question" and "reference" to its
    columns; a role without one is recognised. References are texts, or lists of texts where some row has several.

    Raises InputError, which names the row and what is wrong with it.
    """
    from datasets import Dataset

    if unknown := set(columns or {}).difference(_ROLES):
        raise InputError(f"the map names {min(unknown)!r}; a task has only a question and a reference.")
    unread = dict.fromkeys(("candidate", "id", "label"), "")
    rows = list(open_source(Path(path).expanduser(), columns={**(columns or {}), **unread}, required=_ROLES))
    several = any(len(row.references) > 1 for row in rows)
    references = [list(row.references) if several else row.references[0] for row in rows]
    return Dataset.from_dict({"question": [row.question for row in rows], "reference": references})
