"""Whether a saved result is whole, and still what was written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bert_judge.results.files import RUN, VERDICTS, facts
from bert_judge.results.runs import read_verdicts
from bert_judge.results.summary import Tally


def damage(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """What differs in the files of a result from what its `run.json`, the record, says: a sentence each, none if whole.

    A record without hashes (of an older version) says how many rows there are, and no more.
    """
    wrong, rows = [], record.get("summary", {}).get("rows")
    for name, written in record.get("files", {}).items():
        path = folder / name
        if not path.exists():
            wrong.append(f"{path} is missing.")
        elif (size := path.stat().st_size) != written["bytes"]:
            wrong.append(f"{path} has {size:,} bytes; {written['bytes']:,} were written.")
        elif facts(path) != written:
            wrong.append(f"{path} has other bytes than were written.")
    if not record.get("files"):
        count = sum(1 for _ in read_verdicts(folder))
        wrong += [f"{folder / VERDICTS} has {count:,} rows; {rows:,} were written."] if count != rows else []
    return wrong


def different_figures(folder: Path, saved: Mapping[str, Any]) -> list[str]:
    """A sentence for each figure of a saved summary that the verdicts of its folder do not give."""
    counted = asdict(Tally(read_verdicts(folder, Tally.COLUMNS)).summary())
    pairs = [(name, _figure(saved, name), _figure(counted, name)) for name in _FIGURES]
    return [
        f"{folder / RUN} says {name.removesuffix('.value')} {written}, and the verdicts give {recounted}."
        for name, written, recounted in pairs
        if not _same(written, recounted)
    ]


_FIGURES = (
    *("rows", "judged", "undecided", "failed", "truncated", "mean_score", "accuracy.value", "accuracy_all"),
    *("agreement.undecided", "agreement.accuracy.value", "agreement.f1.value", "agreement.kappa.value"),
)
"""The figures that are compared, by their paths in the summary."""


def _figure(summary: Mapping[str, Any], path: str) -> Any:
    value: Any = summary
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _same(written: object, counted: float | None) -> bool:
    if isinstance(written, int | float) and counted is not None:
        return math.isclose(written, counted, rel_tol=1e-9, abs_tol=1e-12)
    return written is counted is None
