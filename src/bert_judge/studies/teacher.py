"""A student judge beside the teacher that it learnt from, on rows with human labels: whose errors does it make?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.measures.arrays import np
from bert_judge.records import Row
from bert_judge.results.runs import Run
from bert_judge.studies.measures import Estimate, rate
from bert_judge.studies.pairing import numbered
from bert_judge.studies.slices import Slice, is_small
from bert_judge.studies.table import VerdictTable


@dataclass(frozen=True, slots=True)
class Teacher:
    """A teacher's labels of rows, in the order of the rows: 1, 0, or None where it has none."""

    name: str
    labels: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class TeacherErrors:
    """How a judge follows its teacher's labels in a slice; `kind` is "all" for all rows.

    `repeated` is the fraction of the teacher's errors that the judge repeats, `broken` that of the teacher's correct
    labels that the judge gets wrong; None where the teacher has no such row. Undecided rows are left out.
    """

    kind: str
    level: str
    judge: str
    teacher_wrong: int
    repeated: Estimate | None
    teacher_right: int
    broken: Estimate | None
    small: bool


def teacher_in_column(rows: Sequence[Row], column: str) -> Teacher:
    """A teacher whose labels stand in a column: 1 and 0, true and false, or a probability (correct from 0.5 on).

    Raises InputError where no row has that column, or a value is none of these.
    """
    if not any(column in row.meta for row in rows):
        names = sorted({name for row in rows for name in row.meta})
        raise InputError(
            f"--teacher is {column!r}, which is neither a saved run nor a column; there is {', '.join(names)}."
        )
    return Teacher(column, [_label(row.meta.get(column), column) for row in rows])


def teacher_of_run(rows: Sequence[Row], run: Run) -> Teacher:
    """A teacher whose verdicts were saved. Raises InputError where it judged other rows, or gave no labels."""
    texts = any(row.candidate is not None for row in run.rows)
    theirs, ours = (numbered(row.key if texts else ("id", str(row.id)) for row in every) for every in (run.rows, rows))
    by_name = dict(zip(theirs, run.rows, strict=True))
    found = [by_name.get(name) for name in ours]
    if not any(found):
        raise InputError(f"the teacher {run.name} judged none of the {len(rows)} rows; a run on them was expected.")
    if all(row is None or row.label is None for row in found):
        raise InputError(f"the teacher {run.name} gave no labels; judge again with a threshold.")
    return Teacher(run.name, [None if row is None else row.label for row in found])


def teacher_errors(teacher: Teacher, table: VerdictTable, parts: Sequence[Slice]) -> list[TeacherErrors]:
    """Where each judge makes its teacher's errors, on all rows and slice by slice."""
    taught = np.asarray([-1 if label is None else label for label in teacher.labels], np.int64)
    found = []
    for part in [Slice("all", "all rows", range(len(table.rows))), *parts]:
        own, labels = table.part(part.rows), taught[np.asarray(part.rows)]
        for judge in own.judges:
            both = (labels >= 0) & (judge.labels >= 0)
            wrong, right, failed = both & (labels != own.golds), both & (labels == own.golds), judge.labels != own.golds
            found.append(
                TeacherErrors(
                    part.kind,
                    part.level,
                    judge.name,
                    teacher_wrong=int(wrong.sum()),
                    repeated=rate(failed, wrong, own.clusters),
                    teacher_right=int(right.sum()),
                    broken=rate(failed, right, own.clusters),
                    small=is_small(wrong[both].astype(int).tolist()),
                )
            )
    return found


def _label(value: object, column: str) -> int | None:
    if value is None or value == "":
        return None
    if (known := _SPELLINGS.get(str(value).strip().lower())) is not None:
        return known
    with suppress(ValueError):
        if 0 <= (number := float(str(value))) <= 1:
            return int(number >= 0.5)
    raise InputError(f"the teacher's column {column} holds {value!r}; a label or a probability was expected.")


_SPELLINGS: Mapping[str, int] = {
    **dict.fromkeys(("true", "correct", "yes"), 1),
    **dict.fromkeys(("false", "incorrect", "no"), 0),
}
