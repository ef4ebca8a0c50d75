"""Exact bounds of a rate, and the loosest threshold that keeps a target with confidence.

The claim "at least `target` of the rows agree" is tested at level `delta`: if false, it is made with a probability
of at most `delta`. `counts` holds (rows, agreed) for each threshold of a path, from strict to loose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from bert_judge.stats.inputs import check_fraction


class Counts(NamedTuple):
    """How many rows a threshold lets pass, and how many of these agree."""

    rows: int
    agreed: int


def lower_bound(agreed: int, rows: int, delta: float) -> float:
    """The exact one-sided lower bound of a rate, in [0, 1] (Clopper and Pearson, 1934); 0.0 for no rows.

    Whatever the true rate is, the bound lies above it with a probability of at most `delta`.
    """
    from scipy.special import betaincinv

    return float(betaincinv(agreed, rows - agreed + 1, delta)) if agreed else 0.0


def upper_bound(agreed: int, rows: int, delta: float) -> float:
    """The exact one-sided upper bound of a rate, in [0, 1]; 1.0 for no rows. The mirror of `lower_bound`."""
    return 1.0 - lower_bound(rows - agreed, rows, delta)


def rows_needed(target: float, delta: float) -> int:
    """The fewest rows that can certify a target, if all of them agree.

    Raises InputError unless target and delta are between 0 and 1.
    """
    check_fraction("the target", target, 0.95)
    check_fraction("delta", delta, 0.1)
    return math.ceil(math.log(delta) / math.log(target) - 1e-9)  # e.g. 0.9 ** 2 is to need 2 rows, not 3


def fixed_sequence(counts: Sequence[Counts], target: float, delta: float) -> int | None:
    """The index of the loosest threshold for which the target is certified, None where there is none.

    The thresholds are tested in their order, each at the level `delta`, up to the first that fails (Maurer, Hothorn and
    Lehmacher, 1995; for judges: Jung et al., 2024, arXiv 2407.18370). All that pass are certified together with
    confidence 1 - delta, if the rows are independent draws and the path was fixed without looking at their labels.

    The first one tested has twice the rows of `rows_needed`, so that some may disagree, or half of all rows if these
    are fewer, but at least `rows_needed`. The choice looks at numbers of rows alone: it keeps the level where
    agreement, once below the target, stays below it in the rows that looser thresholds add.
    """
    needed = rows_needed(target, delta)
    if not counts:
        return None
    enough = max(needed, min(2 * needed, counts[-1].rows / 2))
    start = next((index for index, (rows, _) in enumerate(counts) if rows >= enough), len(counts) - 1)
    found = None
    for index, (rows, agreed) in enumerate(counts[start:], start):
        if lower_bound(agreed, rows, delta) < target:
            break
        found = index
    return found


def highest_target(counts: Sequence[Counts], delta: float) -> float | None:
    """The highest target of 0.99, 0.98 … 0.5 for which `fixed_sequence` finds a threshold; None where there is none."""
    targets = (percent / 100 for percent in range(99, 49, -1))
    return next((target for target in targets if fixed_sequence(counts, target, delta) is not None), None)
