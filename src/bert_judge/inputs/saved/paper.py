"""The `candidates.json` of the paper's package: a list of texts, which only its tasks give questions and references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bert_judge.errors import InputError
from bert_judge.inputs.saved.files import SavedFile
from bert_judge.inputs.values import RawRow


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the first element of a list is a text."""
    return type(record.get("")) is str  # a number, as it is spelled, is another kind of text


def read(file: SavedFile) -> Iterator[RawRow]:
    """Nothing: raises InputError, which says how such candidates are judged."""
    raise InputError(
        f"{file.name} is a list of texts without questions and references, as `generate` and the paper's package write "
        "their candidates; `bert-judge judge` judges it, by the name of its task."
    )
