"""What the formats share: options, the files they make, what was judged, and its figures by task and model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final

from bert_judge.errors import InputError, OutputError
from bert_judge.inputs.files import FORMATS, Input
from bert_judge.inputs.finding import find_input
from bert_judge.measures import Estimate, rate
from bert_judge.records import Row
from bert_judge.results import write_files
from bert_judge.results.runs import Run

CANDIDATES_FORMAT: Final = "candidates"
"""The input format in `run.json` of `bert-judge judge`: `TASK/MODEL/candidates.json`."""

_NAME = re.compile(r"[A-Za-z]\w*")
_NOT_IN_A_PATH = re.compile(r"[^\w.+=-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The options of all formats; each reads those that concern it."""

    input: Annotated[tuple[str, ...] | None, "what was judged, if it has moved"] = None
    name: Annotated[str, "name of our score in a log, and prefix of our columns"] = "bert_judge"
    task: Annotated[str | None, "only the rows of this task"] = None
    model: Annotated[str | None, "whose answers they are, if the rows do not say so"] = None
    dataset: Annotated[str | None, "id of the task's data set on the Hub, like openai/gsm8k"] = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(f"the name is {self.name!r}; letters, digits and _, a letter first, were expected.")


@dataclass(frozen=True, slots=True)
class Exported:
    """Files to write, by their paths below the output folder.

    `summary` says in a few words what they are, `notes` what a reader has to know. `sources` are files that were read,
    which writing never replaces.
    """

    files: Mapping[str, str | Iterable[str | bytes]]
    summary: str
    notes: Sequence[str] = ()
    sources: Sequence[Path] = ()


def write_exported(exported: Exported, folder: Path, overwrite: bool = False) -> None:
    """Write each file in one step. Raises OutputError for a file that exists (unless `overwrite`) or is a source."""
    sources = {path.resolve() for path in exported.sources}
    for name in exported.files:
        path = folder / name
        if path.resolve() in sources:
            raise OutputError(f"{path} is what was judged, which is never replaced; choose another folder.")
        if path.exists() and not overwrite:
            raise OutputError(f"{path} exists already; choose another folder, or replace it with overwrite=True.")
    for name, content in exported.files.items():
        path = folder / name
        write_files(path.parent, {path.name: content})


def judged_input(run: Run, paths: Sequence[str] | None) -> tuple[list[str], Input]:
    """What was judged: at these paths, by default at those in `run.json`.

    Raises InputError where it does not exist or has changed.
    """
    if run.input.get("format") == CANDIDATES_FORMAT:
        raise InputError(
            f"{run.folder} judged the candidates of a task, which are no rows of a file; export it to every_eval_ever."
        )
    path = str(run.input.get("path", "what was judged"))
    judged = list(paths or ([path] if Path(path).exists() else path.split(", ")))
    for path in judged:
        if not Path(path).exists():
            raise InputError(f"{path} does not exist; name what was judged as input.")
    files = find_input(judged, plain_format(run))
    if files.sha256() != run.record["identity"].get("input_sha256"):
        raise InputError(
            f"{', '.join(judged)} is not what was judged in {run.folder}, as its content is another one; judge it "
            "again, or name what was judged as input."
        )
    return judged, files


def plain_format(run: Run) -> str | None:
    """The format of what was judged; None for a saved run of a tool, or several formats."""
    name = str(run.input.get("format"))
    return name if name in FORMATS else None


def started(run: Run) -> str | None:
    """When the judge started, in the format of ISO 8601."""
    time: str | None = run.record.get("timings", {}).get("started")
    return time


@dataclass(frozen=True)
class TaskVerdicts:
    """The verdicts on a model's answers to a task: `rows` have a label, and `undecided` counts the rows without."""

    task: str
    model: str
    rows: Sequence[Row]
    undecided: int

    @cached_property
    def accuracy(self) -> Estimate:
        """The share of answers that the judge calls correct, by question."""
        return rate([row.label == 1 for row in self.rows], [row.cluster for row in self.rows])


def by_task(run: Run, options: ExportOptions) -> list[TaskVerdicts]:
    """The verdicts of each task and model, without those that have no label at all.

    Raises InputError where none is left, no row is of the task in the options, or a model is unknown.
    """
    rows: dict[tuple[str, str], list[Row]] = {}
    file_task, file_model = _names_in_path(run)
    for row in run.rows:
        task = str(row.meta.get("task") or file_task)
        if options.task in (None, task):
            rows.setdefault((task, str(row.meta.get("model") or options.model or file_model)), []).append(row)
    if not rows:
        tasks = ", ".join(dict.fromkeys(str(row.meta.get("task") or file_task) for row in run.rows))
        raise InputError(f"{run.folder} has no task {options.task}; its tasks: {tasks}.")
    if any(not model for _, model in rows):
        raise InputError(f"{run.folder} does not say whose answers it has; name the model, as in model='NAME'.")
    verdicts = []
    for names, answers in rows.items():
        labelled = [row for row in answers if row.label is not None]
        verdicts.append(TaskVerdicts(*names, labelled, len(answers) - len(labelled)))
    verdicts = [one for one in verdicts if one.rows]
    if not verdicts:
        raise InputError(
            f"{run.folder} has no answer that is judged correct or incorrect; judge again with a threshold, or with a "
            "judge that gives labels."
        )
    return verdicts


def _names_in_path(run: Run) -> tuple[str, str]:
    """Task and model of rows that name none: from the path of candidates, else the file's name and no model."""
    path = Path(str(run.input.get("path", run.name)))
    if run.input.get("format") == CANDIDATES_FORMAT:
        return path.parent.parent.name, path.parent.name
    return path.stem, ""


def in_a_path(name: str) -> str:
    """The name of a model or task as that of one file or folder."""
    return _NOT_IN_A_PATH.sub("_", name).rstrip(".") or "_"
