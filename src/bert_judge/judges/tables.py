"""A judge's verdicts as columns of a table in memory: a pandas DataFrame, or a Dataset of datasets."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from bert_judge.errors import InputError
from bert_judge.sources.columns import REQUIRED, ColumnMap, Columns, asked_columns
from bert_judge.sources.values import BadRow, RawRow, RowReader
from bert_judge.types import Sample, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

VERDICT_COLUMNS = ("score", "label", "explanation")
"""What is added to a table, after the prefix."""

_READ = ("question", *REQUIRED)
Table = TypeVar("Table")


class _Kind(NamedTuple):
    """A kind of table that a package defines. It is told without importing the package: the table has done that."""

    module: str
    name: str

    def has_made(self, table: object) -> bool:
        kind = getattr(sys.modules.get(self.module), self.name, None)
        return kind is not None and isinstance(table, kind)


_PANDAS, _DATASETS = _Kind("pandas", "DataFrame"), _Kind("datasets", "Dataset")


def read_table(table: object, columns: ColumnMap | None, prefix: str, numbers_as_text: bool) -> list[Sample]:
    """The samples of a table; InputError where it is none, lacks a column, or has one that would be written over."""
    names = _names(table)
    taken = [name for name in (prefix + each for each in VERDICT_COLUMNS) if name in names]
    if taken:
        raise InputError(
            f"the table has a column {taken[0]!r} already; choose a prefix for the new ones, as in prefix='judge_'."
        )
    chosen = _chosen(names, columns)
    heads = [_head(column, names) for own in chosen.values() for column in own]
    reader = RowReader(chosen, numbers_as_text=numbers_as_text)
    samples = []
    for place, row in enumerate(_rows(table, list(dict.fromkeys(heads)))):
        sample = reader.read(RawRow(place, row), place + 1)
        if isinstance(sample, BadRow):
            raise InputError(f"the table's row {place} (counted from 0) {sample.reason}.")
        samples.append(sample)
    return samples


def with_verdicts(table: Table, verdicts: Sequence[Verdict], prefix: str) -> Table:
    """A new table of the same kind with the columns added."""
    score, label, explanation = (prefix + name for name in VERDICT_COLUMNS)
    if _PANDAS.has_made(table):
        import pandas as pd

        frame = cast("pd.DataFrame", table)
        added = {
            score: pd.array([math.nan if each.score is None else each.score for each in verdicts], dtype="float64"),
            label: pd.array([each.label for each in verdicts], dtype="Int64"),
            explanation: pd.array([each.explanation for each in verdicts], dtype="string"),
        }
        return cast("Table", frame.assign(**added))
    from datasets import Value

    dataset = cast("Dataset", table)
    dataset = dataset.add_column(score, [each.score for each in verdicts], feature=Value("float64"))
    dataset = dataset.add_column(label, [each.label for each in verdicts], feature=Value("int64"))
    return cast(
        "Table",
        dataset.add_column(explanation, [each.explanation for each in verdicts], feature=Value("string")),
    )


def _names(table: object) -> list[str]:
    if _PANDAS.has_made(table):
        names = list(cast("pd.DataFrame", table).columns)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"the table has more than one column {twice!r}; rename all but one of them.")
        return [name for name in names if isinstance(name, str)]
    if _DATASETS.has_made(table):
        return list(cast("Dataset", table).column_names)
    raise InputError(
        f"the table is a {type(table).__name__}; a pandas DataFrame or a Dataset of datasets (one split, not streamed) "
        "was expected."
    )


def _chosen(names: Sequence[str], columns: ColumnMap | None) -> dict[str, tuple[str, ...]]:
    """The columns of question, reference and candidate."""
    known = Columns(asked_columns(columns))
    recognised = known.recognise(names) | known.chosen
    chosen = {role: recognised[role] for role in _READ if role in recognised}
    for role in _READ:
        missing = [column for column in chosen.get(role, ()) if _head(column, names) not in names]
        if role in REQUIRED and role not in chosen:
            lacking = f"no column for the {role}"
        elif missing:
            lacking = f"no column {missing[0]!r}, which was named for the {role}"
        else:
            continue
        raise InputError(
            f"the table has {lacking}: found {', '.join(names) or 'none'}; name one of these, as in "
            f"columns={{'{role}': 'NAME'}}."
        )
    return chosen


def _head(column: str, names: Sequence[str]) -> str:
    """The column of a table that a dotted path begins with."""
    return column if column in names else column.partition(".")[0]


def _rows(table: object, names: list[str]) -> Iterator[dict[str, object]]:
    if _DATASETS.has_made(table):
        yield from cast("Dataset", table).with_format(None).select_columns(names)
        return
    frame = cast("pd.DataFrame", table)
    for values in zip(*(frame[name] for name in names), strict=True):
        yield {name: _plain(value) for name, value in zip(names, values, strict=True)}


def _plain(value: object) -> object:
    """A cell of pandas as a file would have it: a missing one is None, an array a list, a number one of Python."""
    import pandas as pd

    value = value.tolist() if hasattr(value, "tolist") else value
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value
