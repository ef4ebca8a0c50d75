"""The same judge on Ray Data: parts of the input are read by tasks, and judged by actors, one a device.

    judge = RayJudge(JudgeSpec.of("starter"), actors="2")
    fitted, folder = open_result(source, judge, Path("out"), {"part_rows": source.part_rows})
    for done in score_source(source, fitted, folder):
        ...

In a pipeline of your own, `JudgeActor` adds verdicts to the batches of a `ray.data.Dataset`.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import BertJudgeError, InputError, MissingExtraError, ModelError, first_line
from bert_judge.judges.base import Costs, Judge
from bert_judge.judges.naming import JudgeSpec, read_values
from bert_judge.judges.stand_in import Description, StandIn
from bert_judge.scoring import Rows, Todo, judged_rows, rows_of_part
from bert_judge.types import Sample, Signature, Verdict

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from bert_judge.sources import ColumnMap

_RAISED = re.compile(
    r"^(?P<ours>bert_judge\.errors\.)?[\w.]*?(?P<name>\w+(?:Error|Exception)): (?P<said>.+)$", re.MULTILINE
)
_ACTORS = re.compile(r"(\d+)(?:-(\d+))?")
_READING = 0.1  # of a core, for a task that reads: it waits for files most of the time
_WINDOW = 1 << 14  # samples that `assess` sends at a time
_TRIES = 3  # at a part: one that ends its process so often ends any
_NAMED = 3  # parts that an error names


class JudgeActor:
    """Adds `score`, `label` and `explanation` to batches of rows; for `Dataset.map_batches` in a pipeline of your own.

        dataset.map_batches(
            JudgeActor, fn_constructor_kwargs={"judge": "starter"}, batch_format="pandas",
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=8), num_gpus=1,
        )

    `judge` is a name, or a mapping with `judge_type` and flags, as in `JudgeSpec.of`; `columns` and the errors are
    those of `Judge.assess_table`, and so are the columns that are added, with `prefix` before their names. Judges
    whose scores depend on the whole input (BERTScore with idf) see a batch at a time here.
    """

    def __init__(
        self,
        judge: str | Mapping[str, Any] = "starter",
        columns: ColumnMap | None = None,
        *,
        prefix: str | None = None,
        numbers_as_text: bool = False,
        reference_separator: str | None = None,
    ) -> None:
        self._judge = JudgeSpec.of(judge).make()
        self._columns = columns
        self._options: dict[str, Any] = {
            "prefix": prefix,
            "numbers_as_text": numbers_as_text,
            "reference_separator": reference_separator,
        }

    def __call__(self, batch: pd.DataFrame) -> pd.DataFrame:
        """The batch with the verdicts of its rows."""
        return self._judge.assess_table(batch, self._columns, **self._options)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the judge of an actor; `rows` refers to those that it is fitted to."""

    values: Mapping[str, Any]
    store: str | None
    folder: Path
    paths: tuple[str, ...]
    rows: Any = None

    def make(self) -> Judge:
        import ray

        _work_in(self.folder)
        sys.path.extend(path for path in self.paths if path not in sys.path)  # where a user's own judge is
        judge = replace(read_values(self.values), store=self.store).make()
        return judge if self.rows is None else judge.fitted(ray.get(self.rows))


@dataclass(frozen=True, slots=True)
class _Made:
    """What an actor's judge is, for this process, which may lack its device."""

    described: Description
    refits: bool
    costs: Costs | None


def _work_in(folder: Path) -> None:
    """Let a process of Ray find what the command names: those of a running cluster are in a folder of their own."""
    with suppress(OSError):  # there is none on this machine: paths of the input say so, where they are not whole
        os.chdir(folder)


def _describe(maker: _Maker) -> _Made | bytes:
    """What the judge is, or what making it raised."""
    try:
        judge = maker.make()
    except BertJudgeError as error:
        return pickle.dumps(error)
    return _Made(Description.of(judge), type(judge).fitted is not Judge.fitted, judge.costs)


class _Actor:
    """Judges the samples of a batch. The first row of its result has what there is to say of the whole, as JSON.

    What our own code raises is said there, too: Ray would hand on its text alone, among its own.
    """

    def __init__(self, maker: _Maker, signature: Signature, texts: bool) -> None:
        self._judge, self._texts = maker.make(), texts
        self._different = Signature.of(self._judge.signature).difference(signature)

    def __call__(self, batch: pa.Table) -> pa.Table:
        import pyarrow as pa

        before, records, failed = self._judge.costs, list[str](), ""
        with warnings.catch_warnings(record=True) as said:
            try:
                self._check_same()
                self._judge.forget()
                samples = map(_unpickled, batch["sample"].to_pylist())
                records += (json.dumps(record) for record in judged_rows(samples, self._judge, self._texts))
            except Exception as error:  # a user's own judge can raise anything
                failed = _pickled(error).hex()
        costs = asdict(self._judge.costs.since(before)) if self._judge.costs and before else None
        said_once = sorted({str(each.message) for each in said})
        beside = json.dumps({"costs": costs, "said": said_once, "failed": failed})
        records += [""] * (len(batch) - len(records))
        whole = {"part": batch["part"], "row": batch["row"], "record": records}
        return pa.table({**whole, "beside": [beside, *[""] * (len(records) - 1)]})

    def _check_same(self) -> None:
        if self._different:
            raise ModelError(
                f"the machines of the cluster judge differently ({self._different}); name what differs by a flag "
                "(--dtype, --runtime, --device), or use machines of one kind."
            )


