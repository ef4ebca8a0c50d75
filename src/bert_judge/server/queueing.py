"""Rows of many requests, judged together."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain
from typing import NamedTuple, TypeVar

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.judges.base import characters_read
from bert_judge.metrics.timing import OutOfTimeError, time_limit
from bert_judge.records import Sample, Verdict
from bert_judge.server.options import ServerOptions
from bert_judge.server.shares import Shares

T = TypeVar("T")

_log = logging.getLogger(__name__)

_LONGEST_RETRY_AFTER = 60
_NEWEST = 0.2  # of the speed that is remembered comes from the newest batch
_FEWEST = 8  # rows that may be judged together, however slow the judge is
_PAUSE = 0.01  # seconds after which long rows ask for their turn again
_LONG = 20_000  # characters of a row that takes many times as long as a usual one
_LATER = 1.0  # seconds that a long row seems to have used before it is judged
_FORGIVEN = 0.1  # seconds of work that a second of waiting makes up for, so that everybody's turn comes

Observer = Callable[[Sequence[Verdict], float], None]
"""Told of each batch: its verdicts, and the seconds that they took."""


class QueueFullError(Exception):
    """There is no room for so many rows; `seconds` from now there should be."""

    def __init__(self, waiting: int, seconds: int) -> None:
        super().__init__(f"{waiting} rows are waiting already; try again in {seconds} s.")
        self.seconds = seconds


class Job:
    """The rows of one request of a client. `done` has the verdicts, in their order, or what the judge raised."""

    def __init__(self, samples: Sequence[Sample], client: str = "") -> None:
        self.samples, self.client = samples, client
        self.done: asyncio.Future[list[Verdict]] = asyncio.get_running_loop().create_future()
        self.begun = 0
        self.since = time.monotonic()
        self.seconds = 0.0  # that its rows took
        self.alone = False  # whether each of its rows is judged by itself
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


class _Part(NamedTuple):
    """Rows of a job that are judged together with others."""

    job: Job
    rows: Sequence[Sample]


@dataclass
class _Judged:
    """What came of a batch: verdicts on its first rows, with the seconds that each took; the other rows still wait.

    `given` counts the parts of which all verdicts went to their jobs while others were judged. `alone` says that one
    row of those that were under way took too long, and which one is not known.
    """

    given: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    one_by_one: bool = True
    alone: bool = False


def _is_long(sample: Sample) -> bool:
    return characters_read(sample) > _LONG


class LongTurn:
    """One judge of a process at a time reads long rows, so that others have the processor for short ones."""

    def __init__(self) -> None:
        self.taken = False

    @contextmanager
    def taken_for(self, sample: Sample) -> Iterator[None]:
        """Take the turn for a batch of rows like this one, if that is long."""
        is_long = _is_long(sample)
        self.taken = self.taken or is_long
        try:
            yield
        finally:
            if is_long:
                self.taken = False


class JudgeQueue:
    """The rows that wait for a judge, and the one thread in which it works; used within one event loop.

    What arrives while the judge works is judged together after that. A batch has up to `batch_rows` rows and
    `batch_characters` characters, from each request some, first from those whose clients have used the judge least of
    late; so neither a large request nor many slow ones hold up a small one. It has as many rows as take about
    `batch_seconds`; a judge that takes one row after the other is given no more of them after that. Long rows are not
    judged together with short ones, and by one judge of the process at a time. An idle judge waits `batch_wait`
    milliseconds for more. A row whose patterns and formulas take more than `row_seconds` is failed. Where the judge
    raises on a batch, each request of it is judged alone, so that only the one at fault fails.
    """

    def __init__(
        self, name: str, judge: Judge, options: ServerOptions, observe: Observer, long: LongTurn | None = None
    ) -> None:
        self.name, self.judge = name, judge
        self._options, self._observe, self._long = options, observe, long or LongTurn()
        self._jobs: deque[Job] = deque()
        self._since = 0.0  # when the first of these rows came
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, f"bert-judge-{name}")
        self._seconds_a_row = 0.0
        self._shares = Shares()
        self.waiting, self.working = 0, 0

    def check_room(self, rows: int = 1) -> None:
        """Raises QueueFullError where so many more rows can't wait."""
        if self.waiting + rows > self._options.queue_rows:
            seconds = math.ceil(self.waiting * self._seconds_a_row)
            raise QueueFullError(self.waiting, min(max(1, seconds), _LONGEST_RETRY_AFTER))

    def submit(self, samples: Sequence[Sample], client: str = "") -> Job:
        """Let rows of a client wait for the judge. Raises QueueFullError where there is no room for them."""
        self.check_room(len(samples))
        job = Job(samples, client)
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
        self._remove(job)

    async def work(self) -> None:
        """Judge what arrives, until cancelled."""
        while True:
            if not self._jobs:
                self._arrived.clear()
                await self._arrived.wait()
            rest = self._since + self._options.batch_wait / 1000 - time.monotonic()
            if rest > 0 and self.waiting < self._options.batch_rows:
                await asyncio.sleep(rest)
            batch = self._next_batch()
            if not batch:  # all that waits are long rows, and another judge reads one
                await asyncio.sleep(_PAUSE)
                continue
            with self._long.taken_for(batch[0].rows[0]):
                await self._judge(batch)

    async def _run(self, function: Callable[[], T]) -> T:
        self.working += 1

        def counted() -> T:
            try:
                return function()
            finally:
                self.working -= 1

        return await asyncio.get_running_loop().run_in_executor(self._thread, counted)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _next_batch(self) -> list[_Part]:
        """Rows of the jobs whose turn it is; a job of which rows are left goes on waiting."""
        now = time.monotonic()
        fitting = [job for job in self._jobs if not self._long.taken or not _is_long(job.samples[job.begun])]
        turns = deque(sorted(fitting, key=lambda job: self._due(job, now)))
        if turns and turns[0].alone:
            return [self._taken(turns[0], 1)]
        turns = deque(job for job in turns if not job.alone)
        rows, left = self._rows_in_time(), self._options.batch_characters
        batch, is_long = list[_Part](), None
        self._since = 0.0  # what is left has waited long enough
        while turns and rows and left > 0:
            job = turns.popleft()
            share, count = max(1, rows // (len(turns) + 1)), 0
            for sample in job.samples[job.begun : job.begun + share]:
                size = characters_read(sample)
                if size > left and (batch or count):
                    left = 0
                    break
                if is_long is None:
                    is_long = _is_long(sample)
                if is_long != _is_long(sample):
                    break
                left, count = left - size, count + 1
            if count:
                batch.append(self._taken(job, count))
                rows -= count
                if job.waiting:
                    turns.append(job)
        return batch

    def _rows_in_time(self) -> int:
        """How many rows a batch may have: as many as take about `batch_seconds`, but a few in any case."""
        most, seconds = self._options.batch_rows, self._seconds_a_row
        return min(most, max(_FEWEST, int(self._options.batch_seconds / seconds))) if seconds else most

    def _due(self, job: Job, now: float) -> float:
        """The lower, the sooner: seconds of the judge that the client has used, less for what it has waited."""
        later = _LATER if _is_long(job.samples[job.begun]) else 0.0
        return self._shares.of(job.client, now) + job.seconds + later - _FORGIVEN * (now - job.since)

    def _taken(self, job: Job, count: int) -> _Part:
        """The next rows of a job."""
        part = _Part(job, job.samples[job.begun : job.begun + count])
        job.begun += count
        self.waiting -= count
        if not job.waiting:
            self._jobs.remove(job)
        return part

    def _put_back(self, job: Job, count: int) -> None:
        """Let the last rows that were taken from a job wait again, unless nobody waits for them any more."""
        if not count or job.done.done():
            return
        if not job.waiting:
            self._jobs.append(job)
        job.begun -= count
        self.waiting += count

    def _remove(self, job: Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)
            self.waiting -= job.waiting

    async def _judge(self, batch: Sequence[_Part]) -> None:
        start, judged = time.monotonic(), _Judged()
        assess = partial(self._assess, batch, judged, asyncio.get_running_loop())
        try:
            await self._run(assess)
        except Exception as error:  # a user's own judge can raise anything
            left = batch[judged.given :]
            if len({id(part.job) for part in left}) > 1:
                for part in left:
                    await self._judge([part])
                return
            self._fail(batch[-1].job, error)
            return
        seconds = time.monotonic() - start
        if judged.verdicts:
            newest = seconds / len(judged.verdicts)
            self._seconds_a_row += _NEWEST * (newest - self._seconds_a_row) if self._seconds_a_row else newest
            self._observe(judged.verdicts, seconds)
        self._charge(batch, judged, seconds)
        at = sum(len(part.rows) for part in batch[: judged.given])
        for job, rows in batch[judged.given :]:
            verdicts = judged.verdicts[at : at + len(rows)]
            at += len(rows)
            job.add(verdicts)
            job.alone = job.alone or (judged.alone and len(verdicts) < len(rows))
            self._put_back(job, len(rows) - len(verdicts))

    def _charge(self, batch: Sequence[_Part], judged: _Judged, seconds: float) -> None:
        """Note for each job and client the time that its rows took; of rows judged together by their characters."""
        sizes = [sum(map(characters_read, part.rows)) + 1 for part in batch]
        at, now = 0, time.monotonic()
        for (job, rows), size in zip(batch, sizes, strict=True):
            own = sum(judged.seconds[at : at + len(rows)]) if judged.one_by_one else seconds * size / sum(sizes)
            at += len(rows)
            job.seconds += own
            self._shares.add(job.client, own, now)

    def _assess(self, batch: Sequence[_Part], judged: _Judged, loop: asyncio.AbstractEventLoop) -> None:
        """Note the judge's verdicts, as far as it comes in time; in its thread."""
        asked = 0
        ends = list(accumulate(len(part.rows) for part in batch))
        start = before = time.monotonic()
        end = (
            math.inf if self.judge.info.paid else start + self._options.batch_seconds
        )  # paid ones have several under way

        def rows() -> Iterator[Sample]:
            nonlocal asked
            for sample in chain.from_iterable(part.rows for part in batch):
                if asked and time.monotonic() > end:
                    return
                restart()
                asked += 1
                yield sample

        try:
            with time_limit(self._options.row_seconds) as restart:
                for verdict in self.judge.assess(rows()):
                    judged.one_by_one = judged.one_by_one and asked <= len(judged.verdicts) + 1
                    judged.verdicts.append(verdict)
                    now = time.monotonic()
                    judged.seconds.append(now - before)
                    before = now
                    # Whose rows are done need not wait for the others; which verdict is whose is sure where each came
                    # before the next row was taken.
                    if judged.one_by_one and judged.given < len(batch) - 1 and ends[judged.given] == asked:
                        part = batch[judged.given]
                        judged.given += 1
                        loop.call_soon_threadsafe(part.job.add, judged.verdicts[-len(part.rows) :])
        except OutOfTimeError:
            judged.alone = asked > len(judged.verdicts) + 1
            if not judged.alone:
                judged.verdicts.append(self._late())
                judged.seconds.append(time.monotonic() - before)
            return
        if len(judged.verdicts) != asked or not asked:
            raise ModelError(f"{self.name} gave {len(judged.verdicts)} verdicts for {asked or ends[-1]} rows.")

    def _late(self) -> Verdict:
        seconds = self._options.row_seconds
        said = f"the patterns and formulas of {self.name} took more than {seconds:g} s"
        return Verdict(None, None, said, failed=True)

    def _fail(self, job: Job, error: Exception) -> None:
        _log.error("the judge failed", exc_info=error, extra={"fields": {"judge": self.name}})
        self._remove(job)
        if not job.done.done():
            job.done.set_exception(error)
