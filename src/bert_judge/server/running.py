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
from bert_judge.records import Sample
from bert_judge.server.connections import BACKLOG, BURST, Connections, most_connections
from bert_judge.server.middleware import JsonLines
from bert_judge.server.options import ServerOptions
from bert_judge.server.service import Service

_ENDING = 2.0  # seconds of draining that are kept for what comes after the last request
_LAST_READ = 0.2  # seconds for requests that are on their way on open connections
_WATCHED = 1.0  # seconds between two looks at the connections
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
            if not judge.info.paid:
                list(judge.assess([Sample("It is Paris.", ("Paris",), "What is the capital of France?")]))


def run_server(app: FastAPI, options: ServerOptions, opened: socket.socket, say: Callable[[str], None]) -> list[str]:
    """Serve what `make_app` made until SIGTERM or Ctrl-C; every request that was accepted before is answered.

    `say` is told the address once requests can come. Returns the judges that did not come to an end in the seconds of
    draining: they work on, and would keep the process alive.
    """
    server = make_server(app, options)
    _log_to_stderr(options.quiet)
    sys.setswitchinterval(_SWITCH)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        opened.listen(BACKLOG)
        say(url_of(opened))
        server.run([opened])
    except KeyboardInterrupt:  # uvicorn raises the signal again when all is done
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    return [name for name, queue in app.state.service.queues.items() if queue.working]


def make_server(app: FastAPI, options: ServerOptions) -> uvicorn.Server:
    """A server for a socket that listens: `server.run([opened])`, in any thread."""
    service: Service = app.state.service
    connections = Connections(
        most_connections(options.max_connections), options.answer_seconds, service.figures.count_connection
    )
    config = uvicorn.Config(
        app,
        http=connections.protocol(),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        backlog=BURST,
        limit_concurrency=connections.most,
    )
    return _Server(config, service, connections, options)


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


class _Server(uvicorn.Server):
    """Uvicorn, which goes on for a while after SIGTERM if asked to, and closes connections that only take room."""

    def __init__(
        self, config: uvicorn.Config, service: Service, connections: Connections, options: ServerOptions
    ) -> None:
        super().__init__(config)
        self._service, self._connections = service, connections
        self._drain_delay, self._drain_seconds, self._asked_to_end = options.drain_delay, options.drain_seconds, 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, let connections wait in the system, and watch those that are open."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)  # asyncio has set it to what is accepted at once
        self._watching = asyncio.create_task(self._watch())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """On the first SIGTERM say that requests should go elsewhere, and end after the delay."""
        if sig != signal.SIGTERM or self._service.draining or not self._drain_delay or self._loop is None:
            self._exit(sig, frame)
            return
        self._service.draining = True
        self._loop.call_soon_threadsafe(self._loop.call_later, self._drain_delay, lambda: self._exit(sig, frame))

    def _exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.draining, self._asked_to_end = True, self._asked_to_end or time.monotonic()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, read what was sent already, and end as uvicorn does."""
        for server in self.servers:
            server.close()
        await asyncio.sleep(_LAST_READ)
        # The loop may have been busy since the signal came.
        now = time.monotonic()
        left = self._drain_seconds - (now - (self._asked_to_end or now))
        self.config.timeout_graceful_shutdown = max(0, int(left - min(_ENDING, left / 4)))
        await super().shutdown(sockets)
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self) -> None:
        """Once a second, close connections that only take room."""
        while True:
            await asyncio.sleep(_WATCHED)
            self._connections.close_stalled(set(self.server_state.connections))


def _log_to_stderr(quiet: bool) -> None:
    """Log requests, failures, and what uvicorn says of both, as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    levels = {"bert_judge.server": logging.WARNING if quiet else logging.INFO, "uvicorn": logging.WARNING}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
