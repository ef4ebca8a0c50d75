"""Numbers with their uncertainty: rates and their intervals, agreement with human labels, paired differences.

`scores` are probabilities, in [0, 1], that a candidate is correct; `golds` (human labels) and labels are 1 or 0.
"""

from bert_judge.measures.agreement import Agreement
from bert_judge.measures.confusion import Confusion
from bert_judge.measures.estimates import (
    BootstrapSettings,
    Estimate,
    bootstrap_interval,
    rate,
    rate_interval,
    rate_of_counts,
    wilson_interval,
)
from bert_judge.measures.paired import Difference
from bert_judge.measures.scores import TEMPERATURES, brier, expected_calibration_error, fit_temperature

__all__ = [
    "TEMPERATURES",
    "Agreement",
    "BootstrapSettings",
    "Confusion",
    "Difference",
    "Estimate",
    "bootstrap_interval",
    "brier",
    "expected_calibration_error",
    "fit_temperature",
    "rate",
    "rate_interval",
    "rate_of_counts",
    "wilson_interval",
]
