"""A judge in the place of another one, which may run elsewhere: what is said of it is said of the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from bert_judge.judges.base import Judge
from bert_judge.records import Scale, Signature


@dataclass(frozen=True, slots=True)
class Description:
    """What is said of a judge besides its verdicts: see `Judge`."""

    variant: str
    signature: Signature
    scale: Scale
    threshold: float | None
    reads_references: bool
    paid: bool

    @classmethod
    def of(cls, judge: Judge) -> Description:
        """What is said of this judge."""
        signature = Signature.of(judge.signature)
        return cls(judge.variant, signature, judge.scale, judge.threshold, judge.reads_references, judge.paid)

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Description:
        """What `asdict` made of a description, with anything besides. Raises KeyError for something else."""
        own = {each.name: record[each.name] for each in fields(cls)}
        return cls(**{**own, "signature": Signature.of(record["signature"])})


class StandIn(Judge):
    """A judge of which all is said that is said of another; it says by itself how it comes to verdicts."""

    def __init__(self, described: Description) -> None:
        self._described = described
        self.threshold = described.threshold

    @property
    def variant(self) -> str:
        """That of the other judge."""
        return self._described.variant

    @property
    def signature(self) -> Signature:
        """That of the other judge: how a verdict is come by changes no score."""
        return self._described.signature

    @property
    def scale(self) -> Scale:
        """That of the other judge."""
        return self._described.scale

    @property
    def reads_references(self) -> bool:
        """Whether the other judge does."""
        return self._described.reads_references

    @property
    def paid(self) -> bool:
        """Whether the other judge is."""
        return self._described.paid
