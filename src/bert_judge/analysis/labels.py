"""Rows with people's labels, from files or saved runs, and the verdicts of judges that belong to them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from bert_judge.analysis.results import Row, Run
from bert_judge.artifacts import ROW_COLUMNS
from bert_judge.errors import InputError
from bert_judge.sources import Source, open_source
from bert_judge.sources.columns import ColumnMap, Columns, asked_columns
from bert_judge.sources.files import Input, find_input
from bert_judge.sources.values import RowReader
from bert_judge.types import Sample, Scale, Signature

_NO_TEXT = "(no text)"
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's verdicts: its short name, its signature, what its scores mean, and a row with a verdict each.

    `repeated` counts rows of its runs that were left out, as another of its runs holds the same answers.
    """

    name: str
    signature: Signature
    scale: Scale
    rows: Sequence[Row]
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Labels:
    """People's labels of answers: by the answers' texts, and by their ids; with the other columns of their rows."""

    by_texts: Mapping[tuple[str, ...], Row]
    by_id: Mapping[str, Row]
    where: str


def rows_of(source: Source) -> list[Row]:
    """The rows of a file of answers. Those without a column `source` have the file's name there."""
    name = file_stem(source.path)
    return [_row(sample, {"source": name, **sample.meta}) for sample in source]


def file_stem(path: str) -> str:
    """A file's name without its endings: `nq` of `data/nq.jsonl.gz`."""
    name = Path(path).name or Path(path).resolve().name  # "." has no name of its own
    return name.partition(".")[0] or name


def read_labels(path: str | Path, columns: ColumnMap | None = None) -> Labels:
    """People's labels from a file: one with texts as `score` reads it, or one with ids and labels alone.

    An answer that has several labels gets the one that most of them are, and none where they are even. Raises
    InputError where the file can't be read, or holds no label.
    """
    begun = Path(path).is_file() and not Path(path).stat().st_size  # by bert-judge label, which was ended at once
    rows = [] if begun else [row for row in _labelled_rows(path, columns) if row.gold is not None]
    if not rows:
        raise InputError(
            f"{path} holds no labels yet; label some answers with bert-judge label, or name a column that has 0 or 1 "
            "(--map label=COLUMN)."
        )
    with_texts = [row for row in rows if row.candidate is not None]
    return Labels(_majority(with_texts, lambda row: row.key), _majority(rows, lambda row: str(row.id)), str(path))


def with_labels(rows: Sequence[Row], labels: Labels) -> list[Row]:
    """The rows that have a label, with it and the columns of its row.

    They are found by their texts; where no row is, by their ids, as long as the texts that both have are not another
    candidate's. Raises InputError where no row has a label.
    """
    found = _matched((row, labels.by_texts.get(row.key)) for row in rows)
    if not found:
        pairs = ((row, labels.by_id.get(str(row.id))) for row in rows)
        found = _matched((row, label) for row, label in pairs if label and _same_candidate(row, label))
    if not found:
        raise InputError(
            f"the labels of {labels.where} belong to none of the {len(rows)} judged rows; rows of the same texts, or "
            "of the same ids, were expected."
        )
    return found


def relabelled(rows: Iterable[Row], labels: Labels) -> list[Row]:
    """All rows, with these labels and no others. Raises InputError as `with_labels` does."""
    rows = list(rows)
    golds = {(row.key, row.id): row.gold for row in with_labels(rows, labels)}
    return [replace(row, gold=golds.get((row.key, row.id))) for row in rows]


def check_votes(rows: Sequence[Row], labels: Labels) -> None:
    """Raise InputError where labels belong to rows, but leave none of these with a label, as all votes are even."""
    if rows and all(row.gold is None for row in rows):
        raise InputError(
            f"the labels of {labels.where} are as often 1 as 0 for each of the {len(rows)} rows that they belong to, "
            "so none counts; more labels of one kind than of the other were expected for a row."
        )


def pooled(runs: Sequence[Run], names: Sequence[str]) -> list[Judged]:
    """Saved runs as judges; those of one signature on different inputs are one judge, called as the first of them.

    An answer (its texts, and what `ROW_COLUMNS` say of it) that an earlier run holds is left out, and counted.
    """
    groups: dict[tuple[Signature, int], list[int]] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for place, run in enumerate(runs):
        same = (run.signature, *run.answers)
        groups.setdefault((run.signature, seen[same]), []).append(place)
        seen[same] += 1
    found = []
    for places in groups.values():
        rows = _without_repeats([runs[place].rows for place in places])
        repeated = sum(len(runs[place].rows) for place in places) - len(rows)
        first = runs[places[0]]
        found.append(Judged(names[places[0]], first.signature, first.scale, rows, repeated))
    return found


def repeated_notes(judges: Iterable[Judged]) -> list[str]:
    """A sentence for each judge of which repeated answers were left out."""
    return [
        f"{judge.name}: {judge.repeated:,} rows are left out, as an earlier run of this judge holds the same answers."
        for judge in judges
        if judge.repeated
    ]


