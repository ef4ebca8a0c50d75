"""Connections: how many are open, and which are closed because they only take room."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bert_judge.errors import OutputError

HEAD_SECONDS: Final = 15
"""Within which the head of a request has to arrive, or the rest of a body that was refused."""

BACKLOG: Final = 2048
"""Connections that wait in the system to be accepted."""

BURST: Final = 64
"""Connections that are accepted at once, before the next look at how many there are."""

_RESERVED = 128  # files besides connections: of judges, reports and libraries
_FEWEST = 16
_LOGGED = 60.0  # seconds after which it is said again that there are too many

_log = logging.getLogger(__name__)


def most_connections(wanted: int) -> int:
    """How many connections may be open: so many, or what the process's limit of open files leaves, which is raised.

    Raises OutputError where that is next to none.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _RESERVED + 2 * BURST
    allowed = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            soft = allowed
        except (ValueError, OSError):  # macOS allows fewer than it says
            pass
    left = wanted if soft == resource.RLIM_INFINITY else min(wanted, soft - _RESERVED - 2 * BURST)
    if left < min(wanted, _FEWEST):
        least = _FEWEST + _RESERVED + 2 * BURST
        raise OutputError(f"this process may open {soft} files, too few to serve; allow {least} or more (ulimit -n).")
    return left


class Connections:
    """The open connections of a server, as uvicorn keeps them, and what is wrong with some."""

    def __init__(self, most: int, answer_seconds: float, count: Any) -> None:
        self.most = most
        self._answer_seconds, self._count = answer_seconds, count
        self._idle: dict[Any, float] = {}
        self._untaken: dict[Any, tuple[object, float]] = {}
        self._said = -_LOGGED

    def protocol(self) -> type[asyncio.Protocol]:
        """Uvicorn's protocol, which closes a connection at once where there are too many."""
        connections, base = self, AutoHTTPProtocol

        class Protocol(base):  # type: ignore[misc, valid-type]
            def connection_made(self, transport: asyncio.Transport) -> None:
                super().connection_made(transport)
                if len(self.connections) > connections.most + BURST:  # fewer get a 503
                    connections.too_many()
                    transport.abort()

        return Protocol

    def too_many(self) -> None:
        """Count a connection that was refused; say so once a minute."""
        self._count("connections")
        now = time.monotonic()
        if now - self._said >= _LOGGED:
            self._said = now
            _log.warning("too many connections", extra={"fields": {"most": self.most}})

    def close_stalled(self, connections: set[Any]) -> None:
        """Close those that have sent half a head or nothing, or not taken an answer, for too long."""
        now = time.monotonic()
        self._idle = {each: self._idle.get(each, now) for each in connections if _stalls(each)}
        for connection, since in self._idle.items():
            if now - since > HEAD_SECONDS:
                connection.transport.close()
        before = self._untaken
        self._untaken = {}
        for connection in connections:
            if connection.transport.get_write_buffer_size():
                cycle, since = before.get(connection, (None, now))
                since = since if cycle is connection.cycle else now
                self._untaken[connection] = connection.cycle, since
                if now - since > self._answer_seconds:
                    self._count("answer_seconds")
                    connection.transport.abort()


def _stalls(connection: Any) -> bool:
    """Whether a connection is neither in a request nor in the pause after one, which uvicorn itself ends."""
    cycle = connection.cycle
    return (cycle is None or cycle.response_complete) and connection.timeout_keep_alive_task is None
