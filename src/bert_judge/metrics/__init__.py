"""Two strings in, one number out: the lexical measures that a judge is compared with, and the table of their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bert_judge.errors import InputError, did_you_mean
from bert_judge.metrics.extraction import choice, find_boxed, find_choice, strip_markup
from bert_judge.metrics.extras import MATH_VERIFY, ROUGE_SCORE, SACREBLEU, Extra
from bert_judge.metrics.maths import MATH_TIMEOUT, MetricResult, math_verify, verify_math
from bert_judge.metrics.overlap import bleu, chrf, rouge_l
from bert_judge.metrics.text import containment, exact_match, normalise, option_letter, raw_match, token_f1

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
    """A metric of the table: called with a candidate and a reference, it gives a number in [0, 1].

    `graded` metrics give any number there, the others 1.0 or 0.0. `extra` is what has to be installed for it. `limited`
    is the same metric with a limit in seconds, for one that could take long.
    """

    function: Callable[[str, str], float]
    graded: bool = False
    extra: Extra | None = None
    limited: Callable[[str, str, float], MetricResult] | None = None

    def __call__(self, candidate: str, reference: str) -> float:
        """The metric's number."""
        return self.function(candidate, reference)

    def find(self, candidate: str, reference: str, timeout: float) -> MetricResult:
        """The number, or why there is none; after at most `timeout` seconds where the metric could take long."""
        if self.limited:
            return self.limited(candidate, reference, timeout)
        return MetricResult(self.function(candidate, reference))


METRICS: dict[str, Metric] = {
    "EM": Metric(raw_match),
    "ROUGE": Metric(rouge_l, graded=True, extra=ROUGE_SCORE),
    "Math-Verify": Metric(math_verify, extra=MATH_VERIFY, limited=verify_math),
    "exact_match": Metric(exact_match),
    "choice": Metric(choice),
    "containment": Metric(containment),
    "token_f1": Metric(token_f1, graded=True),
    "bleu": Metric(bleu, graded=True, extra=SACREBLEU),
    "chrf": Metric(chrf, graded=True, extra=SACREBLEU),
}
"""Every metric by its name: the three of the paper's package first."""


def find_metric(name: str) -> Metric:
    """The metric of a name.

    Raises InputError with the nearest name where there is none, MissingExtraError where its package is not installed.
    """
    if name not in METRICS:
        raise InputError(f"there is no metric {name!r}; {did_you_mean(str(name), METRICS)}")
    metric = METRICS[name]
    if metric.extra:
        metric.extra.require()
    return metric
