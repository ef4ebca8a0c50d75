"""The results that lie in folders, also deeper down."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bert_judge.artifacts import RUN, VERDICTS
from bert_judge.errors import InputError
from bert_judge.evaluation.runs import Run, load_run


def find_runs(paths: Iterable[str | Path]) -> list[Run]:
    """The result of each folder; where it holds none itself, those in the folders below it, by name.

    So `judge`'s whole output folder, or that of a suite, can be given. A result that is found twice is there once.
    Raises InputError where a folder holds none, or a damaged one.
    """
    folders: dict[Path, Path] = {}
    for path in map(Path, paths):
        for folder in _results(path):
            folders.setdefault(folder.resolve(), folder)
    return [load_run(folder) for folder in folders.values()]


def _results(path: Path) -> list[Path]:
    if not path.is_dir():
        what = "a file" if path.exists() else "not there"
        raise InputError(f"{path} is {what}; a folder that score or judge wrote was expected.")
    if (path / RUN).exists() or (path / (VERDICTS + ".partial")).exists():
        return [path]
    found = sorted(run.parent for run in path.rglob(RUN) if (run.parent / VERDICTS).exists())
    if not found:
        raise InputError(f"{path} holds no result, nor does a folder in it; a folder with {VERDICTS} was expected.")
    return found
