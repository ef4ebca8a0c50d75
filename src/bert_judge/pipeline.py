"""From samples to a result on the disk: the loop that every judge runs in."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice, tee
from typing import Any

from bert_judge.artifacts import ResultFolder, verdict_record
from bert_judge.errors import InputError
from bert_judge.judges.base import Judge
from bert_judge.sources import Source
from bert_judge.stats import Confusion, wilson_interval
from bert_judge.types import Sample, Verdict
from bert_judge.version import __version__


@dataclass(frozen=True, slots=True)
class Summary:
    """What a result says in a few numbers. Shares are in [0, 1], intervals are 95 % Wilson intervals.

    `accuracy` is the share of candidates labelled right among the decided rows; `accuracy_all` counts undecided rows
    as wrong. Both are None where the judge gives scores without labels. `agreement` compares the judge's labels with
    the input's (gold) ones, where there are any.
    """

    rows: int
    judged: int
    undecided: int
    truncated: int
    accuracy: float | None
    accuracy_interval: tuple[float, float] | None
    accuracy_all: float | None
    agreement: Agreement | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the judge's labels agree with the labels of the input, over `rows` rows that have both."""

    rows: int
    accuracy: float | None
    accuracy_interval: tuple[float, float]
    f1: float | None
    kappa: float | None


def score_source(
    source: Source,
    judge: Judge,
    folder: ResultFolder,
    *,
    texts: bool = True,
    command: Sequence[str] = (),
) -> Generator[int, None, None]:
    """Judge the samples of a source that `folder` lacks yet, and finish the result.

    Yields the number of rows that are done, after each row. Memory does not grow with their number. A run that is
    stopped (by Ctrl-C, say) keeps what is done and can go on later.
    """
    start = time.time()
    with folder.writing():
        done = folder.rows_done
        pairs = _with_verdicts(islice(source, done, None), judge)
        for done in folder.append(verdict_record(sample, verdict, texts) for sample, verdict in pairs):
            yield done
        seconds, judged = time.time() - start, done - folder.rows_done
        run = {
            "summary": asdict(summarise(folder.records())),
            "input": {"path": source.path, "format": source.format, "columns": dict(source.columns)},
            "command": list(command),
            "timings": {
                "started": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(start)),
                "seconds": round(seconds, 3),
                "rows": judged,
                "rows_per_second": round(judged / seconds, 1) if seconds else None,
            },
            "versions": _versions(),
            "machine": {"platform": platform.platform(), "cores": os.cpu_count()},
        }
        folder.finish(run, ({"line": row.line, "reason": row.reason, "row": row.text} for row in source.bad_rows))


def summarise(records: Iterable[Mapping[str, Any]]) -> Summary:
    """Count a result's records (lines of `verdicts.jsonl`), as a stream."""
    rows = undecided = labelled = truncated = right = 0
    pairs: Counter[tuple[int, int]] = Counter()
    for record in records:
        rows += 1
        truncated += "truncated" in record
        undecided += record["score"] is None
        labelled += record["label"] is not None
        right += record["label"] == 1
        if record["label"] is not None and "gold" in record:
            pairs[record["gold"], record["label"]] += 1
    confusion = Confusion.count(pairs.elements())
    return Summary(
        rows=rows,
        judged=rows - undecided,
        undecided=undecided,
        truncated=truncated,
        accuracy=right / labelled if labelled else None,
        accuracy_interval=wilson_interval(right, labelled) if labelled else None,
        accuracy_all=right / (labelled + undecided) if labelled + undecided else None,
        agreement=_agreement(confusion) if confusion.n else None,
    )


def _agreement(confusion: Confusion) -> Agreement:
    agreed = confusion.true_positive + confusion.true_negative
    return Agreement(
        confusion.n, confusion.accuracy, wilson_interval(agreed, confusion.n), confusion.f1, confusion.kappa
    )


def _with_verdicts(samples: Iterable[Sample], judge: Judge) -> Iterator[tuple[Sample, Verdict]]:
    """Each sample with its verdict; the judge reads a window ahead, which is all that is held."""
    kept, judged = tee(samples)
    verdicts = iter(judge.assess(judged))
    for sample in kept:
        verdict = next(verdicts, None)
        if verdict is None:
            raise InputError(f"{type(judge).__name__} gave no verdict of row {sample.id}; one a sample was expected.")
        yield sample, verdict
    if next(verdicts, None) is not None:
        raise InputError(f"{type(judge).__name__} gave more verdicts than samples; one a sample was expected.")


def _versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on, as far as they are installed."""
    versions = {"bert-judge": __version__, "python": platform.python_version()}
    for package in ("torch", "transformers", "tokenizers", "openvino", "numpy"):
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions
