"""Judges that fail when a test wants them to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.records import JudgeInfo, Sample, Verdict


class Steady(Judge):
    """Says right where the candidate is a reference; breaks before row `fail_at`, fails on the rows of `failing`."""

    info = JudgeInfo("steady", "Steady|version:1")

    def __init__(self, fail_at: str | None = None, failing: Iterable[str] = ()) -> None:
        self.fail_at, self.failing = fail_at, set(failing)
        self.judged: list[str | None] = []

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        for sample in samples:
            if sample.id == self.fail_at:
                raise RuntimeError("the judge broke")
            self.judged.append(sample.id)
            right = int(sample.candidate in sample.references)
            failed = Verdict(None, failed=True, explanation="no reply")
            yield failed if sample.id in self.failing else Verdict(float(right), right, details={"a": [1, {"b": 0.1}]})


class Few(Steady):
    """Has no verdict for the last row."""

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        yield from list(super().assess(samples))[:-1]


class EndpointJudge(Judge):
    """While there is a file `gone`, its endpoint is gone when it comes to row `fail_at`, counted from 0."""

    fail_at: int

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        for number, sample in enumerate(samples):
            if number == self.fail_at and Path("gone").exists():
                raise ModelError("the endpoint is gone; start it again.")
            yield self.verdict(number, sample)

    def verdict(self, number: int, sample: Sample) -> Verdict:
        """What it says of a row."""
        raise NotImplementedError
