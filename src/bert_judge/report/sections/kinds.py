"""Kinds of rows (task, model, source …): the rate that is correct at each level, by human labels and by each judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.measures import Estimate
from bert_judge.measures.arrays import np
from bert_judge.report.document import Content, Table
from bert_judge.report.sections.base import (
    MOST_SHOWN,
    Findings,
    Section,
    correct_rate,
    estimate_cell,
    judged_correct,
)
from bert_judge.studies.table import Facet, VerdictTable
from bert_judge.wording import INTERVALS

_TABLES = 6  # kinds of rows that have a table


@dataclass(frozen=True, slots=True)
class Level:
    """The rows of one level of a kind: how many, the rate correct by human labels, and by each judge."""

    name: str
    rows: int
    gold: Estimate | None
    judges: Sequence[Estimate]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows, its largest levels, and how many more it has."""

    name: str
    levels: Sequence[Level]
    left_out: int


def kinds_section(findings: Findings) -> Section | None:
    """A table for each of the first kinds of rows."""
    table = findings.table
    kinds = [_kind(facet, table) for facet in table.facets[:_TABLES]]
    return Section("kinds", kinds, [_table(kind, table) for kind in kinds]) if kinds else None


def _kind(facet: Facet, table: VerdictTable) -> Kind:
    codes = np.asarray(facet.codes)
    counts = Counter(facet.codes)
    largest = sorted(counts, key=lambda code: (-counts[code], code))[:MOST_SHOWN]
    levels = [
        Level(
            facet.levels[code] if code >= 0 else "(none)",
            counts[code],
            correct_rate(table.golds[codes == code], table.clusters[codes == code]) if table.labels else None,
            [judged_correct(judge, codes == code, table.clusters) for judge in table.judges],
        )
        for code in sorted(largest, key=lambda code: (code < 0, code))
    ]
    return Kind(facet.name, levels, len(counts) - len(levels))


def _table(kind: Kind, table: VerdictTable) -> Table:
    labelled, cells = table.labels is not None, [cell for level in kind.levels for cell in level.judges]
    body: list[list[Content]] = [
        [
            level.name,
            level.rows,
            *([estimate_cell(level.gold)] if labelled else []),
            *map(estimate_cell, level.judges),
        ]
        for level in kind.levels
    ]
    head = [kind.name, "rows", *(["human labels"] if labelled else []), *(judge.name for judge in table.judges)]
    notes = [INTERVALS]
    if any(cell.value is not None and cell.interval is None for cell in cells):
        notes.append("of a judge without labels: its mean score")
    if kind.left_out:
        notes.append(f"{kind.left_out} smaller ones are left out")
    return Table(f"Rate correct by {kind.name}", head, body, "; ".join(notes))
