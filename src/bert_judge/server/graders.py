"""OpenAI's graders: templates filled with an item and a model's answer, and the answer's shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
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
    """What a grader's request asks to judge: its templates, filled in. A reference may be a list of texts.

    Raises InputError for a variable that the item and the answer do not have, or that is no text, and RefusedError
    where a text would have more than `most` characters, before it has them, or there are too many references.
    """
    names = {"item": request.item or {}, "sample": _sample(request.model_sample)}
    grader = request.grader
    question = None if grader.question is None else _filled(grader.question, names, most)
    return Sample(_filled(grader.input, names, most), _references(grader.reference, names, most), question)


def grader_answer(grader: Grader, verdict: Verdict, seconds: float) -> dict[str, Any]:
    """What OpenAI's server answers: the score is the reward, which is null where the judge is undecided."""
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


def _sample(text: str) -> dict[str, Any]:
    """What a template calls `sample`: the answer, and what it holds where it is JSON."""
    try:
        return {"output_text": text, "output_json": json.loads(text)}
    except (ValueError, RecursionError):
        return {"output_text": text}


def _references(template: str, names: Mapping[str, Any], most: int) -> tuple[str, ...]:
    whole = _VARIABLE.fullmatch(template.strip())
    value = _value(whole[1], names) if whole else None
    if isinstance(value, list) and len(value) > MOST_REFERENCES:
        raise RefusedError(413, f"the sample has {len(value):,} references; up to {MOST_REFERENCES:,} are taken.")
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return tuple(value)
    return (_filled(template, names, most),)


def _filled(template: str, names: Mapping[str, Any], most: int) -> str:
    """The template with all variables filled in at once: what is filled in is text, and no template."""
    length = 0
    parts: list[str] = []
    for part in _parts(template, names):
        length += len(part)
        if length > most:
            raise RefusedError(
                413, f"a text of the sample has over {most:,} characters, the most that are taken.", "text"
            )
        parts.append(part)
    return "".join(parts)


def _parts(template: str, names: Mapping[str, Any]) -> Iterator[str]:
    """The text between the variables of a template, and theirs."""
    end = 0
    for found in _VARIABLE.finditer(template):
        yield template[end : found.start()]
        value = _value(found[1], names)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError(f"{{{{{shortened(found[1])}}}}} is {shown(value)}; a text was expected.")
        yield str(value)
        end = found.end()
    yield template[end:]


def _value(path: str, names: Mapping[str, Any]) -> Any:
    value: Any = names
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise InputError(f"there is no {{{{{shortened(path)}}}}}: neither the item nor the sample has it.")
        value = value[part]
    return value
