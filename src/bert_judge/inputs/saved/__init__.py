"""Saved runs of other tools: a file's content shows which tool wrote it, and each answer in it becomes a row.

A log format is a module with `recognises` and `read`, and a line in `LOG_FORMATS`. Its rows have the columns question,
reference, candidate, id, task and model; `harness:METRIC` holds the tool's own score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from bert_judge.errors import InputError
from bert_judge.inputs.files import InputFile
from bert_judge.inputs.saved import every_eval_ever, helm, inspect_ai, lighteval, lm_eval, opencompass
from bert_judge.inputs.saved.rows import HARNESS
from bert_judge.inputs.values import RawRow

__all__ = ["ARCHIVE", "HARNESS", "LOG_FORMATS", "LogFormat", "SavedRun", "log_format"]

ARCHIVE: Final = ".eval"
"""The suffix of inspect's logs that are archives."""

Kind = Literal["{", "[", "zip", "parquet"]
"""JSON that begins with an object or with a list, an archive, or a table."""


class LogFormat(NamedTuple):
    """How the logs of a tool are recognised and read.

    `recognises` gets the beginning of a file: of an object the members read so far, of a list its first element, of an
    archive the names of its members, of a table those of its columns. `beside` names other files that `read` uses,
    relative to the log's folder.
    """

    tool: str
    kind: Kind
    recognises: Callable[[Mapping[str, object]], bool]
    read: Callable[[InputFile], Iterator[RawRow]]
    beside: Callable[[InputFile], Sequence[str]] = lambda _: ()


def _is_list_of_texts(first: Mapping[str, object]) -> bool:
    return type(first.get("")) is str  # not NumberText: a number


def _refuse_candidates(file: InputFile) -> Iterator[RawRow]:
    raise InputError(
        f"{file.name} is a list of texts without questions and references, as `generate` and the paper's package write "
        "their candidates; `bert-judge judge` judges it, by the name of its task."
    )


LOG_FORMATS: Final = (
    LogFormat("lm-eval", "{", lm_eval.recognises, lm_eval.read, lm_eval.beside),
    LogFormat("inspect", "zip", inspect_ai.recognises_archive, inspect_ai.read_archive),
    LogFormat("inspect", "{", inspect_ai.recognises_object, inspect_ai.read_object),
    LogFormat("lighteval", "parquet", lighteval.recognises, lighteval.read),
    LogFormat("OpenCompass", "{", opencompass.recognises, opencompass.read, opencompass.beside),
    LogFormat("every_eval_ever", "{", every_eval_ever.recognises, every_eval_ever.read),
    LogFormat("HELM", "[", helm.recognises, helm.read, helm.beside),
    LogFormat("candidates of tasks", "[", _is_list_of_texts, _refuse_candidates),
)


def log_format(kind: Kind, beginnings: Iterable[Mapping[str, object]]) -> LogFormat | None:
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
