"""What `bert-judge score --suite` reads and prints: several named judges over the same rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bert_judge.artifacts import ResultFolder, write_files
from bert_judge.errors import InputError, named_in_errors
from bert_judge.judges.naming import JudgeSpec

_NAME = re.compile(r"\w[\w.-]*")


def read_suite(path: Path) -> dict[str, JudgeSpec]:
    """The judges of a YAML file by name, checked but not loaded: a specification each, as text or as names and values.

    Raises InputError for a file that can't be read, a name that is given twice or is no name of a folder, and what
    `JudgeSpec.of` raises, with the name.
    """
    judges: dict[str, JudgeSpec] = {}
    for name, given in _entries(path):
        if not _NAME.fullmatch(name):
            raise InputError(
                f"{path} calls a judge {name!r}; a name of letters, digits, '_', '-' and '.' was expected."
            )
        if name.casefold() in map(str.casefold, judges):  # some file systems know no case
            raise InputError(f"{path} calls two judges {name!r}; give each a name of its own.")
        if not isinstance(given, str | Mapping):
            raise InputError(f"{path} gives {given!r} as {name}; a judge, or its judge_type and flags, was expected.")
        with named_in_errors(f"{name} of the suite"):
            judges[name] = JudgeSpec.of(given)
    return judges


def write_columns(results: Mapping[str, ResultFolder], folder: Path, *, candidate: bool = True) -> Path:
    """Write a table with a row for each row of the input and a column for each result: its labels, or its scores if it
    has none, and the candidate, if it is the same in all.

    It lies beside the folder, so that `FOLDER/*` are results and nothing else. An undecided verdict is an empty cell.
    Raises OutputError where the file can't be written.
    """
    texts = ("id", "question", *(["candidate"] if candidate else []), "gold")
    kinds = {
        name: "label" if any(record["label"] is not None for record in result.records()) else "score"
        for name, result in results.items()
    }
    path = folder.parent / f"{folder.resolve().name}-suite.csv"
    write_files(path.parent, {path.name: _lines(results, kinds, texts)})
    return path


def _lines(results: Mapping[str, ResultFolder], kinds: Mapping[str, str], texts: Sequence[str]) -> Iterator[str]:
    """The lines of the table, its head first."""
    line = io.StringIO(newline="")
    table = csv.writer(line)
    table.writerow([*texts, *results])
    for records in _rows(results):
        yield line.getvalue()
        line.seek(0)
        line.truncate()
        first = next(iter(records.values()))
        cells = (record[kinds[name]] for name, record in records.items())
        table.writerow([*(first.get(text, "") for text in texts), *cells])
    yield line.getvalue()


def _rows(results: Mapping[str, ResultFolder]) -> Iterator[dict[str, dict[str, Any]]]:
    """Row by row, the record of each judge."""
    for records in zip(*(result.records() for result in results.values()), strict=True):
        yield dict(zip(results, records, strict=True))


def _entries(path: Path) -> list[tuple[str, Any]]:
    """Names and values as they stand in the file: YAML itself would drop a name that comes twice."""
    import yaml

    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode) or not node.value:
            raise InputError(f"{path} holds no names of judges; lines like `correctness: starter` were expected.")
        constructor = yaml.SafeLoader("")
        return [(str(key.value), constructor.construct_object(value, deep=True)) for key, value in node.value]
    except OSError as error:
        raise InputError(f"the suite {path} can't be read ({error.strerror}); a YAML file was expected.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML ({str(error).splitlines()[0]}).") from error
