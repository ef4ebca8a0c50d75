"""Logs of lm-eval: `samples_TASK_DATE.jsonl`, a line for each document and filter."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from bert_judge.inputs.columns import COLUMN_NAMES
from bert_judge.inputs.saved.files import SavedFile
from bert_judge.inputs.saved.rows import (
    LOG_LIKELIHOOD,
    Entry,
    Whose,
    answers,
    aside,
    first_text,
    grades,
    last_message,
    listed,
    mapping,
    merged,
    no_answer,
    texts,
    with_options,
)
from bert_judge.inputs.texts import read_jsonl
from bert_judge.inputs.values import RawRow

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl.*")
_NEEDED = frozenset(("doc_id", "doc", "resps", "filtered_resps"))
_NO_METRIC = _NEEDED | {"target", "arguments", "filter", "metrics"}
_LETTER = re.compile(r"\(?[A-J]\)?")
_LONGEST_LIST = 100_000  # characters of a list that is written as text


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the first line is that of such a log."""
    return record.keys() >= _NEEDED


def beside(file: SavedFile) -> list[str]:
    """The results of the run, which name the model."""
    found = _NAME.fullmatch(file.place.name)
    return [f"results_{found['date']}.json"] if found else []


def read(file: SavedFile) -> Iterator[RawRow]:
    """The answers of a log, each once; the scores of all filters are with the row of the first."""
    found = _NAME.fullmatch(file.place.name)
    results = mapping(file.read_beside(*beside(file))) if found else {}
    # The tool writes into a folder of the model's name.
    model = first_text(results, ["model_name"]) or (file.place.parent.name if found else None)
    whose = Whose(found["task"] if found else None, model or None)
    return merged(lambda: _entries(file, whose))


def _entries(file: SavedFile, whose: Whose) -> Iterator[Entry]:
    with file.stream() as stream:
        for raw in read_jsonl(stream, file.name, limits=file.limits):
            yield Entry(None, "", {}, [raw]) if raw.values is None else _entry(raw, raw.values, whose)


def _entry(raw: RawRow, values: Mapping[str, object], whose: Whose) -> Entry:
    if not recognises(values):
        reason = f"is not a sample of lm-eval: it has no {', '.join(sorted(_NEEDED - values.keys()))}"
        return Entry(None, "", {}, [raw._replace(values=None, reason=reason)])
    digest = hashlib.sha256(json.dumps(values["resps"]).encode()).digest()[:8]
    part = str(values.get("filter", ""))
    return Entry((str(values["doc_id"]), digest), part, _scores(values), _rows(raw, values, whose))


def _metrics(values: Mapping[str, object]) -> list[str]:
    return texts(values.get("metrics")) or [
        name for name in values if name not in _NO_METRIC and not name.endswith("_hash")
    ]


def _scores(values: Mapping[str, object]) -> dict[str, float]:
    return grades({name: values.get(name) for name in _metrics(values)})


def _rows(raw: RawRow, values: Mapping[str, object], whose: Whose) -> list[RawRow]:
    requests, answered = _requests(values.get("arguments")), listed(values["resps"])
    # squadv2 asks for an answer, and for the log-likelihood of none: only what was generated is a candidate.
    generated = [number for number, reply in enumerate(answered) if _is_generated(requests, number, listed(reply))]
    if answered and not generated:
        return [aside(raw.line, whose, LOG_LIKELIHOOD)]
    document = mapping(values["doc"])
    if reason := no_answer(document, _metrics(values)):
        return [aside(raw.line, whose, reason)]
    replies = [reply for number in generated for reply in listed(answered[number])]
    prompt = requests[generated[0]][0] if generated and generated[0] < len(requests) else None
    references = _references(values.get("target"), document)
    question = first_text(document, COLUMN_NAMES["question"]) or _question(prompt)
    options = texts(mapping(document.get("choices")).get("text") or document.get("choices") or document.get("options"))
    # Objects and lists are kept in no result, but columns can be named inside them (--map).
    inside = {name: value for name, value in values.items() if isinstance(value, list | Mapping)}
    return answers(
        raw.line,
        whose,
        sample_id=values["doc_id"],
        # Options that the model was not shown are no part of the question, unless the gold is the letter of one.
        question=with_options(question, options) if any(map(_LETTER.fullmatch, references)) else question,
        references=references,
        candidates=texts(replies) or [""],
        scores={},
        more={**inside, "target": [values.get("target")]},
    )


def _requests(arguments: object) -> list[tuple[object, object]]:
    """The prompt of each request, and its settings; a text where a log-likelihood was asked for."""
    if isinstance(arguments, Mapping):
        named = [mapping(arguments.get(f"gen_args_{number}")) for number in range(len(arguments))]
        return [(request.get("arg_0"), request.get("arg_1", "")) for request in named]
    pairs = [listed(request) for request in listed(arguments)]  # before 0.4.3
    return [(pair[0], pair[1] if len(pair) > 1 else "") if pair else (None, None) for pair in pairs]


def _is_generated(requests: Sequence[tuple[object, object]], number: int, replies: Sequence[object]) -> bool:
    """Whether a request was for a text; logs of old versions have no arguments."""
    if any(isinstance(reply, list) for reply in replies):  # a log-likelihood, and whether it is the greedy text
        return False
    return not requests or isinstance(requests[min(number, len(requests) - 1)][1], Mapping)


def _question(prompt: object) -> str | None:
    """The prompt; of a chat, a list with the messages as JSON, the last message of the user."""
    if isinstance(prompt, list):
        prompt = prompt[0] if prompt else None
        try:
            return last_message(json.loads(str(prompt)), "user") or str(prompt)
        except (ValueError, RecursionError):
            pass
    return None if prompt is None else str(prompt)


def _references(target: object, document: Mapping[str, object]) -> list[str]:
    """The golds; a list of texts is logged as Python writes it. Of SQuAD's several answers the target is the first."""
    several = texts(mapping(document.get("answers")).get("text"))
    if isinstance(target, str) and target.strip() in several:
        return several
    if isinstance(target, str) and target.startswith(("[", "(")) and len(target) <= _LONGEST_LIST:
        try:
            found = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = None
        if isinstance(found, list | tuple) and found and all(isinstance(each, str) for each in found):
            return list(found)
    return texts(target)
