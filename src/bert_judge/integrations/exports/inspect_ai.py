"""Logs of inspect with the judge's score beside the others: `.eval` stays `.eval`, and `.json` stays `.json`.

The score is written as inspect's own `edit_score` writes one (with its history), and the metrics of the log as its
`recompute_metrics` computes them: accuracy and its standard error over samples, each the mean of its epochs.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bert_judge.errors import InputError, first_line
from bert_judge.inputs.files import InputFile
from bert_judge.inputs.saved.inspect_ai import HEADS, row_id, unpacked
from bert_judge.inputs.streams import CHUNK
from bert_judge.integrations.exports.base import Exported, ExportOptions, judged_input, started
from bert_judge.records import Row, __version__
from bert_judge.results.runs import Run

_LETTERS: Final = {1: "C", 0: "I"}
_NO_METRICS: Final = {"accuracy": math.nan, "stderr": math.nan}
_SUMMARIES: Final = ("summaries.json", "_journal/summaries/")


def export_inspect(run: Run, options: ExportOptions) -> Exported:
    """The logs of inspect that a result judged, with its verdicts.

    Raises InputError where it judged none, and for logs that are missing or have changed.
    """
    _, judged = judged_input(run, options.input)
    logs = [file for file in judged.files if file.log and file.format == "inspect"]
    if not logs:
        raise InputError(f"{run.folder} is no result of logs of inspect, but of {run.input.get('format')}.")
    rows: dict[str, dict[str, Row]] = {log.label: {} for log in logs}
    for row in run.rows:
        if (label := str(row.meta.get("file", ""))) in rows:
            rows[label][str(row.id)] = row
    top = Path(os.path.commonpath([log.place.absolute().parent for log in logs]))
    files = {}
    for log in logs:
        name = str(log.place.absolute().relative_to(top)).removesuffix(log.packing.suffix if log.packing else "")
        scores = _LogScores(options.name, str(run.signature), started(run), rows[log.label])
        files[name] = _archive_with(log, scores) if zipfile.is_zipfile(log.location) else _object_with(log, scores)
    samples = sum(map(len, rows.values()))
    summary = (
        f"{len(logs):,} log{'s' * (len(logs) > 1)} of inspect with the score {options.name} of {samples:,} samples"
    )
    return Exported(files, summary, sources=[log.location for log in logs])


@dataclass(slots=True)
class _LogScores:
    """The verdicts on a log's samples as scores called `name`; those that were added are kept for the log's metrics.

    `rows` are by the ids that `inputs` gives to samples; `time` is that of the verdicts, and `head` describes the log.
    """

    name: str
    judge: str
    time: str | None
    rows: Mapping[str, Row]
    head: dict[str, Any] = field(default_factory=dict)
    added: dict[int | str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, sample: dict[str, Any], count: bool = True) -> None:
        """Add the score to a sample, or to its summary; `count` it for the metrics."""
        row = self.rows.get(row_id(sample, self.head))
        if row is None or sample.get("error"):
            return
        score = self._score(row)
        scores = sample.get("scores") or {}
        history: list[dict[str, Any]] = []
        if before := scores.get(self.name):  # as inspect does: the first entry is the score as it was
            first = {key: before.get(key) for key in ("value", "answer", "explanation", "reason")}
            history = before.get("history") or [{**first, "metadata": before.get("metadata") or {}}]
        provenance = {
            "timestamp": self.time or datetime.now(UTC).isoformat(),
            "author": f"bert-judge {__version__}",
            "metadata": {},
        }
        edit = {**score, "provenance": provenance}
        sample["scores"] = {**scores, self.name: {**score, "history": [*history, edit]}}
        if count:
            self.added.setdefault(sample.get("id", ""), []).append(score)

    def _score(self, row: Row) -> dict[str, Any]:
        """A verdict as a score; an undecided one is NaN, which inspect leaves out of its metrics."""
        value = row.score if row.label is None else _LETTERS[row.label]
        return {
            "value": math.nan if value is None else value,
            "answer": None,
            "explanation": row.verdict.explanation,
            "reason": "grader_failed" if value is None else None,
            "metadata": {"score": row.score, "judge": self.judge},
        }

    def reduced(self) -> list[dict[str, Any]]:
        """A score for each sample: the mean of its epochs, NaN where none is decided."""
        samples = []
        for sample_id, scores in self.added.items():
            values = [value for score in scores if not math.isnan(value := _number(score["value"]))]
            mean = statistics.fmean(values) if values else math.nan
            samples.append({**scores[0], "value": mean, "history": [], "sample_id": sample_id})
        return samples

    def add_results(self, log: dict[str, Any]) -> None:
        """Add the metrics of the score to the results of a log."""
        results = log.get("results")
        if results is None or not self.added:
            return
        values = [value for score in self.reduced() if not math.isnan(value := score["value"])]
        error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        metrics = {"accuracy": statistics.fmean(values), "stderr": error} if values else _NO_METRICS
        before = results.get("scores") or []
        entry = {
            "name": self.name,
            "scorer": self.name,
            "params": {},
            **next((entry for entry in before if entry.get("name") == self.name), {}),
            **self._reducer(),
            "scored_samples": len(values),
            "unscored_samples": len(self.added) - len(values),
            "metrics": {key: {"name": key, "value": value, "params": {}} for key, value in metrics.items()},
            "metadata": {"judge": self.judge},
        }
        results["scores"] = _replaced(before, "name", entry)

    def reductions(self, reductions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The reduced scores of a log, with those of this score."""
        if not self.added:
            return reductions
        return _replaced(reductions, "scorer", {"scorer": self.name, **self._reducer(), "samples": self.reduced()})

    def _reducer(self) -> dict[str, str]:
        """How epochs are reduced, in a log that says so."""
        return {"reducer": "mean"} if (self.head.get("config") or {}).get("epochs_reducer") else {}


