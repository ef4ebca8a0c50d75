"""Mathematics: the reference is the result of a problem, from a worked solution or an annotated answer.

GSM8K (arXiv 2110.14168), MATH (2103.03874), ASDiv (2020.acl-main.92), and AIME 2024 and 2025, thirty problems each.
"""

from __future__ import annotations

import re

from bert_judge.errors import InputError
from bert_judge.metrics import find_boxed
from bert_judge.tasks._benchmark import RESULT, Benchmark, Item, Row, RowConversion, make_tasks

_FAMILY = "math"
_GSM8K, _MATH = "openai/gsm8k", "EleutherAI/hendrycks_math"
_SUBJECTS = tuple(
    "algebra counting_and_probability geometry intermediate_algebra number_theory prealgebra precalculus".split()
)
_BARE_BOX = re.compile(r"\\boxed\s+([^\s${}\\]+)")
_UNIT = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)\s*$")


def _boxed_result(solution: str) -> str | None:
    r"""The content of the last box of a solution, such as `\frac{9}{7}`; None if there is no box.

    MATH also has `\fbox{2}`, and boxes of a single character without braces, as in `\boxed 2`.
    """
    contents = find_boxed(solution) or _BARE_BOX.findall(solution)
    return contents[-1].strip().rstrip(".,;") or None if contents else None


def _gsm8k(row: Row) -> Item:
    """The result follows `####` at the end of the worked solution."""
    _, mark, result = row["answer"].rpartition("####")
    if not mark:
        raise InputError(f"a solution of GSM8K has no '#### result' at its end: …{row['answer'][-60:]!r}.")
    return Item(row["question"], result)


def _math(row: Row) -> Item:
    return Item(row["problem"], _boxed_result(row["solution"]) or "")


def _math_has_braced_box(row: Row) -> bool:
    """Whether the paper's package uses a problem: it knows neither `\\fbox{2}` nor `\\boxed 2`."""
    return re.search(r"\\boxed\{[^}]*\}", row["solution"]) is not None


def _aime(row: Row) -> Item:
    """One data set has a column for the result, the other a box in the solution."""
    result = row["answer"] if "answer" in row else _boxed_result(row["solution"])
    if result is None:
        raise InputError(f"a solution of AIME has no \\boxed{{result}}: …{row['solution'][-60:]!r}.")
    return Item(row["problem"], str(result))


def _asdiv(row: Row) -> Item:
    """All values of the answer, in order, without the units in brackets: "17 (cats); 12 (dogs)" becomes "17; 12"."""
    values = [part.strip() for part in row["answer"].split(";") if part.strip()]
    result = "; ".join(_UNIT.sub("", value) or value for value in values)
    return Item(f"{row['body'].strip()} {row['question'].strip()}", result)


_SPLITS = ("train", "test")

TASKS = [
    *make_tasks(
        [Benchmark(f"gsm8k_{split}", _GSM8K, "main", split, "MIT", _FAMILY) for split in _SPLITS],
        _gsm8k,
        RESULT,
    ),
    *make_tasks(
        [Benchmark(f"hendrycks_math_{split}", _MATH, _SUBJECTS, split, "MIT", _FAMILY) for split in _SPLITS],
        _math,
        RESULT,
        keep=lambda row: _boxed_result(row["solution"]) is not None,
        paper=lambda: RowConversion(_math, _math_has_braced_box),
    ),
    *make_tasks(
        [Benchmark(name, f"math-ai/{name}", None, "test", "Apache-2.0", _FAMILY) for name in ("aime24", "aime25")],
        _aime,
        RESULT,
    ),
    *make_tasks([Benchmark("asdiv", "EleutherAI/asdiv", None, "validation", "CC-BY-NC-4.0", _FAMILY)], _asdiv, RESULT),
]
