"""The application in a process of its own: one for each device."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType

import uvicorn
from fastapi import FastAPI

from bert_judge.errors import OutputError, named_in_errors
from bert_judge.judges import Judge
from bert_judge.server.middleware import JsonLines
from bert_judge.server.options import ServerOptions
from bert_judge.server.service import Service
from bert_judge.types import Sample

HEAD_SECONDS = 15
"""Within which the head of a request has to arrive, or the rest of a body that was refused."""

_MOST_CONNECTIONS = 20_000
_LAST_READ = 0.2  # seconds for requests that are on their way on open connections
_SWITCH = 0.001  # seconds that a thread may keep others waiting, so that requests are answered while a judge reads


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that has its port, but does not listen yet. Raises OutputError where that is not possible."""
    opened = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        if opened is not None:
            opened.close()
        said = f"{host} port {port} can't be used ({error.strerror}); choose another --host or --port."
        raise OutputError(said) from error
    return opened


def url_of(opened: socket.socket) -> str:
    """The address of what listens on a socket."""
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def warm_up(judges: Mapping[str, Judge]) -> None:
    """Let each judge work once, unless that costs something: what it can't do shows before the first request."""
    for name, judge in judges.items():
        with named_in_errors(f"the judge {name}"):
            if not judge.paid:
                list(judge.assess([Sample("It is Paris.", ("Paris",), "What is the capital of France?")]))


def run_server(app: FastAPI, options: ServerOptions, opened: socket.socket, say: Callable[[str], None]) -> None:
    """Serve what `make_app` made until SIGTERM or Ctrl-C; every request that was accepted before is answered.

    `say` is told the address once requests can come.
    """
    server = make_server(app, options)
    _log_to_stderr(options.quiet)
    sys.setswitchinterval(_SWITCH)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        opened.listen(server.config.backlog)
        say(url_of(opened))
        server.run([opened])
    except KeyboardInterrupt:  # uvicorn raises the signal again when all is done
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def make_server(app: FastAPI, options: ServerOptions) -> uvicorn.Server:
    """A server for a socket that listens: `server.run([opened])`, in any thread."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=options.drain_seconds,
    )
    return _Server(config, app.state.service, options.drain_delay)


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


class _Server(uvicorn.Server):
    """Uvicorn, which goes on for a while after SIGTERM if asked to, and closes connections that only take room."""

    def __init__(self, config: uvicorn.Config, service: Service, drain_delay: float) -> None:
        super().__init__(config)
        self._service, self._drain_delay = service, drain_delay
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stalled: dict[object, float] = {}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """On the first SIGTERM say that requests should go elsewhere, and end after the delay."""
        if sig != signal.SIGTERM or self._service.draining or not self._drain_delay or self._loop is None:
            self._service.draining = True
            super().handle_exit(sig, frame)
            return
        self._service.draining = True
        self._loop.call_soon_threadsafe(
            self._loop.call_later, self._drain_delay, lambda: uvicorn.Server.handle_exit(self, sig, frame)
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, read what was sent already, and end as uvicorn does."""
        for server in self.servers:
            server.close()
        await asyncio.sleep(_LAST_READ)
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        """Once a second, close connections that have sent half a head, or nothing, for too long."""
        if counter % 10 == 0:
            now = time.monotonic()
            idle = {each for each in self.server_state.connections if _stalls(each)}
            self._stalled = {each: self._stalled.get(each, now) for each in idle}
            for connection, since in self._stalled.items():
                if now - since > HEAD_SECONDS:
                    connection.transport.close()  # type: ignore[attr-defined]
        return await super().on_tick(counter)


def _stalls(connection: object) -> bool:
    """Whether a connection is neither in a request nor in the pause after one, which uvicorn itself ends."""
    cycle = getattr(connection, "cycle", None)
    return (cycle is None or cycle.response_complete) and connection.timeout_keep_alive_task is None  # type: ignore[attr-defined]


def _log_to_stderr(quiet: bool) -> None:
    """Log requests, failures, and what uvicorn says of both, as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    levels = {"bert_judge.server": logging.WARNING if quiet else logging.INFO, "uvicorn": logging.WARNING}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
