"""Predictions of OpenCompass: `predictions/MODEL/DATASET.json`, one object with a member for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bert_judge.inputs.files import InputFile
from bert_judge.inputs.saved.rows import LOG_LIKELIHOOD, SEVERAL_TURNS, TaskAndModel, answers, aside, grade, texts
from bert_judge.inputs.texts import read_json
from bert_judge.inputs.values import RawRow, last_message, listed, mapping


def recognises(record: Mapping[str, object]) -> bool:
    """Whether an object that begins so is such a log."""
    first = mapping(next(iter(record.values()), None))
    return "prediction" in first and ("origin_prompt" in first or "gold" in first or "in-context examples" in first)


def beside(file: InputFile) -> list[str]:
    """The results of the evaluation, which may have a score for each row."""
    return [f"../../results/{file.place.parent.name}/{file.place.name}"]


def read(file: InputFile) -> Iterator[RawRow]:
    """The predictions of a file, each with its score from the results."""
    origin = TaskAndModel(file.place.stem, file.place.parent.name or None)
    details = mapping(file.read_beside(beside(file)[0])).get("details")
    by_number = dict(enumerate(details)) if isinstance(details, list) else mapping(details)
    by_index = {str(index): mapping(detail) for index, detail in by_number.items()}
    with file.stream() as stream:
        for number, (index, value, _) in enumerate(read_json(stream, file.name, "{", (), file.limits), 1):
            if isinstance(value, Mapping) and "prediction" in value:
                yield from _rows(number, index, value, origin, by_index.get(index, {}))
            else:
                yield RawRow(number, None, "is not a prediction of OpenCompass: it has no prediction", str(value)[:200])


def _rows(
    number: int, index: str, value: Mapping[str, object], origin: TaskAndModel, detail: Mapping[str, object]
) -> list[RawRow]:
    prediction, prompt = value["prediction"], value.get("origin_prompt")
    if any(name.startswith("label: ") for name in value) or "pred_label" in value:
        return [aside(number, origin, LOG_LIKELIHOOD)]
    if isinstance(prompt, list) and any(isinstance(turn, list) for turn in prompt):
        return [aside(number, origin, SEVERAL_TURNS)]
    question = last_message(prompt, "human", "user") if isinstance(prompt, list) else prompt
    correct = grade(next(iter(listed(detail.get("correct"))), None))
    return answers(
        number,
        origin,
        sample_id=index,
        question=str(question) if isinstance(question, str) else None,
        references=texts(value.get("gold")),
        candidates=texts(prediction) or [""],
        scores={} if correct is None else {"correct": correct},
    )
