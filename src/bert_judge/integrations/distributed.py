"""The same judge on Ray Data: each actor, one per device, reads parts of the input and judges them.

    judge = RayJudge(JudgeSpec.of("starter"), actors="2")
    fitted, folder = open_result(source, judge, Path("out"), {"part_rows": source.part_rows})
    for done in score_source(source, fitted, folder):
        ...

In a pipeline of your own, `JudgeActor` adds verdicts to the batches of a `ray.data.Dataset`.
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import InputError, MissingExtraError, ModelError, first_line
from bert_judge.integrations.ray_actors import (
    LOSSES,
    ActorFailure,
    JudgeMaker,
    Ledger,
    PartActor,
    PartResult,
    SharedWork,
)
from bert_judge.judges.base import Costs, Judge
from bert_judge.judges.naming import JudgeSpec
from bert_judge.records import JudgeInfo, Row, Sample, Verdict
from bert_judge.studies.score import Rows, Todo, chosen_rows

if TYPE_CHECKING:
    import pandas as pd

    from bert_judge.inputs import ColumnMap

__all__ = ["LOSSES", "JudgeActor", "RayJudge"]

_RAISED = re.compile(
    r"^(?P<ours>bert_judge\.errors\.)?[\w.]*?(?P<name>\w+(?:Error|Exception)): (?P<message>.+)$", re.MULTILINE
)
_ACTORS = re.compile(r"(\d+)(?:-(\d+))?")
_LOST_PARTS = 10  # parts in a row: then it is not the rows that end the processes
_WINDOW = 1 << 14  # samples that `assess` sends at a time


class JudgeActor:
    """Adds `score`, `label` and `explanation` to batches of rows; for `Dataset.map_batches` in a pipeline of your own.

        dataset.map_batches(
            JudgeActor, fn_constructor_kwargs={"judge": "starter"}, batch_format="pandas",
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=8), num_gpus=1,
        )

    `judge` is a name, or a mapping with `judge_type` and flags, as in `JudgeSpec.of`. `columns`, the options (`prefix`
    of the new columns, `numbers_as_text`, `reference_separator`) and the errors are those of `Judge.assess_table`.
    Judges whose scores depend on the whole input (BERTScore with idf) see one batch at a time here.
    """

    def __init__(
        self, judge: str | Mapping[str, Any] = "starter", columns: ColumnMap | None = None, **options: Any
    ) -> None:
        self._judge = JudgeSpec.of(judge).make()
        self._columns, self._options = columns, options

    def __call__(self, batch: pd.DataFrame) -> pd.DataFrame:
        """The batch with the verdicts of its rows."""
        return self._judge.assess_table(batch, self._columns, **self._options)


class RayJudge(Judge):
    """A judge that runs in the actors of a Ray cluster, with the verdicts and the signature of the judge itself.

    `actors` is their number, or the least and the most ("1-8"); by default one for each GPU of the cluster, or for each
    machine where there is none. `ray_address` names a running cluster ("auto", "ray://host:10001"); by default it is
    RAY_ADDRESS, or a cluster is started on this machine that ends with this process. The machines of a cluster need
    this package, and the paths of the input.

    Raises MissingExtraError without Ray, InputError for an impossible number of actors, ModelError for a cluster that
    can't be reached, and what making the judge raises.
    """

    def __init__(self, spec: JudgeSpec, actors: str | None = None, ray_address: str | None = None) -> None:
        self._actors = _actor_range(actors)
        if find_spec("ray") is None:
            raise MissingExtraError("RayJudge", "ray", "ray")
        _connect(ray_address)
        here = Path.cwd()
        values = {"judge_type": spec.judge_type, **spec.settings}
        self._describe(JudgeMaker(values, spec.store, here, (str(here), *sys.path)))

    def _describe(self, maker: JudgeMaker) -> None:
        """Make the judge once on the cluster, as this process may lack its device."""
        import ray

        with _own_errors():
            task = ray.remote(**self._resources)(JudgeMaker.described)
            description: tuple[JudgeInfo, bool, Costs | None] | ActorFailure = ray.get(task.remote(maker))
        if isinstance(description, ActorFailure):
            raise description.kind(description.message)
        self.info, self._refits, self._costs = description
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
        new._actors = self._actors
        new._describe(replace(self._maker, rows=ray.put(samples)))
        return new

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; actors get no other columns of the samples."""
        stream = iter(samples)
        while window := list(islice(stream, _WINDOW)):
            for _, records in self._judged(_OnePart(window), {0: range(len(window))}, False):
                yield from map(Verdict.read, records)

    def judged_parts(self, source: Rows, todo: Todo, texts: bool) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        """The number of each part, as they are finished, with the records of the rows asked for.

        A part that loses its process `LOSSES` times is given up: its rows are failed ones. Raises ModelError if
        `_LOST_PARTS` in a row are given up, and what the judge raises.
        """
        return self._judged(source, todo, texts)

    def _judged(self, source: Any, todo: Todo, texts: bool) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        given_up = 0
        for result in self._results(source, todo, texts) if todo else ():
            self._note(result)
            number, losses = result.number, result.losses
            if result.records is None:
                given_up += 1
                if given_up >= _LOST_PARTS:
                    raise ModelError(
                        f"the processes that judge are lost again and again: {LOSSES} for each of the last "
                        f"{given_up} parts; see whether they have enough memory. What was judged so far is kept."
                    )
                yield number, _given_up(source, number, todo[number], texts)
                continue
            given_up = 0
            yield number, result.records
            if losses:
                warnings.warn(_lost(number, losses, "another judged it"), stacklevel=2)

    def _results(self, source: Any, todo: Todo, texts: bool) -> Iterator[PartResult]:
        """The result of each part, as they are finished."""
        import ray

        least, most = self._actors or (1, int(ray.cluster_resources().get("GPU", 0)) or _machines())
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # Ray has set it up by now; failures are raised
        with _own_errors():
            ledger = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Ledger).remote()
            most = min(most, len(todo))
            work = SharedWork(self._maker, self.info.signature, texts, ray.put(source), ledger, most + LOSSES)
            parts = [{"part": number, "rows": pickle.dumps(rows)} for number, rows in todo.items()]
            judged = ray.data.from_items(parts, override_num_blocks=len(parts)).map_batches(
                PartActor,
                batch_size=None,
                batch_format="pyarrow",
                fn_constructor_args=(work,),
                compute=ray.data.ActorPoolStrategy(
                    min_size=min(least, most), max_size=most, max_tasks_in_flight_per_actor=2
                ),
                **self._resources,
            )
            for batch in judged.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                yield from map(pickle.loads, batch["result"].to_pylist())

    def _note(self, result: PartResult) -> None:
        """Add a part's costs, and repeat the warnings of its judge, each once. Raises what the judge raised."""
        if self._costs and result.costs:
            self._costs = self._costs.and_of(result.costs)
        for text in set(result.notes) - self._shown:
            self._shown.add(text)
            warnings.warn(text, stacklevel=2)
        if result.failure:
            raise result.failure.kind(result.failure.message)

    @property
    def _resources(self) -> dict[str, float]:
        """What an actor needs: a GPU if the cluster has any, else its share of the cores."""
        import ray

        resources = ray.cluster_resources()
        if resources.get("GPU"):
            return {"num_gpus": 1.0, "num_cpus": 1.0}
        cores = resources.get("CPU", 1) / (self._actors[1] if self._actors else _machines())
        return {"num_cpus": max(int(cores), 0.5)}


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


