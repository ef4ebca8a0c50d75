"""OpenAI's graders: filling their templates, and the shape of the response."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from bert_judge.errors import InputError
from bert_judge.records import Sample, Verdict
from bert_judge.server.refusing import RefusedError, shortened, shown
from bert_judge.server.schema import MOST_REFERENCES, Grader, GraderRequest

_VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_ERRORS = (
    *("formula_parse_error", "invalid_variable_error", "model_grader_parse_error", "model_grader_refusal_error"),
    *("model_grader_server_error", "other_error", "python_grader_runtime_error", "python_grader_server_error"),
    *("sample_parse_error", "truncated_observation_error", "unresponsive_reward_error"),
)


def grader_sample(request: GraderRequest, most: int) -> Sample:
    """The sample that a request asks to judge, from the grader's templates. A reference may be a list of texts.

    Raises InputError for a variable that is missing or not a text, RefusedError for too many references and for a text
    of over `most` characters, before it is built.
    """
    values = {"item": request.item or {}, "sample": {"output_text": request.model_sample}}
    with suppress(ValueError, RecursionError):
        values["sample"]["output_json"] = json.loads(request.model_sample)
    grader = request.grader
    question = None if grader.question is None else _filled(grader.question, values, most)
    return Sample(_filled(grader.input, values, most), _references(grader.reference, values, most), question)


def grader_answer(grader: Grader, verdict: Verdict, seconds: float) -> dict[str, Any]:
    """The response of OpenAI's server: the reward is the score, or null if the judge is undecided."""
    errors: dict[str, Any] = dict.fromkeys(_ERRORS, False)
    errors |= {"other_error": verdict.score is None, "truncated_observation_error": bool(verdict.truncated)}
    return {
        "reward": verdict.score,
        "sub_rewards": {},
        "metadata": {
            "name": grader.name,
            "type": grader.type,
            "errors": errors,
            "execution_time": round(seconds, 4),
            "scores": {grader.name: verdict.score},
            "token_usage": None,
            "sampled_model_name": None,
        },
        "model_grader_token_usage_per_model": {},
    }


def _references(template: str, values: Mapping[str, Any], most: int) -> tuple[str, ...]:
    variable = _VARIABLE.fullmatch(template.strip())
    value = _value(variable[1], values) if variable else None
    if isinstance(value, list) and len(value) > MOST_REFERENCES:
        raise RefusedError(413, f"the sample has {len(value):,} references; up to {MOST_REFERENCES:,} are allowed.")
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return tuple(value)
    return (_filled(template, values, most),)


def _filled(template: str, values: Mapping[str, Any], most: int) -> str:
    """The template with all variables filled in at once, so that braces in a value stay text."""
    length = 0
    pieces: list[str] = []
    for piece in _pieces(template, values):
        length += len(piece)
        if length > most:
            raise RefusedError(413, f"a text of the sample has over {most:,} characters, the most allowed.", "text")
        pieces.append(piece)
    return "".join(pieces)


def _pieces(template: str, values: Mapping[str, Any]) -> Iterator[str]:
    """The text between variables and the values of variables, in turn."""
    end = 0
    for variable in _VARIABLE.finditer(template):
        yield template[end : variable.start()]
        value = _value(variable[1], values)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError(f"{{{{{shortened(variable[1])}}}}} is {shown(value)}; a text was expected.")
        yield str(value)
        end = variable.end()
    yield template[end:]


def _value(path: str, values: Mapping[str, Any]) -> Any:
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise InputError(f"there is no {{{{{shortened(path)}}}}} in the item or the sample.")
        value = value[key]
    return value
