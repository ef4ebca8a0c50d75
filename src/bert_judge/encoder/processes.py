"""An ordered prefetching map, in a thread or in child processes.

`multiprocessing` would run the user's script again in each child, unless the script is guarded by
`if __name__ == "__main__"`. These children import only what the function needs, and end with their parent, however it
ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from bert_judge.errors import ModelError

T = TypeVar("T")
R = TypeVar("R")


def computed_ahead(
    function: Callable[[T], R], items: Iterable[T], processes: int = 0, here: int = 0
) -> Generator[tuple[T, R], None, None]:
    """Each item with its result, in order, computing one item ahead, or up to `2 * processes - 1`.

    Without `processes` a thread of this process computes all items. Otherwise it computes the first `here`, and that
    many child processes the rest; they start when they are needed and end when the stream ends or is closed. Function,
    items and results are pickled for them. Raises what `items` raises, after the results of the items before; what the
    function raises (from a child with its traceback as a note); and ModelError if a child was killed.
    """
    failures: list[Exception] = []
    idle: SimpleQueue[_Process] = SimpleQueue()

    def compute_in_child(item: T) -> R:
        process = idle.get()
        try:
            return process.compute(item)  # type: ignore[no-any-return]
        finally:
            idle.put(process)

    not_started = iter(range(processes))
    pending: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(1) as computing, ThreadPoolExecutor(processes or 1) as waiting, ExitStack() as children:
        try:
            for number, item in enumerate(_until_failure(items, failures)):
                local = number < here or not processes
                if not local and next(not_started, None) is not None:
                    process = _Process(function)
                    children.callback(process.end)
                    idle.put(process)
                future = computing.submit(function, item) if local else waiting.submit(compute_in_child, item)
                pending.append((item, future))
                if len(pending) >= (2 if local else 2 * processes):
                    first, future = pending.popleft()
                    yield first, future.result()
            while pending:
                first, future = pending.popleft()
                yield first, future.result()
            if failures:
                raise failures[0]
        finally:
            for threads in (computing, waiting):
                threads.shutdown(wait=False, cancel_futures=True)


def _until_failure(items: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """The items before an error of the stream, which is kept until their results are out."""
    try:
        yield from items
    except Exception as error:  # a user's iterable can raise anything; it is raised again later
        failures.append(error)


def child_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this package in a child process."""
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment() -> dict[str, str]:
    """The environment of a child process, which can import what this process can."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}


class _Process:
    """A child process that computes the function of one item at a time."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._process = subprocess.Popen(
            child_command(__name__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**child_environment(), "TOKENIZERS_PARALLELISM": "false"},  # one core each
            process_group=0,  # Ctrl-C is for the parent
        )
        self._unsent = pickle.dumps(function)

    def compute(self, item: Any) -> Any:
        """The function's result. Raises what it raised, and ModelError if the process has ended."""
        request = self._unsent + pickle.dumps(item)
        process = self._process
        assert process.stdin and process.stdout
        try:
            process.stdin.write(request)
            process.stdin.flush()
            self._unsent = b""
            returned, value = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            status = process.wait()
            end = f"was killed (signal {-status})" if status < 0 else f"has ended (status {status})"
            raise ModelError(
                f"a process that reads ahead {end}; if memory was short, use fewer workers (0: none)."
            ) from error
        if not returned:
            raise value
        return value

    def end(self) -> None:
        """Kill the process and close its pipes."""
        self._process.kill()
        with suppress(OSError):  # it had not read all of its input
            self._process.communicate()


def serve() -> None:
    """In a child: read the function, then items; write what it returns or raises, until the input ends."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not end up among the results
    with suppress(EOFError, BrokenPipeError):  # the parent has ended
        function = pickle.load(sys.stdin.buffer)
        while True:
            item = pickle.load(sys.stdin.buffer)
            try:
                result = True, function(item)
            except Exception as error:
                error.add_note("".join(traceback.format_exception(error)))
                result = False, error
            pickle.dump(result, results)
            results.flush()


if __name__ == "__main__":
    serve()
