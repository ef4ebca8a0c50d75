"""Human labels, from files or saved runs, and the rows that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bert_judge.analysis.results import Row
from bert_judge.errors import InputError
from bert_judge.sources import ColumnMap, open_source

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Labels:
    """Human labels of answers by their texts and by their ids, with the other columns of their rows."""

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
            by_id = ((row.candidate, self.by_id.get(str(row.id))) for row in rows)
            found = [
                label if label and (text is None or label.candidate in (None, text)) else None for text, label in by_id
            ]
        if not any(found):
            raise InputError(
                f"the labels of {self.where} belong to none of the {len(rows)} judged rows; rows of the same texts, or "
                "of the same ids, were expected."
            )
        return found


def read_labels(path: str | Path, columns: ColumnMap | None = None) -> Labels:
    """Human labels from a file: one with texts as `score` reads it, or one with ids and labels alone.

    An answer with several labels gets the most frequent one, none in a tie. Raises InputError where the file can't be
    read, or holds no label.
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
    """All rows with these labels and no others; with `columns` also with the other columns of the labels' rows.

    Raises InputError where no row has a label, or all of those that have got as many votes for 1 as for 0.
    """
    matched = labels.match(rows)
    if all(label is None or label.gold is None for label in matched):
        count = len(rows) - matched.count(None)
        raise InputError(
            f"{labels.where} has as many labels 1 as 0 for each of the {count} rows that it labels, so none counts; "
            "more of one kind than of the other were expected for a row."
        )
    return [
        replace(row, gold=label.gold, meta={**row.meta, **label.meta} if columns else row.meta)
        if label
        else replace(row, gold=None)
        for row, label in zip(rows, matched, strict=True)
    ]


def _labelled_rows(path: str | Path, columns: ColumnMap | None) -> Iterable[Row]:
    """The rows of a file with texts, or with nothing but ids, labels and further columns."""
    source = open_source(path, columns=columns, numbers_as_text=True, required=())
    if "candidate" in source.columns:
        return map(Row.unjudged, source)
    if "id" not in source.columns:
        raise InputError(f"{path} has neither texts nor ids by which its labels could be matched; add them.")
    return (replace(Row.unjudged(each), question=None, references=(), candidate=None) for each in source)


def _majority(rows: Iterable[Row], key_of: Callable[[Row], _Key]) -> dict[_Key, Row]:
    """One row for each key, with the label that most of its rows have; None in a tie."""
    groups: dict[_Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key_of(row), []).append(row)
    found = {}
    for key, group in groups.items():
        votes = sum(1 if row.gold else -1 for row in group)
        found[key] = replace(group[0], gold=int(votes > 0) if votes else None)
    return found
