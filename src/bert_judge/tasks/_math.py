"""Results out of worked solutions and annotated answers of math data sets."""

from __future__ import annotations

import re

from bert_judge.metrics import find_boxed

_BARE_BOX = re.compile(r"\\boxed\s+([^\s${}\\]+)")
_UNIT = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)\s*$")


def boxed_result(solution: str) -> str | None:
    r"""What stands in the last box of a solution, with its inner braces: `\frac{9}{7}`; None if there is no box.

    MATH also writes `\fbox{2}`, and boxes a single character without braces, as in `\boxed 2`.
    """
    found = find_boxed(solution) or _BARE_BOX.findall(solution)
    return found[-1].strip().rstrip(".,;") or None if found else None


def without_units(answer: str) -> str:
    """Every value of an answer without the unit in brackets behind it: "17 (cats); 12 (dogs)" becomes "17; 12"."""
    values = [part.strip() for part in answer.split(";") if part.strip()]
    return "; ".join(_UNIT.sub("", value) or value for value in values)
