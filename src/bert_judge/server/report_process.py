"""The process that makes the report of a file that was sent: what takes too long or too much is ended with it.

It reads a pickled `Order` and then the verdicts on each lot of rows that it sends. What it sends are JSON objects, each
after its length in eight bytes: nothing of a file that was sent is unpickled.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from bert_judge.errors import BertJudgeError, InputError
from bert_judge.inputs import Source, open_source
from bert_judge.inputs.limits import LimitError
from bert_judge.inputs.streams import MAGIC_BYTES, PACKINGS
from bert_judge.judges import Judge
from bert_judge.judges.base import windows_of
from bert_judge.records import JudgeInfo, Sample, Verdict
from bert_judge.report import write_report
from bert_judge.results.runs import load_run
from bert_judge.server.options import ServerOptions
from bert_judge.studies.score import open_result, score_source

HEAD_BYTES: Final = 8
"""Before each object that is sent: its length, big-endian."""

REPORT: Final = "report.html"
"""The name of the report in the folder of an order."""

MEMORY: Final = 768 << 20
"""Bytes of data that the process may have."""

_LONGEST_NAME = 200  # bytes; file systems take 255
_WINDOW = 64  # rows that wait in the queue at a time: others' rows come in between
_NICE = 10  # rows of requests go first


@dataclass(frozen=True, slots=True)
class Order:
    """A file in a folder of its own, the judge that is asked, and what the server takes."""

    folder: Path
    name: str
    judge: JudgeInfo
    options: ServerOptions

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.folder / "given" / self.name


class _AskedJudge(Judge):
    """The judge of the server, which is asked through the pipes."""

    def __init__(self, info: JudgeInfo, results: BinaryIO) -> None:
        self.info = info
        self._results = results

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order."""
        for window in windows_of(samples, _WINDOW):
            _send(self._results, kind="rows", rows=[[s.question, s.references, s.candidate] for s in window])
            yield from pickle.load(sys.stdin.buffer)


def file_name(name: str) -> str:
    """A name that was sent, as any file system takes it."""
    name = re.sub(r"[^\w. -]", "_", re.split(r"[/\\]", name)[-1])
    return name.encode()[-_LONGEST_NAME:].decode(errors="ignore").strip(". ") or "file"


def opened(order: Order) -> Source:
    """The file, checked; rows that can't be read are set aside.

    Raises InputError as `open_source` does and for a packed file, LimitError for one beyond the server's limits.
    """
    name, rows = order.name, order.options.max_file_rows
    with order.path.open("rb") as file:
        start = file.read(MAGIC_BYTES)
    if any(packing.magic.match(start) for packing in PACKINGS) or zipfile.is_zipfile(order.path):
        raise InputError(f"{name} is compressed, and could be of any size; unpack it first.")
    source = open_source(order.path, skip_bad_rows=True, limit=rows + 1, limits=order.options.file_limits)
    if len(source) > rows:
        message = f"{name} has more than {rows:,} rows, the most that are taken here"
        raise LimitError(f"{message}; bert-judge score {name} takes any number.", "rows")
    source.path = name
    return source


def set_aside(source: Source) -> dict[str, int]:
    """How many rows of a file are not judged, by the reason."""
    counts = Counter({"that can't be read": len(source.bad_rows)})
    for run in source.saved_runs:
        counts.update(run.aside)
    return {reason: count for reason, count in counts.items() if count}


def write_page(source: Source, judge: Judge, folder: Path) -> None:
    """Write the report of a file, as a page that needs nothing else."""
    fitted, result = open_result(source, judge, folder / "result", {})
    for _ in score_source(source, fitted, result):
        pass
    path = folder / REPORT
    write_report([load_run(result.folder)], path, title=Path(str(source.path)).name)
    path.write_text(path.read_text(encoding="utf-8").replace(f"{folder}/", ""), encoding="utf-8")


def main() -> None:
    """Make the report that is ordered; say what came of it."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not look like a result
    _limit()
    order: Order = pickle.load(sys.stdin.buffer)
    try:
        source = opened(order)
        _send(results, kind="opened", rows=len(source), set_aside=set_aside(source))
        write_page(source, _AskedJudge(order.judge, results), order.folder)
        _send(results, kind="made")
    except BertJudgeError as error:
        status, reason = (413, error.limit) if isinstance(error, LimitError) else (422, "invalid")
        message = str(error).replace(f"{order.path.parent}/", "")  # where the file lies here is nobody's concern
        _send(results, kind="refused", status=status, message=message, reason=reason)
    except MemoryError:
        _send(results, kind="refused", status=413, message=out_of_memory(order.name), reason="memory")
    except (EOFError, BrokenPipeError):  # the server has ended
        pass
    except Exception:
        _send(results, kind="failed", traceback=traceback.format_exc())


def out_of_memory(name: str) -> str:
    """Why a file gets no report."""
    return f"{name} takes more than {MEMORY >> 20:,} MiB of memory to read; bert-judge score {name} takes any."


def _send(results: BinaryIO, **message: Any) -> None:
    text = json.dumps(message).encode()
    results.write(len(text).to_bytes(HEAD_BYTES, "big") + text)
    results.flush()


def _limit() -> None:
    """Bound the memory, and let rows of requests go first."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits, macOS refuses some
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with suppress(AttributeError, OSError):
        os.nice(_NICE)


if __name__ == "__main__":
    main()
