"""What an evaluation of judges against people is asked, and what it finds: plain records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bert_judge.analysis.measures import Estimate
from bert_judge.analysis.results import Row
from bert_judge.analysis.teacher import TeacherErrors
from bert_judge.errors import InputError
from bert_judge.stats.calibration import Bin
from bert_judge.stats.discrimination import RiskCoverage, Threshold
from bert_judge.stats.labels import Confusion
from bert_judge.stats.resampling import RESAMPLES
from bert_judge.types import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What is asked of an evaluation besides the measures.

    `by` names further columns to slice by. `threshold` replaces all judges' labels: right from this score on. `worst`
    is how many disagreements are listed for each judge. A threshold is sought for a wanted precision and recall.
    """

    by: tuple[str, ...] = ()
    threshold: float | None = None
    min_precision: float = 0.95
    min_recall: float = 0.95
    worst: int = 20
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        limits = (
            ("min_precision", 0 < self.min_precision <= 1, "a share over 0, up to 1"),
            ("min_recall", 0 < self.min_recall <= 1, "a share over 0, up to 1"),
            ("worst", self.worst >= 0, "a number of rows, 0 or more"),
            ("resamples", self.resamples >= 100, "a number of at least 100"),
        )
        for name, good, expected in limits:
            if not good:
                raise InputError(f"{name} is {getattr(self, name)}; {expected} was expected.")


@dataclass(frozen=True, slots=True)
class ChosenThreshold:
    """A threshold with a purpose: what labels do there on these rows, and (`elsewhere`) when it is chosen on others.

    `found` is None where no threshold serves the purpose.
    """

    purpose: str
    found: Threshold | None
    elsewhere: Confusion


@dataclass(frozen=True, slots=True)
class JudgeFound:
    """What is known of one judge. `labels` says where its labels are from; `bins` are empty without probabilities."""

    name: str
    signature: Signature
    probable: bool
    labels: str
    rows: int
    undecided: int
    estimates: Mapping[str, Estimate]
    thresholds: Sequence[ChosenThreshold]
    bins: Sequence[Bin]
    curve: RiskCoverage | None
    disagreements: int
    worst: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge against the first: how much more of all rows it has right, undecided ones counted as wrong.

    `only_first` and `only_this` count the rows that one of them alone has right; `p_value` is that of the exact
    sign-flip test of whole questions, McNemar's (1947) where none is repeated; `p_adjusted` allows for several judges
    being compared (Holm, 1979).
    """

    name: str
    difference: Estimate
    only_first: int
    only_this: int
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class SliceFound:
    """A slice of the rows: how many, of how many questions, the share that is right, and each judge's measures."""

    kind: str
    level: str
    rows: int
    questions: int
    right: float
    small: bool
    undecided: Sequence[int]
    estimates: Sequence[Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Judges against people on the same rows."""

    rows: int
    questions: int
    right: float
    judges: Sequence[JudgeFound]
    comparisons: Sequence[Comparison]
    slices: Sequence[SliceFound]
    teacher: Sequence[TeacherErrors]
    notes: Sequence[str]
