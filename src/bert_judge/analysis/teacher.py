"""A student judge beside the teacher that it learnt from, on rows with people's labels: whose errors does it make?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bert_judge.analysis.labels import Judged, aligned
from bert_judge.analysis.measures import Answers, Estimate, shares
from bert_judge.analysis.results import Row
from bert_judge.analysis.slices import Slice, is_small
from bert_judge.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Teacher:
    """A teacher's labels of rows, in the order of the rows: 1, 0, or None where it has none."""

    name: str
    labels: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class TeacherErrors:
    """What a judge makes of its teacher's labels in a slice; `kind` is "all" for all rows.

    `repeated` is the share of the teacher's errors that the judge makes, too; `broken` the share of the rows that the
    teacher has right and the judge wrong. Both are None where the teacher has no such row. Undecided rows are left out.
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
    """A teacher whose labels stand in a column: 1 and 0, true and false, or a probability (right from 0.5 on).

    Raises InputError where no row has that column, or a value is none of these.
    """
    if not any(column in row.meta for row in rows):
        names = sorted({name for row in rows for name in row.meta})
        raise InputError(
            f"--teacher is {column!r}, which is neither a saved run nor a column; there is {', '.join(names)}."
        )
    return Teacher(column, [_label(row.meta.get(column), column) for row in rows])


def teacher_of_run(rows: Sequence[Row], run: Judged) -> Teacher:
    """A teacher whose verdicts were saved. Raises InputError where it judged other rows, or gave no labels."""
    found, (verdicts,) = aligned(rows, [run])
    labels = {id(row): verdict.label for row, verdict in zip(found, verdicts.rows, strict=True)}
    if not any(label is not None for label in labels.values()):
        raise InputError(f"the teacher {run.name} gave no labels; judge anew with a threshold.")
    return Teacher(run.name, [labels.get(id(row)) for row in rows])


def teacher_errors(
    teacher: Teacher,
    judges: Sequence[Judged],
    answers: Sequence[Answers],
    golds: NDArray[np.int64],
    clusters: Sequence[str],
    parts: Sequence[Slice],
) -> list[TeacherErrors]:
    """Where each judge makes its teacher's errors, on all rows and slice by slice."""
    import numpy as np

    taught = np.asarray([-1 if label is None else label for label in teacher.labels], np.int64)
    found = []
    for part in [Slice("all", "all rows", range(len(golds))), *parts]:
        places = np.asarray(part.rows)
        ours, gold, names = taught[places], golds[places], [clusters[place] for place in part.rows]
        for judge, each in zip(judges, answers, strict=True):
            labels = each.labels[places]
            both = (ours >= 0) & (labels >= 0)
            wrong, right, failed = both & (ours != gold), both & (ours == gold), labels != gold
            found.append(
                TeacherErrors(
                    part.kind,
                    part.level,
                    judge.name,
                    teacher_wrong=int(wrong.sum()),
                    repeated=shares(failed, wrong, names),
                    teacher_right=int(right.sum()),
                    broken=shares(failed, right, names),
                    small=is_small(wrong[both].astype(int).tolist()),
                )
            )
    return found


def _label(value: object, column: str) -> int | None:
    if value is None or value == "":
        return None
    known = _SPELLINGS.get(str(value).strip().lower())
    if known is not None:
        return known
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        raise InputError(f"the teacher's column {column} holds {value!r}; a label or a probability was expected.")
    return int(number >= 0.5)


_SPELLINGS: Mapping[str, int] = {
    **dict.fromkeys(("true", "correct", "yes"), 1),
    **dict.fromkeys(("false", "incorrect", "no"), 0),
}
