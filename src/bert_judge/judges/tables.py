"""A judge's verdicts as columns of a table in memory: a pandas DataFrame or a `datasets.Dataset`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from bert_judge.errors import InputError
from bert_judge.inputs.columns import REQUIRED, ColumnMap, asked_columns, recognised_columns
from bert_judge.inputs.values import RawRow, RowReader, note_separators, separators_in
from bert_judge.records import Sample, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

VERDICT_COLUMNS = ("score", "label", "explanation")
"""What is added to a table, after the prefix."""

PREFIX = "judge_"
"""The prefix for a table that has a column with one of these names."""

Table = TypeVar("Table")


def read_table(
    table: object,
    columns: ColumnMap | None,
    prefix: str | None,
    numbers_as_text: bool,
    reference_separator: str | None,
) -> tuple[list[Sample], str]:
    """The samples of a table, and the prefix of the new columns.

    Raises InputError where the table lacks a column, or has one of the new names already.
    """
    names = _names(table)
    if prefix is None:
        prefix = PREFIX if set(VERDICT_COLUMNS) & set(names) else ""
    existing = [name for name in (prefix + column for column in VERDICT_COLUMNS) if name in names]
    if existing:
        raise InputError(
            f"the table has a column {existing[0]!r} already; choose another prefix for the new ones, as in "
            "prefix='starter_'."
        )
    recognised = recognised_columns(names, asked_columns(columns))
    chosen = {role: names_of_role for role, names_of_role in recognised.items() if role in ("question", *REQUIRED)}
    heads = _check_columns(chosen, names)
    reader = RowReader(chosen, numbers_as_text=numbers_as_text, reference_separator=reference_separator)
    samples, separators = [], Counter[str]()
    is_frame = _is_frame(table)  # pandas reads the cells of CSV as they are, lists, too
    for place, row in enumerate(_rows(table, heads)):
        sample = reader.read(RawRow(place, row, cells=is_frame), place + 1)
        if isinstance(sample, RawRow):
            raise InputError(f"the table's row {place} (counted from 0) {sample.reason}.")
        samples.append(sample)
        separators.update(separators_in(sample.references) if reader.notices_separators else ())
    note_separators("the table", separators, len(samples))
    return samples, prefix


def with_verdicts(table: Table, verdicts: Sequence[Verdict], prefix: str) -> Table:
    """A new table of the same kind with the columns added."""
    values = {name: [getattr(verdict, name) for verdict in verdicts] for name in VERDICT_COLUMNS}
    if _is_frame(table):
        import pandas as pd

        kinds = {"score": "float64", "label": "Int64", "explanation": "string"}
        added = {prefix + name: pd.array(values[name], dtype=kind) for name, kind in kinds.items()}
        return cast("Table", cast("pd.DataFrame", table).assign(**added))
    from datasets import Value

    dataset = cast("Dataset", table)
    for name, kind in {"score": "float64", "label": "int64", "explanation": "string"}.items():
        dataset = dataset.add_column(prefix + name, values[name], feature=Value(kind))
    return cast("Table", dataset)


def _is_a(table: object, module: str, name: str) -> bool:
    """Whether a table is of a package's class; whoever made the table has imported the package."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(table, kind)


def _is_frame(table: object) -> bool:
    return _is_a(table, "pandas", "DataFrame")


def _names(table: object) -> list[str]:
    if _is_frame(table):
        names = list(cast("pd.DataFrame", table).columns)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"the table has more than one column {twice!r}; rename all but one of them.")
        return [name for name in names if isinstance(name, str)]
    if _is_a(table, "datasets", "Dataset"):
        return list(cast("Dataset", table).column_names)
    raise InputError(
        f"the table is a {type(table).__name__}; a pandas DataFrame or a Dataset of datasets (one split, not streamed) "
        "was expected."
    )


def _check_columns(chosen: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[str]:
    """The columns that are read. Raises InputError where a required role has none, or a named one does not exist."""

    def fail(role: str, problem: str) -> NoReturn:
        columns_there = ", ".join(names) or "none"
        raise InputError(
            f"the table has {problem}: found {columns_there}; name one of these, as in columns={{'{role}': 'NAME'}}."
        )

    for role in REQUIRED:
        if role not in chosen:
            fail(role, f"no column for the {role}")
    read: dict[str, None] = {}
    for role, names_of_role in chosen.items():
        for column in names_of_role:
            head = column if column in names else column.partition(".")[0]  # of a path to a text inside it
            if head not in names:
                fail(role, f"no column {column!r}, which was named for the {role}")
            read[head] = None
    return list(read)


def _rows(table: object, names: list[str]) -> Iterator[Mapping[str, object]]:
    if not _is_frame(table):
        yield from cast("Dataset", table).with_format(None).select_columns(names)
        return
    frame = cast("pd.DataFrame", table)
    for values in zip(*(frame[name] for name in names), strict=True):
        yield dict(zip(names, map(_plain, values), strict=True))


def _plain(value: object) -> object:
    """A cell of pandas as a file would have it: a missing value is None, an array a list, a number one of Python."""
    import pandas as pd

    value = value.tolist() if hasattr(value, "tolist") else value
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value
