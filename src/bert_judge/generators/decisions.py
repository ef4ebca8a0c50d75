"""Decision models behind HTTP routes: they read a state and give the probability that a statement about it is true.

`decisions` is OpenAI's /v1/decisions, `systemone` TypeSafe's /v1/systemone, which SGLang and vLLM speak, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from bert_judge.errors import InputError
from bert_judge.generators.base import GeneratorOptions, Reply
from bert_judge.generators.openai import Api, EndpointGenerator, token_count
from bert_judge.records import Signature

Route = Literal["decisions", "systemone"]

_ROUNDING = 1e-6  # by which a probability may lie beyond 0 or 1


class DecisionGenerator(EndpointGenerator):
    """A decision model. A prompt is a state, as JSON; its reply is the answer, as JSON, to one statement about it.

    `name` is what the statement is called. Raises InputError for an unknown route, and what `EndpointGenerator` does.
    """

    def __init__(self, model: str, route: Route, name: str, statement: str, options: GeneratorOptions) -> None:
        if route not in _DIALECTS:
            raise InputError(f"route is {route!r}; {' or '.join(map(repr, get_args(Route)))} was expected.")
        self.name, self._dialect, self._question = model, _DIALECTS[route], (name, statement)
        loaded = self._open(f"the route {route}", self._dialect.api, options)
        asked = hashlib.sha256("\0".join(self._question).encode()).hexdigest()[:12]
        self.signature = Signature.make(route, {**loaded, "asked": asked})

    def _request(self, prompt: str) -> Mapping[str, Any]:
        return {"model": self.name, **self._dialect.request(prompt, *self._question)}

    def _reply(self, body: Any) -> Reply:
        answer, usage = self._dialect.answer(body, self._question[0]), body.get("usage") or {}
        probability_of(answer)
        return Reply(
            json.dumps(answer), "stop", token_count(usage, "input_tokens"), token_count(usage, "output_tokens")
        )


def probability_of(answer: Mapping[str, Any]) -> float | None:
    """The probability that an answer gives, in [0, 1]; None for a refusal.

    Raises KeyError, TypeError or ValueError for what is not such an answer.
    """
    if answer["type"] == "refusal":
        return None
    value = answer[{"predicate": "probability", "noul": "noul"}[answer["type"]]]
    if isinstance(value, bool) or not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise ValueError(f"a probability of {value!r}")
    return min(max(float(value), 0.0), 1.0)


class _Dialect(NamedTuple):
    """How a route is asked about a state, by the name of a statement and its words, and how it answers."""

    api: Api
    request: Callable[[str, str, str], Mapping[str, Any]]
    answer: Callable[[Any, str], Mapping[str, Any]]


def _decisions_request(state: str, name: str, statement: str) -> Mapping[str, Any]:
    return {"input": state, "questions": [{"type": "predicate", "name": name, "instructions": statement}]}


def _decisions_answer(body: Any, name: str) -> Mapping[str, Any]:
    (answer,) = body["answers"]
    if answer.get("name") not in (None, name):
        raise ValueError("the answer to another question")
    return dict(answer)


def _systemone_request(state: str, name: str, statement: str) -> Mapping[str, Any]:
    return {"state": json.loads(state), "questions": {name: {"type": "noul", "instructions": statement}}}


def _systemone_answer(body: Any, name: str) -> Mapping[str, Any]:
    answers = body["answers"]
    return dict(answers[name]) if answers else {"type": "refusal"}  # questions that it can't answer are left out


_DIALECTS: Mapping[Route, _Dialect] = {
    "decisions": _Dialect(Api("/decisions", answer="a decision"), _decisions_request, _decisions_answer),
    "systemone": _Dialect(
        Api("/systemone", "https://api.typesafe.ai/v1", "TYPESAFE_API_KEY", "a decision"),
        _systemone_request,
        _systemone_answer,
    ),
}
