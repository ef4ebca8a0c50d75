"""Judges against people: how often they agree, where they do not, and from which score on to trust them.

judged = Judged("starter", judge.signature, judge.scale, verdicts)
rows, judges = aligned(rows_of(open_source("labelled.jsonl")), [judged])
found = evaluate(rows, judges)
found.judges[0].estimates["accuracy"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bert_judge.analysis.findings import ChosenThreshold, Comparison, Evaluation, JudgeFound, Questions, SliceFound
from bert_judge.analysis.labels import Judged, repeated_notes
from bert_judge.analysis.measures import Answers, Estimate, measure
from bert_judge.analysis.results import Row
from bert_judge.analysis.slices import Slice, is_small, slices
from bert_judge.analysis.teacher import Teacher, teacher_errors
from bert_judge.errors import InputError
from bert_judge.stats.calibration import reliability
from bert_judge.stats.discrimination import (
    Threshold,
    best_f1,
    cross_fitted,
    for_precision,
    for_recall,
    most_accurate,
    risk_coverage,
)
from bert_judge.stats.labels import Confusion
from bert_judge.stats.paired import Differences, holm
from bert_judge.types import Scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


_MEANING: Mapping[Scale, str] = {
    "probability": "undecided",
    "score": "on a scale of their own",
    "decision": "decisions, 1 or 0",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The rows of one evaluation, in columns."""

    rows: Sequence[Row]
    golds: NDArray[np.int64]
    clusters: Sequence[str]


def evaluate(
    rows: Sequence[Row],
    judges: Sequence[Judged],
    asked: Questions | None = None,
    teacher: Teacher | None = None,
) -> Evaluation:
    """Compare what judges say of labelled rows with the labels; both as `labelled.aligned` returns them.

    Raises InputError where a threshold is outside a judge's scores, or a column of `by` is not there.
    """
    import numpy as np

    asked = asked or Questions()
    table = _Table(rows, np.asarray([row.gold for row in rows], np.int64), [row.cluster for row in rows])
    told = [_answers(judge, table, asked.threshold) for judge in judges]
    answers = [each for each, _ in told]
    whole = measure(table.golds, answers, table.clusters, asked.resamples, asked.seed)
    parts = list(slices(rows, asked.by))
    named = zip(judges, told, whole.estimates, strict=True)
    return Evaluation(
        rows=len(rows),
        questions=len(set(table.clusters)),
        right=float(table.golds.mean()),
        judges=[_judge(judge, own, labels, estimates, table, asked) for judge, (own, labels), estimates in named],
        comparisons=_comparisons(judges, answers, table, whole.differences),
        slices=[_slice(part, answers, table, asked) for part in parts],
        teacher=teacher_errors(teacher, judges, answers, table.golds, table.clusters, parts) if teacher else (),
        notes=_notes(judges, told, len(rows), asked),
    )


def _answers(judge: Judged, table: _Table, threshold: float | None) -> tuple[Answers, str]:
    """A judge's scores and labels, and where the labels are from."""
    import numpy as np

    scores = np.asarray([np.nan if row.score is None else row.score for row in judge.rows], float)
    labels = np.asarray([-1 if row.label is None else row.label for row in judge.rows], np.int64)
    scored = np.isfinite(scores)
    probable = judge.scale == "probability" and bool(scored.any())
    if threshold is not None:
        _check_threshold(judge.name, threshold, scores[scored])
        return Answers(scores, np.where(scored, scores >= threshold, -1), probable), f"scores from {threshold:g} on"
    if (labels >= 0).any() or not scored.any():
        return Answers(scores, labels, probable), "its own"
    golds, clusters = table.golds[scored], [table.clusters[place] for place in np.flatnonzero(scored).tolist()]
    labels[scored] = cross_fitted(scores[scored], golds, clusters, most_accurate)
    return Answers(scores, labels, probable), "scores from a threshold on that was chosen on other rows"


def _check_threshold(name: str, threshold: float, scores: NDArray[np.float64]) -> None:
    if len(scores) and not scores.min() <= threshold <= scores.max():
        raise InputError(
            f"the threshold {threshold:g} is outside the scores of {name}, which are on another scale "
            f"({scores.min():.3g} to {scores.max():.3g}); give one in between, or none."
        )


def _judge(
    judge: Judged, answers: Answers, labels: str, estimates: Mapping[str, Estimate], table: _Table, asked: Questions
) -> JudgeFound:
    import numpy as np

    scored = np.isfinite(answers.scores)
    confidence = _confidence(answers)
    told = scored & (answers.labels >= 0)
    wrong = (answers.labels != table.golds) & (answers.labels >= 0)
    curve = risk_coverage(confidence[told], wrong[told].astype(int)) if told.any() else None
    return JudgeFound(
        name=judge.name,
        signature=judge.signature,
        probable=answers.probable,
        labels=labels,
        rows=len(table.rows),
        undecided=int((answers.labels < 0).sum()),
        estimates=estimates,
        thresholds=_thresholds(answers.part(np.flatnonzero(scored)), table, np.flatnonzero(scored), asked),
        bins=reliability(answers.scores[scored], table.golds[scored]) if answers.probable else (),
        curve=curve,
        disagreements=int(wrong.sum()),
        worst=_worst(judge, answers.labels, table, confidence, asked.worst),
    )


