"""The results that lie in folders, also deeper down."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bert_judge.analysis.results import Run, load_run
from bert_judge.artifacts import RUN, VERDICTS
from bert_judge.errors import InputError

_PARTIAL = VERDICTS + ".partial"


def find_runs(paths: Iterable[str | Path]) -> list[Run]:
    """The result of each folder; where it holds none itself, those in the folders below it, as they were made.

    So `judge`'s whole output folder, or that of a suite, can be given. A result that is found twice is there once.
    Raises InputError where a folder holds none, or a damaged one.
    """
    runs: dict[Path, Run] = {}
    for path in map(Path, paths):
        new = [load_run(folder) for folder in _results(path) if folder.resolve() not in runs]
        runs |= {run.folder.resolve(): run for run in sorted(new, key=_made)}
    return list(runs.values())


def left_out(paths: Iterable[str | Path]) -> list[str]:
    """A sentence for each unfinished result below these folders, which `find_runs` leaves out."""
    folders = dict.fromkeys(folder for path in map(Path, paths) if not _is_result(path) for folder in _unfinished(path))
    return [f"{folder} is unfinished and left out; start its command again to finish it." for folder in folders]


def _made(run: Run) -> tuple[str, int, Path]:
    """When a run was started and, as many can start within a second, finished."""
    return str(run.record.get("timings", {}).get("started", "")), (run.folder / RUN).stat().st_mtime_ns, run.folder


def _results(path: Path) -> list[Path]:
    if not path.is_dir():
        what = "a file" if path.exists() else "not there"
        raise InputError(f"{path} is {what}; a folder that score or judge wrote was expected.")
    if _is_result(path):
        return [path]
    found = sorted(run.parent for run in path.rglob(RUN) if (run.parent / VERDICTS).exists())
    if not found:
        begun = "".join(f" ({folder} is unfinished)" for folder in _unfinished(path)[:1])
        raise InputError(
            f"{path} holds no result, nor does a folder in it{begun}; a folder with {VERDICTS} was expected."
        )
    return found


def _is_result(path: Path) -> bool:
    return (path / RUN).exists() or (path / _PARTIAL).exists()


def _unfinished(path: Path) -> list[Path]:
    return sorted(begun.parent for begun in path.rglob(_PARTIAL) if not (begun.parent / RUN).exists())
