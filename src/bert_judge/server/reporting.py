"""Reports of uploaded files, each made by a process that is ended when its time is over or its client is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from bert_judge.records import Sample, Verdict
from bert_judge.server import report_process
from bert_judge.server.options import ServerOptions
from bert_judge.server.queueing import JudgeQueue
from bert_judge.server.refusing import RefusedError
from bert_judge.server.report_process import HEAD_BYTES, REPORT, ReportOrder, file_name, out_of_memory

_MOST_WAITING: Final = 8  # reports, each of which holds its file in memory
_LARGEST_MESSAGE: Final = 256 << 20  # bytes

_log = logging.getLogger(__name__)

JudgeRows = Callable[[Sequence[Sample]], Coroutine[Any, Any, list[Verdict]]]
"""Waits for the verdicts on rows; raises if the client goes away."""


class FileReport(NamedTuple):
    """The page as UTF-8, how many rows were judged, and how many were not, by reason."""

    html: bytes
    rows: int
    set_aside: dict[str, int]


class Reporting:
    """Makes one report at a time: each holds all of its rows in memory."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def make(self, body: bytes, name: str, queue: JudgeQueue, judge_rows: JudgeRows) -> FileReport:
        """The report of a file, judged by the judge of a queue.

        Raises RefusedError for an unreadable file, one beyond the limits, and if too many reports wait; RuntimeError if
        the process failed; and the errors of `judge_rows`.
        """
        if self._waiting >= _MOST_WAITING:
            message = f"{self._waiting} reports are waiting already; try again in 10 s."
            raise RefusedError(429, message, "reports", {"Retry-After": "10"})
        self._waiting += 1
        try:
            async with self._lock:
                with tempfile.TemporaryDirectory(prefix="bert-judge-") as folder:
                    order = ReportOrder(Path(folder), file_name(name), queue.judge.info, self._options)
                    order.path.parent.mkdir()
                    order.path.write_bytes(body)
                    return await _made_by_process(order, judge_rows)
        finally:
            self._waiting -= 1


async def _made_by_process(order: ReportOrder, judge_rows: JudgeRows) -> FileReport:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", report_process.__name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path), "OMP_NUM_THREADS": "1"},
        process_group=0,  # Ctrl-C is for the server
    )
    assert process.stdin and process.stdout
    seconds_left = order.options.report_seconds
    try:
        process.stdin.write(pickle.dumps(order))
        while True:
            message, seconds = await _received(process.stdout, order, seconds_left)
            seconds_left -= seconds
            match message["kind"]:
                case "rows":
                    samples = [
                        Sample(candidate, tuple(references), question)
                        for question, references, candidate in message["rows"]
                    ]
                    process.stdin.write(pickle.dumps(await judge_rows(samples)))
                case "made":
                    html = (order.folder / REPORT).read_bytes()
                    return FileReport(html, message["rows"], message["set_aside"])
                case "refused":
                    raise RefusedError(message["status"], message["message"], message["reason"])
                case _:
                    _log.error("a report failed", extra={"fields": {"traceback": message["traceback"]}})
                    raise RuntimeError("a report failed")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _received(stream: asyncio.StreamReader, order: ReportOrder, seconds: float) -> tuple[dict[str, Any], float]:
    """The next message of the process, and the seconds that it took."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    try:
        async with asyncio.timeout(seconds):
            size = int.from_bytes(await stream.readexactly(HEAD_BYTES), "big")
            if size > _LARGEST_MESSAGE:
                raise RefusedError(413, out_of_memory(order.name), "memory")
            message = json.loads(await stream.readexactly(size))
    except TimeoutError:
        late = f"the report of {order.name} took more than {order.options.report_seconds:g} s of work besides judging"
        raise RefusedError(413, f"{late}; bert-judge score {order.name} has no time limit.", "report_seconds") from None
    except asyncio.IncompleteReadError:  # it died: the system ends processes when memory is short
        raise RefusedError(413, out_of_memory(order.name), "memory") from None
    return message, loop.time() - start
