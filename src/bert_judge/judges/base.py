"""What a judge is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import repeat
from typing import cast

from bert_judge.errors import InputError
from bert_judge.types import Sample, Verdict

PATTERN_TIMEOUT = 1.0
"""Seconds that a regular expression may take on a candidate, where a judge has one."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a judge has used so far. `cached` replies cost nothing and are in no other number but `rows`.

    `rows` counts the rows that needed a reply, `requests` those that were asked for, `failed` those of them without a
    reply. `money` is None unless prices were given.
    """

    rows: int = 0
    requests: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    money: float | None = None

    def since(self, earlier: Costs) -> Costs:
        """What was used after `earlier`, which are costs of the same judge."""
        return Costs(*(now and now - then for now, then in zip(astuple(self), astuple(earlier), strict=True)))


class Judge(ABC):
    """Says of each sample how good its candidate is. A judge of your own implements the three abstract members."""

    @property
    @abstractmethod
    def variant(self) -> str:
        """The judge's name in paths: the model, and what distinguishes it from others of its kind."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that changes a number, as `key:value` pairs joined by `|`; written beside every result."""

    @abstractmethod
    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict a sample, in the order of the samples, as a stream: in constant memory, whatever their number."""

    @property
    def costs(self) -> Costs | None:
        """What its verdicts have cost so far, for a judge that pays for them."""
        return None

    def fitted(self, samples: Iterable[Sample]) -> Judge:
        """The judge for this input. Most are the same for all; one whose scores depend on the whole input reads it."""
        return self

    def predict(
        self,
        questions: Sequence[str] | None,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]],
    ) -> list[float | None]:
        """The scores of candidates, in their order; None where the judge could not decide.

        `references` holds a text or several for each candidate. Without `questions` (None or empty), candidates and
        references are compared alone. Raises InputError where the lengths differ.
        """
        samples = make_samples(questions, candidates, references)
        return [verdict.score for verdict in self.fitted(samples).assess(samples)]


def make_samples(
    questions: Sequence[str] | None, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
) -> list[Sample]:
    """Samples from the three lists that the paper's judges take."""
    for name, values in (("candidates", candidates), ("references", references), ("questions", questions)):
        if name == "questions" and (values is None or len(values) == 0):
            continue
        if values is None or isinstance(values, str):
            raise InputError(
                f"{name} is {type(values).__name__}; a list with one entry for each candidate was expected."
            )
        if len(values) != len(candidates):
            raise InputError(f"there are {len(candidates)} candidates but {len(values)} {name}; one each was expected.")
    asked = repeat(None, len(candidates)) if questions is None or len(questions) == 0 else questions
    rows = zip(asked, candidates, references, strict=True)
    return [Sample(candidate, cast("tuple[str, ...]", given), question) for question, candidate, given in rows]