def aligned(rows: Sequence[Row], judges: Sequence[Judged]) -> tuple[list[Row], list[Judged]]:
    """The labelled rows that all judges judged, and each judge's verdicts on them, in the same order.

    An answer that is there several times is matched in the order in which it comes. Raises InputError where no row
    has a label, where all labels are the same, and where the judges have no labelled row in common.
    """
    labelled = [row for row in rows if row.gold is not None]
    if not labelled:
        raise InputError(
            f"none of the {len(rows)} rows has a label; a column label with 0 or 1 was expected (--map label=COLUMN), "
            "or a file of labels (--labels FILE)."
        )
    if len(golds := {row.gold for row in labelled}) < 2:
        raise InputError(
            f"all {len(labelled)} labels are {golds.pop()}; rows labelled right and rows labelled wrong were expected."
        )
    found = [dict(zip(_occurrences(judge.rows), judge.rows, strict=True)) for judge in judges]
    texts = [any(row.candidate is not None for row in judge.rows) for judge in judges]
    keys = {by_texts: list(_occurrences(labelled, by_texts)) for by_texts in (True, False)}
    verdicts = [[own.get(key) for key in keys[by_texts]] for own, by_texts in zip(found, texts, strict=True)]
    common = [place for place in range(len(labelled)) if all(each[place] for each in verdicts)]
    if not common:
        names = ", ".join(judge.name for judge in judges)
        raise InputError(f"no labelled row was judged by all of {names}; runs on the same rows were expected.")
    kept = [
        replace(judge, rows=[row for place in common if (row := own[place])])
        for judge, own in zip(judges, verdicts, strict=True)
    ]
    return [labelled[place] for place in common], kept


def _labelled_rows(path: str | Path, columns: ColumnMap | None) -> Iterable[Row]:
    """The rows of a file with texts or without them; its first row says which it is."""
    found = find_input(path, None)
    asked = asked_columns(columns)
    first = next((raw.values for raw in found.rows() if raw.values is not None), None)
    if first is None or Columns(asked).learn(first):
        source = open_source(path, columns=columns, numbers_as_text=True, skip_bad_rows=True)
        for bad in source.bad_rows:
            raise InputError(f"{found.where(bad)}; fix it.")
        return rows_of(source)
    return _without_texts(found, Columns({**asked, "candidate": (_NO_TEXT,), "reference": (_NO_TEXT,)}))


def _without_texts(found: Input, columns: Columns) -> Iterator[Row]:
    """Rows that are nothing but an id and a label, and further columns."""
    reader = RowReader(columns.chosen, numbers_as_text=True)
    for number, raw in enumerate(found.rows(), 1):
        values = {**(raw.values or {}), _NO_TEXT: _NO_TEXT}
        columns.learn(values)
        sample = reader.read(raw if raw.values is None else raw._replace(values=values), number)
        if not isinstance(sample, Sample):
            raise InputError(f"{found.where(sample)}; fix it.")
        if "id" not in columns.chosen:
            raise InputError(f"{found.name} has neither texts nor ids by which its labels could be matched; add them.")
        yield Row(sample.id, None, None, sample.gold, meta={**sample.meta})


def _row(sample: Sample, meta: Mapping[str, Any]) -> Row:
    return Row(sample.id, None, None, sample.gold, sample.question, sample.references, sample.candidate, meta={**meta})


def _majority(rows: Iterable[Row], key_of: Callable[[Row], _Key]) -> dict[_Key, Row]:
    """One row for each key, with the label that most of its rows have; None where they are even."""
    groups: dict[_Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key_of(row), []).append(row)
    found = {}
    for key, group in groups.items():
        right = sum(2 * (row.gold or 0) - 1 for row in group)
        found[key] = replace(group[0], gold=None if right == 0 else int(right > 0))
    return found


def _matched(pairs: Iterable[tuple[Row, Row | None]]) -> list[Row]:
    return [replace(row, gold=label.gold, meta={**row.meta, **label.meta}) for row, label in pairs if label is not None]


def _same_candidate(row: Row, label: Row) -> bool:
    """Whether nothing speaks against two rows of one id being of the same answer."""
    return row.candidate is None or label.candidate is None or row.candidate == label.candidate


def _without_repeats(runs: Iterable[Sequence[Row]]) -> list[Row]:
    """The rows of runs without those that an earlier run holds; rows without texts can't be told to be the same."""
    kept: list[Row] = []
    before: set[Hashable] = set()
    for rows in runs:
        seen: Counter[Hashable] = Counter()
        names = []
        for row in rows:
            name = (row.key, _columns(row))
            names.append((name, seen[name]))
            seen[name] += 1
        kept += [row for name, row in zip(names, rows, strict=True) if row.candidate is None or name not in before]
        before |= set(names)
    return kept


def _columns(row: Row) -> str:
    """The columns of a row that say what it is, such as the model that gave the answer."""
    return json.dumps([row.meta.get(name) for name in ROW_COLUMNS], default=str)


def _occurrences(rows: Iterable[Row], by_texts: bool = True) -> Iterator[tuple[tuple[str, ...], int]]:
    """The key of each row (of one without texts, the id), and how often it was there before."""
    seen: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        key = row.key if by_texts else ("id", str(row.id))
        yield key, seen[key]
        seen[key] += 1
