"""Many numbers in, one number out: intervals, agreement with human labels, calibration.

`scores` are probabilities, in [0, 1], that a candidate is correct; `golds` (human labels) and labels are 1 or 0.
"""

from bert_judge.measures.calibration import TEMPERATURES, brier, expected_calibration_error, fit_temperature
from bert_judge.measures.labels import Confusion, wilson_interval
from bert_judge.measures.rates import Rate, rate_interval
from bert_judge.measures.resampling import bootstrap_interval

__all__ = [
    "TEMPERATURES",
    "Confusion",
    "Rate",
    "bootstrap_interval",
    "brier",
    "expected_calibration_error",
    "fit_temperature",
    "rate_interval",
    "wilson_interval",
]
