"""Lexical metrics, from two strings to a number: what judges are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bert_judge.errors import InputError, did_you_mean, require_extra
from bert_judge.metrics.maths import MATH_TIMEOUT, MetricResult, math_verify, verify_math
from bert_judge.metrics.overlap import bleu, chrf, rouge_l
from bert_judge.metrics.text import (
    choice,
    containment,
    exact_match,
    find_boxed,
    find_choice,
    normalise,
    option_letter,
    raw_match,
    strip_markup,
    token_f1,
)

__all__ = [
    "MATH_TIMEOUT",
    "METRICS",
    "Metric",
    "MetricResult",
    "bleu",
    "choice",
    "chrf",
    "containment",
    "exact_match",
    "find_boxed",
    "find_choice",
    "find_metric",
    "math_verify",
    "normalise",
    "option_letter",
    "raw_match",
    "rouge_l",
    "strip_markup",
    "token_f1",
    "verify_math",
]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the table: takes a candidate and a reference and returns a number in [0, 1].

    `graded` metrics return any number there, others 1.0 or 0.0. `packages` are those whose versions can change the
    number; the first must be installed. `limited` is the metric with a time limit in seconds, if it could take long.
    """

    function: Callable[[str, str], float]
    graded: bool = False
    packages: tuple[str, ...] = ()
    limited: Callable[[str, str, float], MetricResult] | None = None

    def __call__(self, candidate: str, reference: str) -> float:
        """The number."""
        return self.function(candidate, reference)

    def find(self, candidate: str, reference: str, timeout: float) -> MetricResult:
        """The number, or why there is none; metrics with a time limit stop after `timeout` seconds."""
        if self.limited:
            return self.limited(candidate, reference, timeout)
        return MetricResult(self.function(candidate, reference))


_MATH_PACKAGES = ("math-verify", "latex2sympy2-extended", "sympy")

METRICS: dict[str, Metric] = {
    "EM": Metric(raw_match),
    "ROUGE": Metric(rouge_l, graded=True, packages=("rouge-score",)),
    "Math-Verify": Metric(math_verify, packages=_MATH_PACKAGES, limited=verify_math),
    "exact_match": Metric(exact_match),
    "choice": Metric(choice),
    "containment": Metric(containment),
    "token_f1": Metric(token_f1, graded=True),
    "bleu": Metric(bleu, graded=True, packages=("sacrebleu",)),
    "chrf": Metric(chrf, graded=True, packages=("sacrebleu",)),
}
"""Every metric by its name: the three of the paper's package first."""


def find_metric(name: str) -> Metric:
    """The metric of this name.

    Raises InputError with the nearest name if there is none, and MissingExtraError if its package is not installed.
    """
    if name not in METRICS:
        raise InputError(f"there is no metric {name!r}; {did_you_mean(str(name), METRICS)}")
    metric = METRICS[name]
    for package in metric.packages[:1]:
        require_extra(package.replace("-", "_"), f"the metric {name}", package, "lexical")
    return metric
