"""What stands around every request: host, key, the size and time of its body, its line in the log, its figures."""

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
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bert_judge.errors import InputError
from bert_judge.records import Verdict
from bert_judge.server.hosts import allowed_hosts, allows, host_name
from bert_judge.server.options import ServerOptions
from bert_judge.server.refusing import RefusedError, failure, reason_of, shown
from bert_judge.server.schema import MOST_ROWS
from bert_judge.server.turns import Turns

KEYS_VARIABLE: Final = "BERT_JUDGE_API_KEYS"
OPEN_PATHS: Final = frozenset(["/health", "/ready", "/", "/page.css", "/page.js"])
"""What is asked without a key: by probes, and by the page, which asks for the key."""

PROBED: Final = frozenset(["/health", "/ready"])
"""What is answered by any name: a probe asks by address."""

_LARGE = 1 << 17  # bytes of a body that takes a while to read
_SLICE = 1 << 16  # bytes of an answer that are handed on together: the next ones wait until the client has taken them
_SECRET = ("/pages/", "/label/")  # their addresses are secrets

_log = logging.getLogger(__name__)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Keys:
    """API keys, of which only digests are kept. Without any, everybody may ask."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._digests = [hashlib.sha256(key.encode()).digest() for key in keys]

    @classmethod
    def read(cls, path: str | None) -> Keys:
        """The keys of a file, a line each (those that start with # are comments), or else of the environment.

        Raises InputError for a file that can't be read, and where file or variable hold none, which would let everybody
        in.
        """
        if path is None:
            given = os.environ.get(KEYS_VARIABLE)
            keys = re.findall(r"[^\s,]+", given or "")
            if given is not None and not keys:
                said = "keys with commas between them were expected; unset it to serve without."
                raise InputError(f"{KEYS_VARIABLE} holds no keys; {said}")
            return cls(keys)
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
        self.refusals = Counter("refusals", "Refused requests and connections", ["reason", "status"], **own)
        self.dropped_rows = Counter("dropped_rows", "Rows that nobody waited for any more", ["judge"], **own)

    def count_batch(self, judge: str, verdicts: Sequence[Verdict], seconds: float) -> None:
        """Count what a judge was given together."""
        self.batch_rows.labels(judge).observe(len(verdicts))
        self.batch_seconds.labels(judge).observe(seconds)
        for verdict in verdicts:
            self.verdicts.labels(judge, _outcome(verdict)).inc()

    def count_connection(self, reason: str) -> None:
        """Count a connection that was closed without an answer."""
        self.refusals.labels(reason, "none").inc()

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
class _Held:
    """How many bytes of a request and its answer are held."""

    size: int = 0


@dataclass
class RequestMiddleware:
    """The outermost part of the application."""

    app: ASGIApp
    options: ServerOptions
    keys: Keys
    figures: Figures
    paths: frozenset[str]
    held: int = field(default=0, init=False)  # bytes of all requests under way and their answers

    def __post_init__(self) -> None:
        self._large = Turns()
        self._hosts = allowed_hosts(self.options.host, self.options.host_names, bool(self.keys))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it; then log and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        notes: dict[str, Any] = {}
        held = _Held()
        headers = dict(scope["headers"])
        state = scope.setdefault("state", {})
        state |= {"log": notes, "client": self._client(scope, headers)}
        MOST_ROWS.set(self.options.max_rows)

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            answer = message.get("body", b"")
            self._hold(held, len(answer))
            for start in range(_SLICE, len(answer), _SLICE):
                await send({**message, "body": answer[start - _SLICE : start], "more_body": True})
            if answer:
                message = {**message, "body": answer[(len(answer) - 1) // _SLICE * _SLICE :]}
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        is_open = not self.keys or scope["path"] in OPEN_PATHS or scope["path"].startswith(_SECRET)
        try:
            if scope["path"] not in PROBED and not allows(self._hosts, hosts):
                state["refused"] = "host"
                await failure(403, _unknown_host(hosts))(scope, receive, counted)
            elif not is_open and not self.keys.allow(headers.get(b"authorization", b"")):
                said = "the key is missing or wrong; send one as Authorization: Bearer KEY."
                await failure(401, said, {"WWW-Authenticate": "Bearer"})(scope, receive, counted)
            elif int(headers.get(b"content-length") or 0) > self.options.max_body:
                state["refused"] = "body"
                await failure(413, self._too_large())(scope, receive, counted)
            else:
                await self.app(scope, self._bounded(receive, held), counted)
        except asyncio.CancelledError:  # the seconds of draining are over
            if not status:
                said = "the server has ended before this was done; ask again."
                await failure(503, said, {"Retry-After": "5"})(scope, receive, counted)
        finally:
            self.held -= held.size
            self._record(scope, status or 500, time.perf_counter() - start, notes)

    def _client(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """Who asks, for the sake of fairness: whose key it is, or without keys the address."""
        if self.keys:
            return hashlib.sha256(headers.get(b"authorization", b"")).hexdigest()
        return str((scope.get("client") or ("",))[0])

    def _hold(self, held: _Held, size: int) -> None:
        held.size += size
        self.held += size

    def _bounded(self, receive: Receive, held: _Held) -> Receive:
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
                raise RefusedError(408, said) from None
            self._hold(held, len(message.get("body", b"")))
            whole = not message.get("more_body", False)
            if whole and held.size > _LARGE:
                await self._large.turn()
            if held.size > self.options.max_body:
                raise RefusedError(413, self._too_large(), "body")
            if self.held > self.options.max_bodies:
                said = "other requests and answers are too large together; try again in 1 s."
                raise RefusedError(429, said, "bodies", {"Retry-After": "1"})
            return message

        return bounded

    def _too_large(self) -> str:
        return f"the body is too large; up to {self.options.max_body:,} bytes are taken: send fewer rows at a time."

    def _record(self, scope: Scope, status: int, seconds: float, notes: dict[str, Any]) -> None:
        path = scope["path"] if scope["path"] in self.paths else "other"
        self.figures.requests.labels(path, status).inc()
        self.figures.request_seconds.labels(path).observe(seconds)
        if status == 503 or 400 <= status < 500:
            self.figures.refusals.labels(scope["state"].get("refused") or reason_of(status), status).inc()
        fields = {"method": scope["method"], "path": path, "status": status, "seconds": round(seconds, 4), **notes}
        _log.log(logging.WARNING if status >= 500 else logging.INFO, "request", extra={"fields": fields})


def _unknown_host(headers: Sequence[bytes]) -> str:
    name = shown(host_name(headers[0].decode("latin-1"))) if headers else "''"
    return f"this server does not answer to the host {name}; whoever runs it can name it among the allowed hosts."


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