def _confidence(answers: Answers) -> NDArray[np.float64]:
    """How sure a judge is of its labels: the label's probability, or how far the score is from where labels change."""
    import numpy as np

    scores = answers.scores
    if answers.probable:
        return np.where(answers.labels == 1, scores, 1 - scores)
    low, high = (scores[(answers.labels == label) & np.isfinite(scores)] for label in (0, 1))
    edges = [*([low.max()] if len(low) else []), *([high.min()] if len(high) else [])]
    return np.abs(scores - np.mean(edges)) if edges else scores


def _thresholds(answers: Answers, table: _Table, places: NDArray[np.int64], asked: Questions) -> list[ChosenThreshold]:
    """The thresholds for each purpose, on the rows (`places`) that have a score."""
    golds = table.golds[places]
    clusters = [table.clusters[place] for place in places.tolist()]
    if len(set(clusters)) < 2:
        return []
    choices: dict[str, Callable[[ArrayLike, ArrayLike], Threshold | None]] = {
        "best accuracy": most_accurate,
        "best F1": best_f1,
        f"precision of {asked.min_precision:g}": partial(for_precision, precision=asked.min_precision),
        f"recall of {asked.min_recall:g}": partial(for_recall, recall=asked.min_recall),
    }
    found = []
    for purpose, choose in choices.items():
        elsewhere = cross_fitted(answers.scores, golds, clusters, choose)
        pairs = zip(golds.tolist(), elsewhere.tolist(), strict=True)
        found.append(ChosenThreshold(purpose, choose(answers.scores, golds), Confusion.count(pairs)))
    return found


def _worst(
    judge: Judged, labels: NDArray[np.int64], table: _Table, confidence: NDArray[np.float64], most: int
) -> list[Row]:
    """The disagreements of which the judge was surest, one a question; with the label and columns of the input."""
    import numpy as np

    places = np.flatnonzero((labels >= 0) & (labels != table.golds))
    found: dict[str, Row] = {}
    for place in places[np.argsort(-confidence[places], kind="stable")].tolist():
        if len(found) == most:
            break
        said, row = judge.rows[place], table.rows[place]
        if table.clusters[place] not in found:
            found[table.clusters[place]] = Row(
                *(row.id, said.score, int(labels[place]), row.gold, row.question, row.references, row.candidate),
                *(said.explanation, said.matched_reference, said.truncated, said.details, row.meta),
            )
    return list(found.values())


def _comparisons(
    judges: Sequence[Judged], answers: Sequence[Answers], table: _Table, differences: Sequence[Estimate]
) -> list[Comparison]:
    right = [each.labels == table.golds for each in answers]
    alone = [(int((right[0] & ~ours).sum()), int((~right[0] & ours).sum())) for ours in right[1:]]
    p_values = [Differences.of(right[0], ours, table.clusters).p_value() for ours in right[1:]]
    found = zip(judges[1:], differences[1:], alone, p_values, holm(p_values), strict=True)
    return [Comparison(judge.name, by, *counts, p, adjusted) for judge, by, counts, p, adjusted in found]


def _slice(part: Slice, judges: Sequence[Answers], table: _Table, asked: Questions) -> SliceFound:
    import numpy as np

    places = np.asarray(part.rows)
    golds, clusters = table.golds[places], [table.clusters[place] for place in part.rows]
    answers = [each.part(places) for each in judges]
    return SliceFound(
        part.kind,
        part.level,
        rows=len(places),
        questions=len(set(clusters)),
        right=float(golds.mean()),
        small=is_small(golds.tolist()),
        undecided=[int((each.labels < 0).sum()) for each in answers],
        estimates=measure(golds, answers, clusters, asked.resamples, asked.seed).estimates,
    )


def _notes(judges: Sequence[Judged], told: Sequence[tuple[Answers, str]], rows: int, asked: Questions) -> list[str]:
    """What a reader has to know of the figures."""
    notes = repeated_notes(judges)
    for judge, (answers, labels) in zip(judges, told, strict=True):
        if not answers.probable:
            notes.append(
                f"{judge.name}: its scores are {_MEANING[judge.scale]}, so it has no Brier score, ECE and reliability."
            )
        if labels != "its own":
            notes.append(f"{judge.name}: labelled right are {labels}.")
        if undecided := int((answers.labels < 0).sum()):
            notes.append(f"{judge.name}: {undecided} of {rows} rows are undecided; measures are over the decided ones.")
    return notes
