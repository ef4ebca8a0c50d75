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
from itertools import accumulate, islice
from typing import NamedTuple

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.judges.base import characters_read
from bert_judge.metrics.timing import OutOfTimeError, time_limit
from bert_judge.records import Sample, Verdict
from bert_judge.server.options import ServerOptions
from bert_judge.server.refusing import RefusedError

_log = logging.getLogger(__name__)

_LONGEST_RETRY_AFTER = 60  # seconds
_NEWEST = 0.2  # weight of the newest batch in the average speed
_FEWEST = 8  # rows that a batch may always have, however slow the judge is
_PAUSE = 0.01  # seconds between two tries to judge long rows
_LONG = 20_000  # characters from which a row is long: it takes many times as long as a usual one
_LONG_SECONDS = 1.0  # seconds that a long row counts as before it is judged
_FORGIVEN = 0.1  # seconds of work that a second of waiting makes up for, so that everybody's turn comes
_HALF_LIFE = 20.0  # seconds after which half of a client's past work is forgotten
_MOST_CLIENTS = 4096


class QueueFullError(RefusedError):
    """There is no room for so many rows now; Retry-After says when there should be."""

    def __init__(self, waiting: int, seconds: int) -> None:
        message = f"{waiting} rows are waiting already; try again in {seconds} s."
        super().__init__(429, message, "queue", {"Retry-After": str(seconds)})


class Submission:
    """The rows of one request. `result` resolves to their verdicts, in order, or to the judge's exception."""

    def __init__(self, samples: Sequence[Sample], client: str) -> None:
        self.samples, self.client = samples, client
        self.result: asyncio.Future[list[Verdict]] = asyncio.get_running_loop().create_future()
        self.begun = 0  # rows handed to the judge
        self.submitted = time.monotonic()
        self.seconds = 0.0  # of the judge, for its rows
        self.one_by_one = False  # whether each of its rows gets a batch of its own
        self._verdicts: list[Verdict] = []

    @property
    def waiting(self) -> int:
        """How many rows were not handed to the judge yet."""
        return len(self.samples) - self.begun

    @property
    def starts_long(self) -> bool:
        """Whether its next row is a long one."""
        return _is_long(self.samples[self.begun])

    def add(self, verdicts: Sequence[Verdict]) -> None:
        """Add the next verdicts."""
        self._verdicts += verdicts
        if len(self._verdicts) == len(self.samples) and not self.result.done():
            self.result.set_result(self._verdicts)


class _Portion(NamedTuple):
    """The rows of a submission in a batch."""

    submission: Submission
    rows: Sequence[Sample]


class _Usage:
    """Recent seconds of the judge by client; half of them are forgotten every 20 seconds."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}  # seconds, and when they were noted

    def of(self, client: str, now: float) -> float:
        """The seconds that a client used recently; `now` is of `time.monotonic`."""
        seconds, noted = self._used.get(client, (0.0, now))
        return float(seconds * 0.5 ** ((now - noted) / _HALF_LIFE))

    def add(self, client: str, seconds: float, now: float) -> None:
        """Note seconds that a client used; forgets the clients that used least when there are many."""
        self._used[client] = self.of(client, now) + seconds, now
        if len(self._used) > _MOST_CLIENTS:
            most = sorted(self._used, key=lambda name: -self.of(name, now))
            self._used = {name: self._used[name] for name in most[: _MOST_CLIENTS // 2]}


class _BatchRun:
    """A batch in the judge's thread: verdicts on its first rows; those without one wait again."""

    def __init__(self, batch: Sequence[_Portion], name: str, judge: Judge, options: ServerOptions) -> None:
        self._batch, self._name, self._judge, self._options = batch, name, judge, options
        self._loop = asyncio.get_running_loop()
        self.verdicts: list[Verdict] = []
        self.seconds: list[float] = []  # that each verdict took
        self.sequential = True  # whether each verdict came before the judge took the next row
        self.delivered = 0  # portions that got all their verdicts during the run
        self.is_stuck = False  # whether one of several rows in work ran out of time; it is unknown which
        self._asked = 0
        self._ends = list(accumulate(len(portion.rows) for portion in batch))
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
            rows = self._asked or self._ends[-1]
            raise ModelError(f"{self._name} gave {len(self.verdicts)} verdicts for {rows} rows.")

    def _rows(self, restart: Callable[[], None]) -> Iterator[Sample]:
        """The rows that the judge takes in time, each with its full time limit."""
        # A paid judge has many rows under way at a time: it gets the whole batch.
        end = math.inf if self._judge.info.paid else self._last + self._options.batch_seconds
        for portion in self._batch:
            for sample in portion.rows:
                if self._asked and time.monotonic() > end:
                    return
                restart()
                self._asked += 1
                yield sample

    def _add(self, verdict: Verdict) -> None:
        """Note a verdict, and deliver those of a portion that is complete."""
        now = time.monotonic()
        self.verdicts.append(verdict)
        self.seconds.append(now - self._last)
        self._last = now
        # A complete portion need not wait for the others. With a judge that is not sequential it has to: until the end
        # the number of its verdicts may turn out wrong, and then none can be assigned to a row.
        if self.sequential and self.delivered < len(self._batch) - 1 and self._ends[self.delivered] == self._asked:
            submission, rows = self._batch[self.delivered]
            self.delivered += 1
            self._loop.call_soon_threadsafe(submission.add, self.verdicts[-len(rows) :])


