"""The records that flow through bert-judge: what is judged, and what a judge says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bert_judge.errors import InputError

PARTS = ("question", "candidate", "reference")
"""The three parts of an input, in the order in which the paper's judges read them."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One candidate answer to judge.

    `references` holds one or more right answers (a single string is taken as one). `question` may be absent;
    the judge then compares candidate and references alone. `gold` is a person's label, 1 right and 0 wrong,
    never read by a judge. `meta` keeps the other columns of the row.
    """

    candidate: str
    references: tuple[str, ...]
    question: str | None = None
    id: str | None = None
    gold: int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)

    def __post_init__(self) -> None:
        references: Any = self.references
        several = isinstance(references, Iterable) and not isinstance(references, str)
        references = tuple(references) if several else (references,)
        object.__setattr__(self, "references", references)
        if not references:
            raise InputError("a sample has no reference; give at least one right answer as `references`.")
        texts: Iterable[tuple[str, Any]] = [
            ("candidate", self.candidate),
            *(("reference", text) for text in references),
            *([("question", self.question)] if self.question is not None else []),
        ]
        for name, text in texts:
            if not isinstance(text, str):
                raise InputError(f"the {name} of a sample is {text!r} ({type(text).__name__}); text was expected.")
        if self.gold not in (None, 0, 1):
            raise InputError(f"the gold label of a sample is {self.gold!r}; 0, 1 or None was expected.")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one sample.

    `score` is higher for better; for judges of correctness it is the probability, in [0, 1], that the candidate is
    right. `label` is 1 (right) or 0 (wrong). Both are `None` where the judge could not decide; that is counted and
    shown, and is never a wrong answer. `matched_reference` is the index of the reference that the candidate fits
    best. `truncated` maps each part that did not fit the judge's input to the number of its characters that were cut.
    """

    score: float | None
    label: int | None = None
    explanation: str | None = None
    matched_reference: int | None = None
    truncated: Mapping[str, int] = field(default_factory=dict, hash=False)
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)


class Tokens(NamedTuple):
    """One encoded input: token ids, and token types where the model reads them (0 plain, 1 marked)."""

    ids: tuple[int, ...]
    types: tuple[int, ...] | None = None