def _object_with(file: InputFile, scores: _LogScores) -> Iterator[str]:
    """A `.json` log with the scores."""
    with file.stream() as stream:
        log = json.load(stream)
    scores.head = log["eval"]
    for sample in log.get("samples") or []:
        scores.add(sample)
    scores.add_results(log)
    if log.get("reductions") is not None:
        log["reductions"] = scores.reductions(log["reductions"])
    yield json.dumps(log, ensure_ascii=False, indent=2)


def _archive_with(file: InputFile, scores: _LogScores) -> Iterator[bytes]:
    """An `.eval` log with the scores, in chunks. Members are packed by deflate, which every zip reader knows."""
    with tempfile.TemporaryFile() as packed:
        try:
            with zipfile.ZipFile(file.location) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
                infos = {info.filename: info for info in old.infolist()}
                head = next(name for name in HEADS if name in infos)
                scores.head = json.loads(unpacked(old, infos[head]))["eval"]
                # Samples first: the metrics are computed from their scores.
                for name in sorted(infos, key=lambda name: not name.startswith("samples/")):
                    new.writestr(name, _member_with(name, unpacked(old, infos[name]), scores))
        except (ValueError, KeyError, OSError, RuntimeError, zipfile.BadZipFile) as error:
            raise InputError(f"{file.name} can't be copied ({first_line(error)}); copy it again.") from error
        packed.seek(0)
        while chunk := packed.read(CHUNK):
            yield chunk


def _member_with(name: str, data: bytes, scores: _LogScores) -> bytes:
    """A member of an archive with the scores, if it has any."""
    is_sample, is_summary = name.startswith("samples/"), name.startswith(_SUMMARIES)
    if not (is_sample or is_summary or name in ("header.json", "reductions.json")):
        return data
    value = json.loads(data)
    if is_sample:
        scores.add(value)
    elif is_summary:
        for summary in value:
            scores.add(summary, count=False)
    elif name == "header.json":
        scores.add_results(value)
    else:
        value = scores.reductions(value)
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")  # JSON allows half characters


def _replaced(entries: Sequence[dict[str, Any]], key: str, new: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries with the new one in place of the first of its name, or as the last."""
    places = [place for place, entry in enumerate(entries) if entry.get(key) == new[key]]
    others = [entry for entry in entries if entry.get(key) != new[key]]
    place = places[0] if places else len(others)
    return [*others[:place], new, *others[place:]]


def _number(value: str | float) -> float:
    return {"C": 1.0, "I": 0.0}[value] if isinstance(value, str) else value
