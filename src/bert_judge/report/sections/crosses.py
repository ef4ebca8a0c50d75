"""Tasks by models: the rate that each judge labels correct of each model's answers to each task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.measures import Estimate
from bert_judge.measures.arrays import Integers, np
from bert_judge.report.document import Content, Table
from bert_judge.report.sections.base import MODELS, MOST_SHOWN, Findings, Section, estimate_cell, judged_correct
from bert_judge.studies.table import Facet, JudgeColumn


@dataclass(frozen=True, slots=True)
class Cross:
    """One judge's rates; `cells` has a line for each task, a column for each model."""

    judge: str
    tasks: Sequence[str]
    models: Sequence[str]
    cells: Sequence[Sequence[Estimate]]


def crosses_section(findings: Findings) -> Section | None:
    """A table for each judge, where the input has several tasks and several models."""
    table, task, model = findings.table, findings.facet("task"), findings.facet(*MODELS)
    if not task or not model:
        return None
    crosses = [_cross(judge, task, model, table.clusters) for judge in table.judges]
    return Section("crosses", crosses, [*map(_table, crosses)])


def _cross(judge: JudgeColumn, task: Facet, model: Facet, questions: Integers) -> Cross:
    of_task, of_model = np.asarray(task.codes), np.asarray(model.codes)
    tasks, models = _most(task), _most(model)
    cells = [
        [judged_correct(judge, (of_task == line) & (of_model == column), questions) for column in models]
        for line in tasks
    ]
    return Cross(judge.name, [task.levels[code] for code in tasks], [model.levels[code] for code in models], cells)


def _most(facet: Facet) -> list[int]:
    """The levels with the most rows, in the order of the facet."""
    counts = Counter(code for code in facet.codes if code >= 0)
    return sorted(code for code, _ in counts.most_common(MOST_SHOWN))


def _table(cross: Cross) -> Table:
    rates = any(cell.interval for line in cross.cells for cell in line)
    title = f"{'Rate correct' if rates else 'Mean score'} by task and model"
    body: list[list[Content]] = [
        [task, *(estimate_cell(cell, brackets=False) for cell in line)]
        for task, line in zip(cross.tasks, cross.cells, strict=True)
    ]
    return Table(title, ["task", *cross.models], body, of=cross.judge)
