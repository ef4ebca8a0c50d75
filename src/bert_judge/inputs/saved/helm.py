"""Runs of HELM: `display_predictions.json`, with the references in `instances.json` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from bert_judge.errors import InputError
from bert_judge.inputs.files import InputFile
from bert_judge.inputs.saved.rows import LOG_LIKELIHOOD, TaskAndModel, answers, aside, first_text, grades, with_options
from bert_judge.inputs.texts import read_json_list
from bert_judge.inputs.values import RawRow, listed, mapping

_INSTANCES: Final = "instances.json"
_SPEC: Final = "run_spec.json"

# The statistics of a prediction include lengths, times and counts.
_SCORE = re.compile(r"match|f1|correct|accuracy|equiv|rouge|bleu|score", re.IGNORECASE)
_MODEL = re.compile(r"[,:]?\bmodel=[^,]*")


def recognises(record: Mapping[str, object]) -> bool:
    """Whether a list whose first element has these columns is such a log."""
    return record.keys() >= {"instance_id", "predicted_text", "train_trial_index"}


def beside(_: InputFile) -> list[str]:
    """The references, and the settings of the run."""
    return [_INSTANCES, _SPEC]


def read(file: InputFile) -> Iterator[RawRow]:
    """The predictions of a run. Raises InputError where the file with their references is missing."""
    records = file.read_beside(_INSTANCES)
    if not isinstance(records, list):
        raise InputError(
            f"{file.name} holds predictions of HELM, whose references are in {_INSTANCES}; put that file of the same "
            "run beside it."
        )
    instances = {_key(record, "id"): record for record in map(mapping, records)}
    spec = mapping(file.read_beside(_SPEC))
    adapter = mapping(spec.get("adapter_spec"))
    run = first_text(spec, ["name"]) or file.place.parent.name
    model = first_text(adapter, ["model", "model_deployment"]) or (re.findall(r"\bmodel=([^,]*)", run) or [None])[0]
    origin = TaskAndModel(_MODEL.sub("", run) or None, model)
    method = str(adapter.get("method", ""))
    with file.stream() as stream:
        for raw in read_json_list(stream, file.name, file.limits):
            if raw.values is None:
                yield raw
            elif method.startswith("multiple_choice_separate"):
                yield aside(raw.line, origin, LOG_LIKELIHOOD)
            else:
                name, changed = _key(raw.values, "instance_id")
                instance = instances.get((name, changed), instances.get((name, None), {}))
                yield _row(raw.line, raw.values, instance, origin, method == "multiple_choice_joint")


def _row(
    line: int, values: Mapping[str, object], instance: Mapping[str, object], origin: TaskAndModel, lettered: bool
) -> RawRow:
    options, right = [], []
    for reference in map(mapping, listed(instance.get("references"))):
        text = str(mapping(reference.get("output")).get("text", ""))
        options.append(text)
        if "correct" in listed(reference.get("tags")):
            right.append(text)
    question = first_text(mapping(instance.get("input")), ["text"])
    trial, changed = str(values.get("train_trial_index")), first_text(mapping(values.get("perturbation")), ["name"])
    scores = {name: value for name, value in mapping(values.get("stats")).items() if _SCORE.search(name)}
    (row,) = answers(
        line,
        origin,
        sample_id="_".join(filter(None, (str(values.get("instance_id")), changed, trial if trial != "0" else None))),
        question=with_options(question, options) if lettered else question,
        references=right,
        candidates=[str(values.get("truncated_predicted_text") or values.get("predicted_text") or "")],
        scores=grades(scores),
        more={"trial": values.get("train_trial_index"), "perturbation": changed},
    )
    return row


def _key(values: Mapping[str, object], name: str) -> tuple[str, str | None]:
    return str(values.get(name)), first_text(mapping(values.get("perturbation")), ["name"])
