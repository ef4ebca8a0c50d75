"""Instance records of every_eval_ever: JSON lines, one for each sample and result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from bert_judge.inputs.files import InputFile
from bert_judge.inputs.saved.rows import (
    ERRORED,
    LogLine,
    TaskAndModel,
    answers,
    aside,
    first_text,
    grades,
    merged_lines,
    texts,
    with_options,
)
from bert_judge.inputs.values import RawRow, last_message, mapping

_COLUMNS = frozenset(("evaluation_id", "model_id", "sample_id", "input", "evaluation"))


def recognises(record: Mapping[str, object]) -> bool:
    """Whether a file's first line is that of such a log."""
    return record.keys() >= _COLUMNS


def read(file: InputFile) -> Iterator[RawRow]:
    """The answers of a file, each once, with the scores of all of its results."""
    return merged_lines(file, "record of every_eval_ever", _COLUMNS, _line)


def _line(raw: RawRow, values: Mapping[str, object]) -> LogLine:
    output = [values.get(name) for name in ("output", "messages")]
    digest = hashlib.sha256(json.dumps(output).encode()).digest()[:8]
    ids = tuple(str(values.get(name)) for name in ("evaluation_id", "model_id", "evaluation_name", "sample_id"))
    evaluation = mapping(values["evaluation"])
    scores = grades({name: evaluation.get(name) for name in ("is_correct", "score")})
    return LogLine((*ids, digest), str(values.get("evaluation_result_id", "")), scores, _rows(raw.line, values))


def _rows(line: int, values: Mapping[str, object]) -> list[RawRow]:
    origin = TaskAndModel(first_text(values, ["evaluation_name"]), first_text(values, ["model_id"]))
    if values.get("error"):
        return [aside(line, origin, ERRORED)]
    prompt = mapping(values["input"])
    replies = texts(mapping(values.get("output")).get("raw"))
    return answers(
        line,
        origin,
        sample_id=values["sample_id"],
        question=with_options(first_text(prompt, ["raw", "formatted"]), texts(prompt.get("choices"))),
        references=texts(prompt.get("reference")),
        candidates=replies or [last_message(values.get("messages"), "assistant") or ""],
        scores={},
    )
