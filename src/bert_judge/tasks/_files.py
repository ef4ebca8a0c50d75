"""A task out of a file: any rows with a question and a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import InputError
from bert_judge.utils import load_dataset, quiet_datasets

if TYPE_CHECKING:
    from datasets import Dataset

ROLES = ("question", "reference")


def from_file(path: str | Path, columns: Mapping[str, str | Sequence[str]] | None = None) -> Dataset:
    """A dataset with `question` and `reference` out of a file, as a task returns it.

    The file is parquet, JSON, JSON lines or CSV, or a folder of such files or one that `save_to_disk` wrote. `columns`
    maps "question" and "reference" to its columns, or to dotted paths into them ("doc.answer"); a role that it does
    not name is the column of that name. A question is a text; a reference is a text or a list of texts, and the same
    in all rows.

    Raises InputError with the row (from 1) and what is wrong with it.
    """
    unknown = [role for role in columns or {} if role not in ROLES]
    if unknown:
        raise InputError(f"the map names {unknown[0]!r}; a task has only a question and a reference.")
    chosen: dict[str, str] = {}
    for role in ROLES:
        column = (columns or {}).get(role, role)
        if not isinstance(column, str):
            raise InputError(
                f"the map names {len(column)} columns for the {role} ({', '.join(column)}); a task has one."
            )
        chosen[role] = column
    rows = _load(path, chosen)

    def read(row: dict[str, Any], index: int) -> dict[str, Any]:
        found = {role: _lookup(row, column) for role, column in chosen.items()}
        _check(found, f"row {index + 1} of {path}")
        return found

    options = {"remove_columns": rows.column_names, "keep_in_memory": True, "load_from_cache_file": False}
    with quiet_datasets():
        made: Dataset = rows.map(read, with_indices=True, **options)
    return made


def _load(path: str | Path, chosen: Mapping[str, str]) -> Dataset:
    """The rows of a file that has the columns that are chosen."""
    place = Path(path).expanduser().absolute()
    if not place.exists():
        raise InputError(f"there is no file {path}; parquet, JSON lines or CSV with questions was expected.")
    rows = load_dataset(str(place))
    for role, column in chosen.items():
        if not {column, column.split(".")[0]} & set(rows.column_names):
            raise InputError(
                f"{path} has no column {column!r} for the {role}; it has {', '.join(rows.column_names)}. "
                f"Name it with --map {role}=COLUMN."
            )
    if not len(rows):
        raise InputError(f"{path} has no rows; rows with a question and a reference were expected.")
    return rows


def _lookup(row: Mapping[str, Any], column: str) -> Any:
    if column in row:
        return row[column]
    value: Any = row
    for part in column.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _check(found: Mapping[str, Any], where: str) -> None:
    """Refuse a row without a question or a reference, and numbers: 0.10 and 0.1 are one number but two answers."""
    references = found["reference"] if isinstance(found["reference"], list) else [found["reference"]]
    if not references:
        raise InputError(f"{where} has an empty list as its reference; one right answer or more were expected.")
    for role, value in [("question", found["question"]), *(("reference", each) for each in references)]:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{where} has {value!r} as its {role}; text was expected, numbers in quotation marks too.")
