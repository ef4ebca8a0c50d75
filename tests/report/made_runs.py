"""Results as `score` and `judge` leave them, written by the functions that write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bert_judge import Sample
from bert_judge.records import Row, Signature, Verdict
from bert_judge.results import Identity, ResultFolder
from bert_judge.results.runs import Run, load_run
from saved_runs import write_records

STARTER = Signature.make("BERTJudge", model="starter", weights="12ab", threshold=0.5)
LARGE = Signature.make("BERTJudge", model="large", weights="34cd", threshold=0.5)
SIMILAR = Signature.make("BERTScore", model="starter", weights="12ab", threshold="none")


def make_run(
    folder: Path,
    samples: Sequence[Sample],
    verdicts: Sequence[Verdict],
    signature: Signature = STARTER,
    sha: str = "1" * 64,
    texts: bool = True,
    bad_rows: int = 0,
    **record: Any,
) -> Run:
    """Write a result and read it again."""
    result = ResultFolder(folder, Identity(signature, sha, {}))
    pairs = zip(samples, verdicts, strict=True)
    with result.writing():
        write_records(result, [Row.of(sample, verdict).record(texts) for sample, verdict in pairs])
        run = {
            "input": {"path": "data/answers.jsonl", "format": "jsonl"},
            "command": ["bert-judge", "score", "my answers.jsonl"],
            "timings": {"started": "2026-01-02T03:04:05+0000", "seconds": 2.0, "rows": len(samples)},
            "versions": {"bert-judge": "0.1.0"},
            "scale": "score" if signature.name == "BERTScore" else "probability",
            **record,
        }
        result.finish(run, ({"line": i, "reason": "no text", "row": ""} for i in range(bad_rows)))
    return load_run(folder)


def says(*scores: float | None) -> list[Verdict]:
    """Verdicts with these scores; None is undecided."""
    return [Verdict(score, None if score is None else int(score >= 0.5)) for score in scores]


def answers(*candidates: str, golds: str = "", **meta: str) -> list[Sample]:
    """Samples of one question; `golds` has a letter for each, and a space where there is none."""
    labels = [None if letter == " " else int(letter) for letter in golds or " " * len(candidates)]
    return [
        Sample(candidate, ("Paris",), "Capital of France?", str(i), gold, meta)
        for i, (candidate, gold) in enumerate(zip(candidates, labels, strict=True))
    ]
