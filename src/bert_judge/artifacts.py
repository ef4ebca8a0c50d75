"""Every file format that we write and read back. A result appears whole or not at all.

A result is a folder with three files:

    verdicts.jsonl   one line a row, in the order of the input: id, score, label, gold, what was cut, the texts
    scores.json      the scores alone, a list of numbers (null: undecided)
    run.json         the signature, versions, counts, command, timings, and hashes of the other files; its presence says
                     that the result is whole

and, where rows were set aside, `bad_rows.jsonl`. While a run is under way they are called `….partial`. A run that stops
leaves these, and the next one with the same judge and input goes on after the last whole line. Explanations of some of
the rows are in `explanations.jsonl`, which comes after all of these.

Candidates of a model are a folder with `candidates.json`, a list of texts, one a row of the task, and `run.json`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bert_judge.errors import InputError, OutputError, first_line
from bert_judge.types import Explanation, Occlusion, Sample, Signature, Verdict

VERDICTS, SCORES, RUN, BAD_ROWS = "verdicts.jsonl", "scores.json", "run.json", "bad_rows.jsonl"
EXPLANATIONS = "explanations.jsonl"
CANDIDATES = "candidates.json"
REPORT = "report.html"
REPORTS = (REPORT, "report.md", "report.json")
ROW_COLUMNS = (
    *("task", "source", "dataset", "subset", "category", "model", "candidate_model", "language", "split"),
    *("label_by", "label_source"),
)
"""The columns of the input that say what a row is; a result made with `--no_texts` keeps their text, too."""

_PARTIAL = ".partial"
_FLUSH_SECONDS = 0.5  # how much work a killed process can lose


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two runs the same: the judge's signature, the input's bytes, and the options that change the result.

    The signature is None where it is not known yet, as no model is loaded.
    """

    signature: Signature | None
    input_sha256: str
    options: Mapping[str, Any]


def verdict_record(sample: Sample, verdict: Verdict, texts: bool = True) -> dict[str, Any]:
    """A line of `verdicts.jsonl`. Empty values are left out, but for score and label (null: undecided).

    A column of the input with the name of one of our fields is written as `input_NAME`.
    """
    record: dict[str, Any] = {"id": sample.id, "score": verdict.score, "label": verdict.label}
    optional: dict[str, Any] = {
        "gold": sample.gold,
        "explanation": verdict.explanation,
        "matched_reference": verdict.matched_reference,
        "truncated": dict(verdict.truncated) or None,
        "details": dict(verdict.details) or None,
        "failed": verdict.failed or None,
        "outside": verdict.outside,
    }
    ours = {*record, *optional, "question", "references", "candidate"}
    kept = {
        name: value
        for name, value in sample.meta.items()
        if texts or name in (*ROW_COLUMNS, "file") or not isinstance(value, str)
    }
    optional |= {f"input_{name}" if name in ours else name: value for name, value in kept.items()}
    if texts:
        optional |= {"question": sample.question, "references": list(sample.references)}
    record |= {name: value for name, value in optional.items() if value is not None}
    return record | ({"candidate": sample.candidate} if texts else {})


def read_verdicts(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a `verdicts.jsonl`, as a stream. Raises InputError where it can't be read or a line is damaged."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                    if not isinstance(record, dict) or "id" not in record:
                        raise ValueError("an object with an id was expected")
                except ValueError as error:
                    raise InputError(
                        f"{path} is damaged in line {number} ({error}); remove it and judge again."
                    ) from error
                yield record
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}).") from error


