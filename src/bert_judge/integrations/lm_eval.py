"""Judges in a run of lm-evaluation-harness: a filter that judges all responses of a task, and its `process_results`.

Beside a task's YAML, in `utils.py`:

    from bert_judge.integrations.lm_eval import judged, process_results

    verdicts = judged(reference="answer")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bert_judge.encoder.models import STARTER
from bert_judge.errors import InputError, did_you_mean
from bert_judge.integrations import mean_of_decided
from bert_judge.judges.naming import JudgeName, JudgeSpec, shared_judge
from bert_judge.records import Sample, Verdict

Doc = Mapping[str, Any]
"""A document of a task: a row of its data set."""

DocText = str | Callable[[Doc], Any]
"""A column of a document, or a function from a document to a text (for references also to several)."""

Record = dict[str, Any]
"""A judged response: the `response`, its `score`, and `correct`, which is 1, 0, or None for undecided."""


def judged(
    judge: JudgeName = STARTER, *, question: DocText = "question", reference: DocText = "answer"
) -> Callable[[Iterable[Sequence[str]], Sequence[Doc]], list[list[Record]]]:
    """A `filter_fn` for the harness's filter `custom`: the judge reads all responses of a task in one batch.

    `judge` is a name or a mapping, as everywhere (`{"judge_type": "RemoteJudge", "server": "http://…"}` asks a server);
    it is loaded once per process, for the first task. Raises InputError for an unknown judge, for documents without the
    columns, and for values that are no texts.
    """
    JudgeSpec.of(judge)

    def filter_fn(responses: Iterable[Sequence[str]], docs: Sequence[Doc]) -> list[list[Record]]:
        pairs = list(zip(responses, docs, strict=True))
        samples = []
        for texts, doc in pairs:
            references, asked = _text(doc, reference, "reference"), _text(doc, question, "question")
            samples += [Sample(text, references, asked) for text in texts]
        verdicts = iter(shared_judge(judge).assess(samples))
        return [[_record(text, next(verdicts)) for text in texts] for texts, _ in pairs]

    return filter_fn


def process_results(doc: Doc, results: Sequence[Any]) -> dict[str, float]:
    """The means over a document's responses: `correct` and `score`, NaN if none is decided (use `nanmean`)."""
    if not isinstance(results[0], list):
        raise InputError(
            f"process_results got {results[0]!r:.60}; the output of judged(…) was expected, and no take_first after it."
        )
    return {name: mean_of_decided(record[name] for record in results[0]) for name in ("correct", "score")}


def _record(response: str, verdict: Verdict) -> Record:
    return {"response": response, "score": verdict.score, "correct": verdict.label}


def _text(doc: Doc, source: DocText, role: str) -> Any:
    if callable(source):
        return source(doc)
    if source not in doc:
        raise InputError(f"a document has no column {source!r} for the {role}; {did_you_mean(source, map(str, doc))}")
    return doc[source]
