"""A judge as a metric of lighteval: `LightevalTaskConfig(…, metrics=[bert_judge()])`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import islice
from statistics import fmean
from typing import Any

import numpy as np

from bert_judge.encoder.models import STARTER
from bert_judge.errors import import_extra
from bert_judge.judges.naming import JudgeSpec
from bert_judge.judges.shared import JudgeName, shared_judge
from bert_judge.records import Sample

_FEATURE = "bert_judge.integrations.lighteval"
_samples = import_extra("lighteval.metrics.metrics_sample", _FEATURE, None, "lighteval")
_metrics = import_extra("lighteval.metrics.utils.metric_utils", _FEATURE, None, "lighteval")
_requests = import_extra("lighteval.tasks.requests", _FEATURE, None, "lighteval")


def bert_judge(judge: JudgeName = STARTER, *, question: Callable[[Any], str | None] | None = None) -> Any:
    """A metric of lighteval: whether each answer is correct, by a judge that reads all answers of a task in one batch.

    The references are the golds of the document, the candidates its responses (with reasoning taken out by lighteval),
    whose labels are averaged; the question is its query, or what `question` makes of the document. Documents of which
    the judge can decide no response are left out of the mean. Raises InputError for a judge of no such name, and
    when it judges for one with scores and no labels.
    """
    JudgeSpec.of(judge)
    return _metrics.SampleLevelMetric(
        metric_name="bert_judge",
        higher_is_better=True,
        category=_requests.SamplingMethod.GENERATIVE,
        sample_level_fn=_Correct(judge, question),
        corpus_level_fn=np.nanmean,
        batched_compute=True,
    )


class _Correct(_samples.SampleLevelComputation):  # type: ignore[misc, name-defined]
    """The share of a document's responses that are correct; NaN where none is decided."""

    def __init__(self, judge: JudgeName, question: Callable[[Any], str | None] | None) -> None:
        self.judge, self.question = judge, question

    def compute(self, responses: Sequence[Any], docs: Sequence[Any], **_: Any) -> list[float]:
        answers = [response.final_text for response in responses]
        samples = [
            Sample(answer, tuple(doc.get_golds()), self.question(doc) if self.question else doc.query)
            for own, doc in zip(answers, docs, strict=True)
            for answer in own
        ]
        shared = shared_judge(self.judge)
        shared.needs_labels()
        labels = iter([verdict.label for verdict in shared.assess(samples)])
        return [_mean([label for label in islice(labels, len(own)) if label is not None]) for own in answers]


def _mean(labels: Sequence[int]) -> float:
    return fmean(labels) if labels else math.nan
