"""The records that flow through bert-judge: what is judged, and what a judge says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple, Self

from bert_judge.errors import InputError

PARTS = ("question", "candidate", "reference")
"""The three parts of an input, in the order in which the paper's judges read them."""


_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")


def whole_text(text: str) -> str:
    """The text with each half character as U+FFFD ("\\ud83d", say, of a cut emoji): no tokenizer takes it."""
    return text if text.isascii() else _HALF_CHARACTERS.sub("\ufffd", text)


Scale = Literal["probability", "score", "decision"]
"""What a judge's scores mean: the probability of being correct, a scale of their own, or 1 correct and 0 incorrect."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who made a number, and everything that changes it: a name, and settings with their values, in order.

    `str` gives one line for files (`BERTJudge|model:starter|weights:1b2c714c265c|…`), `short` the judge and its model;
    JSON has `name` and `settings`. Nothing reads the line again.
    """

    name: str
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def make(cls, name: str, settings: Mapping[str, object] | None = None, **more: object) -> Self:
        """From values of any kind; those that are None are left out."""
        given = {**(settings or {}), **more}
        return cls(name, {key: _shortest(value) for key, value in given.items() if value is not None})

    @classmethod
    def of(cls, told: Signature | Mapping[str, Any] | str) -> Signature:
        """From what JSON has; a text, as a judge of one's own may give, is a name alone."""
        if isinstance(told, Signature):
            return told
        return cls(told) if isinstance(told, str) else cls(told["name"], dict(told["settings"]))

    @property
    def short(self) -> str:
        """The name, and the model or what else tells it from others of its kind."""
        return " ".join(filter(None, (self.name, self.settings.get("model") or self.settings.get("variant"))))

    def difference(self, other: Signature, most: int = 3) -> str:
        """What is another here than there, in words: `dtype bfloat16, not float32`; empty where nothing is."""
        if self.name != other.name:
            return f"{self.short}, not {other.short}"
        ours, theirs = self.settings, other.settings
        names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        return ", ".join(f"{name} {ours.get(name, '-')}, not {theirs.get(name, '-')}" for name in names[:most])

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.settings.items())])


@dataclass(frozen=True, slots=True)
class Sample:
    """One candidate answer to judge.

    `references` holds one or more right answers (a single string is taken as one). `question` may be absent;
    the judge then compares candidate and references alone. `gold` is the human label, 1 correct and 0 incorrect, which
    no judge reads; rows to train on may have a probability there (`open_source` with `soft_labels`). `meta` keeps the
    other columns of the row. Half a character ("\\ud83d" alone) in a text becomes U+FFFD.
    """

    candidate: str
    references: tuple[str, ...]
    question: str | None = None
    id: str | None = None
    gold: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)

    def __post_init__(self) -> None:
        references: Any = self.references
        several = isinstance(references, Iterable) and not isinstance(references, str)
        references = tuple(references) if several else (references,)
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
        object.__setattr__(self, "candidate", whole_text(self.candidate))
        object.__setattr__(self, "references", tuple(map(whole_text, references)))
        object.__setattr__(self, "question", None if self.question is None else whole_text(self.question))
        gold: Any = self.gold
        if gold is not None and not (isinstance(gold, Real) and 0 <= float(gold) <= 1):
            raise InputError(
                f"the gold label of a sample is {gold!r}; 0, 1, a probability between them, or None was expected."
            )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one sample.

    `score` is higher for better; for judges of correctness it is the probability, in [0, 1], that the candidate is
    right. `label` is 1 (right) or 0 (wrong). Both are `None` where the judge could not decide; that is counted and
    shown, and is never a wrong answer. `matched_reference` is the index of the reference that the candidate fits
    best. `truncated` maps each part that did not fit the judge's input to the number of its characters that were cut.
    `failed` says that the judge itself did not work on this row (its endpoint gave no reply, say; `explanation` has the
    cause): the row is undecided, and the next run judges it again.
    """

    score: float | None
    label: int | None = None
    explanation: str | None = None
    matched_reference: int | None = None
    truncated: Mapping[str, int] = field(default_factory=dict, hash=False)
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    failed: bool = False


class Tokens(NamedTuple):
    """One encoded input: token ids, and token types where the model reads them (0 plain, 1 marked)."""

    ids: tuple[int, ...]
    types: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a language model decodes. At temperature 0 (greedy) only `presence_penalty` and `max_tokens` matter.

    The meaning of each is vLLM's and OpenAI's. `presence_penalty` lowers the logit of every token that the reply holds
    already; it does not look at the prompt, as a repetition penalty would.
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
            ("top_p", 0 < self.top_p <= 1, "a share over 0, up to 1"),
            ("top_k", self.top_k >= -1, "0 or -1 (no limit) or a number of tokens"),
            ("min_p", 0 <= self.min_p <= 1, "a share between 0 and 1"),
            ("presence_penalty", -2 <= self.presence_penalty <= 2, "a number between -2 and 2"),
            ("max_tokens", self.max_tokens >= 1, "a number of at least 1"),
        )
        for name, good, expected in limits:
            if not good:
                raise InputError(f"{name} is {getattr(self, name)}; {expected} was expected.")
        object.__setattr__(self, "top_k", max(self.top_k, 0))  # -1 is vLLM's and the paper's word for no limit

    @property
    def settings(self) -> dict[str, object]:
        """What of it can change a reply."""
        greedy = ("temperature", "presence_penalty", "max_tokens")
        names = [each.name for each in fields(self) if self.temperature > 0 or each.name in greedy]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """One token of a reply, and the natural log probabilities of the likeliest tokens at its place."""

    token: str
    alternatives: Mapping[str, float] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model answered to one prompt.

    `error` says in words why there is no answer; `text` is then empty. `finish_reason` is "stop", or "length" where
    the reply was cut at its longest. A reasoning trace stands in `text`, with its tags. `choices` are those of the
    last tokens, where they were asked for and the backend gives them. `truncated` counts the characters of the prompt
    that did not fit, all from its start. `cached` says that it was not asked for now.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None
    choices: tuple[TokenChoice, ...] = ()
    truncated: int = 0
    cached: bool = False


def _shortest(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
