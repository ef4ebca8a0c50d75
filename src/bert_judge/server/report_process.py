"""The process that makes the report of an uploaded file; ending it ends whatever takes too long or too much memory.

On standard input it reads a pickled `ReportOrder`, then pickled verdicts for each message with rows. On standard output
it writes messages as JSON, each after its length in eight bytes: the server unpickles nothing that a file could affect.
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
from bert_judge.inputs.limits import LimitError, Limits
from bert_judge.inputs.streams import MAGIC_BYTES, PACKINGS
from bert_judge.judges import Judge
from bert_judge.judges.base import windows_of
from bert_judge.records import JudgeInfo, Sample, Verdict
from bert_judge.report import write_report
from bert_judge.results.runs import load_run
from bert_judge.server.options import ServerOptions
from bert_judge.studies.score import open_result, score_source

HEAD_BYTES: Final = 8
"""The length before each message, big-endian."""

REPORT: Final = "report.html"
"""The name of the report in the order's folder."""

MEMORY: Final = 768 << 20
"""The most bytes of data in the process."""

_LONGEST_NAME = 200  # bytes; file systems take 255
_WINDOW = 64  # rows that wait in the queue at a time, with other clients' rows in between
_NICE = 10  # requests come before reports


@dataclass(frozen=True, slots=True)
class ReportOrder:
    """A file in a folder of its own, the judge to ask, and the limits of the server."""

    folder: Path
    name: str
    judge: JudgeInfo
    options: ServerOptions

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.folder / "upload" / self.name


class _PipedJudge(Judge):
    """The server's judge, asked through the pipes."""

    def __init__(self, info: JudgeInfo, output: BinaryIO) -> None:
        self.info, self._output = info, output

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order."""
        for window in windows_of(samples, _WINDOW):
            rows = [[sample.question, sample.references, sample.candidate] for sample in window]
            _send(self._output, kind="rows", rows=rows)
            yield from pickle.load(sys.stdin.buffer)


def file_name(name: str) -> str:
    """An uploaded file's name, made safe for any file system."""
    name = re.sub(r"[^\w. -]", "_", re.split(r"[/\\]", name)[-1])
    return name.encode()[-_LONGEST_NAME:].decode(errors="ignore").strip(". ") or "file"


def _opened(order: ReportOrder) -> Source:
    """The checked file; unreadable rows are set aside.

    Raises InputError as `open_source` does and for a compressed file, LimitError for one beyond the server's limits.
    """
    name, rows = order.name, order.options.max_file_rows
    with order.path.open("rb") as file:
        start = file.read(MAGIC_BYTES)
    if any(packing.magic.match(start) for packing in PACKINGS) or zipfile.is_zipfile(order.path):
        raise InputError(f"{name} is compressed, and could be of any size; unpack it first.")
    limits = Limits(
        text=order.options.max_text,
        characters=order.options.max_characters,
        whole=order.options.max_body,
        columns=order.options.max_columns,
    )
    source = open_source(order.path, skip_bad_rows=True, limit=rows + 1, limits=limits)
    if len(source) > rows:
        message = f"{name} has more than {rows:,} rows, the most allowed here"
        raise LimitError(f"{message}; bert-judge score {name} has no such limit.", "rows")
    source.path = name
    return source


def _set_aside(source: Source) -> dict[str, int]:
    """How many rows of a file are not judged, by reason."""
    counts = Counter({"that can't be read": len(source.bad_rows)})
    for run in source.saved_runs:
        counts.update(run.aside)
    return {reason: count for reason, count in counts.items() if count}


def _write_page(source: Source, judge: Judge, folder: Path) -> None:
    fitted, result = open_result(source, judge, folder / "result", {})
    for _ in score_source(source, fitted, result):
        pass
    path = folder / REPORT
    write_report([load_run(result.folder)], path, title=Path(str(source.path)).name)
    html = path.read_text(encoding="utf-8")
    path.write_text(html.replace(f"{folder}/", ""), encoding="utf-8")  # clients don't see where files lie


def main() -> None:
    """Make the ordered report and send the outcome."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's prints must not mix with messages
    _limit()
    order: ReportOrder = pickle.load(sys.stdin.buffer)
    try:
        source = _opened(order)
        rows, set_aside = len(source), _set_aside(source)  # judging uses the rows up
        _write_page(source, _PipedJudge(order.judge, output), order.folder)
        _send(output, kind="made", rows=rows, set_aside=set_aside)
    except BertJudgeError as error:
        status, reason = (413, error.limit) if isinstance(error, LimitError) else (422, "invalid")
        message = str(error).replace(f"{order.path.parent}/", "")
        _send(output, kind="refused", status=status, message=message, reason=reason)
    except MemoryError:
        _send(output, kind="refused", status=413, message=out_of_memory(order.name), reason="memory")
    except (EOFError, BrokenPipeError):  # the server has ended
        pass
    except Exception:  # a bug, which the server logs
        _send(output, kind="failed", traceback=traceback.format_exc())


def out_of_memory(name: str) -> str:
    """Why a file that needs too much memory gets no report."""
    message = f"{name} takes more than {MEMORY >> 20:,} MiB of memory to read"
    return f"{message}; bert-judge score {name} has no such limit."


def _send(output: BinaryIO, **message: Any) -> None:
    text = json.dumps(message).encode()
    output.write(len(text).to_bytes(HEAD_BYTES, "big") + text)
    output.flush()


def _limit() -> None:
    """Limit the memory, and let the server's requests come first."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits, macOS refuses some
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with suppress(AttributeError, OSError):
        os.nice(_NICE)


if __name__ == "__main__":
    main()
