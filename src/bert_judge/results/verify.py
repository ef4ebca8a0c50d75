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

_FIGURES = ("rows", "judged", "undecided", "failed", "truncated", "mean_score", "accuracy", "accuracy_all")
_FIGURES_OF_AGREEMENT = ("rows", "labels", "accuracy", "f1", "kappa")


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
    """A sentence for each figure of a saved summary that the verdicts of its folder do not give.

    Intervals are left out: earlier versions made them otherwise.
    """
    summary = asdict(Tally(read_verdicts(folder, Tally.COLUMNS)).summary())
    pairs: list[tuple[str, Any, Any]] = [(name, saved.get(name), summary[name]) for name in _FIGURES]
    written, counted = (figures.get("agreement") or {} for figures in (saved, summary))
    if isinstance(written, Mapping):
        pairs += [(f"agreement.{name}", written.get(name), counted.get(name)) for name in _FIGURES_OF_AGREEMENT]
    return [
        f"{folder / RUN} says {name} {written}, and the verdicts give {counted}."
        for name, written, counted in pairs
        if not _same(written, counted)
    ]


def _same(written: object, counted: float | None) -> bool:
    if isinstance(written, int | float) and counted is not None:
        return math.isclose(written, counted, rel_tol=1e-9, abs_tol=1e-12)
    return written is counted is None
