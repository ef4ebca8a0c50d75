"""The judges that are served, and the verdicts that a request may ask of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request

from bert_judge.errors import did_you_mean
from bert_judge.judges import Judge
from bert_judge.judges.base import characters_read
from bert_judge.records import Sample, Verdict
from bert_judge.server.middleware import ServerMetrics
from bert_judge.server.options import ServerOptions
from bert_judge.server.queueing import JudgeQueue, QueueFullError
from bert_judge.server.refusing import RefusedError, shown
from bert_judge.server.schema import RowBody

_PAUSE = 0.2  # seconds after which rows ask for room in the queue again


class Service:
    """The served judges with their queues, by name; requests that name no judge get the first one."""

    def __init__(self, judges: Mapping[str, Judge], options: ServerOptions, metrics: ServerMetrics) -> None:
        self.options, self.metrics = options, metrics
        self.queues: dict[str, JudgeQueue] = {}
        self.draining = False
        self.started = int(time.time())
        self._judges = judges
        self._tasks: list[asyncio.Task[None]] = []
        self._long_rows = asyncio.Lock()

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Let the judges work until the application ends."""
        for name, judge in self._judges.items():
            self._add(name, judge)
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            for queue in self.queues.values():
                queue.close()

    def _add(self, name: str, judge: Judge) -> None:
        queue = JudgeQueue(name, judge, self.options, partial(self.metrics.count_batch, name), self._long_rows)
        self.metrics.queue_rows.labels(name).set_function(lambda: queue.waiting)
        self._tasks.append(asyncio.create_task(queue.work()))
        self.queues[name] = queue

    def queue(self, judge: str | None, model: str | None = None) -> JudgeQueue:
        """The queue of the judge that a request names by either field, or else of the first judge.

        Raises RefusedError for an unknown judge and for two, QueueFullError if nothing more can wait.
        """
        if judge is not None and model is not None and judge != model:
            raise RefusedError(422, f"judge is {shown(judge)} and model {shown(model)}; give one of them.")
        name = judge if judge is not None else model
        if name is None:
            name = next(iter(self.queues))
        if name not in self.queues:
            raise RefusedError(404, f"there is no judge {shown(name)} here; {did_you_mean(name, self.queues)}")
        self.queues[name].check_room()
        return self.queues[name]

    def row_sample(self, queue: JudgeQueue, row: RowBody, place: str) -> Sample:
        """The sample in a request's row; errors name its `place` in the body.

        Raises RefusedError for a missing reference, for references under both names, and for texts that are too long.
        """
        if row.reference is not None and row.references is not None:
            raise RefusedError(422, f"{place} has reference and references, which mean the same; give one of them.")
        references = row.reference if row.references is None else row.references
        if references is None and queue.judge.info.reads_references:
            missing = f"has no reference, which {queue.name} needs; give reference or references."
            raise RefusedError(422, f"{place} {missing}")
        name = None if row.id is None else str(row.id)
        sample = Sample(row.candidate, tuple(references or ("",)), row.question, name)
        longest = max(map(len, (sample.candidate, sample.question or "", *sample.references)))
        if longest > self.options.max_text:
            excess = f"has a text of {longest:,} characters; up to {self.options.max_text:,} are allowed."
            raise RefusedError(413, f"{place} {excess}", "text")
        characters = characters_read(sample)
        if characters > self.options.max_row:
            excess = f"has {characters:,} characters to read, counting the candidate once for each reference"
            raise RefusedError(413, f"{place} {excess}; up to {self.options.max_row:,} are allowed.", "row")
        return sample

    async def judge(
        self, request: Request, queue: JudgeQueue, samples: Sequence[Sample], times: int = 1
    ) -> list[Verdict]:
        """The verdicts on a request's rows; if its client goes away, the rows are dropped.

        `times` says how often each row will be judged in all, for the limit on characters. Raises RefusedError for too
        many characters, QueueFullError if there is no room, and the errors of the judge.
        """
        characters, most = times * sum(map(characters_read, samples)), self.options.max_characters
        if characters > most:
            repeated = f", as each row is judged up to {times} times" if times > 1 else ""
            excess = f"there are {characters:,} characters to read{repeated}; up to {most:,} are allowed"
            raise RefusedError(413, f"{excess}: send less at a time.", "characters")
        notes = request.scope["state"]["log"]
        notes |= {"judge": queue.name, "rows": len(samples)}
        if self.options.log_texts:
            notes["texts"] = [[sample.question, list(sample.references), sample.candidate] for sample in samples]
        return await self._verdicts(request, queue, samples)

    async def judge_derived(self, request: Request, queue: JudgeQueue, samples: Sequence[Sample]) -> list[Verdict]:
        """The verdicts on rows that the server itself made or read; they wait for room and count towards no limit."""
        while True:
            try:
                return await self._verdicts(request, queue, samples)
            except QueueFullError:
                await asyncio.sleep(_PAUSE)

    async def _verdicts(self, request: Request, queue: JudgeQueue, samples: Sequence[Sample]) -> list[Verdict]:
        submission = queue.submit(samples, request.scope["state"]["client"])
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait((submission.result, gone), return_when=asyncio.FIRST_COMPLETED)
            if not submission.result.done():
                self.metrics.dropped_rows.labels(queue.name).inc(submission.waiting)
                raise RefusedError(499, "the client is gone.")
            return submission.result.result()
        finally:
            gone.cancel()
            queue.drop(submission)


async def _disconnected(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
