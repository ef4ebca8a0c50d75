"""What stands around every request: its key, the size and time of its body, its line in the log, its figures."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bert_judge.errors import InputError
from bert_judge.server.options import ServerOptions
from bert_judge.types import Verdict

KEYS_VARIABLE: Final = "BERT_JUDGE_API_KEYS"
OPEN_PATHS: Final = frozenset(["/health", "/ready", "/", "/page.css", "/page.js"])
"""What is asked without a key: by probes, and by the page, which asks for the key."""

_SECRET = ("/pages/", "/label/")  # their addresses are secrets

_log = logging.getLogger(__name__)
_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def failure(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """A response with an error in the shape of OpenAI's."""
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    return JSONResponse({"error": {"message": message, "type": kind}}, status, headers)


class Keys:
    """API keys, of which only digests are kept. Without any, everybody may ask."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._digests = [hashlib.sha256(key.encode()).digest() for key in keys]

    @classmethod
    def read(cls, path: str | None) -> Keys:
        """The keys of a file, a line each (those that start with # are comments), or else of the environment.

        Raises InputError for a file that can't be read or holds none, which would let everybody in.
        """
        if path is None:
            return cls(re.findall(r"[^\s,]+", os.environ.get(KEYS_VARIABLE, "")))
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the keys in {path} can't be read ({type(error).__name__}).") from error
        keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        if not keys:
            raise InputError(f"{path} holds no keys; one a line was expected.")
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def allow(self, header: bytes) -> bool:
        """Whether the header `Authorization` has one of the keys; in the same time for any other one."""
        kind, _, key = header.partition(b" ")
        given = hashlib.sha256(key.strip()).digest()
        found = [hmac.compare_digest(given, digest) for digest in self._digests]
        return kind.lower() == b"bearer" and any(found)


class Figures:
    """What `GET /metrics` shows."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        own: dict[str, Any] = {"namespace": "bert_judge", "registry": self.registry}
        self.requests = Counter("requests", "Requests by path and status", ["path", "status"], **own)
        self.request_seconds = Histogram("request_seconds", "From head to answer", ["path"], buckets=_SECONDS, **own)
        self.verdicts = Counter("verdicts", "Verdicts by judge and label", ["judge", "label"], **own)
        self.batch_rows = Histogram("batch_rows", "Rows judged together", ["judge"], buckets=_ROWS, **own)
        self.batch_seconds = Histogram("batch_seconds", "Time of a batch", ["judge"], buckets=_SECONDS, **own)
        self.queue_rows = Gauge("queue_rows", "Rows that wait for a judge", ["judge"], **own)
        self.dropped_rows = Counter("dropped_rows", "Rows that nobody waited for any more", ["judge"], **own)

    def count_batch(self, judge: str, verdicts: Sequence[Verdict], seconds: float) -> None:
        """Count what a judge was given together."""
        self.batch_rows.labels(judge).observe(len(verdicts))
        self.batch_seconds.labels(judge).observe(seconds)
        for verdict in verdicts:
            self.verdicts.labels(judge, _outcome(verdict)).inc()

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self.registry)


def _outcome(verdict: Verdict) -> str:
    if verdict.failed:
        return "failed"
    if verdict.score is None:
        return "undecided"
    return "none" if verdict.label is None else "correct" if verdict.label else "incorrect"


@dataclass
class _Body:
    """How much of a body was read."""

    read: int = 0


@dataclass
class RequestMiddleware:
    """The outermost part of the application."""

    app: ASGIApp
    options: ServerOptions
    keys: Keys
    figures: Figures
    paths: frozenset[str]
    held: int = field(default=0, init=False)  # bytes of the bodies of all requests under way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it; then log and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500
        notes: dict[str, Any] = {}
        body = _Body()
        scope.setdefault("state", {})["log"] = notes

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        headers = dict(scope["headers"])
        is_open = not self.keys or scope["path"] in OPEN_PATHS or scope["path"].startswith(_SECRET)
        try:
            if not is_open and not self.keys.allow(headers.get(b"authorization", b"")):
                said = "the key is missing or wrong; send one as Authorization: Bearer KEY."
                await failure(401, said, {"WWW-Authenticate": "Bearer"})(scope, receive, counted)
            elif int(headers.get(b"content-length") or 0) > self.options.max_body:
                await failure(413, self._too_large())(scope, receive, counted)
            else:
                await self.app(scope, self._bounded(receive, body), counted)
        finally:
            self.held -= body.read
            self._record(scope, status, time.perf_counter() - start, notes)

    def _bounded(self, receive: Receive, body: _Body) -> Receive:
        """What reads the body, up to its limits in bytes and seconds, and to that of all bodies together."""
        end, whole = asyncio.get_running_loop().time() + self.options.body_seconds, False

        async def bounded() -> Message:
            nonlocal whole
            if whole:
                return await receive()  # which waits until the client is gone
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                said = f"the body did not arrive within {self.options.body_seconds:g} seconds."
                raise HTTPException(408, said) from None
            arrived = len(message.get("body", b""))
            body.read += arrived
            self.held += arrived
            whole = not message.get("more_body", False)
            if body.read > self.options.max_body:
                raise HTTPException(413, self._too_large())
            if self.held > self.options.max_bodies:
                raise HTTPException(
                    429, "other requests are too large together; try again in 1 s.", {"Retry-After": "1"}
                )
            return message

        return bounded

    def _too_large(self) -> str:
        return f"the body is too large; up to {self.options.max_body:,} bytes are taken: send fewer rows at a time."

    def _record(self, scope: Scope, status: int, seconds: float, notes: dict[str, Any]) -> None:
        path = scope["path"] if scope["path"] in self.paths else "other"
        self.figures.requests.labels(path, status).inc()
        self.figures.request_seconds.labels(path).observe(seconds)
        fields = {"method": scope["method"], "path": path, "status": status, "seconds": round(seconds, 4), **notes}
        _log.log(logging.WARNING if status >= 500 else logging.INFO, "request", extra={"fields": fields})


class JsonLines(logging.Formatter):
    """A log record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level and message, the fields that the record came with, and the traceback where there is one."""
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
