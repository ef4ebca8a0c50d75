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
from collections import Counter
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
from bert_judge.records import JudgeInfo, Row, Sample, Signature, Verdict
from bert_judge.results.parts import Desk, VerdictPart, encoded
from bert_judge.studies.score import EncodedPart, Rows, Todo, chosen_rows, judged_records

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from bert_judge.inputs import ColumnMap

_RAISED = re.compile(
    r"^(?P<ours>bert_judge\.errors\.)?[\w.]*?(?P<name>\w+(?:Error|Exception)): (?P<said>.+)$", re.MULTILINE
)
_ACTORS = re.compile(r"(\d+)(?:-(\d+))?")
LOSSES = 3
"""How many processes a part may cost until it is given up."""

_LOST_PARTS = 10  # given up one after the other: it is not the rows
_START = -1  # what the ledger calls the start of an actor
_WINDOW = 1 << 14  # samples that `assess` sends at a time


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

    info: JudgeInfo
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
    return _Made(judge.info, type(judge).fitted is not Judge.fitted, judge.costs)


class _Ledger:
    """Counts, for all actors, how often work was begun whose end did not come: its process was lost."""

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()

    def begun(self, work: int) -> int:
        """How often this was begun before, without an end."""
        self._open[work] += 1
        return self._open[work] - 1

    def ended(self, work: int) -> None:
        """This has come to its end, so that actors can start."""
        for done in (work, _START):
            self._open.pop(done, None)


@dataclass(frozen=True, slots=True)
class _Work:
    """What all actors share: the rows (a reference), who counts losses, and where parts go (None: nowhere).

    `starts` is how many actors may have begun to start, and none of them or of their parts have come to an end.
    """

    maker: _Maker
    signature: Signature
    texts: bool
    rows: Any
    ledger: Any
    desk: Desk | None
    starts: int


class _Actor:
    """Judges the rows of a part. Its result has the part's number, what there is to say of it as JSON, and the bytes
    of its file, unless they are written already, or else the records of its rows.

    What our own code raises is said there, too: Ray would hand on its text alone, among its own.
    """

    def __init__(self, work: _Work) -> None:
        import ray

        self._work, self._ledger = work, work.ledger
        if ray.get(self._ledger.begun.remote(_START)) >= work.starts:
            raise ModelError("each process that starts a judge there is lost; see whether it has enough memory.")
        self._judge, self._rows = work.maker.make(), ray.get(work.rows)
        self._different = self._judge.info.signature.difference(work.signature)
        ray.get(self._ledger.ended.remote(_START))

    def __call__(self, batch: pa.Table) -> pa.Table:
        import pyarrow as pa
        import ray

        (number,), (asked,) = batch["part"].to_pylist(), batch["rows"].to_pylist()
        losses = ray.get(self._ledger.begun.remote(number))
        costs, content, failed, part, name = self._judge.costs, b"", "", None, ""
        with warnings.catch_warnings(record=True) as shown:
            try:
                if losses < LOSSES:
                    self._check_same()
                    part, content, name = self._judged(number, _rows_of(asked))
            except BertJudgeError as error:
                failed = pickle.dumps(error).hex()
        used = asdict(self._judge.costs.since(costs)) if self._judge.costs and costs else None
        notes = sorted({str(warning.message) for warning in shown})
        self._ledger.ended.remote(number)
        beside = {"losses": losses, "costs": used, "notes": notes, "failed": failed, "part": part, "name": name}
        return pa.table(
            {"part": [number], "beside": [json.dumps(beside)], "content": pa.array([content], pa.large_binary())}
        )

    def _judged(self, number: int, rows: Sequence[int]) -> tuple[dict[str, Any] | None, bytes, str]:
        """The facts of the part's file, its bytes, and its name once it is written; or records where none is due."""
        try:
            samples = list(chosen_rows(self._rows.part(number), rows))
        except InputError as error:
            raise InputError(f"on a machine of the cluster: {error}") from error
        self._judge.forget()
        records = list(judged_records(samples, self._judge, self._work.texts))
        if self._work.desk is None or not isinstance(rows, range):
            return None, json.dumps(records).encode(), ""
        part, content = encoded(number, records)
        written = self._work.desk.put(part, content)
        return (asdict(part), b"", written) if isinstance(written, str) else (asdict(part), written, "")

    def _check_same(self) -> None:
        if self._different:
            raise ModelError(
                f"the machines of the cluster judge differently ({self._different}); name what differs by a flag "
                "(--dtype, --runtime, --device), or use machines of one kind."
            )


