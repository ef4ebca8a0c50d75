"""Rows of many requests, judged together."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.judges.base import characters_read
from bert_judge.metrics.timing import OutOfTimeError, time_limit
from bert_judge.records import Sample, Verdict
from bert_judge.server import ServerOptions
from bert_judge.server.responses import RefusedError

_log = logging.getLogger(__name__)

_LONGEST_RETRY_AFTER = 60  # seconds
_NEWEST = 0.2  # weight of the newest batch in the average speed
_FEWEST = 8  # rows that a batch may always have, however slow the judge is
_PAUSE = 0.01  # seconds between two tries to judge long rows
_LONG = 20_000  # characters from which a row is long: it takes many times as long as a usual one
_LONG_SECONDS = 1.0  # seconds that a long row counts as before it is judged
_FORGIVEN = 0.1  # seconds of work that a second of waiting makes up for, so that everybody's turn comes
_HALF_LIFE = 20.0  # seconds after which half of a client's past work is forgotten
_FORGOTTEN = 0.001  # seconds of work that are not remembered


class Submission:
    """The rows of one request. `result` resolves to their verdicts, in order, or to the judge's exception."""

    def __init__(self, samples: Sequence[Sample], client: str) -> None:
        self.samples, self.client = samples, client
        self.result: asyncio.Future[list[Verdict]] = asyncio.get_running_loop().create_future()
        self.waiting = deque(range(len(samples)))  # places of the rows that are not with the judge
        self.submitted = time.monotonic()
        self.seconds = 0.0  # of the judge, for its rows
        self.one_by_one = False  # whether each of its rows gets a batch of its own
        self._verdicts: dict[int, Verdict] = {}
        if not samples:
            self.result.set_result([])

    @property
    def next(self) -> Sample:
        """The first row that waits."""
        return self.samples[self.waiting[0]]

    def add(self, place: int, verdict: Verdict) -> None:
        """Add the verdict on the row at this place."""
        self._verdicts[place] = verdict
        if len(self._verdicts) == len(self.samples) and not self.result.done():
            self.result.set_result([self._verdicts[place] for place in range(len(self.samples))])


class _BatchRow(NamedTuple):
    submission: Submission
    place: int

    @property
    def sample(self) -> Sample:
        return self.submission.samples[self.place]


class _BatchRun:
    """A batch in the judge's thread: verdicts on its first rows; those without one wait again."""

    def __init__(self, samples: Sequence[Sample], name: str, judge: Judge, options: ServerOptions) -> None:
        self._samples, self._name, self._judge, self._options = samples, name, judge, options
        self.verdicts: list[Verdict] = []
        self.seconds: list[float] = []  # that each verdict took
        self.sequential = True  # whether each verdict came before the judge took the next row
        self.is_stuck = False  # whether one of several rows in work ran out of time; it is unknown which
        self._asked = 0
        self._last = 0.0  # when the last verdict came

    def run(self) -> None:
        """Collect verdicts until the time of the batch is over. Raises the judge's errors."""
        self._last = time.monotonic()
        try:
            with time_limit(self._options.row_seconds) as restart:
                for verdict in self._judge.assess(self._rows(restart)):
                    self.sequential = self.sequential and self._asked <= len(self.verdicts) + 1
                    self._add(verdict)
        except OutOfTimeError:
            self.is_stuck = self._asked > len(self.verdicts) + 1
            if not self.is_stuck:
                seconds = f"{self._options.row_seconds:g} s"
                message = f"the patterns and formulas of {self._name} took more than {seconds}"
                self._add(Verdict(None, None, message, failed=True))
            return
        if len(self.verdicts) != self._asked or not self._asked:
            rows = self._asked or len(self._samples)
            raise ModelError(f"{self._name} gave {len(self.verdicts)} verdicts for {rows} rows.")

    def _rows(self, restart: Callable[[], None]) -> Iterator[Sample]:
        """The rows that the judge takes in time, each with its full time limit."""
        # A paid judge has many rows under way at a time: it gets the whole batch.
        end = math.inf if self._judge.info.paid else self._last + self._options.batch_seconds
        for sample in self._samples:
            if self._asked and time.monotonic() > end:
                return
            restart()
            self._asked += 1
            yield sample

    def _add(self, verdict: Verdict) -> None:
        now = time.monotonic()
        self.verdicts.append(verdict)
        self.seconds.append(now - self._last)
        self._last = now


