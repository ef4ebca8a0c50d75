"""Instance records of every_eval_ever: JSON lines, one for each sample and result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from bert_judge.inputs.saved.files import SavedFile
from bert_judge.inputs.saved.rows import (
    ERRORED,
    Entry,
    Whose,
    answers,
    aside,
    first_text,
    grades,
    last_message,
    mapping,
    merged,
    texts,
    with_options,
)
from bert_judge.inputs.texts import read_jsonl
from bert_judge.inputs.values import RawRow

_NEEDED = frozenset(("evaluation_id", "model_id", "sample_id", "input", "evaluation"))


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the first line is that of such a file."""
    return record.keys() >= _NEEDED


def read(file: SavedFile) -> Iterator[RawRow]:
    """The answers of a file, each once, with the scores of all of its results."""
    return merged(lambda: _entries(file))


def _entries(file: SavedFile) -> Iterator[Entry]:
    with file.stream() as stream:
        for raw in read_jsonl(stream, file.name, limits=file.limits):
            yield Entry(None, "", {}, [raw]) if raw.values is None else _entry(raw, raw.values)


def _entry(raw: RawRow, values: Mapping[str, object]) -> Entry:
    if not recognises(values):
        lacking = ", ".join(sorted(_NEEDED - values.keys()))
        reason = f"is not a record of every_eval_ever: it has no {lacking}"
        return Entry(None, "", {}, [raw._replace(values=None, reason=reason)])
    output = [values.get(name) for name in ("output", "messages")]
    digest = hashlib.sha256(json.dumps(output).encode()).digest()[:8]
    ids = tuple(str(values.get(name)) for name in ("evaluation_id", "model_id", "evaluation_name", "sample_id"))
    evaluation = mapping(values["evaluation"])
    scores = grades({name: evaluation.get(name) for name in ("is_correct", "score")})
    return Entry((*ids, digest), str(values.get("evaluation_result_id", "")), scores, _rows(raw.line, values))


def _rows(line: int, values: Mapping[str, object]) -> list[RawRow]:
    whose = Whose(first_text(values, ["evaluation_name"]), first_text(values, ["model_id"]))
    if values.get("error"):
        return [aside(line, whose, ERRORED)]
    given, messages = mapping(values["input"]), values.get("messages")
    references = texts(given.get("reference"))
    replies = texts(mapping(values.get("output")).get("raw")) or [last_message(messages, "assistant") or ""]
    return answers(
        line,
        whose,
        sample_id=values["sample_id"],
        question=with_options(first_text(given, ["raw", "formatted"]), texts(given.get("choices"))),
        references=references,
        candidates=replies,
        scores={},
    )
