"""A function of each item of a stream, computed ahead of whoever takes the results, in the order of the items.

In other processes this is not `multiprocessing`, which runs the user's script again in each of them unless the script
is guarded by `if __name__ == "__main__"`. These are child processes that import what the function needs and nothing
else, and that end with their parent, however it ends.
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
    """Each item with its result, in order, while one item after it is computed, or up to `2 * processes - 1`.

    Without `processes` all items are computed in a thread of this process. Otherwise the first `here` are, and the
    others in so many processes, which start when there is something for them to do, and end when the stream ends or is
    closed. Function, items and results are pickled for them. Raises what the stream raises, after the results of what
    came before; what the function raises, from a process with the traceback as a note; and ModelError where a process
    was ended from outside.
    """
    failures: list[Exception] = []
    idle: SimpleQueue[_Process] = SimpleQueue()

    def elsewhere(item: T) -> R:
        process = idle.get()
        try:
            return process.compute(item)  # type: ignore[no-any-return]
        finally:
            idle.put(process)

    to_start = iter(range(processes))
    under_way: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(1) as computing, ThreadPoolExecutor(processes or 1) as waiting, ExitStack() as ended:
        try:
            for number, item in enumerate(_until_failure(items, failures)):
                alone = number < here or not processes
                if not alone and next(to_start, None) is not None:
                    process = _Process(function)
                    ended.callback(process.end)
                    idle.put(process)
                under_way.append((item, computing.submit(function, item) if alone else waiting.submit(elsewhere, item)))
                if len(under_way) >= (2 if alone else 2 * processes):
                    yield _finished(*under_way.popleft())
            while under_way:
                yield _finished(*under_way.popleft())
            if failures:
                raise failures[0]
        finally:
            for threads in (computing, waiting):
                threads.shutdown(wait=False, cancel_futures=True)


def _until_failure(items: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """The items up to where the stream fails, and why it did: what came before is not lost."""
    try:
        yield from items
    except Exception as error:  # whatever it is, it is raised once they are through
        failures.append(error)


def _finished(item: T, future: Future[R]) -> tuple[T, R]:
    return item, future.result()


class _Process:
    """A child process that computes the function of one item at a time."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        paths = os.pathsep.join(path or "." for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths, "TOKENIZERS_PARALLELISM": "false"},  # one core each
            process_group=0,  # Ctrl-C is for the parent
        )
        self._unsent = pickle.dumps(function)

    def compute(self, item: Any) -> Any:
        """The function's result. Raises what it raised, and ModelError where the process has ended."""
        request = self._unsent + pickle.dumps(item)
        process = self._process
        assert process.stdin and process.stdout
        try:
            process.stdin.write(request)
            process.stdin.flush()
            self._unsent = b""
            returned, value = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise ModelError(f"a process that reads ahead {_ending(process.wait())}.") from error
        if not returned:
            raise value
        return value

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        with suppress(OSError):  # what it has not read yet
            self._process.communicate()


def _ending(status: int) -> str:
    if status < 0:
        return f"was killed (signal {-status}); if memory was short, use fewer --workers, or 0"
    return f"has ended (status {status}); --workers 0 does without"


def serve() -> None:
    """In a child: read the function, then items; write what it returns or raises, until there are no more."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not look like a result
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
