"""The folder of one result: what is there already, and how the rest is written."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bert_judge.errors import BertJudgeError, InputError, OutputError
from bert_judge.records import Signature, versions
from bert_judge.results.files import (
    BAD_ROWS,
    COSTS,
    EXPLANATIONS,
    PARTIAL,
    PARTS,
    REPORTS,
    RUN,
    SCORES,
    VERDICTS,
    check_folder,
    facts,
    json_list,
    take_lock,
    write,
    write_json,
)
from bert_judge.results.lines import VerdictLines
from bert_judge.results.parts import VerdictParts
from bert_judge.results.runs import has_verdicts, read_verdicts
from bert_judge.results.summary import Summary


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two runs the same: the judge's signature, the input's bytes, and the options that change the result.

    The signature is None where it is not known yet, as no model is loaded.
    """

    signature: Signature | None
    input_sha256: str
    options: Mapping[str, Any]

    def difference(self, recorded: Mapping[str, Any]) -> str:
        """How the identity in the record of a run differs, in words; empty where it does not."""
        before, options = recorded["options"], json.loads(json.dumps(self.options))
        parts = []
        if self.signature and (signature := Signature.of(recorded["signature"])) != self.signature:
            parts.append(f"another judge ({signature.difference(self.signature)})")
        if recorded["input_sha256"] != self.input_sha256:
            parts.append("another input")
        if before != options:
            names = [name for name in {**options, **before} if before.get(name) != options.get(name)]
            changed = [f"{name}: {json.dumps(before.get(name))}, not {json.dumps(options.get(name))}" for name in names]
            parts.append(f"other options ({', '.join(changed)})")
        return " and ".join(parts)


