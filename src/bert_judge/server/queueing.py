"""Rows of many requests, judged together."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.types import Sample, Verdict

T = TypeVar("T")

_log = logging.getLogger(__name__)

_LONGEST_RETRY_AFTER = 60
_NEWEST = 0.2  # of the speed that is remembered comes from the newest batch

Observer = Callable[[Sequence[Verdict], float], None]
"""Told of each batch: its verdicts, and the seconds that they took."""


class QueueFullError(Exception):
    """There is no room for so many rows; `seconds` from now there should be."""

    def __init__(self, waiting: int, seconds: int) -> None:
        super().__init__(f"{waiting} rows are waiting already; try again in {seconds} s.")
        self.seconds = seconds


class Job:
    """The rows of one request. `done` has the verdicts, in their order, or what the judge raised."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self.done: asyncio.Future[list[Verdict]] = asyncio.get_running_loop().create_future()
        self.begun = 0
        self._verdicts: list[Verdict] = []

    @property
    def waiting(self) -> int:
        """How many of its rows the judge was not given yet."""
        return len(self.samples) - self.begun

    def add(self, verdicts: Sequence[Verdict]) -> None:
        """The next verdicts."""
        self._verdicts += verdicts
        if len(self._verdicts) == len(self.samples) and not self.done.done():
            self.done.set_result(self._verdicts)


class JudgeQueue:
    """The rows that wait for a judge, and the one thread in which it works; used within one event loop.

    What arrives while the judge works is judged together after that. A batch has up to `batch_rows` rows, in turn from
    each request, so that a large one does not hold up the others. An idle judge waits `batch_wait` milliseconds for
    more. Where the judge raises on a batch, each request of it is judged alone, so that only the one at fault fails.
    """

    def __init__(
        self, name: str, judge: Judge, *, batch_rows: int, queue_rows: int, batch_wait: float, observe: Observer
    ) -> None:
        self.name, self.judge = name, judge
        self._batch_rows, self._queue_rows, self._batch_wait = batch_rows, queue_rows, batch_wait / 1000
        self._observe = observe
        self._jobs: deque[Job] = deque()
        self._since = 0.0  # when the first of these rows came
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, f"bert-judge-{name}")
        self._seconds_a_row = 0.0
        self.waiting = 0

    def check_room(self, rows: int = 1) -> None:
        """Raises QueueFullError where so many more rows can't wait."""
        if self.waiting + rows > self._queue_rows:
            seconds = math.ceil(self.waiting * self._seconds_a_row)
            raise QueueFullError(self.waiting, min(max(1, seconds), _LONGEST_RETRY_AFTER))

    def submit(self, samples: Sequence[Sample]) -> Job:
        """Let rows wait for the judge. Raises QueueFullError where there is no room for them."""
        self.check_room(len(samples))
        job = Job(samples)
        if not samples:
            job.add([])
            return job
        if not self._jobs:
            self._since = time.monotonic()
        self._jobs.append(job)
        self.waiting += len(samples)
        self._arrived.set()
        return job

    def drop(self, job: Job) -> None:
        """Take back the rows of a job that the judge has not begun: nobody waits for them any more."""
        job.done.cancel()
        if job in self._jobs:
            self._jobs.remove(job)
            self.waiting -= job.waiting

    async def work(self) -> None:
        """Judge what arrives, until cancelled."""
        while True:
            if not self._jobs:
                self._arrived.clear()
                await self._arrived.wait()
            rest = self._since + self._batch_wait - time.monotonic()
            if rest > 0 and self.waiting < self._batch_rows:
                await asyncio.sleep(rest)
            if batch := self._next_batch():
                await self._judge(batch)

    async def run(self, function: Callable[[], T]) -> T:
        """What else is asked of the judge, in its thread, which no two may use at once."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _next_batch(self) -> list[tuple[Job, Sequence[Sample]]]:
        """Rows of the jobs whose turn it is; a job of which rows are left goes to the end."""
        batch: list[tuple[Job, Sequence[Sample]]] = []
        room = min(self._batch_rows, self.waiting)
        self.waiting -= room
        self._since = 0.0  # what is left has waited long enough
        while room:
            job = self._jobs.popleft()
            share = max(1, room // (len(self._jobs) + 1))
            rows = job.samples[job.begun : job.begun + share]
            job.begun += len(rows)
            room -= len(rows)
            batch.append((job, rows))
            if job.waiting:
                self._jobs.append(job)
        return batch

    async def _judge(self, batch: Sequence[tuple[Job, Sequence[Sample]]]) -> None:
        start = time.monotonic()
        try:
            verdicts = await self._assess([sample for _, rows in batch for sample in rows])
        except Exception as error:  # a user's own judge can raise anything
            if len({id(job) for job, _ in batch}) > 1:
                for part in batch:
                    await self._judge([part])
                return
            self._fail(batch[0][0], error)
            return
        seconds = time.monotonic() - start
        newest = seconds / len(verdicts)
        self._seconds_a_row += _NEWEST * (newest - self._seconds_a_row) if self._seconds_a_row else newest
        self._observe(verdicts, seconds)
        given = iter(verdicts)
        for job, rows in batch:
            job.add([next(given) for _ in rows])

    async def _assess(self, samples: Sequence[Sample]) -> list[Verdict]:
        """The judge's verdicts, from its thread."""

        def assess() -> list[Verdict]:
            verdicts = list(self.judge.assess(samples))
            if len(verdicts) != len(samples):
                raise ModelError(f"{self.name} gave {len(verdicts)} verdicts for {len(samples)} rows.")
            return verdicts

        return await self.run(assess)

    def _fail(self, job: Job, error: Exception) -> None:
        _log.error("the judge failed", exc_info=error, extra={"fields": {"judge": self.name}})
        if job in self._jobs:
            self._jobs.remove(job)
            self.waiting -= job.waiting
        if not job.done.done():
            job.done.set_exception(error)
