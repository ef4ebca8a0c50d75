"""Judges of the same answers: how far they agree, where they do not, and who is right there if people's labels say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from bert_judge.analysis.compare import Asked
from bert_judge.analysis.labels import Judged
from bert_judge.analysis.matching import Entry, answer_key, check_matched, fitting, numbered
from bert_judge.analysis.measures import Estimate
from bert_judge.analysis.results import Row
from bert_judge.stats.agreement import (
    RankCorrelation,
    interval_alpha,
    kendall_tau,
    majority,
    nominal_alpha,
)
from bert_judge.stats.labels import kappa_terms, ratio
from bert_judge.stats.paired import Differences
from bert_judge.stats.resampling import bootstrap_interval
from bert_judge.types import Signature

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class JudgeFound:
    """One judge: its rows, the undecided ones, the share that it labels right, and its accuracy by people's labels.

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
    """Who is right, by people's labels, where two judges disagree; the difference is the second's accuracy less the
    first's, over rows that both decided, and its p-value takes whole questions as the draws.
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
    the share of equal labels, Cohen's kappa, and Kendall's tau-b of their scores. None where undefined.
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
    judges: Sequence[JudgeFound]
    pairs: Sequence[JudgePair]
    alpha: float | None
    score_alpha: float | None
    majority: float | None
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All judges' verdicts on one answer: a row of each judge, None where it did not judge it."""

    rows: Sequence[Row | None]

    @property
    def any_row(self) -> Row:
        """The answer, from the first judge that has it with people's label, else from the first that has it."""
        there = [row for row in self.rows if row is not None]
        return next((row for row in there if row.gold is not None), there[0])

    @property
    def labels(self) -> list[int | None]:
        """The judges' labels."""
        return [None if row is None else row.label for row in self.rows]

    @property
    def differ(self) -> bool:
        """Whether two judges give different labels."""
        return len({label for label in self.labels if label is not None}) > 1

    @property
    def gap(self) -> float:
        """How far the judges' scores are from each other."""
        scores = [row.score for row in self.rows if row is not None and row.score is not None]
        return max(scores, default=0.0) - min(scores, default=0.0)


def judges_of(entries: Sequence[Entry]) -> list[Judged]:
    """The judges of entries, each with its verdicts on all models' answers."""
    judges: dict[str, list[Entry]] = {}
    for entry in entries:
        judges.setdefault(entry.judge, []).append(entry)
    rows = {name: [row for entry in own for row in entry.rows] for name, own in judges.items()}
    return [Judged(name, own[0].signature, own[0].scale, rows[name]) for name, own in judges.items()]


def together(entries: Sequence[Entry]) -> list[Verdicts]:
    """All answers that two or more judges judged, in the order in which they come; judges as `judges_of` has them."""
    key = fitting(answer_key, [entry.rows for entry in entries])
    judges = dict.fromkeys(entry.judge for entry in entries)
    rows = {(entry.judge, entry.model): entry.rows for entry in entries}
    verdicts = []
    for model in dict.fromkeys(entry.model for entry in entries):
        found = [numbered(rows.get((judge, model), ()), key) for judge in judges]
        names = dict.fromkeys(name for own in found for name in own)
        verdicts += [Verdicts([own.get(name) for own in found]) for name in names]
    return [each for each in verdicts if sum(row is not None for row in each.rows) > 1]


def agree(judges: Sequence[Judged], verdicts: Sequence[Verdicts], asked: Asked | None = None) -> JudgesFound:
    """How far judges agree; `verdicts` are theirs, from `together`. Raises InputError where two have no answer in
    common.
    """
    asked = asked or Asked()
    made = [_pair(i, j, judges, verdicts, asked) for i, j in combinations(range(len(judges)), 2)]
    votes = [majority(each.labels) if len(judges) > 2 else None for each in verdicts]
    golds = [each.any_row.gold for each in verdicts]
    told = [vote == gold for vote, gold in zip(votes, golds, strict=True) if vote is not None and gold is not None]
    return JudgesFound(
        rows=len(verdicts),
        questions=len({each.any_row.cluster for each in verdicts}),
        disagreements=sum(each.differ for each in verdicts),
        judges=[_judge(place, judge, verdicts, votes, len(judges) > 2) for place, judge in enumerate(judges)],
        pairs=[pair for pair, _ in made],
        alpha=nominal_alpha(list(zip(*(each.labels for each in verdicts), strict=True))),
        score_alpha=_score_alpha(judges, verdicts),
        majority=ratio(sum(told), len(told)),
        notes=_notes(judges, [note for _, note in made if note]),
    )


def disagreements(judges: Sequence[Judged], verdicts: Sequence[Verdicts]) -> Iterator[dict[str, Any]]:
    """A record of each answer with different labels: what the judges say, the majority, and by people's label who is
    right. Those with the largest difference in score come first.
    """
    names = [judge.name for judge in judges]
    for each in sorted((each for each in verdicts if each.differ), key=lambda each: -each.gap):
        row, labels = each.any_row, each.labels
        told = {
            name: {"score": own.score, "label": own.label}
            for name, own in zip(names, each.rows, strict=True)
            if own is not None
        }
        right = [name for name, label in zip(names, labels, strict=True) if label == row.gold]
        yield {
            "id": row.id,
            "question": row.question,
            "references": list(row.references),
            "candidate": row.candidate,
            **({"gold": row.gold, "right": right} if row.gold is not None else {}),
            **({"majority": majority(labels)} if len(judges) > 2 else {}),
            "judges": told,
        }


