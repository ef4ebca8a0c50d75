"""Accuracies without the judge's error, of all answers or of each model's, where some answers have human labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bert_judge.errors import InputError
from bert_judge.report.document import Content, Table
from bert_judge.report.sections import Findings, Section, estimate_cell
from bert_judge.studies.compare import corrected_models, model_places
from bert_judge.studies.groups import CorrectedGroups
from bert_judge.wording import INTERVALS, interval, points

MOST_PAIRS = 15
"""The most pairs of models that a terminal and a page show."""

_HOW = "corrected by PPI++; the human labels are taken as drawn by chance"
_HOW_PAIRED = "PPI++ of paired answers, with a tuning of its own: not quite the difference of the accuracies"


@dataclass(frozen=True, slots=True)
class CorrectedJudge:
    """A judge with the groups that were corrected, and what these are."""

    judge: str
    by: str
    groups: CorrectedGroups


def corrected_section(findings: Findings) -> Section | None:
    """The corrected accuracies by each judge; of each model, where a column names it, with their differences."""
    table = findings.table
    if not table.labels:
        return None
    data = [CorrectedJudge(of.judge, "model", of.corrected) for of in findings.comparisons if of.corrected]
    by = next((facet.name for facet in table.facets if facet.name in ("model", "candidate_model")), "")
    models = [row.meta.get(by) if by else "all answers" for row in table.rows]
    for judge in () if findings.comparisons else table.judges:
        try:
            groups = corrected_models(table, judge, model_places(table, judge.judged, models))
        except InputError as error:
            return Section("corrected", [], [Table("Corrected accuracy", ["none"], [], str(error))])
        if groups and (by or groups.accuracies[0].corrected.value is not None):
            data.append(CorrectedJudge(judge.name, by, groups))
    blocks = [block for judge in data for block in corrected_tables(judge.groups, judge.by, judge.judge)]
    return Section("corrected", data, blocks) if data else None


def corrected_tables(groups: CorrectedGroups, by: str, of: str = "", level: str = INTERVALS) -> Iterator[Table]:
    """Each group, and each difference; `by` says what the groups are, `of` whose the verdicts, `level` which intervals.

    Notes stand below the groups.
    """
    body: list[list[Content]] = [
        [group.name, group.rows, group.labels, estimate_cell(group.judge), estimate_cell(group.corrected)]
        for group in groups.accuracies
    ]
    below = ";\n".join([level, _HOW, *(note.rstrip(".") for note in groups.notes)])
    yield Table("Corrected accuracy", [by, "rows", "labels", "judge as it is", "corrected"], body, below, of)
    if groups.differences:
        pairs: list[list[Content]] = [
            [
                f"{pair.second} minus {pair.first}",
                *(pair.pairs, pair.labels, pair.both),
                *(points(pair.judge), interval(pair.corrected, points)),
            ]
            for pair in groups.differences[:MOST_PAIRS]
        ]
        left = len(groups.differences) - len(pairs)
        more = f";\n{left:,} more pairs are only in JSON" if left > 0 else ""
        head = ["second minus first", "pairs", "labels", "both labelled", "judge as it is", "corrected"]
        yield Table("Corrected differences, in points", head, pairs, _HOW_PAIRED + more, of)
