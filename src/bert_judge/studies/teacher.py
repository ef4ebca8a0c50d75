"""A student judge beside the teacher that it learnt from, on rows with human labels: whose errors does it make?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.measures.arrays import Integers, np
from bert_judge.measures.estimates import Estimate, rate
from bert_judge.records import Row
from bert_judge.results.runs import Run
from bert_judge.studies.pairing import numbered
from bert_judge.studies.slices import Slice, is_small
from bert_judge.studies.table import JudgeColumn, VerdictTable


@dataclass(frozen=True, slots=True)
class Teacher:
    """A teacher's labels of rows, in the order of the rows: 1, 0, or None where it has none."""

    name: str
    labels: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class TeacherErrors:
    """How a judge follows its teacher's labels in a slice; `kind` is "all" for all rows.

    `repeated` is the fraction of the teacher's errors that the judge repeats, `broken` that of the teacher's correct
    labels that the judge gets wrong. Undecided rows are left out.
    """

    kind: str
    level: str
    judge: str
    repeated: Estimate
    broken: Estimate
    small: bool


def teacher_in_column(rows: Sequence[Row], column: str) -> Teacher:
    """A teacher whose labels stand in a column: 1 and 0, true and false, or a probability (correct from 0.5 on).

    Raises InputError where no row has that column, or a value is none of these.
    """
    if not any(column in row.meta for row in rows):
        names = sorted({name for row in rows for name in row.meta})
        raise InputError(f"the teacher {column!r} is neither a saved run nor a column; there is {', '.join(names)}.")
    return Teacher(column, [_label(row.meta.get(column), column) for row in rows])


def teacher_of_run(rows: Sequence[Row], run: Run) -> Teacher:
    """A teacher whose verdicts were saved. Raises InputError where it judged other rows, or gave no labels."""
    with_texts = any(row.candidate is not None for row in run.rows)
    taught, asked = (
        numbered(row.key if with_texts else ("id", str(row.id)) for row in some) for some in (run.rows, rows)
    )
    by_key = dict(zip(taught, run.rows, strict=True))
    verdicts = [by_key.get(key) for key in asked]
    if not any(verdicts):
        raise InputError(f"the teacher {run.name} judged none of the {len(rows)} rows; a run on them was expected.")
    if all(row is None or row.label is None for row in verdicts):
        raise InputError(f"the teacher {run.name} gave no labels; judge again with a threshold.")
    return Teacher(run.name, [None if row is None else row.label for row in verdicts])


def teacher_errors(teacher: Teacher, table: VerdictTable, parts: Sequence[Slice]) -> list[TeacherErrors]:
    """Where each judge makes its teacher's errors, on all rows and slice by slice."""
    labels = np.asarray([-1 if label is None else label for label in teacher.labels], np.int64)
    whole = Slice("all", "all rows", range(len(table.rows)))
    return [
        _errors(part, judge, labels[np.asarray(part.rows)], rows)
        for part in [whole, *parts]
        for rows in [table.part(part.rows)]
        for judge in rows.judges
    ]


def _errors(part: Slice, judge: JudgeColumn, taught: Integers, rows: VerdictTable) -> TeacherErrors:
    """Of one judge on the rows of a slice, with the teacher's labels of these rows."""
    both = (taught >= 0) & (judge.labels >= 0)
    wrong, right, failed = both & (taught != rows.golds), both & (taught == rows.golds), judge.labels != rows.golds
    return TeacherErrors(
        part.kind,
        part.level,
        judge.name,
        repeated=rate(failed[wrong], rows.clusters[wrong]),
        broken=rate(failed[right], rows.clusters[right]),
        small=is_small(wrong[both].astype(int).tolist()),
    )


def _label(value: object, column: str) -> int | None:
    if value is None or value == "":
        return None
    if (label := _SPELLINGS.get(str(value).strip().lower())) is not None:
        return label
    with suppress(ValueError):
        if 0 <= (number := float(str(value))) <= 1:
            return int(number >= 0.5)
    raise InputError(f"the teacher's column {column} holds {value!r}; a label or a probability was expected.")


_SPELLINGS: Mapping[str, int] = {
    **dict.fromkeys(("true", "correct", "yes"), 1),
    **dict.fromkeys(("false", "incorrect", "no"), 0),
}