def damage(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """What differs in the files of a result from what its `run.json`, the record, says: a sentence each, none if whole.

    A record without hashes (of an older version) says how many rows there are, and no more.
    """
    found, rows = [], record.get("summary", {}).get("rows")
    for name, written in record.get("files", {}).items():
        path = folder / name
        if not path.exists():
            found.append(f"{path} is missing.")
        elif (size := path.stat().st_size) != written["bytes"]:
            found.append(f"{path} has {size:,} bytes; {written['bytes']:,} were written.")
        elif _facts(path) != written:
            found.append(f"{path} has other bytes than were written.")
    if not record.get("files"):
        there = sum(1 for _ in read_verdicts(folder / VERDICTS))
        found += [f"{folder / VERDICTS} has {there:,} rows; {rows:,} were written."] if there != rows else []
    return found


def _facts(path: Path) -> dict[str, Any]:
    """The size of a file, and the digest of its bytes."""
    with path.open("rb") as content:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(content, "sha256").hexdigest()}


def write_explanations(folder: Path, explained: Mapping[int, Explanation]) -> None:
    """Write explanations in the order given, each by the number of its row in `verdicts.jsonl`, which begins with 0."""
    records = ({"row": row, **asdict(explanation)} for row, explanation in explained.items())
    write_files(folder, {EXPLANATIONS: (json.dumps(record, ensure_ascii=False) + "\n" for record in records)})


def read_explanations(folder: Path) -> dict[int, Explanation]:
    """The explanations in a result's folder, by number of the row; none where there is no file. Raises InputError."""
    path = folder / EXPLANATIONS
    if not path.exists():
        return {}
    try:
        found = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            sentences, words = (tuple(Occlusion(**part) for part in record[name]) for name in ("sentences", "words"))
            found[int(record["row"])] = Explanation(record["score"], sentences, words)
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}); remove it and explain again.") from error


