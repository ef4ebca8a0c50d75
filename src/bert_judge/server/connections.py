"""Connections: how many may be open, and closing those that only take up room."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from bert_judge.errors import OutputError

HEAD_SECONDS: Final = 15
"""Within which the head of a request must arrive, or the rest of a refused body."""

BACKLOG: Final = 2048
"""Connections that wait in the system to be accepted."""

BURST: Final = 64
"""Connections that are accepted at once, before they are counted again."""

_RESERVED = 128  # files besides connections: of judges, reports and libraries
_FEWEST = 16


def most_connections(limit: int) -> int:
    """How many connections may be open: `limit`, or fewer if the process can't raise its limit of open files enough.

    Raises OutputError if hardly any are left.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return limit
    others = _RESERVED + 2 * BURST
    needed = limit + others if hard == resource.RLIM_INFINITY else min(hard, limit + others)
    if soft < needed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
            soft = needed
        except (ValueError, OSError):  # macOS allows fewer than it says
            pass
    most = min(limit, soft - others)
    if most < min(limit, _FEWEST):
        raise OutputError(
            f"this process may open {soft} files, too few to serve; allow {_FEWEST + others} or more (ulimit -n)."
        )
    return most


class _Connection:
    """An open connection. Times are of `time.monotonic`."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.requests = 0  # under way; pipelined ones may overlap for a moment
        self.idle_since = time.monotonic()  # without a request
        self.unread_since: float | None = None  # when parts of an answer were first seen waiting for the client


_CURRENT: ContextVar[_Connection] = ContextVar("connection")
"""The connection whose data led to the running request."""


class Connections:
    """The open connections of a server, and the ASGI application `app`, whose requests keep them from being idle.

    `count` is told the reason when a connection is closed without an answer.
    """

    def __init__(self, app: ASGIApp, most: int, answer_seconds: float, count: Callable[[str], None]) -> None:
        self.most = most
        self._app, self._answer_seconds, self._count = app, answer_seconds, count
        self._open: set[_Connection] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application; during a request its connection is not idle."""
        connection = _CURRENT.get(None)
        if scope["type"] != "http" or connection is None:
            await self._app(scope, receive, send)
            return
        connection.requests += 1
        connection.unread_since = None
        try:
            await self._app(scope, receive, send)
        finally:
            connection.requests -= 1
            connection.idle_since = time.monotonic()

    def protocol(self, base: Any) -> type[asyncio.Protocol]:
        """A server's protocol `base` that also keeps track of the connections, and aborts those beyond the limit."""
        connections = self

        class TrackedProtocol(base):  # type: ignore[misc]
            def connection_made(self, transport: asyncio.Transport) -> None:
                self.tracked = _Connection(transport)
                connections._open.add(self.tracked)
                super().connection_made(transport)
                if len(connections._open) > connections.most + BURST:  # up to there uvicorn answers with a 503
                    connections._count("connections")
                    transport.abort()

            def data_received(self, data: bytes) -> None:
                _CURRENT.set(self.tracked)  # the task of a request that begins here inherits it
                super().data_received(data)

            def connection_lost(self, error: Exception | None) -> None:
                connections._open.discard(self.tracked)
                super().connection_lost(error)

        return TrackedProtocol

    def close_stalled(self) -> None:
        """Close connections that for too long sent half a head or nothing, or did not read their answer.

        To be called about once a second.
        """
        now = time.monotonic()
        for connection in list(self._open):
            if not connection.requests and now - connection.idle_since > HEAD_SECONDS:
                connection.transport.close()
            if not connection.transport.get_write_buffer_size():
                connection.unread_since = None
            elif connection.unread_since is None:
                connection.unread_since = now
            elif now - connection.unread_since > self._answer_seconds:
                self._count("answer_seconds")
                connection.transport.abort()
