"""Logs of inspect: `.eval` (a zip file with a member for each sample) and `.json` (one object)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from bert_judge.inputs.saved.archives import members
from bert_judge.inputs.saved.files import SavedFile
from bert_judge.inputs.saved.rows import (
    ERRORED,
    Whose,
    answers,
    aside,
    content_text,
    grade,
    last_message,
    listed,
    mapping,
    no_answer,
    texts,
    with_options,
)
from bert_judge.inputs.texts import read_members
from bert_judge.inputs.values import RawRow

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")
HEADS = ("header.json", "_journal/start.json")  # the second is all that an unfinished run has


def recognises_archive(names: Mapping[str, object]) -> bool:
    """Whether a zip file with members of these names is such a log."""
    return any(name in names for name in HEADS)


def recognises_object(record: Mapping[str, object]) -> bool:
    """Whether an object that begins so is such a log."""
    return "version" in record and "task" in mapping(record.get("eval")) and "model" in mapping(record.get("eval"))


def read_archive(file: SavedFile) -> Iterator[RawRow]:
    """The samples of an `.eval` file, in the order in which they were finished."""
    head: Mapping[str, object] = {}
    with file.readable():
        for _, value, _ in members(file.location, lambda name: name in HEADS, file.limits):
            head = mapping(value)
            if head:
                break
        samples = members(
            file.location, lambda name: name.startswith("samples/") and name.endswith(".json"), file.limits
        )
        for number, (name, value, problem) in enumerate(samples, 1):
            if isinstance(value, Mapping):
                yield _row(number, value, mapping(head.get("eval")))
            else:
                yield RawRow(number, None, problem or "is not a sample of inspect", name)


def read_object(file: SavedFile) -> Iterator[RawRow]:
    """The samples of a `.json` file, one in memory at a time."""
    head: Mapping[str, object] = {}
    number = 0
    with file.stream() as stream:
        for name, value in read_members(stream, file.name, ("samples",), file.limits):
            if name == "eval":
                head = mapping(value)
            elif name == "samples":
                number += 1
                if isinstance(value, Mapping):
                    yield _row(number, value, head)
                else:
                    yield RawRow(number, None, "is not a sample of inspect", json.dumps(value)[:200])


def row_id(sample: Mapping[str, object], head: Mapping[str, object], number: int = 0) -> str:
    """The id of a sample's row: the sample's own one, with the epoch where there are several."""
    own = str(sample.get("id", number))
    return f"{own}_epoch_{sample.get('epoch', 1)}" if _several(sample, head) else own


def _several(sample: Mapping[str, object], head: Mapping[str, object]) -> bool:
    """Whether a sample is one of several epochs. Numbers are texts where a log is read for its rows."""
    return str(sample.get("epoch", 1)) != "1" or str(mapping(head.get("config")).get("epochs", 1)) != "1"


def _row(number: int, sample: Mapping[str, object], head: Mapping[str, object]) -> RawRow:
    whose = Whose(*(str(head[name]) if head.get(name) else None for name in ("task", "model")))
    if sample.get("error"):
        return aside(number, whose, ERRORED)
    if reason := no_answer(mapping(sample.get("metadata")), mapping(sample.get("scores"))):
        return aside(number, whose, reason)
    attached = mapping(sample.get("attachments"))
    references = [_whole(text, attached) for text in texts(sample.get("target"))]
    options = [_whole(text, attached) for text in texts(sample.get("choices"))]
    if options and len(references) > 1:
        references = [", ".join(references)]  # all of these options, not one of them
    given = sample.get("input")
    question = given if isinstance(given, str) else last_message(given, "user")
    question = None if question is None else _whole(question, attached)
    (row,) = answers(
        number,
        whose,
        sample_id=row_id(sample, head, number),
        question=with_options(question, options),
        references=references,
        candidates=[_whole(_completion(sample), attached)],
        scores=_scores(sample),
        more={"epoch": sample.get("epoch")} if _several(sample, head) else {},
    )
    return row


def _completion(sample: Mapping[str, object]) -> str:
    output = mapping(sample.get("output"))
    completion = output.get("completion")
    if isinstance(completion, str) and completion:
        return completion
    choice = mapping(next(iter(listed(output.get("choices"))), None))
    return content_text(mapping(choice.get("message")).get("content"))


def _scores(sample: Mapping[str, object]) -> dict[str, float]:
    """The value of each scorer, or the values of one that gives several."""
    found: dict[str, float] = {}
    for name, score in mapping(sample.get("scores")).items():
        value = mapping(score).get("value")
        several = mapping(value).items() if isinstance(value, Mapping) else ()
        values = {f"{name}:{key}": each for key, each in several} or {name: value}
        found |= {key: number for key, each in values.items() if (number := grade(each)) is not None}
    return found


def _whole(text: str, attached: Mapping[str, object]) -> str:
    """A text with what the log keeps in its attachments."""
    return _ATTACHMENT.sub(lambda found: str(attached.get(found[1], found[0])), text)
