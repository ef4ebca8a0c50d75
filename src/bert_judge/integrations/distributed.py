"""The same judge on a Ray cluster: each actor, one per device, reads parts of the input and judges them.

judge = RayJudge(JudgeSpec.of("starter"), actors=2)
fitted, folder = open_result(source, judge, Path("out"), {"part_rows": source.part_rows})
for done in score_source(source, fitted, folder):
    ...
"""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from bert_judge.errors import BertJudgeError, InputError, MissingExtraError, ModelError, OutputError, first_line
from bert_judge.judges.base import Costs, Judge
from bert_judge.judges.naming import JudgeSpec, read_values
from bert_judge.records import JudgeInfo, Row, Sample, Signature, Verdict
from bert_judge.studies.score import Rows, Todo, chosen_rows, judged_records

LOSSES = 3
"""How many lost processes a part may cost before it is given up."""

Records = list[dict[str, Any]]
"""The records of the rows of a part that are asked for."""

_LOST_PARTS = 10  # given up in a row: then it is not the rows that end the processes
_WINDOW = 1 << 14  # samples that `assess` sends at a time


class RayJudge(Judge):
    """A judge that runs in the actors of a Ray cluster, with the verdicts and the signature of the judge itself.

    `actors` is their number, by default one for each GPU of the cluster, or for each machine where there is none; where
    the cluster lacks room for all of them, those that have room work. `ray_address` names a running cluster ("auto",
    "ray://host:10001"); by default it is RAY_ADDRESS, or a cluster is started on this machine that ends with this
    process. The machines of a cluster need this package, and the paths of the input.

    Raises MissingExtraError without Ray, InputError for an impossible number of actors, ModelError for a cluster that
    can't be reached, and what making the judge raises.
    """

    def __init__(self, spec: JudgeSpec, actors: int | None = None, ray_address: str | None = None) -> None:
        if actors is not None and actors < 1:
            raise InputError(f"actors is {actors}; a number of at least 1 was expected.")
        if find_spec("ray") is None:
            raise MissingExtraError("RayJudge", "ray", "ray")
        _connect(ray_address)
        self._resources, self._actors = _share_of_cluster(actors)
        here = Path.cwd()
        values = {"judge_type": spec.judge_type, **spec.settings}
        self._describe(_JudgeMaker(values, here, (str(here), *sys.path)))

    def _describe(self, maker: _JudgeMaker) -> None:
        """Make the judge once on the cluster, as this process may lack its device."""
        import ray

        with _own_errors():
            task = ray.remote(max_retries=0, **self._resources)(_JudgeMaker.described)
            self.info, self._refits, costs = ray.get(task.remote(maker))
        self._costs: Costs | None = costs
        self._maker, self._shown = maker, set[str]()

    @property
    def costs(self) -> Costs | None:
        """The sum over all actors."""
        return self._costs

    def fitted(self, samples: Any) -> RayJudge:
        """The judge for this input, if its scores depend on the whole of it: each actor reads it."""
        import ray

        if not self._refits:
            return self
        new: RayJudge = object.__new__(RayJudge)
        new._resources, new._actors = self._resources, self._actors
        new._describe(replace(self._maker, rows=ray.put(samples)))
        return new

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; actors get no other columns of the samples."""
        stream = iter(samples)
        while window := list(islice(stream, _WINDOW)):
            for _, records in self.judged_parts(_OnePart(window), {0: range(len(window))}, False):
                yield from map(Verdict.read, records)

    def judged_parts(self, source: Rows | _OnePart, todo: Todo, texts: bool) -> Iterator[tuple[int, Records]]:
        """The number of each part, as they are finished, with the records of the rows asked for.

        A part that loses its process `LOSSES` times is given up: its rows are failed ones. Raises ModelError if
        `_LOST_PARTS` in a row are given up, and what the judge raises.
        """
        given_up = 0
        for number, losses, result in self._results(source, todo, texts) if todo else ():
            if result is None:
                given_up += 1
                if given_up >= _LOST_PARTS:
                    raise ModelError(
                        f"the processes that judge are lost again and again: {LOSSES} for each of the last "
                        f"{given_up} parts; see whether they have enough memory. What was judged so far is kept."
                    )
                yield number, _given_up(source, number, todo[number], texts)
                continue
            given_up = 0
            yield number, self._noted(result)
            if losses:
                warnings.warn(_lost(number, losses, "another judged it"), stacklevel=2)

    def _results(self, source: Any, todo: Todo, texts: bool) -> Iterator[tuple[int, int, _PartResult | None]]:
        """Each part's number, how many processes it lost, and its result, None if these are too many."""
        import ray

        waiting, losses = deque(todo), Counter[int]()
        work = (self._maker, self.info.signature, texts, ray.put(source))
        pool = _ActorPool(ray.remote(**self._resources)(_PartActor), work, min(self._actors, len(todo)))
        finished = 0
        try:
            while finished < len(todo):
                actor, number, result = pool.next_outcome()
                if actor is not None and waiting:
                    part = waiting.popleft()
                    pool.give(actor, part, todo[part])
                if number is None:
                    continue
                if result is None:
                    losses[number] += 1
                    if losses[number] < LOSSES:
                        waiting.appendleft(number)
                        continue
                finished += 1
                yield number, losses[number], result
        finally:
            pool.close()

    def _noted(self, result: _PartResult) -> Records:
        """What was judged. Adds its costs, repeats each new warning of the judge, and raises what it raised."""
        if self._costs and result.costs:
            self._costs = self._costs.and_of(result.costs)
        for text in set(result.notes) - self._shown:
            self._shown.add(text)
            warnings.warn(text, stacklevel=2)
        if isinstance(result.judged, BertJudgeError):
            raise result.judged
        return result.judged


