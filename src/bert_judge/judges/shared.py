"""Judges that many callers share: loaded once a process, and asked by several threads at once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from bert_judge.errors import InputError
from bert_judge.judges.base import Judge
from bert_judge.judges.naming import JudgeSpec
from bert_judge.records import Sample, Verdict

JudgeName = str | Path | Mapping[str, Any]
"""What names a judge: see `bert_judge.judges.naming`."""


class SharedJudge:
    """A judge that threads may ask at the same time. Those that come while it is at work are judged together next.

    Training frameworks call a reward function once an answer, in many threads; one batch for all of them is several
    times as fast as one answer after another.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._lock = Lock()
        self._waiting: deque[tuple[Sequence[Sample], Future[list[Verdict]]]] = deque()

    def needs_labels(self) -> None:
        """Raises InputError for a judge with scores and no labels, where labels are what is asked for."""
        if self.judge.info.threshold is None:
            name = self.judge.info.signature.short
            raise InputError(f"{name} gives scores without labels; a judge with a threshold was expected.")

    def assess(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict for each sample, in order. Raises what the judge raises on any of those judged together."""
        verdicts: Future[list[Verdict]] = Future()
        self._waiting.append((samples, verdicts))
        with self._lock:
            if not verdicts.done():  # else the thread before has judged these, too
                self._assess_waiting()
        return verdicts.result()

    def _assess_waiting(self) -> None:
        asked = [self._waiting.popleft() for _ in range(len(self._waiting))]
        together = [sample for samples, _ in asked for sample in samples]
        try:
            judged = iter(list(self.judge.fitted(together).assess(together)))
        except BaseException as error:  # each thread that waits has to end; all of them raise it
            for _, verdicts in asked:
                verdicts.set_exception(error)
            return
        for samples, verdicts in asked:
            verdicts.set_result(list(islice(judged, len(samples))))


_LOADED: dict[str, SharedJudge] = {}
_LOADING = Lock()


def shared_judge(judge: JudgeName) -> SharedJudge:
    """The judge of this name, loaded by the first who asks in this process. Raises as `JudgeSpec.of` and its `make`."""
    key = json.dumps(dict(judge), sort_keys=True, default=str) if isinstance(judge, Mapping) else str(judge)
    with _LOADING:
        if key not in _LOADED:
            _LOADED[key] = SharedJudge(JudgeSpec.of(judge).make())
        return _LOADED[key]
