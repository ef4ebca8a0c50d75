"""Results as `score` saves them, with verdicts that a test chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bert_judge.records import Row, Sample, Scale, Signature, Verdict
from bert_judge.results import Identity, ResultFolder


def saved_run(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    judge: str = "BERTJudge",
    texts: bool = True,
    scale: Scale = "probability",
) -> Path:
    """Write a finished result: a row has score, label, gold, and texts where they matter."""
    result = ResultFolder(folder, Identity(Signature.make(judge, version=1), "0" * 64, {}))
    with result.writing():
        records = [_record(number, row, texts) for number, row in enumerate(rows, 1)]
        write_records(result, records)
        result.finish({"scale": scale})
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


def _record(number: int, row: Mapping[str, Any], texts: bool) -> dict[str, Any]:
    sample = Sample(
        row.get("candidate", f"candidate {number}"),
        row.get("references", (f"reference {number}",)),
        row.get("question", f"What is number {number}?"),
        row.get("id", str(number)),
        row.get("gold"),
    )
    return Row.of(sample, Verdict(row["score"], row["label"])).record(texts)


def write_records(result: ResultFolder, records: Sequence[Mapping[str, Any]]) -> None:
    """Write all records of a result that holds none."""
    for _ in result.write(0, range(len(records)), records):
        pass
