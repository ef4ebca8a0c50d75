"""Human labels, from files or saved runs, and the rows that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bert_judge.errors import InputError
from bert_judge.inputs import ColumnMap, open_source
from bert_judge.records import Row

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Labels:
    """Human labels of answers by their texts and by their ids, with the other columns of their rows."""

    by_texts: Mapping[tuple[str, ...], Row]
    by_id: Mapping[str, Row]
    where: str

    def match(self, rows: Iterable[Row]) -> dict[int, Row]:
        """The row of labels for each row that has one, by its place: found by the texts; where none is, by the ids.

        An id counts as long as the texts that both have are not another candidate's. Raises InputError where no row has
        a label.
        """
        by_texts: dict[int, Row] = {}
        by_id: dict[int, Row] = {}
        count = 0
        for place, row in enumerate(rows):
            count += 1
            if label := self.by_texts.get(row.key):
                by_texts[place] = label
            elif not by_texts and (label := self.by_id.get(str(row.id))) and _same(label.candidate, row.candidate):
                by_id[place] = label
        if not (by_texts or by_id):
            raise InputError(
                f"the labels of {self.where} belong to none of the {count} judged rows; rows of the same texts, or "
                "of the same ids, were expected."
            )
        return by_texts or by_id


def read_labels(path: str | Path, columns: ColumnMap | None = None) -> Labels:
    """Human labels from a file: one with texts as `score` reads it, or one with ids and labels alone.

    An answer with several labels gets the most frequent one, none in a tie. Raises InputError where the file can't be
    read, or holds no label.
    """
    empty = Path(path).is_file() and not Path(path).stat().st_size  # by bert-judge label, which was ended at once
    rows = [] if empty else [row for row in _labelled_rows(path, columns) if row.gold is not None]
    if not rows:
        raise InputError(
            f"{path} holds no labels yet; label some answers with bert-judge label, or map a column that has 0 or "
            "1 (label=COLUMN)."
        )
    with_texts = [row for row in rows if row.candidate is not None]
    return Labels(_majority(with_texts, lambda row: row.key), _majority(rows, lambda row: str(row.id)), str(path))


def relabelled(rows: Iterable[Row], labels: Labels, columns: bool = False) -> Iterator[Row]:
    """All rows with these labels and no others; with `columns` also with the other columns of the labels' rows.

    The rows are gone through twice. Raises InputError where no row has a label, or no label counts.
    """
    matched = labels.match(rows)
    check_votes(labels, matched)
    return (_relabelled(row, matched.get(place), columns) for place, row in enumerate(rows))


def _relabelled(row: Row, label: Row | None, columns: bool) -> Row:
    if label is None:
        return replace(row, gold=None)
    return replace(row, gold=label.gold, meta={**row.meta, **label.meta} if columns else row.meta)


def check_votes(labels: Labels, matched: Mapping[int, Row]) -> None:
    """Raise InputError where all rows that have labels got as many votes for 1 as for 0."""
    if all(label.gold is None for label in matched.values()):
        raise InputError(
            f"{labels.where} has as many labels 1 as 0 for each of the {len(matched)} rows that it labels, so none "
            "counts; more of one kind than of the other were expected for a row."
        )


def _same(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _labelled_rows(path: str | Path, columns: ColumnMap | None) -> Iterable[Row]:
    """The rows of a file with texts, or with nothing but ids, labels and further columns."""
    source = open_source(path, columns=columns, numbers_as_text=True, required=())
    if "candidate" in source.columns:
        return map(Row.of, source)
    if "id" not in source.columns:
        raise InputError(f"{path} has neither texts nor ids by which its labels could be matched; add them.")
    return (replace(Row.of(sample), question=None, references=(), candidate=None) for sample in source)


def _majority(rows: Iterable[Row], key_of: Callable[[Row], _Key]) -> dict[_Key, Row]:
    """One row for each key, with the label that most of its rows have; None in a tie."""
    groups: dict[_Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key_of(row), []).append(row)
    majority = {}
    for key, group in groups.items():
        votes = sum(1 if row.gold else -1 for row in group)
        majority[key] = replace(group[0], gold=int(votes > 0) if votes else None)
    return majority
