"""Judges of the same answers: how far they agree, and where they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bert_judge.measures.agreement import kappa_of_judges
from bert_judge.measures.arrays import Integers, np
from bert_judge.measures.estimates import BootstrapSettings, Estimate, rate
from bert_judge.measures.paired import RankCorrelation, kendall_tau
from bert_judge.records import Row, Signature
from bert_judge.studies.pairing import check_matched
from bert_judge.studies.table import JudgeColumn, VerdictTable


@dataclass(frozen=True, slots=True)
class PanelJudge:
    """One of several judges: its rows, the undecided ones, the rate that it labels correct, and its accuracy by human
    labels, over decided rows.

    `alone` counts rows on which it is against the majority of three or more judges; None for two.
    """

    name: str
    signature: Signature
    rows: int
    undecided: int
    right: Estimate
    accuracy: Estimate
    alone: int | None


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges: the answers that both judged (`rows`) and labelled (`labelled`), how often each labels which way,
    the rate of equal labels, Cohen's kappa, and Kendall's tau-b of their scores, None where undefined.
    """

    first: str
    second: str
    rows: int
    labelled: int
    both_right: int
    only_first: int
    only_second: int
    both_wrong: int
    agreement: Estimate
    kappa: Estimate
    scores: RankCorrelation | None


@dataclass(frozen=True, slots=True)
class Panel:
    """Judges of the same answers."""

    rows: int
    questions: int
    disagreements: int
    judges: Sequence[PanelJudge]
    pairs: Sequence[JudgePair]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer to which judges give different labels, and the verdicts of those that judged it."""

    row: Row
    verdicts: Mapping[str, Row]

    @property
    def gap(self) -> float:
        """How far the judges' scores are from each other."""
        scores = [row.score for row in self.verdicts.values() if row.score is not None]
        return max(scores, default=0.0) - min(scores, default=0.0)


def agree(table: VerdictTable, bootstrap: BootstrapSettings | None = None) -> Panel:
    """How far judges agree on the answers that two or more judged. Raises InputError where two have none in common."""
    bootstrap = bootstrap or BootstrapSettings()
    pairs = [_pair(table, first, second, bootstrap) for first, second in combinations(table.judges, 2)]
    shared = table.part(np.flatnonzero(np.sum([judge.judged for judge in table.judges], axis=0) > 1))
    votes = _votes(shared) if len(table.judges) > 2 else None
    return Panel(
        rows=len(shared.rows),
        questions=len(set(shared.clusters)),
        disagreements=int(shared.disagree.sum()),
        judges=[_judge(judge, shared, votes) for judge in shared.judges],
        pairs=[pair for pair, _ in pairs],
        notes=[*(note for _, note in pairs if note), *_notes(table.judges)],
    )


def _votes(table: VerdictTable) -> Integers:
    """The label that most judges give to each answer, -1 in a tie."""
    labels = np.stack([judge.labels for judge in table.judges])
    lead = (labels == 1).sum(axis=0) - (labels == 0).sum(axis=0)
    return np.where(lead == 0, -1, (lead > 0).astype(int))


def disagreements(table: VerdictTable) -> list[Disagreement]:
    """The answers with different labels, those with the most different scores first."""
    differing = []
    for place in table.disagree.nonzero()[0].tolist():
        verdicts = {judge.name: judge.verdicts[place] for judge in table.judges}
        judged = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
        differing.append(Disagreement(table.rows[place], judged))
    return sorted(differing, key=lambda disagreement: -disagreement.gap)


def disagreement_records(table: VerdictTable) -> Iterator[dict[str, Any]]:
    """`disagreements` for a file: the judges' scores and labels, and the human label."""
    for disagreement in disagreements(table):
        row, verdicts = disagreement.row, disagreement.verdicts
        yield {
            "id": row.id,
            "question": row.question,
            "references": list(row.references),
            "candidate": row.candidate,
            **({"gold": row.gold} if row.gold is not None else {}),
            "judges": {name: {"score": verdict.score, "label": verdict.label} for name, verdict in verdicts.items()},
        }


def _judge(judge: JudgeColumn, table: VerdictTable, votes: Integers | None) -> PanelJudge:
    """A judge beside the votes of the majority, None for two judges."""
    decided = judge.labels >= 0
    return PanelJudge(
        judge.name,
        judge.signature,
        rows=int(judge.judged.sum()),
        undecided=int((judge.judged & ~decided).sum()),
        right=rate(judge.labels[decided] == 1, table.clusters[decided]),
        accuracy=table.agreement(judge),
        alone=None if votes is None else int((decided & (votes >= 0) & (judge.labels != votes)).sum()),
    )


def _pair(
    table: VerdictTable, first: JudgeColumn, second: JudgeColumn, bootstrap: BootstrapSettings
) -> tuple[JudgePair, str | None]:
    """Two judges, and a sentence where they have few answers in common."""
    both = first.judged & second.judged
    shared = [table.rows[place] for place in both.nonzero()[0].tolist()]
    sides = [[row for row in judge.verdicts if row is not None] for judge in (first, second)]
    note = check_matched(shared, sides[0], sides[1], (first.name, second.name))
    decided = both & (first.labels >= 0) & (second.labels >= 0)
    one, two = first.labels[decided], second.labels[decided]
    both_wrong, only_second, only_first, both_right = np.bincount(2 * one + two, minlength=4).tolist()
    clusters = table.clusters[decided]
    return JudgePair(
        first.name,
        second.name,
        rows=int(both.sum()),
        labelled=int(decided.sum()),
        both_right=both_right,
        only_first=only_first,
        only_second=only_second,
        both_wrong=both_wrong,
        agreement=rate(one == two, clusters),
        kappa=kappa_of_judges(one, two, clusters, bootstrap),
        scores=kendall_tau(first.scores[both], second.scores[both]),
    ), note


def _notes(judges: Sequence[JudgeColumn]) -> Iterator[str]:
    for signature in dict.fromkeys(judge.signature for judge in judges):
        same = [judge.name for judge in judges if judge.signature == signature]
        if len(same) > 1:
            yield (
                f"{', '.join(same)} are of the same judge on the same answers: they only show how far it repeats "
                "itself."
            )
    for judge in judges:
        labels = set(judge.labels[judge.labels >= 0].tolist())
        if len(labels) == 1:
            yield f"{judge.name} labels all rows {'correct' if 1 in labels else 'incorrect'}."
    if unlabelled := [judge.name for judge in judges if not (judge.labels >= 0).any()]:
        yield f"{', '.join(unlabelled)} gives no labels: only the order of its scores is compared."
