"""What a language model answers, and how it decodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated

from bert_judge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a language model decodes. At temperature 0 (greedy) only `presence_penalty` and `max_tokens` matter.

    All have the meaning of vLLM and OpenAI: `presence_penalty` lowers the logit of every token that is in the reply
    already; unlike a repetition penalty it ignores the prompt.
    """

    temperature: Annotated[float, "0 is greedy: always the likeliest token"] = 0.0
    top_p: Annotated[float, "sample from the likeliest tokens that hold this much probability together"] = 1.0
    top_k: Annotated[int, "sample from this many of the likeliest tokens; 0 is no limit"] = 0
    min_p: Annotated[float, "drop tokens less likely than this fraction of the likeliest one"] = 0.0
    presence_penalty: Annotated[float, "taken from the logit of each token that the reply holds already"] = 0.0
    max_tokens: Annotated[int, "the longest reply in tokens, reasoning included"] = 2048
    seed: Annotated[int | None, "makes sampling repeatable, as far as the backend is"] = None

    def __post_init__(self) -> None:
        limits: tuple[tuple[str, bool, str], ...] = (
            ("temperature", self.temperature >= 0, "0 (greedy) or more"),
            ("top_p", 0 < self.top_p <= 1, "a probability over 0, up to 1"),
            ("top_k", self.top_k >= -1, "0 or -1 (no limit) or a number of tokens"),
            ("min_p", 0 <= self.min_p <= 1, "a fraction between 0 and 1"),
            ("presence_penalty", -2 <= self.presence_penalty <= 2, "a number between -2 and 2"),
            ("max_tokens", self.max_tokens >= 1, "a number of at least 1"),
        )
        for name, good, expected in limits:
            if not good:
                raise InputError(f"{name} is {getattr(self, name)}; {expected} was expected.")
        object.__setattr__(self, "top_k", max(self.top_k, 0))  # vLLM and the paper write -1 for no limit

    @property
    def settings(self) -> dict[str, object]:
        """The settings that can change a reply."""
        greedy = ("temperature", "presence_penalty", "max_tokens")
        names = [setting.name for setting in fields(self) if self.temperature > 0 or setting.name in greedy]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """One token of a reply, and the natural log probabilities of the likeliest tokens in its place."""

    token: str
    alternatives: Mapping[str, float] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model answered to one prompt.

    `error` says why there is no answer; `text` is then empty. `finish_reason` is "stop", or "length" where the reply
    was cut at `max_tokens`. A reasoning trace is part of `text`, with its tags. `choices` are those of the last tokens,
    if asked for and if the backend has them. `truncated` counts the characters of the prompt that did not fit, cut at
    its start. `cached`: it comes from a store.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None
    choices: tuple[TokenChoice, ...] = ()
    truncated: int = 0
    cached: bool = False