def _judge(
    place: int, judge: Judged, verdicts: Sequence[Verdicts], votes: Sequence[int | None], several: bool
) -> JudgeFound:
    labels = [each.labels[place] for each in verdicts if each.rows[place] is not None]
    decided = [label for label in labels if label is not None]
    golds = [(each.labels[place], each.any_row.gold) for each in verdicts]
    told = [label == gold for label, gold in golds if label is not None and gold is not None]
    pairs = [(each.labels[place], vote) for each, vote in zip(verdicts, votes, strict=True)]
    alone = sum(label is not None and vote is not None and label != vote for label, vote in pairs)
    return JudgeFound(
        judge.name,
        judge.signature,
        rows=len(labels),
        undecided=len(labels) - len(decided),
        right=ratio(sum(decided), len(decided)),
        labelled=len(told),
        accuracy=ratio(sum(told), len(told)),
        alone=alone if several else None,
    )


def _pair(
    one: int, two: int, judges: Sequence[Judged], verdicts: Sequence[Verdicts], asked: Asked
) -> tuple[JudgePair, str | None]:
    """Two judges, and a sentence where they have few answers in common."""
    names = (judges[one].name, judges[two].name)
    both = [(a, b, v) for v in verdicts if (a := v.rows[one]) is not None and (b := v.rows[two]) is not None]
    note = check_matched([a for a, *_ in both], judges[one].rows, judges[two].rows, names)
    labelled = [(a.label, b.label, v) for a, b, v in both if a.label is not None and b.label is not None]
    counts = Counter((a, b) for a, b, _ in labelled)
    scores = [[float("nan") if row.score is None else row.score for row in own[:2]] for own in both]
    agreement, kappa = _agreement([(a, b) for a, b, _ in labelled], [v.any_row.cluster for *_, v in labelled], asked)
    return JudgePair(
        *names,
        rows=len(both),
        labelled=len(labelled),
        both_right=counts[1, 1],
        only_first=counts[1, 0],
        only_second=counts[0, 1],
        both_wrong=counts[0, 0],
        agreement=agreement,
        kappa=kappa,
        scores=kendall_tau(*zip(*scores, strict=True)),
        dispute=_dispute([(a, b, v.any_row) for a, b, v in labelled if v.any_row.gold is not None], asked),
    ), note


def _agreement(
    labels: Sequence[tuple[int, int]], clusters: Sequence[str], asked: Asked
) -> tuple[Estimate | None, Estimate | None]:
    """The share of equal labels and Cohen's kappa, with intervals that draw whole questions."""
    import numpy as np

    if not labels:
        return None, None
    cells = np.eye(4)[[2 * one + two for one, two in labels]]
    drawn = {"resamples": asked.resamples, "seed": asked.seed}
    kappa = ratio(*kappa_terms(*cells.sum(axis=0)))

    def kappa_drawn(weights: NDArray[np.float64]) -> float:
        found = ratio(*kappa_terms(*(weights @ cells)))
        return float("nan") if found is None else found

    share = float((cells[:, 0] + cells[:, 3]).mean())
    between = bootstrap_interval(lambda w: float(w @ (cells[:, 0] + cells[:, 3]) / w.sum()), clusters, **drawn)
    found = Estimate(share, *(between or (None, None)))
    if kappa is None:
        return found, None
    return found, Estimate(kappa, *(bootstrap_interval(kappa_drawn, clusters, **drawn) or (None, None)))


def _dispute(rows: Sequence[tuple[int, int, Row]], asked: Asked) -> Dispute | None:
    """Who is right by people's labels; None where there are none."""
    if not rows:
        return None
    right = [[int(label == row.gold) for label in labels] for *labels, row in rows]
    ones, twos = zip(*right, strict=True)
    data = Differences.of(ones, twos, [row.cluster for *_, row in rows])
    between = data.interval(resamples=asked.resamples, seed=asked.seed) or (None, None)
    first_right = sum(one > two for one, two in right)
    second_right = sum(two > one for one, two in right)
    return Dispute(len(rows), data.clusters, first_right, second_right, Estimate(data.mean, *between), data.p_value())


def _score_alpha(judges: Sequence[Judged], verdicts: Sequence[Verdicts]) -> float | None:
    """Krippendorff's alpha of scores; None where a judge's are no probabilities, or outside [0, 1]."""
    import numpy as np

    if any(judge.scale != "probability" for judge in judges):
        return None
    scores = [
        [float("nan") if row is None or row.score is None else row.score for row in each.rows] for each in verdicts
    ]
    values = np.asarray(scores, float).T
    there = values[np.isfinite(values)]
    return interval_alpha(values) if len(there) and there.min() >= 0 and there.max() <= 1 else None


def _notes(judges: Sequence[Judged], notes: Sequence[str]) -> list[str]:
    found = list(notes)
    for signature in dict.fromkeys(judge.signature for judge in judges):
        same = [judge.name for judge in judges if judge.signature == signature]
        if len(same) > 1:
            found.append(
                f"{', '.join(same)} are of the same judge on the same answers: there is nothing to compare but how far "
                "it repeats itself."
            )
    found += [
        f"{judge.name} labels all rows {'right' if labels == {1} else 'wrong'}."
        for judge in judges
        if len(labels := {row.label for row in judge.rows if row.label is not None}) == 1
    ]
    unlabelled = [judge.name for judge in judges if all(row.label is None for row in judge.rows)]
    if unlabelled:
        found.append(f"{', '.join(unlabelled)} gives no labels: only the order of its scores is compared.")
    return found
