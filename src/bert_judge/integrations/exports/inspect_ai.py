"""Logs of inspect with the judge's score beside the others: `.eval` stays `.eval`, and `.json` stays `.json`.

The score is written as inspect's own `edit_score` writes one (a score with its history), and the metrics of the log as
`recompute_metrics` computes them: accuracy and its standard error over samples, of whose epochs the mean counts.
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
from bert_judge.inputs.saved.archives import unpacked
from bert_judge.inputs.saved.inspect_ai import HEADS, row_id
from bert_judge.inputs.streams import CHUNK, opened
from bert_judge.integrations.exports.base import Exported, ExportOptions, judge_of, judged_input, judged_paths
from bert_judge.records import Row, __version__
from bert_judge.results.runs import Run

_LETTERS: Final = {1: "C", 0: "I"}
_NO_METRICS: Final = {"accuracy": math.nan, "stderr": math.nan}
_SUMMARIES: Final = ("summaries.json", "_journal/summaries/")


def export_inspect(run: Run, options: ExportOptions) -> Exported:
    """The logs of inspect that a result judged, with its verdicts.

    Raises InputError where none was judged, and for logs that are not there any more or were changed.
    """
    found = judged_input(run, judged_paths(run, options.input))
    logs = [file for file in found.files if file.reader and file.format == "inspect"]
    if not logs:
        raise InputError(f"{run.folder} is no result of logs of inspect, but of {run.input.get('format')}.")
    top = Path(os.path.commonpath([Path(log.name).absolute().parent for log in logs]))
    files = {}
    for log in logs:
        rows = {str(row.id): row for row in run.rows if row.meta.get("file", "") == log.label}
        name = str(Path(log.name).absolute().relative_to(top)).removesuffix(log.packing.suffix if log.packing else "")
        scores = Scores(options.name, judge_of(run), run.record.get("timings", {}).get("started"), rows)
        files[name] = archive_with(log, scores) if zipfile.is_zipfile(log.location) else object_with(log, scores)
    rows_of_logs = sum(row.meta.get("file", "") in {log.label for log in logs} for row in run.rows)
    said = (
        f"{len(logs):,} log{'s' * (len(logs) > 1)} of inspect with the score {options.name} of {rows_of_logs:,} samples"
    )
    return Exported(files, said, read=[log.location for log in logs])


@dataclass(slots=True)
class Scores:
    """The verdicts on a log's samples as scores of a name; it remembers what it gave, for the metrics of the log.

    `rows` are by the ids that `sources` gives to samples; `when` is the time of the verdicts.
    """

    name: str
    judge: str
    when: str | None
    rows: Mapping[str, Row]
    head: dict[str, Any] = field(default_factory=dict)
    given: dict[int | str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, sample: dict[str, Any], count: bool = True) -> None:
        """Add the score to a sample, or to its summary; `count` it for the metrics."""
        row = self.rows.get(row_id(sample, self.head))
        if row is None or sample.get("error"):
            return
        edit = self._edit(row)
        scores = sample.get("scores") or {}
        before = scores.get(self.name)
        history: list[dict[str, Any]] = []
        if before:  # as inspect does: the first entry is the score as it was
            first = {key: before.get(key) for key in ("value", "answer", "explanation", "reason")}
            history = before.get("history") or [{**first, "metadata": before.get("metadata") or {}}]
        score = {key: value for key, value in edit.items() if key != "provenance"}
        sample["scores"] = {**scores, self.name: {**score, "history": [*history, edit]}}
        if count:
            self.given.setdefault(sample.get("id", ""), []).append(score)

    def _edit(self, row: Row) -> dict[str, Any]:
        """A verdict as an edit of a score; an undecided one is NaN, which inspect leaves out of its metrics."""
        value = row.score if row.label is None else _LETTERS[row.label]
        return {
            "value": math.nan if value is None else value,
            "answer": None,
            "explanation": row.verdict.explanation,
            "reason": "grader_failed" if value is None else None,
            "metadata": {"score": row.score, "judge": self.judge},
            "provenance": {
                "timestamp": self.when or datetime.now(UTC).isoformat(),
                "author": f"bert-judge {__version__}",
                "metadata": {},
            },
        }

    def reduced(self) -> list[dict[str, Any]]:
        """A score for each sample: the mean of its epochs, NaN where none is decided."""
        found = []
        for sample_id, scores in self.given.items():
            values = [value for score in scores if not math.isnan(value := _number(score["value"]))]
            mean = statistics.fmean(values) if values else math.nan
            found.append({**scores[0], "value": mean, "history": [], "sample_id": sample_id})
        return found

    def add_results(self, log: dict[str, Any]) -> None:
        """Add the metrics of the score to the results of a log."""
        results = log.get("results")
        if results is None or not self.given:
            return
        values = [value for score in self.reduced() if not math.isnan(value := score["value"])]
        error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        metrics = {"accuracy": statistics.fmean(values), "stderr": error} if values else _NO_METRICS
        before = results.get("scores") or []
        entry = {
            "name": self.name,
            "scorer": self.name,
            "params": {},
            **next((each for each in before if each.get("name") == self.name), {}),
            **self._reducer(),
            "scored_samples": len(values),
            "unscored_samples": len(self.given) - len(values),
            "metrics": {key: {"name": key, "value": value, "params": {}} for key, value in metrics.items()},
            "metadata": {"judge": self.judge},
        }
        results["scores"] = _replaced(before, "name", entry)

    def reductions(self, reductions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The reduced scores of a log with ours."""
        if not self.given:
            return reductions
        ours = {"scorer": self.name, **self._reducer(), "samples": self.reduced()}
        return _replaced(reductions, "scorer", ours)

    def _reducer(self) -> dict[str, str]:
        """The name of our way to reduce epochs, in a log that names one."""
        return {"reducer": "mean"} if (self.head.get("config") or {}).get("epochs_reducer") else {}


