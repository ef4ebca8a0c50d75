"""Judges in lm-evaluation-harness while it runs: a filter that judges all responses of a task, and what reads it.

Beside a task's YAML, in `utils.py`:

    from bert_judge.integrations.lm_eval import judged, process_results

    verdicts = judged(reference="answer")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from bert_judge.encoder.models import STARTER
from bert_judge.errors import InputError, did_you_mean
from bert_judge.judges.naming import JudgeSpec
from bert_judge.judges.shared import JudgeName, shared_judge
from bert_judge.records import Sample

Doc = Mapping[str, Any]
"""A document of a task: a row of its data set."""

Part = str | Callable[[Doc], Any]
"""The column of a document, or what makes a text (of references also several) of a document."""

Record = dict[str, Any]
"""What the filter makes of a response: the `response`, its `score`, and `correct`, 1, 0 or None for undecided."""


def judged(
    judge: JudgeName = STARTER, *, question: Part = "question", reference: Part = "answer"
) -> Callable[[Iterable[Sequence[str]], Sequence[Doc]], list[list[Record]]]:
    """A `filter_fn` of the harness's filter `custom`: the judge reads all responses of a task in one batch.

    `judge` is named as everywhere (`{"judge_type": "RemoteJudge", "server": "http://…"}` asks a server); it is loaded
    when the first task is judged, once a process. Raises InputError for a judge of no such name, for documents without
    the columns, and for what is no text there.
    """
    JudgeSpec.of(judge)

    def filter_fn(responses: Iterable[Sequence[str]], docs: Sequence[Doc]) -> list[list[Record]]:
        pairs = list(zip(responses, docs, strict=True))
        samples = [
            Sample(response, _part(doc, reference, "reference"), _part(doc, question, "question"))
            for own, doc in pairs
            for response in own
        ]
        verdicts = iter(shared_judge(judge).assess(samples))
        return [
            [
                {"response": response, "score": verdict.score, "correct": verdict.label}
                for response, verdict in zip(own, verdicts, strict=False)
            ]
            for own, _ in pairs
        ]

    return filter_fn


def process_results(doc: Doc, results: Sequence[Any]) -> dict[str, float]:
    """The means of a document's responses: `correct` and `score`, NaN where the judge decided none (use `nanmean`)."""
    if not isinstance(results[0], list):
        raise InputError(
            f"process_results got {results[0]!r:.60}; what judged(…) gives was expected, without take_first after it."
        )
    return {name: _mean(each[name] for each in results[0]) for name in ("correct", "score")}


def _part(doc: Doc, part: Part, role: str) -> Any:
    if callable(part):
        return part(doc)
    if part not in doc:
        raise InputError(f"a document has no column {part!r} for the {role}; {did_you_mean(part, map(str, doc))}")
    return doc[part]


def _mean(values: Iterable[float | None]) -> float:
    decided = [value for value in values if value is not None]
    return fmean(decided) if decided else math.nan