class RayJudge(StandIn):
    """A judge that runs in the actors of a Ray cluster; its verdicts and its signature are those of the judge itself.

    `actors` is how many there are, or the least and the most ("1-8"); left out, one for each GPU of the cluster, or for
    each of its machines where there is none. `ray_address` names a running cluster ("auto", "ray://host:10001"); left
    out, RAY_ADDRESS does, or one is started on this machine for as long as this process lasts. The machines of a
    cluster need this package, and the paths of the input.

    Raises MissingExtraError without Ray, InputError for actors that can't be, ModelError for a cluster that is not
    there, and what making the judge raises.
    """

    def __init__(self, spec: JudgeSpec, actors: str | None = None, ray_address: str | None = None) -> None:
        self._asked = _asked_actors(actors)
        if find_spec("ray") is None:
            raise MissingExtraError("--engine ray", "ray", "ray")
        _connect(ray_address)
        here = Path.cwd()
        self._maker = _Maker({"judge_type": spec.judge_type, **spec.settings}, spec.store, here, (str(here), *sys.path))
        self._describe()

    def _describe(self) -> None:
        import ray

        with _in_words():
            task = ray.remote(**self._resources)(_describe)
            found: _Made | bytes = ray.get(task.remote(self._maker))
        if isinstance(found, bytes):
            raise pickle.loads(found)
        super().__init__(found.described)
        self._refits, self._costs, self._said = found.refits, found.costs, set[str]()

    @property
    def costs(self) -> Costs | None:
        """The sum of what the actors have used."""
        return self._costs

    def fitted(self, samples: Any) -> RayJudge:
        """The judge for this input, where its scores depend on the whole of it: each actor reads it."""
        import ray

        if not self._refits:
            return self
        new: RayJudge = object.__new__(RayJudge)
        new._asked = self._asked
        new._maker = replace(self._maker, rows=ray.put(samples))
        new._describe()
        return new

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order, without the samples' own columns."""
        stream = iter(samples)
        while window := list(islice(stream, _WINDOW)):
            found = {row: record for _, row, record in self._judged(_InMemory(window), {0: range(len(window))}, False)}
            for row in range(len(window)):
                own = found[row]
                yield Verdict(
                    own["score"],
                    own["label"],
                    own.get("explanation"),
                    own.get("matched_reference"),
                    own.get("truncated", {}),
                    own.get("details", {}),
                    own.get("failed", False),
                    own.get("outside"),
                    own.get("left_out", {}),
                )

    def judged_parts(self, source: Rows, todo: Todo, texts: bool) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """The records of the rows, each with the number of its part and its own number in that, as they come."""
        return self._judged(source, todo, texts)

    def _judged(self, source: Any, todo: Todo, texts: bool) -> Iterator[tuple[int, int, dict[str, Any]]]:
        import ray

        if not todo:
            return
        rows, folder = ray.put(source), self._maker.folder

        def read(batch: pa.Table) -> pa.Table:
            import pyarrow as pa

            _work_in(folder)
            (part,), (wanted,) = batch["part"].to_pylist(), batch["rows"].to_pylist()
            numbers = json.loads(wanted)
            own = range(*numbers["range"]) if "range" in numbers else numbers["rows"]
            try:
                samples = [pickle.dumps(sample) for sample in rows_of_part(ray.get(rows), part, own)]
            except Exception as error:  # the judge's actor hands it on
                samples = [_pickled(error)] * len(own)
            return pa.table({"part": [part] * len(samples), "row": pa.array(own, pa.int64()), "sample": samples})

        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # Ray has set it up by now; what fails is raised
        with _in_words():
            wanted = [{"part": number, "rows": json.dumps(_brief(own))} for number, own in todo.items()]
            judged = (
                ray.data.from_items(wanted, override_num_blocks=len(wanted))
                .map_batches(read, batch_size=1, batch_format="pyarrow", num_cpus=_READING)
                .map_batches(
                    _Actor,
                    batch_size=None,
                    batch_format="pyarrow",
                    fn_constructor_args=(self._maker, self.signature, texts),
                    compute=self._actors(len(todo)),
                    max_task_retries=_TRIES - 1,
                    **self._resources,
                )
            )
            judged.context.max_errored_blocks = -1  # parts that are given up: what is raised comes back in words
            left = dict(todo)
            for batch in judged.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                self._count(batch["beside"].to_pylist())
                columns = [batch[name].to_pylist() for name in ("part", "row", "record")]
                for part in set(columns[0]):
                    left.pop(part, None)
                for part, row, record in zip(*columns, strict=True):
                    yield part, row, json.loads(record)
        if left:
            raise _given_up(source, left)

    def _count(self, beside: Sequence[str]) -> None:
        """Add what a batch cost, and say what its judge said. Raises what its judge raised."""
        for found in (json.loads(text) for text in beside if text):
            if self._costs and found["costs"]:
                self._costs = self._costs.and_of(Costs.of(found["costs"]))
            for text in set(found["said"]) - self._said:
                self._said.add(text)
                warnings.warn(text, stacklevel=2)
            if found["failed"]:
                raise pickle.loads(bytes.fromhex(found["failed"]))

    @property
    def _resources(self) -> dict[str, float]:
        """What an actor takes: a GPU where the cluster has some, else a share of the cores, of which some read."""
        import ray

        there = ray.cluster_resources()
        if there.get("GPU"):
            return {"num_gpus": 1.0, "num_cpus": 1.0}
        cores = there.get("CPU", 1) / (self._asked[1] if self._asked else _machines())
        return {"num_cpus": max(int(cores) - 1, 0.5)}

    def _actors(self, parts: int) -> Any:
        """The pool of actors; never more than there are parts."""
        import ray

        least, most = self._asked or (1, int(ray.cluster_resources().get("GPU", 0)) or _machines())
        return ray.data.ActorPoolStrategy(
            min_size=min(least, parts),
            max_size=min(most, parts),
            max_tasks_in_flight_per_actor=1,  # a part that ends an actor takes no other one with it
        )


