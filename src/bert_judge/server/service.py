"""The judges that are served, and what a request may ask of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request

from bert_judge.errors import did_you_mean
from bert_judge.judges import BERTScore, Judge
from bert_judge.judges.base import characters_read
from bert_judge.judges.naming import distinct
from bert_judge.records import Sample, Verdict
from bert_judge.server.middleware import Figures
from bert_judge.server.options import ServerOptions
from bert_judge.server.queueing import JudgeQueue, LongTurn
from bert_judge.server.refusing import RefusedError, shown
from bert_judge.server.schema import MOST_REFERENCES


class Service:
    """The served judges with their queues, by name; the first one is asked where a request names none."""

    def __init__(self, judges: Mapping[str, Judge], options: ServerOptions, figures: Figures) -> None:
        self.options, self.figures = options, figures
        self.queues: dict[str, JudgeQueue] = {}
        self.draining = False
        self.started = int(time.time())
        self._judges = judges
        self._tasks: list[asyncio.Task[None]] = []
        self._long = LongTurn()
        self._loading = asyncio.Lock()

    @asynccontextmanager
    async def working(self, _: FastAPI) -> AsyncIterator[None]:
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
        queue = JudgeQueue(name, judge, self.options, partial(self.figures.count_batch, name), self._long)
        self.figures.queue_rows.labels(name).set_function(lambda: queue.waiting)
        self._tasks.append(asyncio.create_task(queue.work()))
        self.queues[name] = queue

    async def load_bertscore(self) -> None:
        """Load BERTScore of the starter's encoder, where no BERTScore is served yet."""
        async with self._loading:
            if not any(isinstance(queue.judge, BERTScore) for queue in self.queues.values()):
                self._add(distinct([*self.queues, "BERTScore"])[-1], await asyncio.to_thread(BERTScore))

    def queue(self, *names: str | None, kind: type[Judge] = Judge) -> JudgeQueue:
        """The queue of the judge that a request names, else of the first one of this kind."""
        given = [name for name in names if name is not None]
        fitting = {name: queue for name, queue in self.queues.items() if isinstance(queue.judge, kind)}
        if len(set(given)) > 1:
            raise RefusedError(422, f"judge is {shown(given[0])} and model {shown(given[1])}; give one of them.")
        name = given[0] if given else next(iter(fitting))
        if name not in fitting:
            raise RefusedError(404, f"there is no judge {shown(name)} here; {did_you_mean(name, fitting)}")
        fitting[name].check_room()
        return fitting[name]

    def sample(
        self,
        queue: JudgeQueue,
        place: str,
        candidate: str,
        references: Sequence[str] | None,
        question: str | None = None,
        name: str | None = None,
    ) -> Sample:
        """What the judge is given. Raises RefusedError where it needs a reference, and for texts that are too long."""
        if references is None and queue.judge.info.reads_references:
            needed = f"{queue.name} needs; give reference or references."
            raise RefusedError(422, f"{place}has no reference, which {needed}")
        if len(references or ()) > MOST_REFERENCES:
            counts = f"{len(references or ()):,} references; up to {MOST_REFERENCES:,} are taken."
            raise RefusedError(413, f"{place}has {counts}", "references")
        sample = Sample(candidate, tuple(references or ("",)), question, name)
        self.check_size(sample, place)
        return sample

    def check_size(self, sample: Sample, place: str) -> None:
        """Raises RefusedError for a row whose texts are too long, each or together."""
        most, together = self.options.max_text, self.options.max_row
        longest = max(map(len, (sample.candidate, sample.question or "", *sample.references)))
        if longest > most:
            said = f"{place}has a text of {longest:,} characters; up to {most:,} are taken."
            raise RefusedError(413, said, "text")
        if (count := characters_read(sample)) > together:
            said = f"{place}has {count:,} characters to read, with the candidate again for each reference"
            raise RefusedError(413, f"{said}; up to {together:,} are taken.", "row")

    def check_together(self, samples: Iterable[Sample], times: int = 1) -> None:
        """Raises RefusedError where rows that are each judged so often have too many characters together."""
        count, most = times * sum(map(characters_read, samples)), self.options.max_characters
        if count > most:
            again = f", as each row is judged up to {times} times" if times > 1 else ""
            said = f"there are {count:,} characters to read{again}; up to {most:,} are taken: send less at a time."
            raise RefusedError(413, said, "characters")

    async def judged(
        self, request: Request, queue: JudgeQueue, samples: Sequence[Sample], times: int = 1
    ) -> list[Verdict]:
        """The verdicts on these rows, which are judged so often in all; those of a client that goes away are dropped.

        Raises RefusedError for too many rows, and for too many characters in them.
        """
        if len(samples) > self.options.max_rows:
            said = f"{len(samples):,} rows were sent; up to {self.options.max_rows:,} are taken."
            raise RefusedError(413, said, "rows")
        self.check_together(samples, times)
        notes = request.scope["state"]["log"]
        notes |= {"judge": queue.name, "rows": len(samples)}
        if self.options.log_texts:
            notes["texts"] = [[each.question, list(each.references), each.candidate] for each in samples]
        return await self.waited_for(request, queue, samples)

    async def waited_for(self, request: Request, queue: JudgeQueue, samples: Sequence[Sample]) -> list[Verdict]:
        """The same for rows that the server itself made or read, which its limits on requests don't count."""
        job = queue.submit(samples, request.scope["state"]["client"])
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait((job.done, gone), return_when=asyncio.FIRST_COMPLETED)
            if not job.done.done():
                self.figures.dropped_rows.labels(queue.name).inc(job.waiting)
                raise RefusedError(499, "the client is gone.")
            return job.done.result()
        finally:
            gone.cancel()
            queue.drop(job)


async def _disconnected(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
