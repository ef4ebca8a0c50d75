"""Judges of the same answers: how far they agree, where they do not, and which is correct there by human labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bert_judge.measures.agreement import RankCorrelation, interval_alpha, kendall_tau, majority, nominal_alpha
from bert_judge.measures.arrays import Integers, Numbers, np
from bert_judge.measures.labels import Confusion, ratio
from bert_judge.measures.paired import Differences
from bert_judge.measures.resampling import bootstrap_interval
from bert_judge.records import Row, Signature
from bert_judge.studies.measures import BootstrapSettings, Estimate, rate
from bert_judge.studies.pairing import check_matched
from bert_judge.studies.table import JudgeColumn, VerdictTable


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One judge: its rows, the undecided ones, the rate that it labels correct, and its accuracy by human labels.

    `alone` counts rows on which it is against the majority of three or more judges. The accuracy is over decided rows.
    """

    name: str
    signature: Signature
    rows: int
    undecided: int
    right: float | None
    labelled: int
    accuracy: float | None
    alone: int | None


@dataclass(frozen=True, slots=True)
class Dispute:
    """Which of two judges is correct, by human labels; the difference is the second's accuracy less the first's, over
    rows that both decided, and its p-value is by question.
    """

    rows: int
    questions: int
    first_right: int
    second_right: int
    difference: Estimate
    p_value: float


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges: the answers that both judged (`rows`) and labelled (`labelled`), how often each labels which way,
    the rate of equal labels, Cohen's kappa, and Kendall's tau-b of their scores. None where undefined.
    """

    first: str
    second: str
    rows: int
    labelled: int
    both_right: int
    only_first: int
    only_second: int
    both_wrong: int
    agreement: Estimate | None
    kappa: Estimate | None
    scores: RankCorrelation | None
    dispute: Dispute | None


@dataclass(frozen=True, slots=True)
class JudgesFound:
    """Judges of the same answers. `alpha` is Krippendorff's of labels, `score_alpha` that of scores where all are
    probabilities; `majority` is the accuracy of what most of three or more judges say, over rows where most agree.
    """

    rows: int
    questions: int
    disagreements: int
    judges: Sequence[JudgeAgreement]
    pairs: Sequence[JudgePair]
    alpha: float | None
    score_alpha: float | None
    majority: float | None
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer to which judges give different labels, and what each of them says; those that did not judge it aren't
    there.
    """

    row: Row
    verdicts: Mapping[str, Row]

    @property
    def gap(self) -> float:
        """How far the judges' scores are from each other."""
        scores = [row.score for row in self.verdicts.values() if row.score is not None]
        return max(scores, default=0.0) - min(scores, default=0.0)


def agree(table: VerdictTable, settings: BootstrapSettings | None = None) -> JudgesFound:
    """How far judges agree on the answers that two or more judged. Raises InputError where two have none in common."""
    settings = settings or BootstrapSettings()
    made = [_pair(table, *both, settings) for both in combinations(table.judges, 2)]
    shared = table.part(np.flatnonzero(np.sum([judge.judged for judge in table.judges], axis=0) > 1))
    several, probable = len(table.judges) > 2, all(judge.scale == "probability" for judge in table.judges)
    labels = [_or_none(judge.labels) for judge in shared.judges]
    votes = [majority(own) if several else None for own in zip(*labels, strict=True)]
    agreed = [vote == row.gold for vote, row in zip(votes, shared.rows, strict=True) if None not in (vote, row.gold)]
    return JudgesFound(
        rows=len(shared.rows),
        questions=len(set(shared.clusters)),
        disagreements=int(shared.disagree.sum()),
        judges=[_judge(judge, shared, votes, several) for judge in shared.judges],
        pairs=[pair for pair, _ in made],
        alpha=nominal_alpha(labels),
        score_alpha=interval_alpha(np.stack([judge.scores for judge in shared.judges])) if probable else None,
        majority=ratio(sum(agreed), len(agreed)),
        notes=[*(note for _, note in made if note), *_notes(table.judges)],
    )


def disagreements(table: VerdictTable) -> list[Disagreement]:
    """The answers with different labels, those with the most different scores first."""
    found = [
        Disagreement(table.rows[place], {each.name: said for each in table.judges if (said := each.verdicts[place])})
        for place in table.disagree.nonzero()[0].tolist()
    ]
    return sorted(found, key=lambda each: -each.gap)


