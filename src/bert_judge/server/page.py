"""The page at /, and the routes that it uses besides verdicts: what made the difference, and the report of a file."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, Request, Response

from bert_judge.judges import Judge
from bert_judge.judges.base import windows_of
from bert_judge.judges.occlusion import SENTENCES, WORDS, explain
from bert_judge.records import Sample, Verdict
from bert_judge.server.access import check_origin
from bert_judge.server.queueing import JudgeQueue
from bert_judge.server.refusing import RefusedError, SafeJSONResponse
from bert_judge.server.reporting import JudgeRows, Reporting
from bert_judge.server.schema import ExplanationBody, OneRow, ReportBody, responses, verdict_body
from bert_judge.server.service import Service

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The headers of all files of our pages."""

_REPORT_HEADERS: Final = {
    **HEADERS,
    # A report's scripts run in an origin of their own, without access to the key or the server.
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'",
}
_FILES: Final = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}
_MEDIA_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FILE_BODY: Final = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
_CROSS_SITE_TYPES: Final = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
"""The content types that pages of other sites may send without a preflight request."""

_REPORTS, _REPORT_BYTES = 16, 64_000_000  # that are kept, and their bytes together
_WINDOW = 64  # rows that wait in the queue at a time, with other clients' rows in between


def page_file(name: str) -> Response:
    """A file of one of our pages."""
    content = files("bert_judge.server").joinpath(name).read_bytes()
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
    return Response(content, media_type=f"{media_type}; charset=utf-8", headers=HEADERS)


def _keep(reports: dict[str, bytes], html: bytes) -> str:
    """Keep a report and drop the oldest beyond 16, or beyond 64 MB; returns an address that can't be guessed."""
    token = secrets.token_urlsafe(16)
    reports[token] = html
    while len(reports) > 1 and (len(reports) > _REPORTS or sum(map(len, reports.values())) > _REPORT_BYTES):
        del reports[next(iter(reports))]
    return f"/pages/{token}"


class _QueuedJudge(Judge):
    """A served judge for use in a thread: `judge_rows` runs in the event loop, so that rows wait in the queue."""

    def __init__(self, queue: JudgeQueue, judge_rows: JudgeRows) -> None:
        self._judge_rows, self._loop = judge_rows, asyncio.get_running_loop()
        self.info = queue.judge.info

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order. Raises the judge's errors, and RefusedError if the client is gone."""
        for window in windows_of(samples, _WINDOW):
            yield from asyncio.run_coroutine_threadsafe(self._judge_rows(window), self._loop).result()


def add_page(app: FastAPI, service: Service, labelling_page: str | None) -> None:
    """Add the page and its routes to an application; `labelling_page` is the address of the page to label answers."""
    reports: dict[str, bytes] = {}
    reporting = Reporting(service.options)

    async def file(request: Request) -> Response:
        return page_file(_FILES[request.url.path])

    for path in _FILES:
        app.add_api_route(path, file, include_in_schema=False)

    @app.get("/pages/{token}", include_in_schema=False)
    async def kept_report(token: str) -> Response:
        if (html := reports.get(token)) is None:
            raise RefusedError(404, "this report is no longer kept; make it again.")
        return Response(html, media_type="text/html; charset=utf-8", headers=_REPORT_HEADERS)

    @app.post("/v1/labelling", include_in_schema=False)
    async def labelling(request: Request) -> dict[str, str | None]:
        """Where answers are labelled, for the page at / alone: the address is a secret."""
        check_origin(request)
        return {"page": labelling_page}

    @app.post("/v1/explain", responses=responses(ExplanationBody), response_model=None, tags=["page"])
    async def explained(body: OneRow, request: Request) -> Response:
        """The verdict on a candidate, and the parts of it that made the difference: up to 36 more verdicts."""
        queue = service.queue(body.judge, body.model)
        sample = service.row_sample(queue, body, "the body")
        (verdict,) = await service.judge(request, queue, [sample], times=1 + SENTENCES + WORDS)
        judge = _QueuedJudge(queue, partial(service.judge_derived, request, queue))
        (explanation,) = await asyncio.to_thread(list, explain(judge, [(sample, verdict.score)]))
        parts = {
            "carrying": explanation.carrying(),
            "sentences": explanation.sentences,
            "words": explanation.words,
        }
        records = {name: list(map(dataclasses.asdict, entries)) for name, entries in parts.items()}
        return SafeJSONResponse({**verdict_body(body, verdict), "judge": queue.name, **records})

    @app.post(
        "/v1/report",
        responses=responses(ReportBody),
        response_model=None,
        openapi_extra={"requestBody": _FILE_BODY},
        tags=["page"],
    )
    async def report(request: Request, name: str = "file", judge: str | None = None) -> Response:
        """The report of a file, sent as the body in any form that `bert-judge score` reads; as a page."""
        queue = service.queue(judge)
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type in _CROSS_SITE_TYPES:
            raise RefusedError(422, "a file was expected, with the header Content-Type: application/octet-stream.")
        body = await request.body()
        notes = request.scope["state"]["log"]
        result = await reporting.make(body, name, queue, partial(service.judge_derived, request, queue))
        notes |= {"judge": queue.name, "rows": result.rows}
        page = _keep(reports, result.html)
        return SafeJSONResponse({"page": page, "rows": result.rows, "set_aside": result.set_aside})