def object_with(file: InputFile, scores: Scores) -> Iterator[str]:
    """A `.json` log with the scores."""
    with opened(file.location, file.packing) as stream:
        log = json.load(stream)
    scores.head = log["eval"]
    for sample in log.get("samples") or []:
        scores.add(sample)
    scores.add_results(log)
    if log.get("reductions") is not None:
        log["reductions"] = scores.reductions(log["reductions"])
    yield json.dumps(log, ensure_ascii=False, indent=2)


def archive_with(file: InputFile, scores: Scores) -> Iterator[bytes]:
    """A `.eval` log with the scores, in parts. Members are packed by deflate, which every zip file reader has."""
    with tempfile.TemporaryFile() as packed:
        try:
            with zipfile.ZipFile(file.location) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
                infos = {info.filename: info for info in old.infolist()}
                head = next(name for name in HEADS if name in infos)
                scores.head = json.loads(unpacked(old, infos[head]))["eval"]
                # The metrics come after the samples of which they are.
                for name in sorted(infos, key=lambda name: not name.startswith("samples/")):
                    new.writestr(name, _member_with(name, unpacked(old, infos[name]), scores))
        except (ValueError, KeyError, OSError, RuntimeError, zipfile.BadZipFile) as error:
            raise InputError(f"{file.name} can't be copied ({first_line(error)}); copy it again.") from error
        packed.seek(0)
        while part := packed.read(CHUNK):
            yield part


def _member_with(name: str, data: bytes, scores: Scores) -> bytes:
    """A member of an archive with the scores, where it has any."""
    sample, summaries = name.startswith("samples/"), name.startswith(_SUMMARIES)
    if not (sample or summaries or name in ("header.json", "reductions.json")):
        return data
    value = json.loads(data)
    if sample:
        scores.add(value)
    elif summaries:
        for each in value:
            scores.add(each, count=False)
    elif name == "header.json":
        scores.add_results(value)
    else:
        value = scores.reductions(value)
    return json.dumps(value, ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )  # half characters, as JSON has them


def _replaced(entries: Sequence[dict[str, Any]], key: str, ours: dict[str, Any]) -> list[dict[str, Any]]:
    """Entries with ours in the place of the first one of its name, or as the last."""
    places = [place for place, each in enumerate(entries) if each.get(key) == ours[key]]
    kept = [each for each in entries if each.get(key) != ours[key]]
    place = places[0] if places else len(kept)
    return [*kept[:place], ours, *kept[place:]]


def _number(value: str | float) -> float:
    return {"C": 1.0, "I": 0.0}[value] if isinstance(value, str) else value
