"""Records of every_eval_ever, version 0.3.0: a JSON file for each task and model, and a line for each answer.

The schema: https://github.com/evaleval/every_eval_ever
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from bert_judge.errors import InputError
from bert_judge.integrations.exports.base import Exported, ExportOptions, TaskVerdicts, by_task, in_a_path, started
from bert_judge.measures.estimates import WILSON
from bert_judge.records import Row, __version__
from bert_judge.results.runs import Run

_SCHEMA: Final = "0.3.0"


def export_every_eval_ever(run: Run, options: ExportOptions) -> Exported:
    """Two files for each task and model: `data/TASK/DEVELOPER/MODEL/UUID.json` and `…/UUID_samples.jsonl`.

    Raises InputError for a result without texts.
    """
    if any(row.candidate is None for row in run.rows):
        raise InputError(f"{run.folder} has no texts, which the records need; judge again, and keep the texts.")
    files: dict[str, str] = {}
    verdicts = by_task(run, options)
    for of_task in verdicts:
        evaluation = f"{of_task.task}/{of_task.model.replace('/', '_')}/{_seconds(run)}"
        digest = hashlib.sha256(f"{evaluation}|{run.signature!s}".encode()).digest()
        place = f"data/{in_a_path(of_task.task)}/{_folders(of_task.model)}/{uuid.UUID(bytes=digest[:16], version=4)}"
        records = (_instance(row, of_task, evaluation, options) for row in of_task.rows)
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        aggregate = _aggregate(of_task, run, evaluation, options)
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{place}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest(),
            "total_rows": len(of_task.rows),
        }
        files[f"{place}.json"] = json.dumps(aggregate, ensure_ascii=False, indent=2) + "\n"
        files[f"{place}_samples.jsonl"] = lines
    undecided = sum(of_task.undecided for of_task in verdicts)
    notes = [f"{undecided:,} undecided answers are left out, as a record is correct or incorrect."] if undecided else []
    rows = sum(len(of_task.rows) for of_task in verdicts)
    summary = f"{len(verdicts):,} record{'s' * (len(verdicts) > 1)} of every_eval_ever, with {rows:,} answers"
    return Exported(files, summary, notes)


def _aggregate(verdicts: TaskVerdicts, run: Run, evaluation: str, options: ExportOptions) -> dict[str, Any]:
    """The record of a task and model, but for the reference to its answers."""
    developer, _, _ = verdicts.model.partition("/")
    accuracy = verdicts.accuracy
    method = "wilson" if accuracy.method == WILSON else "wilson, clustered by question"
    bounds = {"lower": accuracy.low, "upper": accuracy.high, "confidence_level": 0.95, "method": method}
    uncertainty = {"confidence_interval": bounds, "num_samples": accuracy.n}
    where = {"source_type": "hf_dataset", "hf_repo": options.dataset} if options.dataset else {"source_type": "other"}
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": evaluation,
        "retrieved_timestamp": _seconds(run),
        "source_metadata": {
            "source_name": "bert-judge",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "bert-judge",
            "version": __version__,
            "additional_details": {"judge": str(run.signature), "judged": str(run.input.get("format", ""))},
        },
        "model_info": {
            "name": verdicts.model,
            "id": verdicts.model,
            **({"developer": developer} if "/" in verdicts.model else {}),
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            {
                "evaluation_result_id": f"{evaluation}#{options.name}",
                "evaluation_name": verdicts.task,
                "source_data": {"dataset_name": verdicts.task, **where},
                "metric_config": {
                    "evaluation_description": f"The rate of answers that {run.signature.short} calls correct",
                    "metric_id": "accuracy",
                    "metric_name": "Accuracy",
                    "metric_kind": "accuracy",
                    "metric_unit": "proportion",
                    "lower_is_better": False,
                    "score_type": "continuous",
                    "min_score": 0.0,
                    "max_score": 1.0,
                    "additional_details": {"judge": str(run.signature)},
                },
                "score_details": {
                    "score": accuracy.value,
                    "details": {"undecided": str(verdicts.undecided)},
                    "uncertainty": uncertainty,
                },
            }
        ],
    }


def _instance(row: Row, verdicts: TaskVerdicts, evaluation: str, options: ExportOptions) -> Mapping[str, Any]:
    """The record of an answer."""
    question = row.question or ""
    metadata = {**row.meta, "explanation": row.verdict.explanation}
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": evaluation,
        "model_id": verdicts.model,
        "evaluation_name": verdicts.task,
        "evaluation_result_id": f"{evaluation}#{options.name}",
        "sample_id": str(row.id),
        "sample_hash": hashlib.sha256((question + "".join(row.references)).encode("utf-8", "replace")).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": question, "reference": list(row.references)},
        "output": {"raw": [row.candidate]},
        "answer_attribution": [],
        "evaluation": {"score": row.label if row.score is None else row.score, "is_correct": row.label == 1},
        "metadata": {name: str(value) for name, value in metadata.items() if value is not None},
    }


def _folders(model: str) -> str:
    """The folder of the developer, and in it the folder of the model."""
    developer, _, name = model.partition("/")
    return f"{in_a_path(developer)}/{in_a_path(name)}" if name else f"unknown/{in_a_path(developer)}"


def _seconds(run: Run) -> str:
    """When the judge started, in seconds since 1970."""
    time = started(run)
    return str(int((datetime.fromisoformat(time) if time else datetime.now(UTC)).timestamp()))