class JudgeQueue:
    """The rows that wait for a judge, and the one thread in which it works; used within one event loop.

    Rows that arrive while the judge works are judged together afterwards. A batch has up to `batch_rows` rows and
    `batch_characters` characters, with a share for each request, starting with clients that used the judge least
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
        self._submissions: deque[Submission] = deque()
        self._first_arrival = 0.0  # of the rows that wait
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, f"bert-judge-{name}")
        self._run: Future[None] | None = None
        self._seconds_a_row = 0.0
        self._usage = _Usage()
        self.waiting = 0

    @property
    def working(self) -> bool:
        """Whether the judge is at work, even after `work` was cancelled."""
        return self._run is not None and self._run.running()

    def check_room(self, rows: int = 1) -> None:
        """Raises QueueFullError if so many more rows can't wait."""
        if self.waiting + rows > self._options.queue_rows:
            seconds = math.ceil(self.waiting * self._seconds_a_row)
            raise QueueFullError(self.waiting, min(max(1, seconds), _LONGEST_RETRY_AFTER))

    def submit(self, samples: Sequence[Sample], client: str) -> Submission:
        """Queue a client's rows for the judge. Raises QueueFullError if there is no room for them."""
        self.check_room(len(samples))
        submission = Submission(samples, client)
        if not samples:
            submission.add([])
            return submission
        if not self._submissions:
            self._first_arrival = submission.submitted
        self._submissions.append(submission)
        self.waiting += len(samples)
        self._arrived.set()
        return submission

    def drop(self, submission: Submission) -> None:
        """Withdraw the rows that the judge has not begun; their client is gone."""
        submission.result.cancel()
        self._remove(submission)

    async def work(self) -> None:
        """Judge what arrives, until cancelled."""
        while True:
            if not self._submissions:
                self._arrived.clear()
                await self._arrived.wait()
            wait = self._first_arrival + self._options.batch_wait / 1000 - time.monotonic()
            if wait > 0 and self.waiting < self._options.batch_rows:
                await asyncio.sleep(wait)
            batch = self._next_batch()
            if not batch:  # only long rows wait, and another judge is reading some
                await asyncio.sleep(_PAUSE)
                continue
            async with self._long_rows if _is_long(batch[0].rows[0]) else nullcontext():
                await self._judge(batch)

    def close(self) -> None:
        """End the thread when its batch is done."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _next_batch(self) -> list[_Portion]:
        """A share of rows for each submission by priority, as far as they fit; the rest keeps waiting."""
        self._first_arrival = 0.0  # the rest has waited long enough
        now = time.monotonic()
        ready = [entry for entry in self._submissions if not (self._long_rows.locked() and entry.starts_long)]
        ready.sort(key=lambda entry: self._priority(entry, now))
        if ready and ready[0].one_by_one:
            return [self._take(ready[0], 1)]
        turns = deque(entry for entry in ready if not entry.one_by_one)
        is_long = bool(turns) and turns[0].starts_long
        rows, characters = self._rows_in_time(), self._options.batch_characters
        batch: list[_Portion] = []
        while turns and rows > 0 and characters > 0:
            submission = turns.popleft()
            share = max(1, rows // (len(turns) + 1))
            count = 0
            for sample in islice(submission.samples, submission.begun, submission.begun + share):
                if _is_long(sample) != is_long:
                    break
                characters -= characters_read(sample)
                if characters < 0 and (batch or count):  # the first row is always taken
                    break
                count += 1
            if count:
                batch.append(self._take(submission, count))
                rows -= count
                if submission.waiting:
                    turns.append(submission)
        return batch

    def _rows_in_time(self) -> int:
        """How many rows a batch may have: as many as take about `batch_seconds`, but always a few."""
        most, seconds = self._options.batch_rows, self._seconds_a_row
        return min(most, max(_FEWEST, int(self._options.batch_seconds / seconds))) if seconds else most

    def _priority(self, submission: Submission, now: float) -> float:
        """Lower comes first: seconds of the judge that the client used, less some for the time it has waited."""
        used = self._usage.of(submission.client, now) + submission.seconds
        return used + _LONG_SECONDS * submission.starts_long - _FORGIVEN * (now - submission.submitted)

    def _take(self, submission: Submission, count: int) -> _Portion:
        portion = _Portion(submission, submission.samples[submission.begun : submission.begun + count])
        submission.begun += count
        self.waiting -= count
        if not submission.waiting:
            self._submissions.remove(submission)
        return portion

    def _put_back(self, submission: Submission, count: int) -> None:
        """Queue the last rows taken from a submission again, unless its client is gone."""
        if not count or submission.result.done():
            return
        if not submission.waiting:
            self._submissions.append(submission)
        submission.begun -= count
        self.waiting += count

    def _remove(self, submission: Submission) -> None:
        if submission in self._submissions:
            self._submissions.remove(submission)
            self.waiting -= submission.waiting

    async def _judge(self, batch: Sequence[_Portion]) -> None:
        start = time.monotonic()
        run = _BatchRun(batch, self.name, self.judge, self._options)
        self._run = self._thread.submit(run.run)
        try:
            await asyncio.wrap_future(self._run)
        except Exception as error:  # a user's own judge can raise anything
            rest = batch[run.delivered :]
            if len({id(portion.submission) for portion in rest}) > 1:
                for portion in rest:
                    await self._judge([portion])
                return
            self._fail(batch[-1].submission, error)
            return
        seconds = time.monotonic() - start
        if run.verdicts:
            newest = seconds / len(run.verdicts)
            self._seconds_a_row += _NEWEST * (newest - self._seconds_a_row) if self._seconds_a_row else newest
            self._observe(run.verdicts, seconds)
        self._settle(batch, run, seconds)

    def _settle(self, batch: Sequence[_Portion], run: _BatchRun, seconds: float) -> None:
        """Charge each client for its rows, deliver the verdicts, and queue the rows without one again."""
        sizes = [sum(map(characters_read, portion.rows)) + 1 for portion in batch]
        now, start = time.monotonic(), 0
        for place, (submission, rows) in enumerate(batch):
            end = start + len(rows)
            # The time of rows that were judged together is divided by their characters.
            cost = sum(run.seconds[start:end]) if run.sequential else seconds * sizes[place] / sum(sizes)
            submission.seconds += cost
            self._usage.add(submission.client, cost, now)
            if place >= run.delivered:
                verdicts = run.verdicts[start:end]
                submission.add(verdicts)
                missing = len(rows) - len(verdicts)
                submission.one_by_one = submission.one_by_one or (run.is_stuck and missing > 0)
                self._put_back(submission, missing)
            start = end

    def _fail(self, submission: Submission, error: Exception) -> None:
        _log.error("the judge failed", exc_info=error, extra={"fields": {"judge": self.name}})
        self._remove(submission)
        if not submission.result.done():
            submission.result.set_exception(error)


def _is_long(sample: Sample) -> bool:
    return characters_read(sample) > _LONG
