"""Details of lighteval: `details_TASK_DATE.parquet`, a row for each document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from bert_judge.inputs.files import InputFile, read_parquet
from bert_judge.inputs.saved.rows import LOG_LIKELIHOOD, TaskAndModel, answers, aside, first_text, grades, texts
from bert_judge.inputs.values import RawRow, listed, mapping

_COLUMNS = ("doc", "metric", "model_response")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d.:-]+")


def recognises(columns: Mapping[str, object]) -> bool:
    """Whether a table with these columns is such a log."""
    return all(name in columns or f"__{name}__" in columns for name in _COLUMNS)


def read(file: InputFile) -> Iterator[RawRow]:
    """The answers of a log; a document that was sampled several times has several."""
    model = _model(file.place.parent)
    for raw in read_parquet(file.here, file.name):
        yield from _rows(raw, model)


def _rows(raw: RawRow, model: str | None) -> list[RawRow]:
    values = raw.values or {}
    doc, metric, response = (mapping(values.get(name, values.get(f"__{name}__"))) for name in _COLUMNS)
    origin = TaskAndModel(first_text(doc, ["task_name"]), model)
    replies = texts(response.get("text_post_processed")) or texts(response.get("text"))
    if not replies and listed(response.get("logprobs")):
        return [aside(raw.line, origin, LOG_LIKELIHOOD)]
    choices = texts(doc.get("choices"))
    golds = [gold for gold in listed(doc.get("gold_index")) if isinstance(gold, int) and 0 <= gold < len(choices)]
    return answers(
        raw.line,
        origin,
        sample_id=doc.get("id") or raw.line,
        question=first_text(doc, ["original_query", "query"]),
        references=[choices[gold].strip() for gold in golds],
        candidates=replies or [""],
        scores=grades(metric),
    )


def _model(folder: Path) -> str | None:
    """The model that the folders name: `details/ORG/MODEL/DATE/details_….parquet`."""
    folders = list(folder.parts)
    if not folders or not _DATE.fullmatch(folders[-1]) or "details" not in folders:
        return None
    start = len(folders) - folders[::-1].index("details")
    return "/".join(folders[start:-1]) or None
