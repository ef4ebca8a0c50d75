"""A judge as a metric of lighteval: `LightevalTaskConfig(…, metrics=[bert_judge()])`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from bert_judge.encoder.models import STARTER
from bert_judge.errors import import_extra
from bert_judge.integrations import mean_of_decided
from bert_judge.judges.naming import JudgeName, JudgeSpec, shared_judge
from bert_judge.records import Sample

_FEATURE = "bert_judge.integrations.lighteval"
_samples = import_extra("lighteval.metrics.metrics_sample", _FEATURE, None, "lighteval")
_metrics = import_extra("lighteval.metrics.utils.metric_utils", _FEATURE, None, "lighteval")
_requests = import_extra("lighteval.tasks.requests", _FEATURE, None, "lighteval")


def bert_judge(judge: JudgeName = STARTER, *, question: Callable[[Any], str | None] | None = None) -> Any:
    """A metric of lighteval: the rate of correct answers, by a judge that reads all answers of a task in one batch.

    The references are a document's golds, the candidates its responses (without reasoning, which lighteval removes),
    whose labels are averaged; the question is its query, or `question(document)`. Documents without a decided response
    are left out of the mean. Raises InputError for an unknown judge, and once it judges for one without labels.
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
    """The share of a document's responses that are correct; NaN if none is decided."""

    def __init__(self, judge: JudgeName, question: Callable[[Any], str | None] | None) -> None:
        self.judge, self.question = judge, question

    def compute(self, responses: Sequence[Any], docs: Sequence[Any], **_: Any) -> list[float]:
        answers = [response.final_text for response in responses]
        samples = []
        for texts, doc in zip(answers, docs, strict=True):
            question = self.question(doc) if self.question else doc.query
            samples += [Sample(text, tuple(doc.get_golds()), question) for text in texts]
        shared = shared_judge(self.judge)
        shared.needs_labels()
        verdicts = iter(shared.assess(samples))
        return [mean_of_decided([verdict.label for verdict in islice(verdicts, len(texts))]) for texts in answers]
