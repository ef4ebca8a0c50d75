"""What the page at / asks for besides verdicts: why, which tokens match, and the report of a file."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException

from bert_judge.judges import Judge
from bert_judge.judges.base import windows_of
from bert_judge.records import Sample, Verdict
from bert_judge.server.queueing import JudgeQueue, QueueFullError
from bert_judge.server.static import HEADERS

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
_KEPT, _KEPT_BYTES = 16, 64_000_000  # pages, and what they have together
_PAUSE = 0.2  # seconds after which rows ask again for room in the queue
_WINDOW = 64  # rows that wait in the queue at a time: others' rows come in between


Judged = Callable[[Sequence[Sample]], Awaitable[list[Verdict]]]
"""Waits for the verdicts on rows."""


class Pages:
    """The pages that were made last, by addresses that nobody can guess."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, bytes] = OrderedDict()

    def add(self, html: bytes) -> str:
        """Keep a page; returns its address. The oldest ones of more than 16, or of more than 64 MB, are forgotten."""
        token = secrets.token_urlsafe(16)
        self._pages[token] = html
        while len(self._pages) > _KEPT or (len(self._pages) > 1 and self._size() > _KEPT_BYTES):
            self._pages.popitem(last=False)
        return f"/pages/{token}"

    def _size(self) -> int:
        return sum(map(len, self._pages.values()))

    def get(self, token: str) -> bytes | None:
        """The page, if it is still kept."""
        return self._pages.get(token)


class QueuedJudge(Judge):
    """A judge whose rows wait in its server's queue like all others; asked in a thread beside the event loop.

    `judged` waits for the verdicts on rows, and raises where the client goes away.
    """

    def __init__(self, queue: JudgeQueue, judged: Judged) -> None:
        self._queue, self._judged, self._loop = queue, judged, asyncio.get_running_loop()
        self.info = queue.judge.info

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; they wait for room in the queue. Raises what the judge raises."""
        for window in windows_of(samples, _WINDOW):
            waited = asyncio.run_coroutine_threadsafe(with_room(self._judged, window), self._loop)
            yield from waited.result()


async def with_room(judged: Judged, samples: Sequence[Sample]) -> list[Verdict]:
    """The verdicts on rows, which wait for room in the queue."""
    while True:
        try:
            return await judged(samples)
        except QueueFullError:
            await asyncio.sleep(_PAUSE)


def check_kind(request: Request) -> None:
    """Raises HTTPException for a file of a kind that other sites' pages may send here without asking the browser."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _UNASKED:
        raise HTTPException(422, "a file was expected, with the header Content-Type: application/octet-stream.")
