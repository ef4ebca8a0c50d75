"""Reports of files that are sent, each made by a process that ends when its time is over or its client is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from bert_judge.records import Sample
from bert_judge.server import report_process
from bert_judge.server.options import ServerOptions
from bert_judge.server.page import Judged, with_room
from bert_judge.server.queueing import JudgeQueue
from bert_judge.server.refusing import RefusedError
from bert_judge.server.report_process import HEAD_BYTES, REPORT, Order, file_name, out_of_memory

_MOST_WAITING: Final = 8  # reports, of which each holds its file
_LARGEST: Final = 256 << 20  # bytes that a process may send together

_log = logging.getLogger(__name__)


class Report(NamedTuple):
    """The page of a file's report, as UTF-8, how many rows were judged, and how many were not, by the reason."""

    html: bytes
    rows: int
    set_aside: dict[str, int]


class Reporting:
    """Makes one report at a time: it holds all of its rows."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._turn = asyncio.Semaphore(1)
        self._waiting = 0

    async def make(self, body: bytes, name: str, queue: JudgeQueue, judged: Judged) -> Report:
        """The report of a file, judged by the judge of a queue.

        Raises RefusedError for a file that can't be read or is beyond the limits, and where many reports are waiting;
        what `judged` raises; and RuntimeError where the process failed.
        """
        if self._waiting >= _MOST_WAITING:
            said = f"{self._waiting} reports are waiting already; try again in 10 s."
            raise RefusedError(429, said, "reports", {"Retry-After": "10"})
        self._waiting += 1
        try:
            async with self._turn:
                with tempfile.TemporaryDirectory(prefix="bert-judge-") as folder:
                    order = Order(Path(folder), file_name(name), queue.judge.info, self._options)
                    order.path.parent.mkdir()
                    order.path.write_bytes(body)
                    return await _made(order, judged)
        finally:
            self._waiting -= 1


async def _made(order: Order, judged: Judged) -> Report:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", report_process.__name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path), "OMP_NUM_THREADS": "1"},
        process_group=0,  # Ctrl-C is for the server
    )
    assert process.stdin and process.stdout
    rows, aside, left = 0, dict[str, int](), order.options.report_seconds
    try:
        process.stdin.write(pickle.dumps(order))
        while True:
            message, seconds = await _received(process.stdout, order, left)
            left -= seconds
            match message["kind"]:
                case "opened":
                    rows, aside = message["rows"], message["set_aside"]
                case "rows":
                    samples = [Sample(candidate, tuple(given), asked) for asked, given, candidate in message["rows"]]
                    process.stdin.write(pickle.dumps(await with_room(judged, samples)))
                case "made":
                    return Report((order.folder / REPORT).read_bytes(), rows, aside)
                case "refused":
                    raise RefusedError(message["status"], message["message"], message["reason"])
                case _:
                    _log.error("a report failed", extra={"fields": {"traceback": message["traceback"]}})
                    raise RuntimeError("a report failed")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _received(stream: asyncio.StreamReader, order: Order, seconds: float) -> tuple[dict[str, Any], float]:
    """The next object that the process sends, and the seconds that it took."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    try:
        async with asyncio.timeout(seconds):
            size = int.from_bytes(await stream.readexactly(HEAD_BYTES), "big")
            if size > _LARGEST:
                raise RefusedError(413, out_of_memory(order.name), "memory")
            message = json.loads(await stream.readexactly(size))
    except TimeoutError:
        most = order.options.report_seconds
        said = f"the report of {order.name} took more than {most:g} s of work besides its judging"
        raise RefusedError(413, f"{said}; bert-judge score {order.name} takes any time.", "report_seconds") from None
    except asyncio.IncompleteReadError:  # it ended: where memory is short, the system ends it
        raise RefusedError(413, out_of_memory(order.name), "memory") from None
    return message, loop.time() - start
