"""The folder of one result."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from bert_judge.errors import InputError, OutputError
from bert_judge.results.files import (
    BAD_ROWS,
    COSTS,
    EXPLANATIONS,
    HARNESS_FILES,
    PARTIAL,
    PARTS,
    REPORTS,
    RUN,
    SCORES,
    VERDICTS,
    facts,
    is_remote,
    json_list,
    result_folder,
    write,
    write_json,
)
from bert_judge.results.identity import Identity
from bert_judge.results.locks import locked
from bert_judge.results.parts import Desk, Part, Parts
from bert_judge.results.verdicts import has_verdicts, json_line, read_lines, read_verdicts, whole_lines

_FLUSH_SECONDS = 0.5  # how much work a killed process can lose


class ResultFolder:
    """The folder of one result: what is there already, and how to write the rest. Making one changes nothing on disk,
    but that files get their names which a run was giving them when it ended.

    `finished`: the result is whole. `failed`: how many rows of a written result the judge failed on. `rows_done`: how
    many rows an interrupted run left. `costs`: what the runs before this one cost, as they recorded it, if anything.
    `parts` are those of verdicts in parts, which the option `part_rows` of the identity asks for. Raises OutputError
    where the folder holds a result of another judge or input, or files that no run of ours recorded, unless
    `overwrite`; these then stay until the new result is whole.
    """

    def __init__(self, folder: Path | str, identity: Identity, overwrite: bool = False) -> None:
        self.folder = folder = result_folder(folder)
        self._identity = identity
        self._overwrite = overwrite
        self._partial = folder / (VERDICTS + PARTIAL)
        rows = identity.options.get("part_rows")
        self.parts = Parts(folder, rows) if rows else None
        if is_remote(folder) and not self.parts:
            raise OutputError(f"{folder} is an address, where verdicts are written in parts; give the rows of a part.")
        if not (overwrite or (folder / RUN).exists()) and self._is_ours(RUN + PARTIAL):
            self._end_finish()
        whole = self._is_ours(RUN) and not overwrite and has_verdicts(folder)
        self.failed = self._written_failures() if whole else 0
        self.finished = whole and not self.failed
        begun = not whole and self._is_ours(RUN + PARTIAL)
        self._begun_rows, self._end = whole_lines(self._partial) if begun and not self.parts else (0, 0)
        if self.parts and begun:
            self.parts.resume()
        self.costs = self._earlier_costs(begun)
        if not overwrite:
            self._check_foreign()

    @property
    def verdicts(self) -> str:
        """The name of the file, or of the folder, with its verdicts."""
        return f"{PARTS}/" if self.parts else VERDICTS

    @property
    def rows_done(self) -> int:
        """How many rows an interrupted run left, and this one has written in parts."""
        return self.parts.rows_done if self.parts else self._begun_rows

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for this process, from the first verdict until the result is whole."""
        with self._in_a_sentence():
            self.folder.mkdir(parents=True, exist_ok=True)
        handle = self._handle()
        try:
            taken = handle is not None and not locked(handle)
            if taken or (self._begun_rows and whole_lines(self._partial) != (self._begun_rows, self._end)):
                raise self._taken()
            if self.parts:
                with self._in_a_sentence():
                    self._begin_parts(self.parts)
            yield
        finally:
            if handle is not None:
                os.close(handle)

    def _handle(self) -> int | None:
        """The open folder, to lock it; None where folders can't be locked."""
        return None if sys.platform == "win32" or is_remote(self.folder) else os.open(self.folder, os.O_RDONLY)

    def _begin_parts(self, parts: Parts) -> None:
        """Write down whose parts these are; the failed rows of a finished result make it an unfinished one again."""
        if self.failed:
            (self.folder / RUN).replace(self.folder / (RUN + PARTIAL))
            parts.reopen()
        elif is_remote(self.folder):
            (self.folder / RUN).unlink(missing_ok=True)  # an older result, whose parts make place for these
        parts.begin()
        self._write_record()

    def _write_record(self) -> None:
        """Write down whose verdicts these are, and which process makes them."""
        owner = {"process": os.getpid(), "host": platform.node(), "since": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        write_json(self.folder / (RUN + PARTIAL), {"identity": asdict(self._identity), "owner": owner})

    def write_part(self, number: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Write a part, whole; it stays if the run stops. Raises OutputError."""
        assert self.parts
        with self._in_a_sentence():
            self.parts.write(number, records)

    def add_part(self, part: Part, content: bytes | str) -> None:
        """Take in a part that another process made: its bytes, or the name that `Desk.put` gave. Raises OutputError."""
        assert self.parts
        with self._in_a_sentence():
            self.parts.add(part, content)

    def desk(self) -> Desk:
        """Where other processes put the parts of this run, once it is `writing`."""
        assert self.parts
        record = (self.folder / (RUN + PARTIAL)).absolute()
        return Desk(self.parts.begun.absolute(), record, record.read_bytes())

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
                self._write_record()
            flushed = time.monotonic()
            for done, record in enumerate(records, self._begun_rows + 1):
                line = json_line(record)
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

    def keep_costs(self, costs: Mapping[str, Any]) -> None:
        """Record what the result has cost so far, earlier runs included, for a run that goes on. Raises OutputError."""
        with self._in_a_sentence():
            write_json(self.folder / (COSTS + PARTIAL), costs)

    def _earlier_costs(self, begun: bool) -> Any:
        path = self.folder / (COSTS + PARTIAL)
        with suppress(OSError, ValueError):
            if begun and path.exists():
                return json.loads(path.read_text(encoding="utf-8"))
        return self.run().get("costs") if self.failed else None

    def discard(self) -> None:
        """Remove what is unfinished, of earlier runs, too; a finished result stays."""
        if self.parts:
            self.parts.discard()
        for name in (VERDICTS, RUN, COSTS):
            (self.folder / (name + PARTIAL)).unlink(missing_ok=True)

    def records(self, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """The records of the finished result, as `read_verdicts` yields them."""
        return read_verdicts(self.folder, columns)

    def earlier_records(self) -> Iterator[dict[str, Any]]:
        """What an earlier run left: all records of a result with `failed` rows, else those of the `rows_done` rows."""
        if self.failed:
            return self.records()
        return islice(read_lines(self._partial), self._begun_rows) if self._begun_rows else iter(())

    def finish(self, run: Mapping[str, Any], bad_rows: Iterable[Mapping[str, Any]] = ()) -> None:
        """Give the files their names. What needs space is written before an older result is touched."""
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in bad_rows]
        names = [SCORES, *([BAD_ROWS] if lines else []), *([] if self.parts else [VERDICTS])]
        with self._in_a_sentence():
            begun = self.parts.earlier_records(["score"]) if self.parts else read_lines(self._partial)
            write(self.folder / (SCORES + PARTIAL), json_list(json.dumps(record["score"]) for record in begun))
            if lines:
                write(self.folder / (BAD_ROWS + PARTIAL), lines)
            files = {name: facts(self.folder / (name + PARTIAL)) for name in names}
            files |= self.parts.files() if self.parts else {}
            write_json(self.folder / (RUN + PARTIAL), {"identity": asdict(self._identity), **run, "files": files})
            self._name(files)
        self.finished = True

    def _end_finish(self) -> None:
        """Give the files their names where a run ended while it did: all are whole once their hashes are written."""
        path = self.folder / (RUN + PARTIAL)
        try:
            files = json.loads(path.read_text(encoding="utf-8")).get("files")
            handle = self._handle() if files else None
        except OSError:  # the other run ended
            return
        try:
            if files and (handle is None or locked(handle)):
                with self._in_a_sentence():
                    self._name(files)
        finally:
            if handle is not None:
                os.close(handle)

    def _name(self, files: Iterable[str]) -> None:
        """Give whole files their names, and remove those of an older result; any of it may be done already."""
        (self.folder / RUN).unlink(missing_ok=True)
        for name in (EXPLANATIONS, *HARNESS_FILES, COSTS + PARTIAL, *({VERDICTS, BAD_ROWS} - set(files))):
            (self.folder / name).unlink(missing_ok=True)
        if self.parts:
            self.parts.finish()
        elif (self.folder / PARTS).exists():
            shutil.rmtree(self.folder / PARTS)
        for name in [*(name for name in files if "/" not in name), RUN]:
            with suppress(FileNotFoundError):
                (self.folder / (name + PARTIAL)).replace(self.folder / name)

    def run(self) -> dict[str, Any]:
        """What `run.json` of a finished result says."""
        record: dict[str, Any] = json.loads((self.folder / RUN).read_text(encoding="utf-8"))
        return record

    def _written_failures(self) -> int:
        summary = self.run().get("summary", {})
        if not isinstance(summary, Mapping):
            raise InputError(f"{self.folder / RUN} holds no summary that can be read; judge again with overwrite=True.")
        return int(summary.get("failed") or 0)

    def _taken(self) -> OutputError:
        owner = {}
        with suppress(OSError, ValueError):
            owner = json.loads((self.folder / (RUN + PARTIAL)).read_text(encoding="utf-8")).get("owner", {})
        who = f" (process {owner['process']} on {owner['host']}, since {owner['since']})" if owner else ""
        return OutputError(f"another run{who} is writing to {self.folder}; wait, or choose another --output_dir.")

    def _is_ours(self, name: str) -> bool:
        """Whether the record of this run is there. Raises OutputError for that of another, unless `overwrite`."""
        path = self.folder / name
        if not path.exists():
            return False
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["identity"]
            other = self._identity.difference(found)
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
        if any((self.folder / name).exists() for name in (RUN, RUN + PARTIAL)):
            return
        there = [
            name
            for name in (VERDICTS, PARTS, SCORES, BAD_ROWS, EXPLANATIONS, *REPORTS)
            if (self.folder / name).exists()
        ]
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
            there = self.rows_done or (not self.parts and self._partial.exists())
            kept = "what was judged so far stays there; " if there else ""
            raise OutputError(
                f"{self.folder} can't be written ({error.strerror or error}); {kept}mend that and run the same command "
                "again, or choose another --output_dir."
            ) from error
