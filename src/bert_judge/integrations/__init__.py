"""Where others call us: plug-ins of other tools, reward functions, and Ray."""

from __future__ import annotations

import math
from collections.abc import Iterable


def mean_of_decided(values: Iterable[float | None]) -> float:
    """The mean of the values that are not None; NaN if all are."""
    decided = [value for value in values if value is not None]
    return math.fsum(decided) / len(decided) if decided else math.nan