def _actor_range(text: str | None) -> tuple[int, int] | None:
    """The least and the most actors; None where the cluster decides."""
    if text is None:
        return None
    match = _ACTORS.fullmatch(text.strip())
    if not match or not 0 < int(match[1]) <= int(match[2] or match[1]):
        raise InputError(f"actors is {text!r}; a number of at least 1, or the least and the most (1-8), was expected.")
    return int(match[1]), int(match[2] or match[1])


def _machines() -> int:
    import ray

    return max(1, [node["Alive"] for node in ray.nodes()].count(True))


def _connect(address: str | None) -> None:
    """Join a cluster, or start one on this machine. Raises ModelError where the named one can't be reached."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # Our own warnings say this in one sentence.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", r"^(A worker died|Task \S+ failed)")
    import ray
    from ray.data import DataContext

    if not ray.is_initialized():
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
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.actor_task_retry_on_errors = False


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


@contextmanager
def _own_errors() -> Iterator[None]:
    """Raise a failure of the cluster as our own error, without the traces of Ray."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        raised = [match for match in _RAISED.finditer(str(error)) if match["name"] != "UserCodeException"]
        if raised and raised[-1]["ours"]:
            raise InputError(f"on a machine of the cluster: {raised[-1]['message']}") from error
        cause = raised[-1][0] if raised else str(error).strip().splitlines()[-1].strip()
        raise ModelError(f"the cluster failed ({cause}); what was judged so far is kept.") from error
