"""A judge's verdicts as columns of a table: of pandas, Arrow or datasets."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from bert_judge.errors import InputError
from bert_judge.inputs.columns import REQUIRED, ColumnMap, asked_columns, choose_columns, columns_in
from bert_judge.inputs.values import RawRow, RowReader, note_separators, separators_in
from bert_judge.records import Sample, Verdict

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from datasets import Dataset

_PANDAS_TYPES = {"score": "float64", "label": "Int64", "explanation": "string"}
"""The columns that are added to a table, after the prefix."""

_PREFIX = "judge_"  # for a table that has a column with one of these names

Table = TypeVar("Table")


def progress(verdicts: Iterable[Verdict], total: int, shown: bool | None) -> Iterable[Verdict]:
    """The verdicts as they come, with a progress bar after a second; None: on a terminal and in a notebook."""
    from tqdm import tqdm

    if shown is None:
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(verdicts, "judging", total, unit="row", disable=not shown, delay=1, smoothing=0)


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
        prefix = _PREFIX if _PANDAS_TYPES.keys() & {*names} else ""
    existing = [prefix + column for column in _PANDAS_TYPES if prefix + column in names]
    if existing:
        raise InputError(
            f"the table has a column {existing[0]!r} already; choose another prefix for the new ones, as in "
            "prefix='starter_'."
        )
    asked = asked_columns(columns)
    _, unseen = columns_in([next(_rows(table, names), dict.fromkeys(names))], asked)
    by_role = choose_columns(names, unseen, asked, REQUIRED, "the table")
    chosen = {role: of_role for role, of_role in by_role.items() if role in ("question", *REQUIRED)}
    read = [column for columns_of_role in chosen.values() for column in columns_of_role]
    heads = {column if column in names else column.partition(".")[0] for column in read}  # of paths to texts inside
    reader = RowReader(chosen, numbers_as_text=numbers_as_text, reference_separator=reference_separator)
    samples, separators = [], Counter[str]()
    is_frame = _is_frame(table)  # pandas reads the cells of CSV as they are, lists, too
    for place, row in enumerate(_rows(table, [*heads])):
        sample = reader.read(RawRow(place, row, cells=is_frame), place + 1)
        if isinstance(sample, RawRow):
            raise InputError(f"the table's row {place} (counted from 0) {sample.reason}.")
        samples.append(sample)
        separators.update(separators_in(sample.references) if reader.notices_separators else ())
    note_separators("the table", separators, len(samples))
    return samples, prefix


def with_verdicts(table: Table, verdicts: Sequence[Verdict], prefix: str) -> Table:
    """A new table of the same kind with the columns added."""
    values = {name: [getattr(verdict, name) for verdict in verdicts] for name in _PANDAS_TYPES}
    if _is_frame(table):
        import pandas as pd

        added = {prefix + name: pd.array(values[name], dtype=kind) for name, kind in _PANDAS_TYPES.items()}
        return cast("Table", cast("pd.DataFrame", table).assign(**added))
    if _is_a(table, "pyarrow", "Table"):
        import pyarrow as pa

        arrow = cast("pa.Table", table)
        for name, kind in _PANDAS_TYPES.items():
            arrow = arrow.append_column(prefix + name, pa.array(values[name], kind.lower()))
        return cast("Table", arrow)
    from datasets import Value

    dataset = cast("Dataset", table)
    for name, kind in _PANDAS_TYPES.items():
        dataset = dataset.add_column(prefix + name, values[name], feature=Value(kind.lower()))
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
    elif _is_a(table, "pyarrow", "Table") or _is_a(table, "datasets", "Dataset"):
        names = list(cast("pa.Table | Dataset", table).column_names)
    else:
        raise InputError(
            f"the table is a {type(table).__name__}; a pandas DataFrame, an Arrow table or a Dataset of datasets "
            "(one split, not streamed) was expected."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the table has more than one column {twice!r}; rename all but one of them.")
    return [name for name in names if isinstance(name, str)]


def _rows(table: object, names: list[str]) -> Iterator[Mapping[str, object]]:
    if _is_a(table, "pyarrow", "Table"):
        for batch in cast("pa.Table", table).select(names).to_batches():
            yield from batch.to_pylist()
        return
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