def check_folder(folder: str | Path) -> Path:
    """The folder. Raises OutputError if a result can't be written there, as far as can be known without writing."""
    if not str(folder).strip():
        raise OutputError("--output_dir is empty; the name of a folder was expected, `.` for the one you are in.")
    folder = Path(folder)
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise OutputError(f"{existing} is a file; a folder for the results was expected: choose another --output_dir.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OutputError(f"{existing} can't be written to; choose another --output_dir, or change its permissions.")
    return folder


def read_list(path: Path, what: str) -> list[Any]:
    """A JSON list, such as `candidates.json`; errors call its content `what`. Raises InputError."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"there are no {what} at {path} ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(f"{path} is broken ({error}); a JSON list of {what} was expected.") from error
    if not isinstance(values, list):
        raise InputError(f"{path} holds a {type(values).__name__}; a JSON list of {what} was expected.")
    return values


def candidates_written(folder: Path, identity: Identity) -> bool:
    """Whether the candidates of this run are there. Raises OutputError where those of another run are."""
    if not (folder / CANDIDATES).exists():
        return False
    try:
        other = _difference(json.loads((folder / RUN).read_text(encoding="utf-8"))["identity"], identity)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        other = "an unknown run (it has no run.json that can be read)"
    if other:
        raise OutputError(f"{folder} holds candidates of {other}; choose another --output_dir, or pass --overwrite.")
    return True


def write_candidates(folder: Path, candidates: Iterable[str], identity: Identity, run: Mapping[str, Any]) -> None:
    """Write candidates and the record of their run, each in one step."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RUN).unlink(missing_ok=True)
        _write(folder / CANDIDATES, _json_list(json.dumps(text) for text in candidates))
        _write_json(folder / RUN, {"identity": asdict(identity), **run})
    except OSError as error:
        raise OutputError(f"{folder} can't be written ({error.strerror}); choose another --output_dir.") from error


def write_files(folder: Path, contents: Mapping[str, str | bytes | Iterable[str | bytes]]) -> None:
    """Write the files of a folder, by name, each in one step; a content may come in parts, as a stream.

    Raises OutputError where they can't be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            _write(folder / name, [content] if isinstance(content, str | bytes) else content)
    except OSError as error:
        raise OutputError(f"{folder} can't be written ({error.strerror or error}); choose another folder.") from error


class ResultFolder:
    """The folder of one result: what is there already, and how to write the rest. Making one changes nothing on disk.

    `finished`: the result is whole. `failed`: how many rows of a written result the judge failed on. `rows_done`: how
    many rows an interrupted run left. Raises OutputError where the folder holds a result of another judge or input, or
    files that no run of ours recorded, unless `overwrite`; these then stay until the new result is whole.
    """

    def __init__(self, folder: Path, identity: Identity, overwrite: bool = False) -> None:
        self.folder = check_folder(folder)
        self._identity = identity
        self._overwrite = overwrite
        self._partial = folder / (VERDICTS + _PARTIAL)
        whole = self._is_ours(RUN) and not overwrite and (folder / VERDICTS).exists()
        self.failed = self.run().get("summary", {}).get("failed", 0) if whole else 0
        self.finished = whole and not self.failed
        begun = not whole and self._is_ours(RUN + _PARTIAL)
        self.rows_done, self._end = _whole_lines(self._partial) if begun else (0, 0)
        if not overwrite:
            self._check_foreign()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for this process, from the first verdict until the result is whole."""
        with self._in_a_sentence():
            self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.folder, os.O_RDONLY) if sys.platform != "win32" else None
        try:
            taken = handle is not None and not locked(handle)
            if taken or (self.rows_done and _whole_lines(self._partial) != (self.rows_done, self._end)):
                raise self._taken()
            yield
        finally:
            if handle is not None:
                os.close(handle)

    def append(self, records: Iterable[Mapping[str, Any]]) -> Iterator[int]:
        """Write records, and yield after each how many are there. What is written stays if the run stops."""
        with self._in_a_sentence():
            self.folder.mkdir(parents=True, exist_ok=True)
            # Half characters, which UTF-8 can't hold, are written as JSON spells them.
            file = self._partial.open("a", encoding="utf-8", errors="backslashreplace")
        try:
            if not locked(file.fileno()):  # NFS locks files, but no folders
                raise self._taken()
            with self._in_a_sentence():
                file.truncate(self._end)
                _write_json(self.folder / (RUN + _PARTIAL), {"identity": asdict(self._identity)})
            flushed = time.monotonic()
            for done, record in enumerate(records, self.rows_done + 1):
                line = _json_line(record)
                with self._in_a_sentence():
                    file.write(line)
                    if time.monotonic() - flushed > _FLUSH_SECONDS:
                        file.flush()
                        flushed = time.monotonic()
                yield done
            with self._in_a_sentence():
                file.flush()
                os.fsync(file.fileno())
        finally:
            with suppress(OSError):  # an error of writing was raised above
                file.close()

    def discard(self) -> None:
        """Remove what `append` wrote, of earlier runs, too; a finished result stays."""
        for name in (VERDICTS, RUN):
            (self.folder / (name + _PARTIAL)).unlink(missing_ok=True)

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of the finished result, as `read_verdicts` yields them."""
        return read_verdicts(self.folder / VERDICTS)

    def earlier_records(self) -> Iterator[dict[str, Any]]:
        """What an earlier run left: all records of a result with `failed` rows, else those of the `rows_done` rows."""
        if self.failed:
            return self.records()
        return islice(read_verdicts(self._partial), self.rows_done) if self.rows_done else iter(())

    def finish(self, run: Mapping[str, Any], bad_rows: Iterable[Mapping[str, Any]] = ()) -> None:
        """Give the files their names. What needs space is written before an older result is touched."""
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in bad_rows]
        names = [SCORES, *([BAD_ROWS] if lines else []), VERDICTS, RUN]
        with self._in_a_sentence():
            _write(
                self.folder / (SCORES + _PARTIAL),
                _json_list(json.dumps(r["score"]) for r in read_verdicts(self._partial)),
            )
            if lines:
                _write(self.folder / (BAD_ROWS + _PARTIAL), lines)
            files = {name: _facts(self.folder / (name + _PARTIAL)) for name in names[:-1]}
            _write_json(self.folder / (RUN + _PARTIAL), {"identity": asdict(self._identity), **run, "files": files})
            (self.folder / RUN).unlink(missing_ok=True)
            for name in (BAD_ROWS, EXPLANATIONS):
                (self.folder / name).unlink(missing_ok=True)
            for name in names:
                (self.folder / (name + _PARTIAL)).replace(self.folder / name)
        self.finished = True

    def run(self) -> dict[str, Any]:
        """What `run.json` of a finished result says."""
        record: dict[str, Any] = json.loads((self.folder / RUN).read_text(encoding="utf-8"))
        return record

    def _taken(self) -> OutputError:
        return OutputError(f"another run is writing to {self.folder}; wait, or choose another --output_dir.")

    def _is_ours(self, name: str) -> bool:
        """Whether the record of this run is there. Raises OutputError for that of another, unless `overwrite`."""
        path = self.folder / name
        if not path.exists():
            return False
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["identity"]
            other = _difference(found, self._identity)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if self._overwrite:
                return False
            raise OutputError(
                f"{path} can't be read as the record of a run; remove it, or pass --overwrite."
            ) from error
        if other and not self._overwrite:
            raise OutputError(
                f"{self.folder} holds a result of {other}; choose another --output_dir, or pass --overwrite."
            )
        return not other

    def _check_foreign(self) -> None:
        """Raise OutputError where there are files of a result without the record of a run."""
        if any((self.folder / name).exists() for name in (RUN, RUN + _PARTIAL)):
            return
        there = [name for name in (VERDICTS, SCORES, BAD_ROWS, EXPLANATIONS, *REPORTS) if (self.folder / name).exists()]
        if there:
            raise OutputError(
                f"{self.folder} holds {', '.join(there)} of something else (there is no {RUN} of ours beside); choose "
                "another --output_dir, or pass --overwrite."
            )

    @contextmanager
    def _in_a_sentence(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = "what was judged so far stays there; " if self._partial.exists() else ""
            raise OutputError(
                f"{self.folder} can't be written ({error.strerror or error}); {kept}mend that and run the same command "
                "again, or choose another --output_dir."
            ) from error


def _difference(found: Mapping[str, Any], ours: Identity) -> str:
    """What differs in the record of a run, in words; empty if nothing does."""
    theirs, options = found["options"], json.loads(json.dumps(ours.options))
    parts = []
    if ours.signature and (signature := Signature.of(found["signature"])) != ours.signature:
        parts.append(f"another judge ({signature.difference(ours.signature)})")
    if found["input_sha256"] != ours.input_sha256:
        parts.append("another input")
    if theirs != options:
        names = [name for name in {**options, **theirs} if theirs.get(name) != options.get(name)]
        changed = [f"{name}: {json.dumps(theirs.get(name))}, not {json.dumps(options.get(name))}" for name in names]
        parts.append(f"other options ({', '.join(changed)})")
    return " and ".join(parts)


def _whole_lines(path: Path) -> tuple[int, int]:
    """The number of whole lines, and the byte where they end; an interruption may leave half a line."""
    count = end = 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                count += 1
                end += len(line)
    return count, end


def locked(file: int) -> bool:
    """Lock a file or folder until its handle is closed; False where another process has. Without locks: True."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows, or a file system without locks
        return True
    return True


def _json_line(record: Mapping[str, Any]) -> str:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
    except (ValueError, TypeError) as error:
        raise OutputError(
            f"the verdict of row {record['id']} can't be written ({error}); a judge must give finite numbers, texts, "
            "lists and mappings of these, or None."
        ) from error


def _json_list(items: Iterable[str]) -> Iterator[str]:
    separator = "["
    for item in items:
        yield separator + item
        separator = ",\n"
    yield "[]" if separator == "[" else "]"
    yield "\n"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    _write(path, [json.dumps(value, ensure_ascii=False, indent=1) + "\n"])


def _write(path: Path, parts: Iterable[str | bytes]) -> None:
    """Write a file in one step: whole under its name, or not at all. Half characters become JSON escapes."""
    begun = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with begun.open("xb") as file:
            for part in parts:
                file.write(part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except BaseException:
        begun.unlink(missing_ok=True)
        raise
