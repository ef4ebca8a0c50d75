"""Read the rows of a parquet file, or of a dataset saved by `save_to_disk`, a batch at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import InputError, first_line
from bert_judge.inputs.values import RawRow

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS, _FEWEST_ROWS = 256, 16
_BATCH_BYTES = 256 << 20
_SMALL_BATCH = 16 << 20  # bytes; a larger one becomes Python objects a row at a time
_BUFFER_BYTES = 1 << 16


def read_parquet(location: Path, name: str, skip: int = 0) -> Iterator[RawRow]:
    """Yield one row for each row of a parquet file after the first `skip`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        # Without both settings, whole columns of a row group are read into memory at once.
        with pq.ParquetFile(location, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            groups = list(range(len(sizes)))
            while groups and number + sizes[groups[0]] <= skip:
                number += sizes[groups.pop(0)]
            rows = _rows_of_batch([file.metadata.row_group(group).total_byte_size for group in groups])
            for batch in file.iter_batches(batch_size=rows, row_groups=groups):
                unread = min(max(skip - number, 0), len(batch))
                number += unread
                for values in _values(batch.slice(unread)):
                    number += 1
                    yield RawRow(number, values)
    except (pa.ArrowException, ValueError, OSError) as error:
        where = f"can be read as parquet only up to row {number}" if number else "cannot be read as parquet"
        raise InputError(f"{name} {where} ({first_line(error)}); write the file again.") from error


def _rows_of_batch(group_bytes: Sequence[int]) -> int:
    """How many rows to read together. Each may be as long as its whole group: a dictionary holds a text only once."""
    fitting = _BATCH_BYTES // max(1, *group_bytes)
    return min(_BATCH_ROWS, max(_FEWEST_ROWS, fitting))


def _values(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    if batch.nbytes <= _SMALL_BATCH:
        yield from batch.to_pylist()
        return
    for row in range(len(batch)):
        yield from batch.slice(row, 1).to_pylist()


def parquet_columns(location: Path, name: str) -> list[str]:
    """The columns of a parquet file. Raises InputError where it can't be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(location).names)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise InputError(f"{name} cannot be read as parquet ({first_line(error)}); write the file again.") from error


def read_datasets(folder: Path, name: str) -> Iterator[RawRow]:
    """Yield one row for each row of a dataset saved by `save_to_disk`."""
    import datasets
    import pyarrow as pa

    number = 0
    try:
        saved = datasets.load_from_disk(str(folder))
        # A class label is a number that stands for a name: 0 may well be "correct".
        labels = {key: kind for key, kind in saved.features.items() if isinstance(kind, datasets.ClassLabel)}
        # As Arrow tables, so that images and audio in other columns are never decoded.
        for table in saved.with_format("arrow").iter(batch_size=_BATCH_ROWS):
            for values in table.to_pylist():
                number += 1
                for key, kind in labels.items():
                    is_labelled = values[key] is not None and values[key] >= 0  # -1 is an unknown class
                    values[key] = kind.names[values[key]] if is_labelled else None
                yield RawRow(number, values)
    except (pa.ArrowException, ValueError, TypeError, KeyError, OSError) as error:
        raise InputError(
            f"the folder {name} cannot be read as a saved dataset ({first_line(error)}); save it again."
        ) from error


def dataset_folder(folder: Path, name: str) -> Path:
    """The folder of the one dataset saved in `folder`. Raises InputError if there is none, or several splits."""
    splits_file = folder / "dataset_dict.json"
    if splits_file.is_file():
        splits = _splits(splits_file, name)
        if len(splits) != 1:
            raise InputError(
                f"the folder {name} holds {len(splits)} splits ({', '.join(splits)}) where one was expected; "
                f"give the folder of one, such as {folder / (splits or ['test'])[0]}."
            )
        folder = folder / splits[0]
    if not (folder / "state.json").is_file():
        raise InputError(
            f"{name} is a folder, but not one that `save_to_disk` of datasets wrote; give such a folder or a file."
        )
    return folder


def is_dataset(folder: Path) -> bool:
    """Whether `save_to_disk` wrote the folder."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def _splits(file: Path, name: str) -> list[str]:
    try:
        return [str(split) for split in json.loads(file.read_text(encoding="utf-8"))["splits"]]
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(f"the folder {name} holds a broken dataset_dict.json ({error}); save it again.") from error
