"""What the page at / asks for besides verdicts: why, which tokens match, and the report of a file."""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException

from bert_judge.analysis.results import load_run
from bert_judge.errors import InputError
from bert_judge.judges import Judge
from bert_judge.judges.base import windows_of
from bert_judge.judges.stand_in import Description, StandIn
from bert_judge.report import write_report
from bert_judge.scoring import open_result, score_source
from bert_judge.server.options import ServerOptions
from bert_judge.server.queueing import JudgeQueue, QueueFullError
from bert_judge.server.static import HEADERS
from bert_judge.sources import Source, open_source
from bert_judge.sources.streams import MAGIC_BYTES, PACKINGS
from bert_judge.types import Sample, Verdict

FILES: Final = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}
MADE_HEADERS: Final = {
    **HEADERS,
    # Its own scripts run, in an origin of its own: they see neither the key nor the server.
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'",
}
FILE_BODY: Final = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
"""The body of a file that is sent, for the OpenAPI document."""

_UNASKED = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
_KEPT = 16  # pages
_PAUSE = 0.2  # seconds after which rows ask again for room in the queue
_LONGEST_NAME = 200  # bytes; file systems take 255
_WINDOW = 64  # rows that wait in the queue at a time: others' rows come in between


class Pages:
    """The pages that were made last, by addresses that nobody can guess."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, str] = OrderedDict()

    def add(self, html: str) -> str:
        """Keep a page; returns its address. The oldest one of more than 16 is forgotten."""
        token = secrets.token_urlsafe(16)
        self._pages[token] = html
        if len(self._pages) > _KEPT:
            self._pages.popitem(last=False)
        return f"/pages/{token}"

    def get(self, token: str) -> str | None:
        """The page, if it is still kept."""
        return self._pages.get(token)


class QueuedJudge(StandIn):
    """A judge whose rows wait in its server's queue like all others; asked in a thread beside the event loop.

    `judged` waits for the verdicts on rows, and raises where the client goes away.
    """

    def __init__(self, queue: JudgeQueue, judged: Callable[[Sequence[Sample]], Awaitable[list[Verdict]]]) -> None:
        self._queue, self._judged, self._loop = queue, judged, asyncio.get_running_loop()
        super().__init__(Description.of(queue.judge))

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; they wait for room in the queue. Raises what the judge raises."""
        for window in windows_of(samples, _WINDOW):
            yield from asyncio.run_coroutine_threadsafe(self._verdicts(window), self._loop).result()

    async def _verdicts(self, window: list[Sample]) -> list[Verdict]:
        while True:
            try:
                return await self._judged(window)
            except QueueFullError:
                await asyncio.sleep(_PAUSE)


def check_kind(request: Request) -> None:
    """Raises HTTPException for a file of a kind that other sites' pages may send here without asking the browser."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _UNASKED:
        raise HTTPException(422, "a file was expected, with the header Content-Type: application/octet-stream.")


def open_upload(body: bytes, name: str, folder: Path, options: ServerOptions) -> Source:
    """A file that was sent, checked; rows that can't be read are set aside.

    Raises InputError as `open_source` does and for a compressed file, HTTPException for one beyond the limits.
    """
    name = re.sub(r"[^\w. -]", "_", re.split(r"[/\\]", name)[-1])
    name = name.encode()[-_LONGEST_NAME:].decode(errors="ignore").strip(". ") or "file"
    if any(packing.magic.match(body[:MAGIC_BYTES]) for packing in PACKINGS):
        raise InputError(f"{name} is compressed, and could be of any size; unpack it first.")
    path, rows, text = folder / "given" / name, options.max_file_rows, options.max_text
    path.parent.mkdir()
    path.write_bytes(body)
    try:
        source = open_source(path, skip_bad_rows=True, limit=rows + 1)
    except InputError as error:  # where the file lies here is nobody's concern
        raise InputError(str(error).replace(f"{path.parent}/", "")) from error
    more = f"bert-judge score {name} takes any number."
    if len(source) > rows:
        raise HTTPException(413, f"{name} has more than {rows:,} rows, the most that are taken here; {more}")
    source.path = name
    longest = max(len(each) for row in source for each in (row.candidate, row.question or "", *row.references))
    if longest > text:
        raise HTTPException(413, f"{name} has a text of {longest:,} characters; up to {text:,} are taken here.")
    return source


def set_aside(source: Source) -> dict[str, int]:
    """How many rows of a file are not judged, by the reason."""
    counts = Counter({"that can't be read": len(source.bad_rows)})
    for run in source.found:
        counts.update(run.aside)
    return {reason: count for reason, count in counts.items() if count}


def report_of(source: Source, judge: Judge, folder: Path) -> str:
    """The report of a file, as a page that needs nothing else."""
    fitted, result = open_result(source, judge, folder / "result", {})
    for _ in score_source(source, fitted, result):
        pass
    write_report([load_run(result.folder)], folder / "report.html", title=Path(str(source.path)).name)
    return (folder / "report.html").read_text(encoding="utf-8").replace(f"{folder}/", "")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for one upload."""
    return tempfile.TemporaryDirectory(prefix="bert-judge-")
