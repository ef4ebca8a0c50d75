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
from bert_judge.integrations.exports.base import Exported, ExportOptions, judge_of
from bert_judge.integrations.exports.parts import Part, in_a_path, parts_of
from bert_judge.measures.estimates import WILSON
from bert_judge.records import __version__
from bert_judge.results.runs import Row, Run

_SCHEMA: Final = "0.3.0"


def export_every_eval_ever(run: Run, options: ExportOptions) -> Exported:
    """Two files for each task and model: `data/TASK/DEVELOPER/MODEL/UUID.json` and `…/UUID_samples.jsonl`.

    Raises InputError for a result without texts.
    """
    if any(row.candidate is None for row in run.rows):
        raise InputError(f"{run.folder} has no texts, which the records need; run score without --no_texts.")
    files: dict[str, str] = {}
    parts = parts_of(run, options)
    for part in parts:
        evaluation = f"{part.task}/{part.model.replace('/', '_')}/{_seconds(run)}"
        digest = hashlib.sha256(f"{evaluation}|{judge_of(run)}".encode()).digest()
        place = f"data/{in_a_path(part.task)}/{_folders(part.model)}/{uuid.UUID(bytes=digest[:16], version=4)}"
        records = (_instance(row, part, evaluation, options) for row in part.rows)
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        aggregate = _aggregate(part, run, evaluation, options)
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{place}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest(),
            "total_rows": len(part.rows),
        }
        files[f"{place}.json"] = json.dumps(aggregate, ensure_ascii=False, indent=2) + "\n"
        files[f"{place}_samples.jsonl"] = lines
    left = sum(part.undecided for part in parts)
    notes = [f"{left:,} undecided answers are left out, as a record is correct or incorrect."] if left else []
    rows = sum(len(part.rows) for part in parts)
    said = f"{len(parts):,} record{'s' * (len(parts) > 1)} of every_eval_ever, with {rows:,} answers"
    return Exported(files, said, notes)


def _aggregate(part: Part, run: Run, evaluation: str, options: ExportOptions) -> dict[str, Any]:
    """The record of a part, but for the reference to its answers."""
    developer, _, _ = part.model.partition("/")
    accuracy = part.accuracy
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
            "additional_details": {"judge": judge_of(run), "judged": str(run.input.get("format", ""))},
        },
        "model_info": {
            "name": part.model,
            "id": part.model,
            **({"developer": developer} if "/" in part.model else {}),
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            {
                "evaluation_result_id": f"{evaluation}#{options.name}",
                "evaluation_name": part.task,
                "source_data": {"dataset_name": part.task, **where},
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
                    "additional_details": {"judge": judge_of(run)},
                },
                "score_details": {
                    "score": accuracy.value,
                    "details": {"undecided": str(part.undecided)},
                    "uncertainty": uncertainty,
                },
            }
        ],
    }


def _instance(row: Row, part: Part, evaluation: str, options: ExportOptions) -> Mapping[str, Any]:
    """The record of an answer."""
    question = row.question or ""
    told = {**row.meta, "explanation": row.explanation}
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": evaluation,
        "model_id": part.model,
        "evaluation_name": part.task,
        "evaluation_result_id": f"{evaluation}#{options.name}",
        "sample_id": str(row.id),
        "sample_hash": hashlib.sha256((question + "".join(row.references)).encode("utf-8", "replace")).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": question, "reference": list(row.references)},
        "output": {"raw": [row.candidate]},
        "answer_attribution": [],
        "evaluation": {"score": row.label if row.score is None else row.score, "is_correct": row.label == 1},
        "metadata": {name: str(value) for name, value in told.items() if value is not None},
    }


def _folders(model: str) -> str:
    """The folder of the developer, and in it that of the model."""
    developer, _, name = model.partition("/")
    return f"{in_a_path(developer)}/{in_a_path(name)}" if name else f"unknown/{in_a_path(developer)}"


def _seconds(run: Run) -> str:
    """When the judge began, in seconds since 1970."""
    started = run.record.get("timings", {}).get("started")
    moment = datetime.fromisoformat(started) if started else datetime.now(UTC)
    return str(int(moment.timestamp()))