def disagreement_records(table: VerdictTable) -> Iterator[dict[str, Any]]:
    """`disagreements` for a file: what the judges say, the majority, and which are correct by the human label."""
    for each in disagreements(table):
        row = each.row
        right = [name for name, own in each.verdicts.items() if own.label == row.gold]
        vote = majority([own.label for own in each.verdicts.values()])
        yield {
            "id": row.id,
            "question": row.question,
            "references": list(row.references),
            "candidate": row.candidate,
            **({"gold": row.gold, "right": right} if row.gold is not None else {}),
            **({"majority": vote} if len(table.judges) > 2 else {}),
            "judges": {name: {"score": own.score, "label": own.label} for name, own in each.verdicts.items()},
        }


def _or_none(labels: Integers) -> list[int | None]:
    return [None if label < 0 else label for label in labels.tolist()]


def _judge(judge: JudgeColumn, table: VerdictTable, votes: Sequence[int | None], several: bool) -> JudgeAgreement:
    decided = judge.labels >= 0
    labelled = decided & (table.golds >= 0)
    correct = int((labelled & (judge.labels == table.golds)).sum())
    said = zip(_or_none(judge.labels), votes, strict=True)
    return JudgeAgreement(
        judge.name,
        judge.signature,
        rows=int(judge.judged.sum()),
        undecided=int((judge.judged & ~decided).sum()),
        right=ratio(int((judge.labels == 1).sum()), int(decided.sum())),
        labelled=int(labelled.sum()),
        accuracy=ratio(correct, int(labelled.sum())),
        alone=sum(label != vote for label, vote in said if None not in (label, vote)) if several else None,
    )


def _pair(
    table: VerdictTable, first: JudgeColumn, second: JudgeColumn, settings: BootstrapSettings
) -> tuple[JudgePair, str | None]:
    """Two judges, and a sentence where they have few answers in common."""
    both = first.judged & second.judged
    ours, theirs = ([row for row in judge.verdicts if row is not None] for judge in (first, second))
    note = check_matched([table.rows[i] for i in both.nonzero()[0].tolist()], ours, theirs, (first.name, second.name))
    decided = both & (first.labels >= 0) & (second.labels >= 0)
    labels = np.stack([first.labels[decided], second.labels[decided]])
    cells = np.eye(4)[2 * labels[0] + labels[1]]
    both_wrong, only_second, only_first, both_right = map(int, cells.sum(axis=0))
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
        agreement=rate(labels[0] == labels[1], np.ones(len(clusters), bool), clusters),
        kappa=_kappa(cells, clusters, settings),
        scores=kendall_tau(first.scores[both], second.scores[both]),
        dispute=_dispute(labels, table.golds[decided], clusters, settings),
    ), note


def _kappa(cells: Numbers, clusters: Integers, settings: BootstrapSettings) -> Estimate | None:
    """Cohen's kappa with its interval by question; `cells` has a column for each way to label."""

    def drawn(weights: Numbers) -> float:
        found = Confusion(*(weights @ cells)).kappa
        return math.nan if found is None else found

    value = Confusion(*cells.sum(axis=0)).kappa
    if value is None:
        return None
    return Estimate.of(value, bootstrap_interval(drawn, clusters, resamples=settings.resamples, seed=settings.seed))


def _dispute(labels: Integers, golds: Integers, clusters: Integers, settings: BootstrapSettings) -> Dispute | None:
    """Which of two judges is correct by human labels; None where there are none."""
    labelled = golds >= 0
    if not labelled.any():
        return None
    ones, twos = (labels == golds)[:, labelled].astype(int)
    data = Differences.of(ones, twos, clusters[labelled])
    return Dispute(
        len(ones),
        data.clusters,
        int((ones > twos).sum()),
        int((twos > ones).sum()),
        Estimate.of(data.mean, data.interval(resamples=settings.resamples, seed=settings.seed)),
        data.p_value(),
    )


def _notes(judges: Sequence[JudgeColumn]) -> Iterator[str]:
    for signature in dict.fromkeys(judge.signature for judge in judges):
        same = [judge.name for judge in judges if judge.signature == signature]
        if len(same) > 1:
            yield (
                f"{', '.join(same)} are of the same judge on the same answers: there is nothing to compare but how far "
                "it repeats itself."
            )
    for judge in judges:
        labels = set(judge.labels[judge.labels >= 0].tolist())
        if len(labels) == 1:
            yield f"{judge.name} labels all rows {'correct' if 1 in labels else 'incorrect'}."
    if unlabelled := [judge.name for judge in judges if not (judge.labels >= 0).any()]:
        yield f"{', '.join(unlabelled)} gives no labels: only the order of its scores is compared."