class ResultFolder:
    """The folder of one result. Making one changes nothing on disk, except that a run which was killed while it gave
    its files their names is brought to its end.

    `finished`: the result is whole. `failed`: how many rows of a finished result the judge failed on. `costs`: what the
    runs before this one cost, as they recorded it, if anything. `verdicts` is the name of the file with the verdicts,
    or of the folder with parts of `part_rows` rows each, where the identity has this option. Raises OutputError where
    the folder holds a result of another judge or input, or files that no run of ours recorded, unless `overwrite`;
    these then stay until the new result is whole.
    """

    def __init__(self, folder: Path | str, identity: Identity, overwrite: bool = False) -> None:
        self.folder = folder = check_folder(folder)
        self._identity = identity
        self._overwrite = overwrite
        self.part_rows: int | None = identity.options.get("part_rows")
        self._verdicts = VerdictParts(folder, self.part_rows) if self.part_rows else VerdictLines(folder)
        self.verdicts = self._verdicts.name
        if not (overwrite or (folder / RUN).exists()) and self._is_ours(RUN + PARTIAL):
            self._end_finish()
        whole = self._is_ours(RUN) and not overwrite and has_verdicts(folder)
        self.failed = self.summary.failed if whole else 0
        self.finished = whole and not self.failed
        begun = not whole and self._is_ours(RUN + PARTIAL)
        if self.failed:
            self._verdicts.reopen()
        elif begun:
            self._verdicts.resume()
        self._records_before = self._state_of_records()
        self.costs = self._earlier_costs(begun)
        if not overwrite:
            self._check_foreign()

    @property
    def rows_done(self) -> int:
        """How many rows need no more judging: an interrupted run left them, or this one has written them."""
        return self._verdicts.rows_done

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for this process, from the first verdict until the result is whole."""
        with self._writes():
            self.folder.mkdir(parents=True, exist_ok=True)
        with self._locked() as locked, closing(self._verdicts):
            if not locked or self._state_of_records() != self._records_before:
                raise self._taken()
            with self._writes():
                self._begin()
            yield

    def _begin(self) -> None:
        if self.failed and self.part_rows:  # the finished result becomes an unfinished one
            (self.folder / RUN).replace(self.folder / (RUN + PARTIAL))
        try:
            self._verdicts.begin()
        except BlockingIOError:
            raise self._taken() from None
        owner = {"process": os.getpid(), "host": platform.node(), "since": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        write_json(self.folder / (RUN + PARTIAL), {"identity": asdict(self._identity), "owner": owner})

    def todo(self, total: int) -> dict[int, Sequence[int]]:
        """The rows of a result of so many that are still to be judged, by part; those of a part begin with 0."""
        return self._verdicts.todo(total)

    def write(self, number: int, rows: Sequence[int], records: Iterable[Mapping[str, Any]]) -> Iterator[None]:
        """Write the records of these rows of a part, among those that it has already; yields after each new one.

        Of lines all that is written stays if the run stops, of a part nothing. Raises OutputError.
        """
        chosen = rows if isinstance(rows, range) else set(rows)  # a set of all rows would grow with the result
        new = iter(records)
        for row, record in enumerate(self._verdicts.earlier(number)):
            if row not in chosen:
                self._add(record)
            elif (judged := next(new, None)) is not None:
                self._add(judged)
                yield
        for judged in new:
            self._add(judged)
            yield
        with self._writes():
            self._verdicts.end_part(number)

    def _add(self, record: Mapping[str, Any]) -> None:
        with self._writes():
            self._verdicts.add(record)

    def keep_costs(self, costs: Mapping[str, Any]) -> None:
        """Record what the result has cost so far, earlier runs included, for a run that goes on. Raises OutputError."""
        with self._writes():
            write_json(self.folder / (COSTS + PARTIAL), costs)

    def _earlier_costs(self, begun: bool) -> Any:
        with suppress(OSError, ValueError):
            if begun:
                return json.loads((self.folder / (COSTS + PARTIAL)).read_text(encoding="utf-8"))
        return self.run.get("costs") if self.failed else None

    def discard(self) -> None:
        """Remove what is unfinished, of earlier runs, too; a finished result stays."""
        self._verdicts.discard()
        for name in (RUN, COSTS):
            (self.folder / (name + PARTIAL)).unlink(missing_ok=True)

    def records(self, columns: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
        """The records of the finished result, as `read_verdicts` yields them."""
        return read_verdicts(self.folder, columns)

    def finish(self, run: Mapping[str, Any], bad_rows: Iterable[Mapping[str, Any]] = ()) -> None:
        """Count the verdicts, and give the files their names.

        What needs space is written before an older result is touched.
        """
        bad_lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in bad_rows]
        tally = self._verdicts.tally()
        contents: dict[str, Iterable[str]] = {SCORES: json_list(map(json.dumps, tally.scores()))}
        if bad_lines:
            contents[BAD_ROWS] = bad_lines
        with self._writes():
            for name, content in contents.items():
                write(self.folder / (name + PARTIAL), content)
            files = {name: facts(self.folder / (name + PARTIAL)) for name in contents} | self._verdicts.files()
            record = {"identity": asdict(self._identity), "summary": asdict(tally.summary()), **run, "files": files}
            write_json(self.folder / (RUN + PARTIAL), record)
            self._name(files)
        self.finished = True

    def _end_finish(self) -> None:
        """Give the files their names where a run ended while it did: all are whole once their hashes are written."""
        path = self.folder / (RUN + PARTIAL)
        with self._locked() as locked:
            if locked and path.exists():
                files = json.loads(path.read_text(encoding="utf-8")).get("files")
                if files:
                    with self._writes():
                        self._name(files)

    def _name(self, files: Iterable[str]) -> None:
        """Give whole files their names, and remove those of an older result; any of it may be done already."""
        (self.folder / RUN).unlink(missing_ok=True)
        for name in (EXPLANATIONS, COSTS + PARTIAL, *({VERDICTS, BAD_ROWS} - set(files))):
            (self.folder / name).unlink(missing_ok=True)
        if not self.part_rows and (self.folder / PARTS).exists():
            shutil.rmtree(self.folder / PARTS)
        self._verdicts.finish()
        for name in (SCORES, BAD_ROWS, RUN):
            with suppress(FileNotFoundError):
                (self.folder / (name + PARTIAL)).replace(self.folder / name)

    @property
    def run(self) -> Mapping[str, Any]:
        """What `run.json` of the finished result says."""
        record: dict[str, Any] = json.loads((self.folder / RUN).read_text(encoding="utf-8"))
        return record

    @property
    def summary(self) -> Summary:
        """The summary of the finished result. Raises InputError where it can't be read."""
        try:
            return Summary.read(self.run["summary"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{self.folder / RUN} holds no summary that can be read; judge again with overwrite=True."
            ) from error

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Lock the folder meanwhile; whether no other process has. Where folders can't be locked: True."""
        if sys.platform == "win32":
            yield True
            return
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            yield take_lock(handle)
        finally:
            os.close(handle)

    def _state_of_records(self) -> dict[str, tuple[int, int]]:
        """What changes when another run begins, or gives its files their names."""
        paths = [self.folder / name for name in (RUN, RUN + PARTIAL)]
        return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths if path.exists()}

    def _taken(self) -> OutputError:
        owner = {}
        with suppress(OSError, ValueError):
            owner = json.loads((self.folder / (RUN + PARTIAL)).read_text(encoding="utf-8")).get("owner", {})
        who = f" (process {owner['process']} on {owner['host']}, since {owner['since']})" if owner else ""
        return OutputError(f"another run{who} is writing to {self.folder}; wait, or choose another folder.")

    def _is_ours(self, name: str) -> bool:
        """Whether the record of this run is there. Raises OutputError for that of another, unless `overwrite`."""
        path = self.folder / name
        if not path.exists():
            return False
        try:
            other = self._identity.difference(json.loads(path.read_text(encoding="utf-8"))["identity"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if self._overwrite:
                return False
            raise OutputError(
                f"{path} can't be read as the record of a run; remove it, or pass overwrite=True."
            ) from error
        if other and not self._overwrite:
            raise OutputError(
                f"{self.folder} holds a result of {other}; choose another folder, or pass overwrite=True."
            )
        return not other

    def _check_foreign(self) -> None:
        """Raise OutputError where there are files of a result without the record of a run."""
        if any((self.folder / name).exists() for name in (RUN, RUN + PARTIAL)):
            return
        names = (VERDICTS, PARTS, SCORES, BAD_ROWS, EXPLANATIONS, *REPORTS)
        foreign = [name for name in names if (self.folder / name).exists()]
        if foreign:
            raise OutputError(
                f"{self.folder} holds {', '.join(foreign)} of something else (there is no {RUN} of ours beside); "
                "choose another folder, or pass overwrite=True."
            )

    @contextmanager
    def _writes(self) -> Iterator[None]:
        """Turn an error of the file system into one that says what is kept, and what to do; ours say it already."""
        try:
            yield
        except BertJudgeError:  # an OutputError is an OSError, too
            raise
        except OSError as error:
            kept = "what was judged so far stays there; " if self.rows_done else ""
            raise OutputError(
                f"{self.folder} can't be written ({error.strerror or error}); {kept}fix this and run the same command "
                "again, or choose another folder."
            ) from error


def circumstances(start: float, seconds: float, rows: int) -> dict[str, Any]:
    """What `run.json` says of how a run went: when it was made, how fast, with which versions, on what machine."""
    return {
        "timings": {
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(start)),
            "seconds": round(seconds, 3),
            "rows": rows,
            "rows_per_second": round(rows / seconds, 1) if seconds else None,
        },
        "versions": versions("torch", "transformers", "tokenizers", "openvino", "numpy"),
        "machine": {"platform": platform.platform(), "cores": os.cpu_count()},
    }
