"""The `candidates.json` of the paper's package: a list of texts, whose questions and references are in its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bert_judge.errors import InputError
from bert_judge.inputs.files import InputFile
from bert_judge.inputs.values import RawRow


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the first element of a list is a text."""
    return type(record.get("")) is str  # not NumberText: a number


def read(file: InputFile) -> Iterator[RawRow]:
    """Raises InputError: such candidates are judged by the name of their task."""
    raise InputError(
        f"{file.name} is a list of texts without questions and references, as `generate` and the paper's package write "
        "their candidates; `bert-judge judge` judges it, by the name of its task."
    )
