"""A judge's verdicts as columns of a table in memory: a pandas DataFrame, or a Dataset of datasets."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from bert_judge.errors import InputError
from bert_judge.sources.columns import REQUIRED, ColumnMap, Columns, asked_columns
from bert_judge.sources.values import BadRow, RawRow, RowReader
from bert_judge.types import Sample, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

VERDICT_COLUMNS = ("score", "label", "explanation")
"""What is added to a table, after the prefix."""

Table = TypeVar("Table")


def read_table(table: object, columns: ColumnMap | None, prefix: str, numbers_as_text: bool) -> list[Sample]:
    """The samples of a table; InputError where it is none, lacks a column, or has one that would be written over."""
    names = _names(table)
    taken = [name for name in (prefix + each for each in VERDICT_COLUMNS) if name in names]
    if taken:
        raise InputError(
            f"the table has a column {taken[0]!r} already; choose a prefix for the new ones, as in prefix='judge_'."
        )
    known = Columns(asked_columns(columns))
    recognised = known.recognise(names) | known.chosen
    chosen = {role: own for role, own in recognised.items() if role in ("question", *REQUIRED)}
    _check_columns(chosen, names)
    heads = dict.fromkeys(_head(column, names) for own in chosen.values() for column in own)
    reader = RowReader(chosen, numbers_as_text=numbers_as_text)
    samples = []
    for place, row in enumerate(_rows(table, list(heads))):
        sample = reader.read(RawRow(place, row), place + 1)
        if isinstance(sample, BadRow):
            raise InputError(f"the table's row {place} (counted from 0) {sample.reason}.")
        samples.append(sample)
    return samples


def with_verdicts(table: Table, verdicts: Sequence[Verdict], prefix: str) -> Table:
    """A new table of the same kind with the columns added."""
    score, label, explanation = (prefix + name for name in VERDICT_COLUMNS)
    if _is_frame(table):
        import pandas as pd

        added = {
            score: pd.array([math.nan if each.score is None else each.score for each in verdicts], dtype="float64"),
            label: pd.array([each.label for each in verdicts], dtype="Int64"),
            explanation: pd.array([each.explanation for each in verdicts], dtype="string"),
        }
        return cast("Table", cast("pd.DataFrame", table).assign(**added))
    from datasets import Value

    dataset = cast("Dataset", table)
    dataset = dataset.add_column(score, [each.score for each in verdicts], feature=Value("float64"))
    dataset = dataset.add_column(label, [each.label for each in verdicts], feature=Value("int64"))
    dataset = dataset.add_column(explanation, [each.explanation for each in verdicts], feature=Value("string"))
    return cast("Table", dataset)


def _is_a(table: object, module: str, name: str) -> bool:
    """Whether a table is of a package's class, without importing the package: what made the table has done that."""
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


def _check_columns(chosen: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    """Raise InputError where a role that is needed has no column, or one that is not there."""
    lacking = {role: f"no column for the {role}" for role in REQUIRED if role not in chosen}
    for role, own in chosen.items():
        for column in own:
            if _head(column, names) not in names:
                lacking.setdefault(role, f"no column {column!r}, which was named for the {role}")
    for role, what in lacking.items():
        raise InputError(
            f"the table has {what}: found {', '.join(names) or 'none'}; name one of these, as in "
            f"columns={{'{role}': 'NAME'}}."
        )


def _head(column: str, names: Sequence[str]) -> str:
    """The column of a table that a dotted path begins with."""
    return column if column in names else column.partition(".")[0]


def _rows(table: object, names: list[str]) -> Iterator[Mapping[str, object]]:
    if not _is_frame(table):
        yield from cast("Dataset", table).with_format(None).select_columns(names)
        return
    frame = cast("pd.DataFrame", table)
    for values in zip(*(frame[name] for name in names), strict=True):
        yield dict(zip(names, map(_plain, values), strict=True))


def _plain(value: object) -> object:
    """A cell of pandas as a file would have it: a missing one is None, an array a list, a number one of Python."""
    import pandas as pd

    value = value.tolist() if hasattr(value, "tolist") else value
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value