class _ActorPool:
    """Actors at work on parts; one whose process is lost is replaced."""

    def __init__(self, actor_class: Any, work: tuple[Any, ...], count: int) -> None:
        self._actor_class, self._work, self._count = actor_class, work, count
        self._tasks: dict[Any, tuple[Any, int | None]] = {}  # their actors and parts; None: the actor starts
        self._failed_starts = 0  # in a row
        for _ in range(count):
            self._start()

    def _start(self) -> None:
        actor = self._actor_class.remote(*self._work)
        self._tasks[actor.start.remote()] = actor, None

    def give(self, actor: Any, number: int, rows: Sequence[int]) -> None:
        """Let an actor judge these rows of a part."""
        self._tasks[actor.judge.remote(number, rows)] = actor, number

    def next_outcome(self) -> tuple[Any, int | None, _PartResult | None]:
        """Wait for an actor; returns it, its part (None if it has started), and the result; no actor if it was lost.

        Raises what starting a judge raised, and ModelError if again and again an actor is lost as it starts.
        """
        import ray

        (task,), _ = ray.wait(list(self._tasks))
        actor, number = self._tasks.pop(task)
        try:
            with _own_errors():
                result: _PartResult | None = ray.get(task)
        except _LostProcessError as error:
            self._failed_starts += number is None
            if self._failed_starts >= self._count + LOSSES:
                message = "each process that starts a judge there is lost; see whether it has enough memory."
                raise ModelError(message) from error
            self._start()
            return None, number, None
        self._failed_starts = 0
        return actor, number, result

    def close(self) -> None:
        """End all actors at work."""
        import ray

        for actor, _ in self._tasks.values():
            ray.kill(actor)


# what runs in the processes of the cluster


@dataclass(frozen=True, slots=True)
class _JudgeMaker:
    """Makes the judge of an actor; `rows` is a Ray reference to the rows that it is fitted to."""

    values: Mapping[str, Any]
    folder: Path
    paths: tuple[str, ...]
    rows: Any = None

    def make(self) -> Judge:
        """The judge, in a process that finds what the user's process finds. Raises what making it raises."""
        import ray

        with suppress(OSError):  # relative paths need this folder, which other machines may lack
            os.chdir(self.folder)
        sys.path.extend(path for path in self.paths if path not in sys.path)  # for a user's own judge
        try:
            judge = read_values(self.values).make()
            return judge if self.rows is None else judge.fitted(ray.get(self.rows))
        except BertJudgeError as error:
            raise _sendable(error) from None

    def described(self) -> tuple[JudgeInfo, bool, Costs | None]:
        """The judge's description, whether it is fitted to its input, and its costs. Raises what making it raises."""
        judge = self.make()
        return judge.info, type(judge).fitted is not Judge.fitted, judge.costs


@dataclass(frozen=True, slots=True)
class _PartResult:
    """A judged part, or the error that it led to; the warnings meanwhile, and the costs."""

    judged: Records | BertJudgeError
    notes: Sequence[str]
    costs: Costs | None


