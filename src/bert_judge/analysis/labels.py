"""Human labels, from files or saved runs, and the rows that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bert_judge.analysis.results import Row
from bert_judge.errors import InputError
from bert_judge.sources import open_source
from bert_judge.sources.columns import ColumnMap, Columns, asked_columns
from bert_judge.sources.files import Input, find_input
from bert_judge.sources.values import RowReader
from bert_judge.types import Sample

_NO_TEXT = "(no text)"
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Labels:
    """Human labels of answers: by the answers' texts, and by their ids; with the other columns of their rows."""

    by_texts: Mapping[tuple[str, ...], Row]
    by_id: Mapping[str, Row]
    where: str

    def match(self, rows: Sequence[Row]) -> list[Row | None]:
        """The row of labels that belongs to each row, found by the texts; where none is, by the ids.

        An id counts as long as the texts that both have are not another candidate's. Raises InputError where no row has
        a label.
        """
        found = [self.by_texts.get(row.key) for row in rows]
        if not any(found):
            by_id = ((row, self.by_id.get(str(row.id))) for row in rows)
            found = [label if label and _same_candidate(row, label) else None for row, label in by_id]
        if not any(found):
            raise InputError(
                f"the labels of {self.where} belong to none of the {len(rows)} judged rows; rows of the same texts, or "
                "of the same ids, were expected."
            )
        return found


def read_labels(path: str | Path, columns: ColumnMap | None = None) -> Labels:
    """Human labels from a file: one with texts as `score` reads it, or one with ids and labels alone.

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


def relabelled(rows: Sequence[Row], labels: Labels, columns: bool = False) -> list[Row]:
    """All rows with these labels and no others; with `columns` also with the further columns of the labels' rows.

    Raises InputError where no row has a label, or all votes for those that have are even.
    """
    matched = labels.match(rows)
    if all(label is None or label.gold is None for label in matched):
        count = len(rows) - matched.count(None)
        raise InputError(
            f"the labels of {labels.where} are as often 1 as 0 for each of the {count} rows that they belong to, so "
            "none counts; more labels of one kind than of the other were expected for a row."
        )
    return [
        replace(row, gold=label.gold, meta={**row.meta, **label.meta} if columns else row.meta)
        if label
        else replace(row, gold=None)
        for row, label in zip(rows, matched, strict=True)
    ]


def _labelled_rows(path: str | Path, columns: ColumnMap | None) -> Iterable[Row]:
    """The rows of a file with texts or without them; its first row says which it is."""
    found = find_input(path, None)
    asked = asked_columns(columns)
    first = next((raw.values for raw in found.rows() if raw.values is not None), None)
    if first is None or Columns(asked).learn(first):
        source = open_source(path, columns=columns, numbers_as_text=True, skip_bad_rows=True)
        for bad in source.bad_rows:
            raise InputError(f"{found.where(bad)}; fix it.")
        return map(Row.unjudged, source)
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
        yield Row(sample.id, gold=sample.gold, meta={**sample.meta})


def _majority(rows: Iterable[Row], key_of: Callable[[Row], _Key]) -> dict[_Key, Row]:
    """One row for each key, with the label that most of its rows have; None where they are even."""
    groups: dict[_Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key_of(row), []).append(row)
    found = {}
    for key, group in groups.items():
        votes = sum(1 if row.gold else -1 for row in group)
        found[key] = replace(group[0], gold=int(votes > 0) if votes else None)
    return found


def _same_candidate(row: Row, label: Row) -> bool:
    """Whether nothing speaks against two rows of one id being of the same answer."""
    return row.candidate is None or label.candidate is None or row.candidate == label.candidate
