"""Questions of decision requests → answers, from P(correct) alone: in OpenAI's dialect and in System One's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from bert_judge.server.responses import shown

_PAIRS: Final = (("correct", "incorrect"), ("yes", "no"), ("true", "false"), ("pass", "fail"))
_MOST_OUTCOMES = 255
Content = Annotated[object, WithJsonSchema({"anyOf": [{"type": kind} for kind in ("string", "object", "array")]})]
"""Text or JSON."""


class StrictBody(BaseModel):
    """Part of a request, whose further fields are ignored."""

    model_config = ConfigDict(strict=True)


class ChoiceOption(StrictBody):
    """An outcome of a choice; "true" and true are two."""

    value: str | bool


class ScoreLevel(StrictBody):
    """A level of a score."""

    label: str


class DecisionQuestion(StrictBody):
    """A statement, a choice between outcomes, or a score on levels from the lowest to the highest."""

    type: Literal["predicate", "choice", "score"]
    name: str | None = None
    choices: Annotated[list[ChoiceOption], Field(max_length=_MOST_OUTCOMES, fail_fast=True)] = []
    levels: Annotated[list[ScoreLevel], Field(max_length=_MOST_OUTCOMES, fail_fast=True)] = []

    def answer(self, correct: float) -> dict[str, object] | None:
        """The answer for P(correct); None if the outcomes are no known pair, or there are no two levels."""
        named = {"type": self.type, "name": self.name}
        if self.type == "predicate":
            return {**named, "probability": correct}
        values = [option.value for option in self.choices]
        shares = _pair_shares(values, correct) if self.type == "choice" else _level_shares(len(self.levels), correct)
        if not shares:
            return None
        if self.type == "choice":
            entries = [{"value": value, "probability": share} for value, share in zip(values, shares, strict=True)]
            return {**named, **_likeliest(values, shares), "probabilities": entries}
        labels = enumerate(zip(self.levels, shares, strict=True))
        entries = [{"value": place, "label": level.label, "probability": share} for place, (level, share) in labels]
        return {**named, **_mean(shares), "probabilities": entries}


class SystemOneQuestion(StrictBody):
    """The same: a noul is a statement, `criteria` has an object of outcomes, or the levels."""

    type: Literal["noul", "choice", "score"]
    criteria: dict[str, object] | Annotated[list[Content], Field(max_length=_MOST_OUTCOMES)] | None = None

    def answer(self, correct: float) -> dict[str, object] | None:
        """The answer for P(correct); None if the outcomes are no known pair, or there are no two levels."""
        if self.type == "noul":
            return {"type": self.type, "noul": correct}
        criteria = self.criteria
        if isinstance(criteria, dict) and self.type == "choice" and (shares := _pair_shares([*criteria], correct)):
            probabilities = dict(zip(criteria, shares, strict=True))
            return {"type": self.type, **_likeliest([*criteria], shares), "probabilities": probabilities}
        if isinstance(criteria, list) and self.type == "score" and (shares := _level_shares(len(criteria), correct)):
            legend = {str(n): level if isinstance(level, str) else shown(level) for n, level in enumerate(criteria)}
            probabilities = dict(zip(legend, shares, strict=True))
            return {"type": self.type, **_mean(shares), "legend": legend, "probabilities": probabilities}
        return None


def _pair_shares(outcomes: Sequence[str | bool], correct: float) -> list[float]:
    """P(correct) and the rest for two outcomes that are a known pair, in any order; else none."""
    names = [str(outcome).strip().lower() for outcome in outcomes]
    right = next((pair[0] for pair in _PAIRS if sorted(pair) == sorted(names)), None)
    return [] if right is None else [correct if name == right else 1 - correct for name in names]


def _level_shares(levels: int, correct: float) -> list[float]:
    """P(correct) for the top level and the rest for the lowest one; none for a single level."""
    return [1 - correct, *[0.0] * (levels - 2), correct] if levels > 1 else []


def _likeliest(outcomes: Sequence[str | bool], shares: Sequence[float]) -> dict[str, object]:
    return {"choice": outcomes[shares.index(max(shares))], "confidence": abs(shares[0] - shares[1])}


def _mean(shares: Sequence[float]) -> dict[str, object]:
    """The mean level, and 0 if all are equally likely, 1 if one is certain."""
    last = len(shares) - 1
    return {"score": last * shares[-1], "confidence": max(0.0, (len(shares) * max(shares) - 1) / last)}
