"""An ordered prefetching map, in a thread or in child processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from threading import Thread, current_thread, main_thread
from types import ModuleType
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
    function raises; and ModelError if a child was killed.
    """
    failures: list[Exception] = []
    pending: deque[tuple[T, Future[R]]] = deque()
    thread = ThreadPoolExecutor(1)
    children: ProcessPoolExecutor | None = None
    pickled = b""
    try:
        for number, item in enumerate(_until_failure(items, failures)):
            if local := number < here or not processes:
                future = thread.submit(function, item)
            else:
                children = children or ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _start)
                # Not an argument of `_start`: a child that is killed while it starts would never read it, and this
                # process would wait for it forever.
                pickled = pickled or pickle.dumps(function)
                with _starting():
                    future = children.submit(_compute, pickled, item)
            pending.append((item, future))
            if len(pending) >= (2 if local else 2 * processes):
                first, future = pending.popleft()
                yield first, future.result()
        while pending:
            first, future = pending.popleft()
            yield first, future.result()
        if failures:
            raise failures[0]
    except BrokenProcessPool as error:
        raise ModelError(
            "a process that reads ahead was killed; if memory was short, use fewer workers (0: none)."
        ) from error
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
        if children:
            for process in list(children._processes.values()):  # they may be busy
                process.kill()
            children.shutdown(wait=False, cancel_futures=True)


def _until_failure(items: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """The items before an error of the stream, which is kept until their results are out."""
    try:
        yield from items
    except Exception as error:  # a user's iterable can raise anything; it is raised again later
        failures.append(error)


@contextmanager
def _starting() -> Iterator[None]:
    """Hide the user's script from a child that starts, which would run it again unless `__main__` is guarded in it.

    Nor does the child get Ctrl-C, which is for the parent. The parent acts on it once it can kill the child: one that
    starts while its parent ends prints a traceback.
    """
    main, interrupts = sys.modules["__main__"], []
    sys.modules["__main__"] = ModuleType("__main__")
    handler = signal.getsignal(signal.SIGINT) if current_thread() is main_thread() else None
    if callable(handler):
        signal.signal(signal.SIGINT, lambda *interrupt: interrupts.append(interrupt))
    if sys.platform != "win32":
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        sys.modules["__main__"] = main
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
            if interrupts:
                handler(*interrupts[0])


_unpickled = cache(pickle.loads)  # once in a child


def _start() -> None:
    """In a child: it ends with its parent, however that ends."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one core each
    os.dup2(2, 1)  # what a library prints is no output of the parent
    Thread(target=_end_with_parent, daemon=True).start()


def _compute(pickled: bytes, item: Any) -> Any:
    return _unpickled(pickled)(item)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)