class JudgeQueue:
    """The rows that wait for a judge, and the one thread in which it works; used within one event loop.

    Rows that arrive while the judge works are judged together afterwards. A batch has up to `batch_rows` rows and
    `batch_characters` characters, taken in turns from the requests, starting with clients that used the judge least
    recently; so neither a large request nor many slow ones hold up a small one. It has as many rows as take about
    `batch_seconds`; a judge that takes one row after the other gets no more of them after that. Long rows are not
    judged together with short ones, and only one judge of the process at a time reads them, under the lock `long_rows`,
    so that the others have the processor for short rows. An idle judge waits `batch_wait` milliseconds for more rows.
    A row whose patterns and formulas take more than `row_seconds` fails. If the judge raises on a batch, each request
    in it is judged alone, so that only the one at fault fails. `observe` is called after each batch with its verdicts
    and the seconds that they took.
    """

    def __init__(
        self,
        name: str,
        judge: Judge,
        options: ServerOptions,
        observe: Callable[[Sequence[Verdict], float], None],
        long_rows: asyncio.Lock,
    ) -> None:
        self.name, self.judge = name, judge
        self._options, self._observe, self._long_rows = options, observe, long_rows
        self._submissions: list[Submission] = []  # that have rows waiting
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, f"bert-judge-{name}")
        self._run: Future[None] | None = None
        self._seconds_a_row = 0.0
        self._usage = dict[str, float]()  # recent seconds of the judge by client
        self._halved = time.monotonic()  # when half of them were last forgotten

    def rows_waiting(self) -> int:
        """How many rows wait."""
        return sum(len(submission.waiting) for submission in self._submissions)

    @property
    def working(self) -> bool:
        """Whether the judge is at work, even after `work` was cancelled."""
        return self._run is not None and self._run.running()

    def submit(self, samples: Sequence[Sample], client: str) -> Submission:
        """Queue a client's rows for the judge. Raises RefusedError if there is no room for them."""
        waiting = self.rows_waiting()
        if waiting + len(samples) > self._options.queue_rows:
            seconds = min(max(1, math.ceil(waiting * self._seconds_a_row)), _LONGEST_RETRY_AFTER)
            message = f"{waiting} rows are waiting already; try again in {seconds} s."
            raise RefusedError(429, message, "queue", {"Retry-After": str(seconds)})
        submission = Submission(samples, client)
        if samples:
            self._submissions.append(submission)
            self._arrived.set()
        return submission

    def drop(self, submission: Submission) -> None:
        """Withdraw the rows that the judge has not begun; their client is gone."""
        submission.result.cancel()
        submission.waiting.clear()
        self._forget_finished()

    async def work(self) -> None:
        """Judge what arrives, until cancelled."""
        while True:
            if not self._submissions:
                self._arrived.clear()
                await self._arrived.wait()
                if self.rows_waiting() < self._options.batch_rows:
                    await asyncio.sleep(self._options.batch_wait / 1000)
            batch = self._next_batch()
            if not batch:  # only long rows wait, and another judge is reading some
                await asyncio.sleep(_PAUSE)
                continue
            async with self._long_rows if _is_long(batch[0].sample) else nullcontext():
                await self._judge(batch)

    def close(self) -> None:
        """End the thread when its batch is done."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _next_batch(self) -> list[_BatchRow]:
        """Rows in turns from each submission by priority, as far as they fit; the rest keeps waiting."""
        now = time.monotonic()
        self._halve_usage(now)
        ready = [entry for entry in self._submissions if not (self._long_rows.locked() and _is_long(entry.next))]
        ready.sort(key=lambda entry: self._priority(entry, now))
        batch: list[_BatchRow] = []
        if not ready:
            return batch
        is_long, alone = _is_long(ready[0].next), ready[0].one_by_one
        rows, characters = 1 if alone else self._rows_in_time(), self._options.batch_characters
        turns = deque(entry for entry in ready if alone or not entry.one_by_one)
        while turns and len(batch) < rows:
            submission = turns.popleft()
            if _is_long(submission.next) != is_long:
                continue
            characters -= characters_read(submission.next)
            if characters < 0 and batch:  # the first row is always taken
                break
            batch.append(_BatchRow(submission, submission.waiting.popleft()))
            if submission.waiting:
                turns.append(submission)
        self._forget_finished()
        return batch

    def _rows_in_time(self) -> int:
        """How many rows a batch may have: as many as take about `batch_seconds`, but always a few."""
        most, seconds = self._options.batch_rows, self._seconds_a_row
        return min(most, max(_FEWEST, int(self._options.batch_seconds / seconds))) if seconds else most

    def _priority(self, submission: Submission, now: float) -> float:
        """Lower comes first: seconds of the judge that the client used, less some for the time it has waited."""
        used = self._usage.get(submission.client, 0.0) + submission.seconds
        return used + _LONG_SECONDS * _is_long(submission.next) - _FORGIVEN * (now - submission.submitted)

    def _halve_usage(self, now: float) -> None:
        if now - self._halved > _HALF_LIFE:
            self._halved = now
            self._usage = {client: used / 2 for client, used in self._usage.items() if used > _FORGOTTEN}

    def _forget_finished(self) -> None:
        self._submissions = [entry for entry in self._submissions if entry.waiting]

    async def _judge(self, batch: Sequence[_BatchRow]) -> None:
        start = time.monotonic()
        run = _BatchRun([row.sample for row in batch], self.name, self.judge, self._options)
        self._run = self._thread.submit(run.run)
        try:
            await asyncio.wrap_future(self._run)
        except Exception as error:  # a user's own judge can raise anything
            submissions = dict.fromkeys(row.submission for row in batch)
            if len(submissions) == 1:
                self._fail(batch[0].submission, error)
                return
            for submission in submissions:
                await self._judge([row for row in batch if row.submission is submission])
            return
        seconds = time.monotonic() - start
        if run.verdicts:
            newest = seconds / len(run.verdicts)
            self._seconds_a_row += _NEWEST * (newest - self._seconds_a_row) if self._seconds_a_row else newest
            self._observe(run.verdicts, seconds)
        self._settle(batch, run, seconds)

    def _settle(self, batch: Sequence[_BatchRow], run: _BatchRun, seconds: float) -> None:
        """Charge each client for its rows, deliver the verdicts, and queue the rows without one again."""
        costs = run.seconds
        if not run.sequential:  # the time of rows that were judged together is divided by their characters
            sizes = [characters_read(row.sample) + 1 for row in batch]
            costs = [seconds * size / sum(sizes) for size in sizes]
        for row, cost in zip(batch, costs, strict=False):
            row.submission.seconds += cost
            client = row.submission.client
            self._usage[client] = self._usage.get(client, 0.0) + cost
        for row, verdict in zip(batch, run.verdicts, strict=False):
            row.submission.add(row.place, verdict)
        for submission, place in reversed(batch[len(run.verdicts) :]):
            if submission.result.done():  # its client is gone
                continue
            submission.one_by_one = submission.one_by_one or run.is_stuck
            if not submission.waiting:
                self._submissions.append(submission)
            submission.waiting.appendleft(place)

    def _fail(self, submission: Submission, error: Exception) -> None:
        _log.error("the judge failed", exc_info=error, extra={"fields": {"judge": self.name}})
        submission.waiting.clear()
        self._forget_finished()
        if not submission.result.done():
            submission.result.set_exception(error)


def _is_long(sample: Sample) -> bool:
    return characters_read(sample) > _LONG
