"""The application in a process of its own, one for each device."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

from bert_judge.errors import OutputError, named_in_errors
from bert_judge.judges import Judge
from bert_judge.records import Sample
from bert_judge.server import ServerOptions
from bert_judge.server.service import Service

HEAD_SECONDS: Final = 15
"""Within which the head of a request must arrive, or the rest of a refused body."""

_BACKLOG = 2048  # connections that wait in the system to be accepted
_BURST = 64  # connections that are accepted at once, before they are counted again
_RESERVED_FILES = 128  # besides connections: of judges and libraries
_FEWEST_CONNECTIONS = 16
_LAST_READ = 0.2  # seconds for requests that are on their way on open connections
_CHECK_SECONDS = 1.0  # between two checks of the connections
_SWITCH_SECONDS = 0.001  # that a thread may run while others wait, so that requests are read while a judge works


def open_socket(host: str, port: int) -> socket.socket:
    """A socket bound to its port that does not listen yet. Raises OutputError if the port can't be used."""
    opened = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        if opened is not None:
            opened.close()
        message = f"{host} port {port} can't be used ({error.strerror}); choose another host or port."
        raise OutputError(message) from error
    return opened


def url_of(opened: socket.socket) -> str:
    """The address of a server that listens on a socket."""
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def warm_up(judges: Mapping[str, Judge]) -> None:
    """Let each judge that is not paid judge a row, so that its errors show before the first request."""
    for name, judge in judges.items():
        with named_in_errors(f"the judge {name}"):
            if not judge.info.paid:
                list(judge.assess([Sample("It is Paris.", ("Paris",), "What is the capital of France?")]))


def run_server(app: FastAPI, options: ServerOptions, opened: socket.socket, say: Callable[[str], None]) -> list[str]:
    """Serve an application of `make_app` until SIGTERM or Ctrl-C, then answer every request accepted before.

    `say` is called with the address once requests can come. Returns the judges that are still at work when the seconds
    of draining are over: their threads would keep the process alive.
    """
    server = make_server(app, options)
    _log_to_stderr(options.quiet)
    sys.setswitchinterval(_SWITCH_SECONDS)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        opened.listen(_BACKLOG)
        say(url_of(opened))
        server.run([opened])
    except KeyboardInterrupt:  # uvicorn raises the signal again when it is done
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    service: Service = app.state.service
    return [name for name, queue in service.queues.items() if queue.working]


def make_server(app: FastAPI, options: ServerOptions) -> uvicorn.Server:
    """A server for a listening socket: `server.run([opened])`, in any thread."""
    most = most_connections(options.max_connections)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        backlog=_BURST,
        limit_concurrency=most,
        timeout_graceful_shutdown=options.drain_seconds,
    )
    config.load()
    return _Server(config, app.state.service, options, most)


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
    others = _RESERVED_FILES + 2 * _BURST
    needed = limit + others if hard == resource.RLIM_INFINITY else min(hard, limit + others)
    if soft < needed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
            soft = needed
        except (ValueError, OSError):  # macOS allows fewer than it says
            pass
    most = min(limit, soft - others)
    if most < min(limit, _FEWEST_CONNECTIONS):
        fewest = _FEWEST_CONNECTIONS + others
        raise OutputError(f"this process may open {soft} files, too few to serve; allow {fewest} or more (ulimit -n).")
    return most


class _Server(uvicorn.Server):
    """Uvicorn that can keep serving for a while after SIGTERM, and closes connections that only take up room."""

    def __init__(self, config: uvicorn.Config, service: Service, options: ServerOptions, most: int) -> None:
        super().__init__(config)
        self._service, self._options = service, options
        self._checking: asyncio.Task[None] | None = None
        self._idle: dict[Any, tuple[object, float]] = {}  # connections, their last requests, and since when
        self._unread: dict[Any, float] = {}  # connections, and since when parts of an answer wait for their clients
        config.http_protocol_class = self._limited(config.http_protocol_class, most)

    def _limited(self, base: Any, most: int) -> type[asyncio.Protocol]:
        """A protocol of uvicorn that aborts connections far beyond the limit, without an answer."""
        refusals = self._service.metrics.refusals

        class LimitedProtocol(base):  # type: ignore[misc]
            def connection_made(self, transport: asyncio.Transport) -> None:
                super().connection_made(transport)
                if len(self.connections) > most + _BURST:  # up to there uvicorn answers with a 503
                    refusals.labels("connections", "none").inc()
                    transport.abort()

        return LimitedProtocol

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, let more connections wait in the system, and begin to check the open ones."""
        await super().startup(sockets)
        for opened in sockets or ():
            opened.listen(_BACKLOG)  # asyncio has reduced it to the connections accepted at once
        self._checking = asyncio.create_task(self._check_connections())

    async def _check_connections(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            self._close_stalled(time.monotonic())

    def _close_stalled(self, now: float) -> None:
        """Close connections that for too long sent half a head or nothing, or did not read their answer."""
        idle, unread = self._idle, self._unread
        self._idle, self._unread = {}, {}
        connections: list[Any] = list(self.server_state.connections)
        for connection in connections:
            transport, request = connection.transport, connection.cycle
            if request is None or request.response_complete:
                last_request, since = idle.get(connection, (request, now))
                self._idle[connection] = request, now if request is not last_request else since
                if now - self._idle[connection][1] > HEAD_SECONDS:
                    transport.close()
            if transport.get_write_buffer_size():
                self._unread[connection] = unread.get(connection, now)
                if now - self._unread[connection] > self._options.answer_seconds:
                    self._service.metrics.refusals.labels("answer_seconds", "none").inc()
                    transport.abort()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Exit; on the first SIGTERM only after the delay, in which /ready sends requests elsewhere."""
        is_first, self._service.draining = not self._service.draining, True
        leave = partial(super().handle_exit, sig, frame)
        if is_first and sig == signal.SIGTERM and self._options.drain_delay:
            loop = asyncio.get_running_loop()
            loop.call_soon_threadsafe(loop.call_later, self._options.drain_delay, leave)
        else:
            leave()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, read what was sent already, and end as uvicorn does."""
        for server in self.servers:
            server.close()
        await asyncio.sleep(_LAST_READ)
        await super().shutdown(sockets)
        if self._checking is not None:
            self._checking.cancel()


class JsonLines(logging.Formatter):
    """A log record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, message, the fields in the record's `fields`, and the traceback if there is one."""
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def _log_to_stderr(quiet: bool) -> None:
    """Log requests, failures, and uvicorn's warnings as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    levels = {"bert_judge.server": logging.WARNING if quiet else logging.INFO, "uvicorn": logging.WARNING}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