@dataclass(frozen=True, slots=True)
class _InMemory:
    """Samples as the one part that they are."""

    samples: Sequence[Sample]

    def part(self, number: int) -> Iterator[Sample]:
        return iter(self.samples)


def _pickled(error: Exception) -> bytes:
    """An error for another process; those of other libraries as ours, with their text alone."""
    if not isinstance(error, BertJudgeError):
        cause = f"{type(error).__name__}: {first_line(error)}"
        error = ModelError(f"the cluster failed ({cause}); what was judged so far is kept.")
    return pickle.dumps(error)


def _unpickled(sample: bytes) -> Sample:
    found = pickle.loads(sample)
    if isinstance(found, Exception):
        raise found
    assert isinstance(found, Sample)
    return found


def _given_up(source: Any, parts: Todo) -> ModelError:
    """What to say of parts on which processes ended."""
    places = []
    for number, rows in islice(sorted(parts.items()), _NAMED):
        ids = [sample.id for sample in rows_of_part(source, number, rows)]
        places.append(f"part {number} ({len(ids)} rows, {ids[0]} to {ids[-1]})")
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return ModelError(
        f"the process of the judge ended {_TRIES} times on {', '.join(places)}{more}, perhaps out of memory; all other "
        "parts are kept, and the same command tries these again."
    )


def _brief(rows: Sequence[int]) -> dict[str, Any]:
    """Numbers of rows, in few characters where they follow each other."""
    return {"range": [rows.start, rows.stop]} if isinstance(rows, range) else {"rows": list(rows)}


def _asked_actors(text: str | None) -> tuple[int, int] | None:
    found = _ACTORS.fullmatch(text.strip()) if text is not None else None
    if text is not None and not (found and 0 < int(found[1]) <= int(found[2] or found[1])):
        raise InputError(f"actors is {text!r}; a number of at least 1, or the least and the most (1-8), was expected.")
    return (int(found[1]), int(found[2] or found[1])) if found else None


def _machines() -> int:
    import ray

    return max(1, [node["Alive"] for node in ray.nodes()].count(True))


def _connect(address: str | None) -> None:
    """Join a cluster, or start one on this machine. Raises ModelError where the named one is not there."""
    import ray
    from ray.data import DataContext

    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if not ray.is_initialized():
        try:
            _knock(address or os.environ.get("RAY_ADDRESS") or "")
            with _silenced():
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError) as error:
            where = address or os.environ.get("RAY_ADDRESS") or "this machine"
            raise ModelError(
                f"there is no Ray cluster at {where} ({first_line(error)}); start one with `ray start --head`, or "
                "leave --ray_address out."
            ) from error
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.actor_task_retry_on_errors = False


@contextmanager
def _silenced() -> Iterator[None]:
    """Nothing on standard error, where Ray's own processes say how loud they are."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _knock(address: str) -> None:
    """Raise OSError where nobody answers at an address with a port; Ray itself tries for minutes."""
    if found := re.search(r"([^/:@]+):(\d+)/?$", address):
        socket.create_connection((found[1], int(found[2])), timeout=10).close()


@contextmanager
def _in_words() -> Iterator[None]:
    """What failed on the cluster as our own error, without the traces of Ray."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        raised = [found for found in _RAISED.finditer(str(error)) if found["name"] != "UserCodeException"]
        if raised and raised[-1]["ours"]:
            raise InputError(f"on a machine of the cluster: {raised[-1]['said']}") from error
        cause = raised[-1][0] if raised else str(error).strip().splitlines()[-1].strip()
        raise ModelError(f"the cluster failed ({cause}); what was judged so far is kept.") from error