class _PartActor:
    """Judges parts of `source`."""

    def __init__(self, maker: _JudgeMaker, signature: Signature, texts: bool, source: Any) -> None:
        self._maker, self._signature, self._texts, self._source = maker, signature, texts, source

    def start(self) -> None:
        """Make the judge. Raises what making it raises, and ModelError if it judges differently from the others."""
        self._judge = self._maker.make()
        if difference := self._judge.info.signature.difference(self._signature):
            raise ModelError(
                f"the machines of the cluster judge differently ({difference}); set what differs (dtype, runtime, "
                "device), or use machines of one kind."
            )

    def judge(self, number: int, rows: Sequence[int]) -> _PartResult:
        """Judge these rows of a part."""
        before = self._judge.costs
        with warnings.catch_warnings(record=True) as shown:
            try:
                judged: Records | BertJudgeError = self._judged(number, rows)
            except BertJudgeError as error:
                judged = _sendable(error)
        costs = self._judge.costs.since(before) if self._judge.costs and before else None
        return _PartResult(judged, sorted({str(warning.message) for warning in shown}), costs)

    def _judged(self, number: int, rows: Sequence[int]) -> Records:
        try:
            samples = list(chosen_rows(self._source.part(number), rows))
        except InputError as error:
            raise InputError(f"on a machine of the cluster: {error}") from error
        return list(judged_records(samples, self._judge, self._texts))


def _sendable(error: BertJudgeError) -> BertJudgeError:
    """The error as the base class that is made of a message alone, and can be pickled."""
    kind = next((kind for kind in (InputError, ModelError, OutputError) if isinstance(error, kind)), ModelError)
    return kind(str(error))


# parts that were lost


def _given_up(source: Any, number: int, rows: Sequence[int], texts: bool) -> list[dict[str, Any]]:
    """Failed records, which the next run judges again, for the rows of a part that was given up; warns of them."""
    samples = list(chosen_rows(source.part(number), rows))
    ids = " to ".join(dict.fromkeys(str(samples[at].id) for at in (0, -1)))
    warnings.warn(_lost(number, LOSSES, f"its {len(rows):,} rows ({ids}) have no verdict"), stacklevel=2)
    failed = Verdict(None, failed=True, explanation=_lost(number, LOSSES, f"rows {ids}"))
    return [Row.of(sample, failed).record(texts) for sample in samples]


def _lost(number: int, losses: int, outcome: str) -> str:
    times = "once" if losses == 1 else f"{losses} times"
    return f"the process that judged part {number} was lost {times} (killed, or out of memory); {outcome}."


@dataclass(frozen=True, slots=True)
class _OnePart:
    """Samples in memory as the only part of an input."""

    samples: Sequence[Sample]

    def part(self, number: int) -> Iterator[Sample]:
        return iter(self.samples)


# the cluster


def _share_of_cluster(actors: int | None) -> tuple[dict[str, float], int]:
    """What an actor needs, a GPU if the cluster has any, else its share of the cores; and how many actors there are."""
    import ray

    resources = ray.cluster_resources()
    if gpus := int(resources.get("GPU", 0)):
        return {"num_gpus": 1.0, "num_cpus": 1.0}, actors or gpus
    actors = actors or max(1, [node["Alive"] for node in ray.nodes()].count(True))
    return {"num_cpus": max(int(resources.get("CPU", 1) / actors), 0.5)}, actors


def _connect(address: str | None) -> None:
    """Join a cluster, or start one on this machine. Raises ModelError where the named one can't be reached."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # Our own warnings say this in one sentence.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", r"^(A worker died|Task \S+ failed)")
    import ray

    if ray.is_initialized():
        return
    named = address or os.environ.get("RAY_ADDRESS") or ""
    try:
        if port := re.search(r"([^/:@]+):(\d+)/?$", named):  # Ray itself would try for minutes
            socket.create_connection((port[1], int(port[2])), timeout=10).close()
        with _silenced():
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"there is no Ray cluster at {named or 'this machine'} ({first_line(error)}); start one with "
            "`ray start --head`, or give no ray_address."
        ) from error


@contextmanager
def _silenced() -> Iterator[None]:
    """Discard standard error, also that of Ray's own processes, which print their settings there."""
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


class _LostProcessError(ModelError):
    """A process of the cluster ended, or its machine is gone."""


@contextmanager
def _own_errors() -> Iterator[None]:
    """Raise a failure of the cluster as our own error, without the traces of Ray."""
    import ray.exceptions as failures

    lost = (
        *(failures.RayActorError, failures.WorkerCrashedError, failures.NodeDiedError),
        *(failures.OutOfMemoryError, failures.ObjectLostError),
    )
    try:
        yield
    except failures.RayError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, BertJudgeError):
            raise cause from error
        reason = f"{type(cause).__name__}: {cause}" if cause else str(error).strip().splitlines()[-1].strip()
        message = f"the cluster failed ({reason}); what was judged so far is kept."
        raise (_LostProcessError if isinstance(error, lost) else ModelError)(message) from error
