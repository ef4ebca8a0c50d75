"""Judges that fail when a test wants them to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.records import Sample, Verdict


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
