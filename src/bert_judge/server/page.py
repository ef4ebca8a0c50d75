"""What the page at / asks for besides verdicts: why, which tokens match, and the report of a file."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bert_judge.analysis.results import load_run
from bert_judge.errors import InputError
from bert_judge.judges import Judge
from bert_judge.judges.base import windows_of
from bert_judge.pipeline import open_result, score_source
from bert_judge.report import write_report
from bert_judge.server.queueing import JudgeQueue
from bert_judge.server.static import HEADERS
from bert_judge.sources import Source, open_source
from bert_judge.types import Sample, Scale, Signature, Verdict

FILES: Final = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}
MADE_HEADERS: Final = {
    **HEADERS,
    # Its own scripts run, in an origin of its own: they see neither the key nor the server.
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'",
}
_KEPT = 16  # pages
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


class QueuedJudge(Judge):
    """A judge whose rows wait in its server's queue like all others; asked in a thread beside the event loop."""

    def __init__(self, queue: JudgeQueue) -> None:
        self._queue, self._loop = queue, asyncio.get_running_loop()
        self.threshold = queue.judge.threshold

    @property
    def scale(self) -> Scale:
        """That of the judge."""
        return self._queue.judge.scale

    @property
    def reads_references(self) -> bool:
        """Whether the judge does."""
        return self._queue.judge.reads_references

    @property
    def variant(self) -> str:
        """That of the judge."""
        return self._queue.judge.variant

    @property
    def signature(self) -> Signature:
        """That of the judge."""
        return Signature.of(self._queue.judge.signature)

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order. Raises QueueFullError, and what the judge raises."""
        for window in windows_of(samples, _WINDOW):
            yield from asyncio.run_coroutine_threadsafe(self._judged(window), self._loop).result()

    async def _judged(self, window: list[Sample]) -> list[Verdict]:
        return await self._queue.submit(window).done


def open_upload(body: bytes, name: str, folder: Path) -> Source:
    """A file that was sent, checked; rows that can't be read are set aside. Raises InputError as `open_source` does."""
    path = folder / (Path(name.replace("\\", "/")).name.strip(". \0") or "file")
    path.write_bytes(body)
    try:
        return open_source(path, skip_bad_rows=True)
    except InputError as error:  # where the file lies here is nobody's concern
        raise InputError(str(error).replace(f"{folder}/", "")) from error


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
