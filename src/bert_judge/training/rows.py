"""Labelled rows, read from data of any form, and the split into training and held-out questions."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from bert_judge.errors import InputError
from bert_judge.inputs import ColumnMap, Source, open_source
from bert_judge.inputs.datasets import find_dataset, get_dataset_config_names, load_dataset_dict
from bert_judge.measures.questions import question_key
from bert_judge.paths import model_folder
from bert_judge.records import Sample

COLUMNS = ("question", "candidate", "reference", "label", "task", "model", "label_source", "id")
"""The columns of a row; candidate and label are required, and reference (or references) if the judge reads it."""

GROUPS = {"task": ("task", "source"), "model": ("model", "candidate_model"), "label_source": ("label_source",)}
"""The groupings of rows, and the columns that may hold each."""


def group_of(row: Sample, kind: str) -> str | None:
    """The row's task, model or `label_source` (who gave the label), by `kind`."""
    values = (row.meta.get(column) for column in GROUPS[kind])
    return next((str(value) for value in values if value is not None), None)


def load_labelled(
    path: str, tasks: Collection[str] = (), models: Collection[str] = (), columns: ColumnMap | None = None
) -> Any:
    """Open a file of labelled rows or a data set, for `read_examples`.

    A data set (a folder, in `LOCAL_DATASETS_DIR`, or on the Hub) has tasks as configurations and models as splits; only
    the named `tasks` and `models` are read, if any are named. `columns` names the columns of a file. Raises InputError
    if nothing is left or can be read, and for a file without labels.
    """
    folder = Path(path)
    if folder.exists() and not any(folder.glob("*/dataset_dict.json")):
        source = open_source(folder, columns=columns, soft_labels=True)
        if "gold" not in source.columns:
            raise InputError(
                f"{path} has no column of labels that is recognised; name it with columns={{'label': 'COLUMN'}}."
            )
        return source
    name = str(folder.absolute()) if folder.exists() else path  # an existing folder is not looked for elsewhere
    configs = get_dataset_config_names(name)
    folders = {model_folder(model) for model in models}
    data = {
        str(task): {model: rows for model, rows in splits.items() if not folders or model in folders}
        for task, splits in load_dataset_dict(name, [task for task in configs if not tasks or task in tasks]).items()
    }
    if not any(data.values()):
        raise InputError(f"{path} has no rows of the tasks and models that were named; there is {', '.join(configs)}.")
    return data


def is_published(name: str) -> bool:
    """Whether `LOCAL_DATASETS_DIR` has a data set of this name, or the Hub may have one."""
    return find_dataset(name) is not None or re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name) is not None


def read_examples(data: Any) -> list[Sample]:
    """The labelled rows of data in any of these forms.

    - A `datasets.Dataset` or a list of mappings with `candidate`, `reference` (or `references`; a text or several),
      `label`, and optionally `question`, `task`, `model`, `label_source`, `id`. A judge that reads no reference needs
      none.
    - A mapping from tasks to such data, or from tasks to models to such data, as in the paper's package.
    - Samples with a `gold`.
    - A source from `open_source`, opened with `soft_labels` if labels are probabilities.

    The label becomes the `gold` of the sample; None (or NaN) means undecided. Raises InputError, which names the row
    and the problem.
    """
    if isinstance(data, Source):
        return list(data)
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InputError(f"the training data is {data!r:.60}; a dataset or a list of rows was expected.")
    return [_read(row, place, where) for row, place, where in _walk(data, {})]


def _walk(data: Any, names: dict[str, str]) -> Iterator[tuple[Any, dict[str, str], str]]:
    """Every row, with the task and model that it stands under, and its place in words."""
    if isinstance(data, Mapping):
        level = "model" if names else "task"
        for name, part in data.items():
            if len(names) == 2 or isinstance(part, str) or not isinstance(part, Iterable):
                raise InputError(
                    f"the training data is a mapping that holds {part!r:.60} under {name!r}; "
                    "data by task, or by task and model, was expected (a single row goes into a list)."
                )
            yield from _walk(part, {**names, level: str(name)})
        return
    under = " of ".join(["", *reversed(names.values())])
    for number, row in enumerate(data, 1):
        yield row, names, f"row {number}{under}"


def _read(row: Any, place: Mapping[str, str], where: str) -> Sample:
    if isinstance(row, Sample):
        return row
    try:
        if not isinstance(row, Mapping):
            raise InputError(f"it is {row!r:.60}; a mapping with {', '.join(COLUMNS)} was expected")
        return _sample({**row, **{name: value for name, value in place.items() if row.get(name) is None}})
    except InputError as error:
        raise InputError(f"{where} of the training data can't be used: {str(error).rstrip('.')}.") from error


def _sample(row: Mapping[str, Any]) -> Sample:
    references: Any = row.get("references") if row.get("reference") is None else row["reference"]
    for name in ("candidate", "label"):
        if name not in row:
            raise InputError(f"it has no {name}, only {', '.join(map(str, row))}")
    return Sample(
        "" if row["candidate"] is None else row["candidate"],
        ("",) if references is None else references,
        row.get("question"),
        None if row.get("id") is None else str(row["id"]),
        _label(row["label"]),
        meta={column: row[column] for columns in GROUPS.values() for column in columns if row.get(column) is not None},
    )


def _label(label: Any) -> float | None:
    """The label as a number; None if undecided. In columns of numbers NaN is a missing label."""
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return None
    value = float(label) if isinstance(label, Real) else math.nan
    if not 0 <= value <= 1:
        raise InputError(f"its label is {label!r:.60}; 0, 1, a probability between them, or None was expected")
    return value


def grouped(rows: Iterable[Sample], kind: str) -> dict[str, list[int]]:
    """The indices of the rows of each task, model or label source, sorted by name."""
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if (name := group_of(row, kind)) is not None:
            groups.setdefault(name, []).append(place)
    return dict(sorted(groups.items()))


def labels_of(rows: Iterable[Sample]) -> list[float]:
    """The labels of rows that have one."""
    return [row.gold for row in rows if row.gold is not None]


def with_hard_labels(rows: Iterable[Sample]) -> list[Sample]:
    """The rows with labels rounded: 1 from 0.5 on, else 0."""
    return [row if row.gold is None else replace(row, gold=float(row.gold >= 0.5)) for row in rows]


def split_by_question(samples: Iterable[Sample], share: float) -> tuple[list[Sample], list[Sample]]:
    """Training and held-out samples, without a question in both.

    The side depends only on the words of the question (or of the references if there is none), so that it is the same
    in every run and for every source. `share` is the fraction of questions to hold out.
    """
    sides: tuple[list[Sample], list[Sample]] = ([], [])
    for sample in samples:
        sides[is_held_out(sample, share)].append(sample)
    return sides


def is_held_out(sample: Sample, share: float) -> bool:
    """Whether a sample's question is among the fraction `share` that is held out."""
    digest = hashlib.sha256(question_key(sample.question, sample.references).encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64
