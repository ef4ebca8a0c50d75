"""What `distributed` runs in the processes of a Ray cluster: actors that each judge whole parts."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import BertJudgeError, InputError, ModelError, OutputError
from bert_judge.judges.base import Costs, Judge
from bert_judge.judges.naming import read_values
from bert_judge.records import JudgeInfo, Signature
from bert_judge.studies.score import chosen_rows, judged_records

if TYPE_CHECKING:
    import pyarrow as pa

LOSSES = 3
"""How many lost processes a part may cost before it is given up."""

_START = -1  # stands for the start of an actor in the ledger
_ERRORS = (InputError, ModelError, OutputError)


@dataclass(frozen=True, slots=True)
class ActorFailure:
    """One of our own errors on its way to the process that raises it: Ray would mix its text with a traceback."""

    kind: type[BertJudgeError]
    message: str

    @classmethod
    def of(cls, error: BertJudgeError) -> ActorFailure:
        """The error as the base class that can be made of a message alone."""
        return cls(next((kind for kind in _ERRORS if isinstance(error, kind)), ModelError), str(error))


@dataclass(frozen=True, slots=True)
class JudgeMaker:
    """Makes the judge of an actor; `rows` is a Ray reference to the rows that it is fitted to."""

    values: Mapping[str, Any]
    store: str | None
    folder: Path
    paths: tuple[str, ...]
    rows: Any = None

    def make(self) -> Judge:
        """The judge, in a process that finds what the user's process finds. Raises what making it raises."""
        import ray

        with suppress(OSError):  # relative paths need this folder, which other machines may lack
            os.chdir(self.folder)
        sys.path.extend(path for path in self.paths if path not in sys.path)  # for a user's own judge
        judge = replace(read_values(self.values), store=self.store).make()
        return judge if self.rows is None else judge.fitted(ray.get(self.rows))

    def described(self) -> tuple[JudgeInfo, bool, Costs | None] | ActorFailure:
        """The judge's description, whether it is fitted to its input, and its costs; or why it can't be made."""
        try:
            judge = self.make()
        except BertJudgeError as error:
            return ActorFailure.of(error)
        return judge.info, type(judge).fitted is not Judge.fitted, judge.costs


class Ledger:
    """Counts, for all actors, work that was begun and not ended: its process was lost."""

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()

    def begun(self, work: int) -> int:
        """Begin this work; returns how often it was begun before without an end."""
        self._open[work] += 1
        return self._open[work] - 1

    def ended(self, work: int) -> None:
        """End this work; it also proves that actors can start."""
        for done in (work, _START):
            self._open.pop(done, None)


@dataclass(frozen=True, slots=True)
class SharedWork:
    """What all actors share; `rows` are a Ray reference.

    `starts` is how many starts of actors may fail in a row.
    """

    maker: JudgeMaker
    signature: Signature
    texts: bool
    rows: Any
    ledger: Any
    starts: int


@dataclass(frozen=True, slots=True)
class PartResult:
    """What an actor returns for a part.

    `records` are those of its rows; None after too many `losses` and after a `failure`. `notes` are the warnings
    meanwhile, and `costs` what the part cost.
    """

    number: int
    losses: int
    records: list[dict[str, Any]] | None
    costs: Costs | None
    notes: Sequence[str]
    failure: ActorFailure | None


class PartActor:
    """Judges the rows of one part per batch: columns `part` and `rows` in, column `result` out, both pickled."""

    def __init__(self, work: SharedWork) -> None:
        import ray

        self._work, self._ledger = work, work.ledger
        if ray.get(self._ledger.begun.remote(_START)) >= work.starts:
            raise ModelError("each process that starts a judge there is lost; see whether it has enough memory.")
        self._judge, self._rows = work.maker.make(), ray.get(work.rows)
        self._difference = self._judge.info.signature.difference(work.signature)
        ray.get(self._ledger.ended.remote(_START))

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The pickled `PartResult` of a part."""
        import pyarrow as pa
        import ray

        (number,), (rows,) = batch["part"].to_pylist(), batch["rows"].to_pylist()
        losses = ray.get(self._ledger.begun.remote(number))
        before, records, failure = self._judge.costs, None, None
        with warnings.catch_warnings(record=True) as shown:
            try:
                if losses < LOSSES:
                    records = self._judged(number, pickle.loads(rows))
            except BertJudgeError as error:
                failure = ActorFailure.of(error)
        costs = self._judge.costs.since(before) if self._judge.costs and before else None
        notes = sorted({str(warning.message) for warning in shown})
        self._ledger.ended.remote(number)
        result = pickle.dumps(PartResult(number, losses, records, costs, notes, failure))
        return pa.table({"result": pa.array([result], pa.large_binary())})

    def _judged(self, number: int, rows: Sequence[int]) -> list[dict[str, Any]]:
        if self._difference:
            raise ModelError(
                f"the machines of the cluster judge differently ({self._difference}); set what differs (dtype, "
                "runtime, device), or use machines of one kind."
            )
        try:
            samples = list(chosen_rows(self._rows.part(number), rows))
        except InputError as error:
            raise InputError(f"on a machine of the cluster: {error}") from error
        return list(judged_records(samples, self._judge, self._work.texts))
