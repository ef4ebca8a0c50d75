"""Saved runs of other tools: which tool wrote a file is known from its content, and each answer in it becomes a row.

A reader of a tool is a module with `recognises` and `read`, and a line in `READERS`. Its rows have the columns
question, reference, candidate, id, task and model; `harness:METRIC` holds the tool's own score.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from bert_judge.errors import InputError
from bert_judge.inputs.saved import every_eval_ever, helm, inspect_ai, lighteval, lm_eval, opencompass, paper
from bert_judge.inputs.saved.files import SavedFile
from bert_judge.inputs.saved.rows import HARNESS
from bert_judge.inputs.tables import parquet_columns
from bert_judge.inputs.texts import first_values
from bert_judge.inputs.values import RawRow
from bert_judge.results import PARTS, RUN, VERDICTS

__all__ = ["ARCHIVE", "HARNESS", "READERS", "FoundRun", "Reader", "SavedFile", "files_below", "recognised"]

ARCHIVE: Final = ".eval"
"""The ending of logs of inspect that are archives."""

_ZIP_MAGIC, _PARQUET_MAGIC = b"PK\x03\x04", b"PAR1"
_ENDINGS = (".jsonl", ".ndjson", ".json", ARCHIVE, ".parquet", ".pq", ".csv", ".tsv")

Kind = Literal["{", "[", "zip", "parquet"]
"""What a file is: JSON that begins with an object or with a list, an archive, a table."""


def _nothing(_: SavedFile) -> list[str]:
    return []


class Reader(NamedTuple):
    """How the logs of a tool are known and read.

    `recognises` is given what a file begins with: the members of its first object, as far as they are read, or the
    first element of a list; of an archive the names of its members, of a table those of its columns. `beside` names
    files that lie in a place known from the file's own and that are read, too.
    """

    tool: str
    kind: Kind
    recognises: Callable[[Mapping[str, object]], bool]
    read: Callable[[SavedFile], Iterator[RawRow]]
    beside: Callable[[SavedFile], Sequence[str]] = _nothing


READERS: Final = (
    Reader("lm-eval", "{", lm_eval.recognises, lm_eval.read, lm_eval.beside),
    Reader("inspect", "zip", inspect_ai.recognises_archive, inspect_ai.read_archive),
    Reader("inspect", "{", inspect_ai.recognises_object, inspect_ai.read_object),
    Reader("lighteval", "parquet", lighteval.recognises, lighteval.read),
    Reader("OpenCompass", "{", opencompass.recognises, opencompass.read, opencompass.beside),
    Reader("every_eval_ever", "{", every_eval_ever.recognises, every_eval_ever.read),
    Reader("HELM", "[", helm.recognises, helm.read, helm.beside),
    Reader("candidates of tasks", "[", paper.recognises, paper.read),
)
"""The readers, by what their files begin with."""


class FoundRun(NamedTuple):
    """What a file has of one task and model: the rows to judge, and the others, counted by the reason."""

    tool: str
    task: str | None
    model: str | None
    file: str
    rows: int
    aside: Mapping[str, int]


def recognised(file: SavedFile) -> Reader | None:
    """The reader of a file; None where no tool that we know wrote it.

    Raises InputError for a log of inspect that is a damaged archive: nothing that reads it next could say what it is.
    """
    try:
        return next(
            (
                reader
                for kind, found in _beginnings(file)
                for reader in READERS
                if reader.kind == kind and reader.recognises(found)
            ),
            None,
        )
    except zipfile.BadZipFile as error:
        if file.place.suffix == ARCHIVE:
            raise InputError(f"{file.name} is a damaged zip file ({error}); copy it again.") from error
        return None
    except (ValueError, OSError, NotImplementedError):
        return None  # whoever reads it next says what is wrong


def files_below(folder: Path) -> list[Path]:
    """The data files in a folder and those below it, by name; links to folders are not followed.

    What is hidden, and results of ours, are passed over.
    """
    found = []
    for place, folders, names in os.walk(folder):
        if RUN in names and (VERDICTS in names or PARTS in folders):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(place, name) for name in sorted(names) if not name.startswith("."))
        found += [path for path in paths if any(end in path.suffixes[-2:] for end in _ENDINGS) and path.is_file()]
    return found


def _beginnings(file: SavedFile) -> Iterator[tuple[Kind, Mapping[str, object]]]:
    """What a file begins with, more and more of it."""
    with file.stream() as stream:
        start = stream.read(4)
    if start == _ZIP_MAGIC:
        with zipfile.ZipFile(file.location) as archive:
            yield "zip", dict.fromkeys(archive.namelist())
    elif start == _PARQUET_MAGIC:
        yield "parquet", dict.fromkeys(parquet_columns(file.location, file.name))
    else:
        with file.stream() as stream:
            yield from first_values(stream, file.name)
