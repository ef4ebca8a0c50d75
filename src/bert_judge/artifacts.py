"""Every path and file format that we write. A result appears whole or not at all.

A result is a folder with three files:

    verdicts.jsonl   one line a row, in the order of the input: id, score, label, gold, what was cut, the texts
    scores.json      the scores alone, a list of numbers (null: undecided)
    run.json         the signature, versions, counts, command and timings; its presence says that the result is whole

While a run is under way they are called `verdicts.jsonl.partial` and `run.json.partial`. A run that stops leaves these,
and the next one with the same judge and the same input goes on after the last whole line.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bert_judge.errors import OutputError
from bert_judge.types import Sample, Verdict

VERDICTS, SCORES, RUN, BAD_ROWS = "verdicts.jsonl", "scores.json", "run.json", "bad_rows.jsonl"
_PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two runs the same: the judge's signature, the input's bytes, and what of them is read and written."""

    signature: str
    input_sha256: str
    options: Mapping[str, Any]


def verdict_record(sample: Sample, verdict: Verdict, texts: bool = True) -> dict[str, Any]:
    """A line of `verdicts.jsonl`. Empty values are left out, but for score and label (null: undecided)."""
    record: dict[str, Any] = {"id": sample.id, "score": verdict.score, "label": verdict.label}
    optional = {
        "gold": sample.gold,
        "explanation": verdict.explanation,
        "matched_reference": verdict.matched_reference,
        "truncated": dict(verdict.truncated) or None,
        "details": dict(verdict.details) or None,
        **sample.meta,
    }
    if texts:
        optional |= {"question": sample.question, "references": list(sample.references)}
    record |= {name: value for name, value in optional.items() if value is not None}
    return record | ({"candidate": sample.candidate} if texts else {})


class ResultFolder:
    """The folder of one result: what is there already, and how to write the rest.

    Raises OutputError where it holds a result of another judge or input, unless `overwrite`; then that one stays
    until the new one is whole.
    """

    def __init__(self, folder: Path, identity: Identity, overwrite: bool = False) -> None:
        self.folder = folder
        self._identity = identity
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is a file; a folder for the results was expected.")
        self.finished = not overwrite and self._is_ours(RUN)
        self.rows_done = 0
        if not self.finished and not overwrite and self._is_ours(RUN + _PARTIAL):
            self.rows_done = _keep_whole_lines(folder / (VERDICTS + _PARTIAL))

    def append(self, windows: Iterable[Iterable[Mapping[str, Any]]]) -> Iterator[int]:
        """Write records, a window at a time, and yield how many each had. What is written stays, come what may."""
        path = self.folder / (VERDICTS + _PARTIAL)
        with _in_a_sentence(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_json(self.folder / (RUN + _PARTIAL), {"identity": asdict(self._identity)})
            file = path.open("a" if self.rows_done else "w", encoding="utf-8")
        try:
            for window in windows:
                lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in window]
                with _in_a_sentence(self.folder):
                    file.write("".join(lines))
                    file.flush()
                yield len(lines)
        finally:
            with suppress(OSError):  # what could not be written was said already
                file.close()

    def records(self) -> Iterator[dict[str, Any]]:
        """The verdicts that are there, one record a row, as a stream."""
        path = self.folder / (VERDICTS if self.finished else VERDICTS + _PARTIAL)
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

    def finish(self, run: Mapping[str, Any]) -> None:
        """Give the files their names; `run.json`, which says that the result is whole, comes last."""
        partial = self.folder / (VERDICTS + _PARTIAL)
        with _in_a_sentence(self.folder):
            scores = (json.dumps(record["score"]) for record in self.records())
            _write(self.folder / SCORES, _json_list(scores))
            (self.folder / RUN).unlink(missing_ok=True)
            partial.replace(self.folder / VERDICTS)
            _write_json(self.folder / RUN, {"identity": asdict(self._identity), **run})
            (self.folder / (RUN + _PARTIAL)).unlink()
        self.finished = True

    def run(self) -> dict[str, Any]:
        """What `run.json` of a finished result says."""
        record: dict[str, Any] = json.loads((self.folder / RUN).read_text(encoding="utf-8"))
        return record

    def _is_ours(self, name: str) -> bool:
        """Whether a run record is there and of this run; OutputError if it is of another."""
        path = self.folder / name
        if not path.exists():
            return False
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["identity"]
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{path} can't be read ({error!r}); remove it, or pass --overwrite.") from error
        ours = json.loads(json.dumps(asdict(self._identity)))
        other = [name for name in ours if found.get(name) != ours[name]]
        if other:
            what = {"signature": "another judge", "input_sha256": "another input", "options": "other options"}
            raise OutputError(
                f"{self.folder} holds a result of {' and '.join(what[name] for name in other)} "
                f"({_difference(found.get(other[0]), ours[other[0]])}); "
                "choose another --output_dir, or pass --overwrite."
            )
        return True


def write_bad_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows that were set aside, one JSON object a line."""
    with _in_a_sentence(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _difference(found: Any, ours: Any) -> str:
    """What differs between two signatures or options, part by part."""
    if isinstance(found, str) and isinstance(ours, str):
        parts = [pair for pair in zip(found.split("|"), ours.split("|"), strict=False) if pair[0] != pair[1]]
        return ", ".join(f"{theirs}, not {mine}" for theirs, mine in parts[:3]) or "other parts"
    return f"{found}, not {ours}"


def _keep_whole_lines(path: Path) -> int:
    """Cut what an interruption left of a last line, and count the lines before it."""
    if not path.exists():
        return 0
    count = end = 0
    with path.open("rb+") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            count += 1
            end += len(line)
        file.truncate(end)
    return count


def _json_list(items: Iterable[str]) -> Iterator[str]:
    separator = "["
    for item in items:
        yield separator + item
        separator = ",\n"
    yield "[]" if separator == "[" else "]"
    yield "\n"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    _write(path, [json.dumps(value, ensure_ascii=False, indent=1) + "\n"])


def _write(path: Path, parts: Iterable[str]) -> None:
    """Write a file in one step: whole under its name, or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _in_a_sentence(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{folder} can't be written ({error.strerror or error}); whatever was judged before stays there: "
            "mend that and run the same command again, or choose another --output_dir."
        ) from error
