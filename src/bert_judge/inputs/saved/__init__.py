"""Saved runs of other tools: a file's content shows which tool wrote it, and each answer in it becomes a row.

A log format is a module with `recognises` and `read`, and a line in `LOG_FORMATS`. Its rows have the columns question,
reference, candidate, id, task and model; `harness:METRIC` holds the tool's own score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from bert_judge.inputs.files import InputFile
from bert_judge.inputs.saved import every_eval_ever, helm, inspect_ai, lighteval, lm_eval, opencompass
from bert_judge.inputs.saved.rows import HARNESS
from bert_judge.inputs.values import RawRow

__all__ = ["ARCHIVE", "HARNESS", "LOG_FORMATS", "LogFormat", "SavedRun", "log_format"]

ARCHIVE: Final = ".eval"
"""The suffix of inspect's logs that are archives."""


class LogFormat(NamedTuple):
    """How the logs of a tool are recognised and read.

    `kind` is how the file begins: as a JSON object ({) or list ([), a zip file, or a parquet file.
    `recognises` gets the beginning of a file: of an object the members read so far, of a list its first element, of an
    archive the names of its members, of a table those of its columns. `beside` names other files that `read` uses,
    relative to the log's folder.
    """

    tool: str
    kind: str
    recognises: Callable[[Mapping[str, object]], bool]
    read: Callable[[InputFile], Iterator[RawRow]]
    beside: Callable[[InputFile], Sequence[str]] = lambda _: ()


LOG_FORMATS: Final = (
    LogFormat("lm-eval", "{", lm_eval.recognises, lm_eval.read, lm_eval.beside),
    LogFormat("inspect", "zip", inspect_ai.recognises_archive, inspect_ai.read_archive),
    LogFormat("inspect", "{", inspect_ai.recognises_object, inspect_ai.read_object),
    LogFormat("lighteval", "parquet", lighteval.recognises, lighteval.read),
    LogFormat("OpenCompass", "{", opencompass.recognises, opencompass.read, opencompass.beside),
    LogFormat("every_eval_ever", "{", every_eval_ever.recognises, every_eval_ever.read),
    LogFormat("HELM", "[", helm.recognises, helm.read, helm.beside),
)


def log_format(kind: str, beginnings: Iterable[Mapping[str, object]]) -> LogFormat | None:
    """The format of a file by its beginning, of which each item shows more; None for an unknown tool."""
    formats = [log for log in LOG_FORMATS if log.kind == kind]
    for beginning in beginnings:
        for log in formats:
            if log.recognises(beginning):
                return log
    return None


class SavedRun(NamedTuple):
    """What a file holds of one task and model: the rows to judge, and counts of the other rows by reason."""

    tool: str
    task: str | None
    model: str | None
    file: str
    rows: int
    aside: Mapping[str, int]
