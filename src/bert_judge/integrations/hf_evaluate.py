"""Judges with the interface of Hugging Face's `evaluate`: `add`, `add_batch`, `compute`.

metric = CorrectnessMetric("starter")
metric.compute(predictions=["It is Paris."], references=["Paris"], questions=["What is the capital of France?"])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bert_judge.encoder.models import STARTER
from bert_judge.errors import InputError
from bert_judge.judges.base import make_samples
from bert_judge.judges.shared import JudgeName, shared_judge
from bert_judge.records import Sample


class CorrectnessMetric:
    """The rate of correct answers, by a judge that is loaded once per process. Raises what loading it raises."""

    name = "correctness"

    def __init__(self, judge: JudgeName = STARTER) -> None:
        self._shared = shared_judge(judge)
        self._samples: list[Sample] = []

    def add(self, *, prediction: str, reference: str | Sequence[str], question: str | None = None) -> None:
        """Add one answer, with its reference or a list of references."""
        self._samples += make_samples([question], [prediction], [reference])

    def add_batch(
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str]],
        questions: Sequence[str] | None = None,
    ) -> None:
        """Add several answers. Raises InputError for other lengths, and for entries that are not texts."""
        self._samples += make_samples(questions, predictions, references)

    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
        questions: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Judge the answers that were added, and those given here; then start anew.

        Returns `accuracy` (the rate labelled correct among the labelled), `mean_score` (of the decided), `undecided` (a
        count), and the lists `scores` and `labels`; each may be None. Raises InputError if there is nothing to judge.
        """
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions or (), references=references or (), questions=questions)
        samples, self._samples = self._samples, []
        if not samples:
            raise InputError("there are no predictions to judge; give predictions= and references=, or add some first.")
        verdicts = self._shared.assess(samples)
        scores, labels = [verdict.score for verdict in verdicts], [verdict.label for verdict in verdicts]
        return {
            "accuracy": _mean([label for label in labels if label is not None]),
            "mean_score": _mean([score for score in scores if score is not None]),
            "undecided": scores.count(None),
            "scores": scores,
            "labels": labels,
        }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
