"""MATH: problems of competitions with worked solutions in LaTeX (Hendrycks et al., arXiv 2103.03874)."""

from __future__ import annotations

import re

from bert_judge.tasks._benchmark import Benchmark, Item, Reading, Row, make_tasks
from bert_judge.tasks._math import boxed_result
from bert_judge.tasks._prompts import RESULT

_DATA, _LICENCE, _FAMILY = "EleutherAI/hendrycks_math", "MIT", "math"
_SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)


def _has_result(row: Row) -> bool:
    return boxed_result(row["solution"]) is not None


def _has_braced_box(row: Row) -> bool:
    """Whether the paper's package asks a problem: it knows neither `\\fbox{2}` nor `\\boxed 2`."""
    return re.search(r"\\boxed\{[^}]*\}", row["solution"]) is not None


def _read(row: Row) -> Item:
    return Item(row["problem"], boxed_result(row["solution"]) or "")


TASKS = make_tasks(
    [
        Benchmark("hendrycks_math_train", _DATA, _SUBJECTS, "train", _LICENCE, _FAMILY),
        Benchmark("hendrycks_math_test", _DATA, _SUBJECTS, "test", _LICENCE, _FAMILY),
    ],
    _read,
    RESULT,
    keep=_has_result,
    paper=lambda: Reading(_read, _has_braced_box),
)
