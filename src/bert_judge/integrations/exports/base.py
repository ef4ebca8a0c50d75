"""What every format shares: its options, what it gives back, and what was judged, read again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from bert_judge.errors import InputError, OutputError
from bert_judge.inputs.files import FORMATS, Input
from bert_judge.inputs.finding import find_input
from bert_judge.results import write_files
from bert_judge.results.runs import Run

CANDIDATES_FORMAT: Final = "candidates"
"""What `run.json` calls the input of `bert-judge judge`, `TASK/MODEL/candidates.json`."""

_NAME = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What formats take; each takes what concerns it."""

    input: Annotated[tuple[str, ...] | None, "what was judged, if it does not lie where it was"] = None
    name: Annotated[str, "name of our score in a log, and what our columns begin with"] = "bert_judge"
    task: Annotated[str | None, "only the rows of this task"] = None
    model: Annotated[str | None, "whose answers they are, if the rows do not say so"] = None
    dataset: Annotated[str | None, "id of the task's data set on the Hub, like openai/gsm8k"] = None
    dataset_task: Annotated[str, "id of the task in the data set's eval.yaml"] = "default"
    source_url: Annotated[str | None, "where the Hub links to: the answers, say"] = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(f"the name is {self.name!r}; letters, digits and _, a letter first, were expected.")


@dataclass(frozen=True, slots=True)
class Exported:
    """Files to write, by their paths below the folder of the output; `read` are those that they must not replace.

    `said` is what was made, in a few words; `notes` are what a reader has to know.
    """

    files: Mapping[str, str | Iterable[str | bytes]]
    said: str
    notes: Sequence[str] = ()
    read: Sequence[Path] = field(default_factory=list)


def write_exported(exported: Exported, folder: Path, overwrite: bool = False) -> None:
    """Write the files, each in one step. Raises OutputError for what is there, without `overwrite`.

    What was read is never replaced.
    """
    sources = {path.resolve() for path in exported.read}
    for name in exported.files:
        path = folder / name
        if path.resolve() in sources:
            raise OutputError(f"{path} is what was judged, which is never replaced; choose another --output_dir.")
        if path.exists() and not overwrite:
            raise OutputError(f"{path} is there already; choose another --output_dir, or pass --overwrite.")
    for name, content in exported.files.items():
        path = folder / name
        write_files(path.parent, {path.name: content})


def judged_paths(run: Run, given: Sequence[str] | None) -> list[str]:
    """The paths of what was judged: those given, else those in `run.json`. Raises InputError where one is not there."""
    if run.input.get("format") == CANDIDATES_FORMAT:
        raise InputError(
            f"{run.folder} judged the candidates of a task, which are no rows of a file; export it to every_eval_ever "
            "or eval_results."
        )
    path = str(run.input.get("path", "what was judged"))
    paths = list(given or ([path] if Path(path).exists() else path.split(", ")))
    for each in paths:
        if not Path(each).exists():
            raise InputError(f"{each} is not there; name what was judged with --input.")
    return paths


def judged_input(run: Run, paths: Sequence[str]) -> Input:
    """What lies at these paths. Raises InputError where its bytes are not those that were judged."""
    found = find_input(paths, judged_format(run))
    if found.sha256() != run.record["identity"].get("input_sha256"):
        raise InputError(
            f"{', '.join(paths)} is not what was judged in {run.folder}, as its content is another one; judge it "
            "again, or name what was judged with --input."
        )
    return found


def judged_format(run: Run) -> str | None:
    """The plain format of what was judged; None for a saved run of a tool, or several formats."""
    form = str(run.input.get("format"))
    return form if form in FORMATS else None


def judge_of(run: Run) -> str:
    """The judge's signature as one line."""
    return str(run.signature)
