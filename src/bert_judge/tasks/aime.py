"""AIME 2024 and 2025: the thirty problems of the two invitational examinations of a year; results are 0 to 999."""

from __future__ import annotations

from bert_judge.errors import InputError
from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._math import boxed_result
from bert_judge.tasks._prompts import RESULT

_LICENCE, _FAMILY = "Apache-2.0", "math"


def _read(row: Row) -> Item:
    """The result is a column of the one data set, and stands in a box in the solutions of the other."""
    result = row["answer"] if "answer" in row else boxed_result(row["solution"])
    if result is None:
        raise InputError(f"a solution of AIME has no \\boxed{{result}}: …{row['solution'][-60:]!r}.")
    return Item(row["problem"], str(result))


TASKS = make_tasks(
    [
        Benchmark("aime24", "math-ai/aime24", None, "test", _LICENCE, _FAMILY),
        Benchmark("aime25", "math-ai/aime25", None, "test", _LICENCE, _FAMILY),
    ],
    _read,
    RESULT,
)