class RayJudge(Judge):
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
        self.info = found.info
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
            for _, records in self._judged(_InMemory(window), {0: range(len(window))}, False, None):
                assert isinstance(records, list)
                for record in records:
                    yield Verdict.read(record)

    def judged_parts(
        self, source: Rows, todo: Todo, texts: bool, desk: Desk
    ) -> Iterator[tuple[int, EncodedPart | list[dict[str, Any]]]]:
        """The number of each part, as they come, with the whole part, or with the records of rows that were asked for.

        A part whose process is lost `LOSSES` times is given up: its rows are failed ones. Raises ModelError where
        `_LOST_PARTS` are given up with none that is judged between them, and what the judge raises.
        """
        return self._judged(source, todo, texts, desk)

    def _judged(
        self, source: Any, todo: Todo, texts: bool, desk: Desk | None
    ) -> Iterator[tuple[int, EncodedPart | list[dict[str, Any]]]]:
        import ray

        if not todo:
            return
        least, most = self._pool(len(todo))
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # Ray has set it up by now; what fails is raised
        with _in_words():
            ledger = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Ledger).remote()
            work = _Work(self._maker, self.info.signature, texts, ray.put(source), ledger, desk, most + LOSSES)
            asked = [{"part": number, "rows": json.dumps(_brief(rows))} for number, rows in todo.items()]
            judged = ray.data.from_items(asked, override_num_blocks=len(asked)).map_batches(
                _Actor,
                batch_size=None,
                batch_format="pyarrow",
                fn_constructor_args=(work,),
                compute=ray.data.ActorPoolStrategy(min_size=least, max_size=most, max_tasks_in_flight_per_actor=2),
                **self._resources,
            )
            given_up = 0
            for batch in judged.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                columns = (batch[name].to_pylist() for name in ("part", "beside", "content"))
                for number, beside, content in zip(*columns, strict=True):
                    found = json.loads(beside)
                    self._count(found)
                    given_up = given_up + 1 if found["losses"] >= LOSSES else 0
                    if given_up >= _LOST_PARTS:
                        raise ModelError(
                            f"the processes that judge are lost again and again: {LOSSES} for each of the last "
                            f"{given_up} parts; see whether they have enough memory. What was judged so far is kept."
                        )
                    if given_up:
                        yield number, _given_up(source, number, todo[number], texts)
                    elif found["part"]:
                        yield number, EncodedPart(VerdictPart(**found["part"]), found["name"] or content)
                    else:
                        yield number, json.loads(content)
                    if 0 < found["losses"] < LOSSES:
                        warnings.warn(_lost(number, found["losses"], "another judged it"), stacklevel=2)

    def _count(self, found: Mapping[str, Any]) -> None:
        """Add what a part cost, and say what its judge said. Raises what its judge raised."""
        if self._costs and found["costs"]:
            self._costs = self._costs.and_of(Costs.of(found["costs"]))
        for text in set(found["notes"]) - self._said:
            self._said.add(text)
            warnings.warn(text, stacklevel=2)
        if found["failed"]:
            raise pickle.loads(bytes.fromhex(found["failed"]))

    @property
    def _resources(self) -> dict[str, float]:
        """What an actor takes: a GPU where the cluster has some, else its share of the cores."""
        import ray

        there = ray.cluster_resources()
        if there.get("GPU"):
            return {"num_gpus": 1.0, "num_cpus": 1.0}
        cores = there.get("CPU", 1) / (self._asked[1] if self._asked else _machines())
        return {"num_cpus": max(int(cores), 0.5)}

    def _pool(self, parts: int) -> tuple[int, int]:
        """The least and the most actors; never more than there are parts."""
        import ray

        least, most = self._asked or (1, int(ray.cluster_resources().get("GPU", 0)) or _machines())
        return min(least, parts), min(most, parts)


def _given_up(source: Any, number: int, rows: Sequence[int], texts: bool) -> list[dict[str, Any]]:
    """The records of rows whose part was given up, which the next run judges again; a warning says which they are."""
    samples = list(chosen_rows(source.part(number), rows))
    ids = " to ".join(dict.fromkeys(str(samples[at].id) for at in (0, -1)))
    warnings.warn(_lost(number, LOSSES, f"its {len(rows):,} rows ({ids}) have no verdict"), stacklevel=2)
    failed = Verdict(None, failed=True, explanation=_lost(number, LOSSES, f"rows {ids}"))
    return [Row.of(sample, failed).record(texts) for sample in samples]


def _lost(number: int, losses: int, outcome: str) -> str:
    times = "once" if losses == 1 else f"{losses} times"
    return f"the process that judged part {number} was lost {times} (killed, or out of memory); {outcome}."


@dataclass(frozen=True, slots=True)
class _InMemory:
    """Samples as the one part that they are."""

    samples: Sequence[Sample]

    def part(self, number: int) -> Iterator[Sample]:
        return iter(self.samples)


def _rows_of(brief: str) -> Sequence[int]:
    """The numbers of rows that `_brief` wrote."""
    numbers = json.loads(brief)
    return range(*numbers["range"]) if "range" in numbers else list(numbers["rows"])


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
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", r"^(A worker died|Task \S+ failed)")  # we say it in a sentence
    import ray
    from ray.data import DataContext

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
