"""Results as `score` saves them, with verdicts that a test chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bert_judge.records import Row, Sample, Scale, Signature, Verdict
from bert_judge.results import Identity, ResultFolder
from bert_judge.results.runs import Run, load_run

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
    records = [Row.of(*pair).record(texts) for pair in zip(samples, verdicts, strict=True)]
    with result.writing():
        list(result.write(0, range(len(records)), records))
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


def saved_run(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    judge: str = "BERTJudge",
    texts: bool = True,
    scale: Scale = "probability",
) -> Path:
    """Write a finished result: a row has score, label, gold, and texts where they matter."""
    rows = list(rows)
    samples = [
        Sample(
            row.get("candidate", f"candidate {number}"),
            row.get("references", (f"reference {number}",)),
            row.get("question", f"What is number {number}?"),
            row.get("id", str(number)),
            row.get("gold"),
        )
        for number, row in enumerate(rows, 1)
    ]
    verdicts = [Verdict(row["score"], row["label"]) for row in rows]
    make_run(folder, samples, verdicts, Signature.make(judge, version=1), "0" * 64, texts, scale=scale)
    return folder


def judged_rows(seed: int, count: int, accuracy: float, error: float, labelled: int = 0) -> list[dict[str, Any]]:
    """Rows of a judge that is unsure where it errs; the first `labelled` have a gold label, all have a `truth`."""
    chance = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        right, errs = bool(chance.random() < accuracy), bool(chance.random() < error)
        doubt = float(chance.uniform(0.2, 0.5) if errs else chance.beta(0.5, 5) / 2)
        label = int(right != errs)
        score = 1 - doubt if label else doubt
        gold = int(right) if number < labelled else None
        rows.append({"score": score, "label": label, "gold": gold, "truth": int(right)})
    return rows
