"""Runs of HELM: `display_predictions.json`, with the references in `instances.json` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from bert_judge.errors import InputError
from bert_judge.inputs.saved.files import SavedFile
from bert_judge.inputs.saved.rows import (
    LOG_LIKELIHOOD,
    Whose,
    answers,
    aside,
    first_text,
    grades,
    listed,
    mapping,
    with_options,
)
from bert_judge.inputs.texts import read_json_list
from bert_judge.inputs.values import RawRow

BESIDE: Final = ("instances.json", "run_spec.json")

# Among the figures of a prediction there are also lengths, times and counts.
_SCORE = re.compile(r"match|f1|correct|accuracy|equiv|rouge|bleu|score", re.IGNORECASE)
_MODEL = re.compile(r"[,:]?\bmodel=[^,]*")


def recognises(record: Mapping[str, object]) -> bool:
    """Whether a list whose first element has these columns is such a log."""
    return record.keys() >= {"instance_id", "predicted_text", "train_trial_index"}


def beside(_: SavedFile) -> list[str]:
    """The files that a run has beside its predictions."""
    return list(BESIDE)


def read(file: SavedFile) -> Iterator[RawRow]:
    """The predictions of a run. Raises InputError where its instances are missing."""
    instances = file.read_beside(BESIDE[0])
    if not isinstance(instances, list):
        raise InputError(
            f"{file.name} holds predictions of HELM, whose references are in {BESIDE[0]}; put that file of the same "
            "run beside it."
        )
    known = {_key(mapping(each), "id"): mapping(each) for each in instances}
    spec = mapping(file.read_beside(BESIDE[1]))
    adapter = mapping(spec.get("adapter_spec"))
    run = first_text(spec, ["name"]) or file.place.parent.name
    model = first_text(adapter, ["model", "model_deployment"]) or (re.findall(r"\bmodel=([^,]*)", run) or [None])[0]
    whose = Whose(_MODEL.sub("", run) or None, model)
    method = str(adapter.get("method", ""))
    with file.stream() as stream:
        for raw in read_json_list(stream, file.name, file.limits):
            if raw.values is None:
                yield raw
            elif method.startswith("multiple_choice_separate"):
                yield aside(raw.line, whose, LOG_LIKELIHOOD)
            else:
                name, changed = _key(raw.values, "instance_id")
                instance = known.get((name, changed), known.get((name, None), {}))
                yield _row(raw.line, raw.values, instance, whose, method == "multiple_choice_joint")


def _row(
    line: int, values: Mapping[str, object], instance: Mapping[str, object], whose: Whose, lettered: bool
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
        whose,
        sample_id="_".join(filter(None, (str(values.get("instance_id")), changed, trial if trial != "0" else None))),
        question=with_options(question, options) if lettered else question,
        references=right,
        candidates=[str(values.get("truncated_predicted_text") or values.get("predicted_text") or "")],
        scores=grades(scores),
        more={"trial": values.get("train_trial_index"), "perturbation": changed},
    )
    return row


def _key(values: Mapping[str, object], name: str) -> tuple[str, str | None]:
    """An instance, and how it was perturbed."""
    return str(values.get(name)), first_text(mapping(values.get("perturbation")), ["name"])
