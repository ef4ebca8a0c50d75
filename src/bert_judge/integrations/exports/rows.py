"""The rows as they were, each with the columns of its verdict: JSON lines that `datasets` and everyone else reads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from bert_judge.errors import InputError
from bert_judge.inputs import Source, open_source
from bert_judge.inputs.values import NumberText
from bert_judge.integrations.exports.base import Exported, ExportOptions, judged_input, plain_format
from bert_judge.results.runs import Run


def export_rows(run: Run, options: ExportOptions) -> Exported:
    """`rows.jsonl`: what was judged, with the columns `NAME_score`, `NAME_label` and `NAME_explanation`.

    It has all columns of the input, whatever they hold, but not the rows that were set aside. Raises InputError where
    the input is missing or has changed, and for a column that has one of these names.
    """
    paths, files = judged_input(run, options.input)
    columns, settings = run.input["columns"], run.record["identity"]["options"]
    source = open_source(
        paths[0] if len(paths) == 1 else paths,
        columns={
            **(settings["map"] or {}),
            "candidate": columns["candidate"],
            **({} if "gold" in columns else {"label": ""}),
        },
        input_format=plain_format(run),
        limit=settings["limit"],
        skip_bad_rows=settings["skip_bad_rows"],
        numbers_as_text=settings["numbers_as_text"],
        reference_separator=settings["reference_separator"],
    )
    name = options.name
    summary = f"{len(run.rows):,} rows with {name}_score, {name}_label and {name}_explanation"
    sources = [file.place for file in files.files]
    return Exported({"rows.jsonl": _lines(source, run, name)}, summary, sources=sources)


def _lines(source: Source, run: Run, name: str) -> Iterator[str]:
    for values, row in zip(source.originals(), run.rows, strict=True):
        verdict = {
            f"{name}_score": row.score,
            f"{name}_label": row.label,
            f"{name}_explanation": row.verdict.explanation,
        }
        if common := values.keys() & verdict.keys():
            raise InputError(f"{source.path} has a column {min(common)}; choose another name for ours.")
        yield json.dumps({**_plain(values), **verdict}, ensure_ascii=False, default=str) + "\n"


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers that were read as they are spelled are numbers again, and NaN is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    number = json.loads(value) if isinstance(value, NumberText) else value
    return None if isinstance(number, float) and not math.isfinite(number) else number
