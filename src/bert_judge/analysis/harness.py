"""A tool's own scores of its run beside a judge's labels: who calls what correct, and where they differ.

    for line in beside_harness(result.records()).lines:
        print(line.task, line.theirs, line.ours)

The rows are those of a saved run (`sources.saved`), whose columns `harness:METRIC` hold the tool's scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bert_judge.sources import HARNESS
from bert_judge.stats import Estimate, difference_of_rates


@dataclass(frozen=True, slots=True)
class HarnessLine:
    """The scores of a metric on a model's answers to a task, beside the judge's labels.

    All counts and rates are over the `rows` that have both. `theirs` is the mean of the tool's scores, which lie
    in [0, 1], `ours` the rate of answers that the judge calls correct. `only_ours` counts the answers with 0 of the tool
    that the judge calls correct (a regex that missed them, say), `only_theirs` those with 1 that it calls incorrect;
    `partial` those with a score between. `undecided` counts the further rows that the judge did not decide.
    """

    model: str
    task: str
    metric: str
    rows: int
    theirs: float
    ours: float
    only_ours: int
    only_theirs: int
    partial: int
    undecided: int
