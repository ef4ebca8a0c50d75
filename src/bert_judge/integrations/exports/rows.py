"""The rows as they were, each with the columns of its verdict: JSON lines that `datasets` and everyone else reads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bert_judge.errors import InputError
from bert_judge.inputs import Source, open_source
from bert_judge.inputs.values import NumberText
from bert_judge.integrations.exports.base import Exported, ExportOptions, judged_format, judged_input, judged_paths
from bert_judge.records import Row
from bert_judge.results.runs import Run


def export_rows(run: Run, options: ExportOptions) -> Exported:
    """`rows.jsonl`: what was judged, with the columns `NAME_score`, `NAME_label` and `NAME_explanation`.

    All columns of the input are there, whatever they hold; rows that were set aside are not. Raises InputError where
    the input is not there or was changed, and for a column that has one of these names.
    """
    paths = judged_paths(run, options.input)
    source = _judged(run, paths)
    said = f"{len(run.rows):,} rows with {options.name}_score, {options.name}_label and {options.name}_explanation"
    files = {"rows.jsonl": _lines(source, run, options.name)}
    return Exported(files, said, read=[Path(path) for path in paths])


def _judged(run: Run, paths: Sequence[str]) -> Source:
    """What was judged, read as it was then."""
    judged_input(run, paths)
    chosen, settings = run.input["columns"], run.record["identity"]["options"]
    columns = {**(settings["map"] or {}), "candidate": chosen["candidate"]}
    if "gold" not in chosen:
        columns["label"] = ""
    return open_source(
        paths[0] if len(paths) == 1 else paths,
        columns=columns,
        input_format=judged_format(run),
        limit=settings["limit"],
        skip_bad_rows=settings["skip_bad_rows"],
        numbers_as_text=settings["numbers_as_text"],
        reference_separator=settings.get("reference_separator"),  # which older results have not,
    )


def _lines(source: Source, run: Run, name: str) -> Iterator[str]:
    for values, row in zip(source.originals(), run.rows, strict=True):
        verdict = _verdict(row, name)
        if taken := values.keys() & verdict.keys():
            raise InputError(f"{source.path} has a column {min(taken)}; choose another name for ours with --name.")
        yield json.dumps({**_plain(values), **verdict}, ensure_ascii=False, default=str) + "\n"


def _verdict(row: Row, name: str) -> dict[str, Any]:
    return {f"{name}_score": row.score, f"{name}_label": row.label, f"{name}_explanation": row.verdict.explanation}


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers that were read as they are spelled are numbers again, and NaN is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    number = json.loads(value) if isinstance(value, NumberText) else value
    return None if isinstance(number, float) and not math.isfinite(number) else number
