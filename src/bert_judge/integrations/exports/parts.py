"""A result in parts, one for each task and model, as formats of results have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bert_judge.errors import InputError
from bert_judge.integrations.exports.base import CANDIDATES_FORMAT, ExportOptions
from bert_judge.measures import Estimate, rate
from bert_judge.results.runs import Row, Run

_OTHER = re.compile(r"[^\w.+=-]+")


@dataclass(frozen=True)
class Part:
    """The verdicts on a model's answers to a task: `rows`, at least one, have a label; `undecided` counts others."""

    task: str
    model: str
    rows: Sequence[Row]
    undecided: int

    @cached_property
    def accuracy(self) -> Estimate:
        """The rate of answers that the judge calls correct, by question."""
        return rate([row.label == 1 for row in self.rows], [row.cluster for row in self.rows])

    def described(self) -> str:
        """How many rows there are: `98 answers, 2 undecided ones left out`."""
        left = f", {self.undecided:,} undecided ones left out" if self.undecided else ""
        return f"{len(self.rows):,} answers{left}"


def parts_of(run: Run, options: ExportOptions) -> list[Part]:
    """The parts of a result, in their order; those without a label are left out.

    Raises InputError where there is none, or no row of the task that is asked for, or no model is known.
    """
    rows: dict[tuple[str, str], list[Row]] = {}
    task_of_all, model_of_all = _whose(run)
    for row in run.rows:
        task = str(row.meta.get("task") or task_of_all)
        if options.task in (None, task):
            rows.setdefault((task, str(row.meta.get("model") or options.model or model_of_all)), []).append(row)
    if not rows:
        tasks = ", ".join(dict.fromkeys(str(row.meta.get("task") or task_of_all) for row in run.rows))
        raise InputError(f"{run.folder} has no task {options.task}; its tasks: {tasks}.")
    if any(not model for _, model in rows):
        raise InputError(f"{run.folder} does not say whose answers it has; name the model with --model.")
    parts = [Part(*of, [row for row in own if row.label is not None], 0) for of, own in rows.items()]
    counted = [
        Part(part.task, part.model, part.rows, len(own) - len(part.rows))
        for part, own in zip(parts, rows.values(), strict=True)
        if part.rows
    ]
    if not counted:
        raise InputError(
            f"{run.folder} has no answer that is judged correct or incorrect; run score with --threshold X, or with a "
            "judge that gives labels."
        )
    return counted


def _whose(run: Run) -> tuple[str, str]:
    """The task and the model of rows that name none: those in the path of candidates, else the name of the file."""
    path = Path(str(run.input.get("path", run.name)))
    if run.input.get("format") == CANDIDATES_FORMAT:
        return path.parent.parent.name, path.parent.name
    return path.stem, ""


def in_a_path(name: str) -> str:
    """A name of a model or task as that of one file or folder: what may not be in it is `_`, and no dot ends it."""
    return _OTHER.sub("_", name).rstrip(".") or "_"
