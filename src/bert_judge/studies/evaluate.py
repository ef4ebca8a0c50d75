"""Judges against human labels: how often they agree, where they do not, and from which score on to trust them.

found = evaluate(labelled_part(collect([load_run("out")])))
found.judges[0].estimates["accuracy"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from bert_judge.errors import InputError
from bert_judge.measures.arrays import ArrayLike, Integers, Numbers, Truths, np
from bert_judge.measures.calibration import Bin, reliability
from bert_judge.measures.discrimination import (
    RiskCoverage,
    Threshold,
    best_f1,
    cross_fitted,
    for_precision,
    for_recall,
    most_accurate,
    risk_coverage,
)
from bert_judge.measures.labels import Confusion
from bert_judge.measures.paired import Differences, holm
from bert_judge.metrics import containment
from bert_judge.records import Row, Scale, Signature
from bert_judge.studies.measures import BootstrapSettings, Estimate, measure
from bert_judge.studies.slices import Slice, is_small, slices
from bert_judge.studies.table import JudgeColumn, VerdictTable
from bert_judge.studies.teacher import Teacher, TeacherErrors, teacher_errors
from bert_judge.wording import interval, percent, points

OWN_LABELS = "its own"
MAJORITY, CONTAINMENT = "majority class", "containment"
_MEANING: Mapping[Scale, str] = {
    "probability": "undecided",
    "score": "on a scale of their own",
    "decision": "decisions, 1 or 0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings(BootstrapSettings):
    """What is asked of an evaluation besides the measures."""

    by: Annotated[tuple[str, ...], "further columns to slice by"] = ()
    threshold: Annotated[float | None, "scores from X on count as correct (default: each judge's own labels)"] = None
    min_precision: Annotated[float, "precision that a threshold is sought for"] = 0.95
    min_recall: Annotated[float, "recall that a threshold is sought for"] = 0.95
    worst: Annotated[int, "disagreements that are listed for each judge"] = 20

    def __post_init__(self) -> None:
        BootstrapSettings.__post_init__(self)  # a class with slots has no super()
        limits = (
            ("min_precision", 0 < self.min_precision <= 1, "a rate over 0, up to 1"),
            ("min_recall", 0 < self.min_recall <= 1, "a rate over 0, up to 1"),
            ("worst", self.worst >= 0, "a number of rows, 0 or more"),
        )
        for name, good, expected in limits:
            if not good:
                raise InputError(f"{name} is {getattr(self, name)}; {expected} was expected.")


@dataclass(frozen=True, slots=True)
class ChosenThreshold:
    """A threshold with a purpose: what labels do there on these rows, and (`elsewhere`) when it is chosen on others.

    `found` is None where no threshold serves the purpose.
    """

    purpose: str
    found: Threshold | None
    elsewhere: Confusion


@dataclass(frozen=True, slots=True)
class JudgeEvaluation:
    """What is known of one judge. `labels` says where its labels are from; `bins` are empty without probabilities."""

    name: str
    signature: Signature
    probable: bool
    labels: str
    rows: int
    undecided: int
    estimates: Mapping[str, Estimate]
    thresholds: Sequence[ChosenThreshold]
    bins: Sequence[Bin]
    curve: RiskCoverage | None
    disagreements: int
    worst: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is reached without a judge on the same rows: by always saying the more frequent label (`MAJORITY`), and by
    calling a candidate correct that contains a reference (`CONTAINMENT`).
    """

    name: str
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge against the first: how much higher its accuracy is, undecided rows counted as incorrect.

    `only_first` and `only_this` count the rows on which one of them alone is correct; `p_value` is that of the exact
    sign-flip test by question, McNemar's (1947) where none is repeated; `p_adjusted` allows for several judges being
    compared (Holm, 1979).
    """

    name: str
    difference: Estimate
    only_first: int
    only_this: int
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class SliceFound:
    """A slice of the rows: how many, of how many questions, the rate of correct ones, and each judge's measures."""

    kind: str
    level: str
    rows: int
    questions: int
    right: float
    small: bool
    undecided: Sequence[int]
    estimates: Sequence[Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Judges against human labels on the same rows."""

    rows: int
    questions: int
    right: float
    judges: Sequence[JudgeEvaluation]
    baselines: Sequence[Baseline]
    comparisons: Sequence[Comparison]
    slices: Sequence[SliceFound]
    teacher: Sequence[TeacherErrors]
    notes: Sequence[str]


def check_labelled(rows: Sequence[Row]) -> None:
    """Raise InputError where no row has a label, or all labels are the same."""
    golds = {row.gold for row in rows} - {None}
    if not golds:
        raise InputError(
            f"none of the {len(rows)} rows has a label; a column label with 0 or 1 was expected (--map label=COLUMN), "
            "or a file of labels (--labels FILE)."
        )
    if len(golds) < 2:
        count = sum(row.gold is not None for row in rows)
        raise InputError(
            f"all {count} labels are {golds.pop()}; both correct (1) and incorrect (0) rows were expected."
        )


def labelled_part(table: VerdictTable) -> VerdictTable:
    """The rows with a label that all judges judged, with notes of how many are left out.

    Raises InputError as `check_labelled` does, and where the judges have no labelled row in common.
    """
    check_labelled(table.rows)
    labelled = [place for place, row in enumerate(table.rows) if row.gold is not None]
    common = [place for place in labelled if all(judge.judged[place] for judge in table.judges)]
    if not common:
        names = ", ".join(judge.name for judge in table.judges)
        raise InputError(f"no labelled row was judged by all of {names}; runs on the same rows were expected.")
    notes = list(table.notes)
    if len(labelled) < len(table.rows):
        left = len(table.rows) - len(labelled)
        notes.append(f"{left:,} of {len(table.rows):,} rows have no label and are left out.")
    if len(common) < len(labelled):
        left = len(labelled) - len(common)
        notes.append(f"{left:,} of {len(labelled):,} labelled rows were not judged by all and are left out.")
    return replace(table.part(common), notes=notes)


def evaluate(
    table: VerdictTable, settings: EvaluationSettings | None = None, teacher: Teacher | None = None
) -> Evaluation:
    """Compare judges with the human labels of a table, which is that of `labelled_part`, and with two baselines.

    There is no containment where the texts are missing, or one of the judges has its name. Raises InputError where a
    threshold is outside a judge's scores, or a column of `by` is not there.
    """
    settings = settings or EvaluationSettings()
    labelled = [_labelling(judge, table, settings.threshold) for judge in table.judges]
    table = replace(table, judges=[judge for judge, _ in labelled])
    baselines = _baselines(table)
    estimates = measure(replace(table, judges=[*table.judges, *baselines]), settings)
    of_baselines = estimates[len(labelled) :]
    parts = list(slices(table.rows, settings.by))
    return Evaluation(
        rows=len(table.rows),
        questions=len(set(table.clusters)),
        right=float(table.golds.mean()),
        judges=[
            _judge(judge, labels, own, table, settings)
            for (judge, labels), own in zip(labelled, estimates, strict=False)
        ],
        baselines=[Baseline(each.name, own) for each, own in zip(baselines, of_baselines, strict=True)],
        comparisons=_comparisons(table, settings),
        slices=[_slice(part, table, settings) for part in parts],
        teacher=teacher_errors(teacher, table, parts) if teacher else (),
        notes=[*table.notes, *_notes(labelled), *_against_majority(table, baselines[0], settings)],
    )


def _labelling(judge: JudgeColumn, table: VerdictTable, threshold: float | None) -> tuple[JudgeColumn, str]:
    """A judge with labels, and where they are from: its own, a threshold, or a threshold chosen on other rows."""
    scored = np.isfinite(judge.scores)
    scores = judge.scores[scored]
    if threshold is not None:
        if len(scores) and not scores.min() <= threshold <= scores.max():
            raise InputError(
                f"the threshold {threshold:g} is outside the scores of {judge.name}, which are on another scale "
                f"({scores.min():.3g} to {scores.max():.3g}); give one in between, or none."
            )
        labels = np.where(scored, judge.scores >= threshold, -1)
        return replace(judge, labels=labels), f"scores from {threshold:g} on"
    if (judge.labels >= 0).any() or not len(scores):
        return judge, OWN_LABELS
    labels = judge.labels.copy()
    labels[scored] = cross_fitted(scores, table.golds[scored], table.clusters[scored], most_accurate)
    return replace(judge, labels=labels), "scores from a threshold on that was chosen on other rows"


def _judge(
    judge: JudgeColumn,
    labels: str,
    estimates: Mapping[str, Estimate],
    table: VerdictTable,
    settings: EvaluationSettings,
) -> JudgeEvaluation:
    scored, decided = np.isfinite(judge.scores), judge.labels >= 0
    wrong = decided & (judge.labels != table.golds)
    confidence, both = _confidence(judge), scored & decided
    return JudgeEvaluation(
        name=judge.name,
        signature=judge.signature,
        probable=judge.probable,
        labels=labels,
        rows=len(table.rows),
        undecided=int((~decided).sum()),
        estimates=estimates,
        thresholds=_thresholds(judge.scores[scored], table.golds[scored], table.clusters[scored], settings),
        bins=reliability(judge.scores[scored], table.golds[scored]) if judge.probable else (),
        curve=risk_coverage(confidence[both], wrong[both].astype(int)) if both.any() else None,
        disagreements=int(wrong.sum()),
        worst=_worst(judge, wrong, table, confidence, settings.worst),
    )


def _confidence(judge: JudgeColumn) -> Numbers:
    """How sure a judge is of its labels: the label's probability, or how far the score is from where labels change."""
    scores = judge.scores
    if judge.probable:
        return np.where(judge.labels == 1, scores, 1 - scores)
    low, high = (scores[(judge.labels == label) & np.isfinite(scores)] for label in (0, 1))
    edges = [*([low.max()] if len(low) else []), *([high.min()] if len(high) else [])]
    return np.abs(scores - np.mean(edges)) if edges else scores


def _thresholds(
    scores: Numbers, golds: Integers, clusters: Integers, settings: EvaluationSettings
) -> list[ChosenThreshold]:
    """The thresholds for each purpose, on the rows that have a score."""
    if len(set(clusters)) < 2:
        return []
    choices: dict[str, Callable[[ArrayLike, ArrayLike], Threshold | None]] = {
        "best accuracy": most_accurate,
        "best F1": best_f1,
        f"precision of {settings.min_precision:g}": partial(for_precision, precision=settings.min_precision),
        f"recall of {settings.min_recall:g}": partial(for_recall, recall=settings.min_recall),
    }
    found = []
    for purpose, choose in choices.items():
        elsewhere = cross_fitted(scores, golds, clusters, choose)
        pairs = zip(golds.tolist(), elsewhere.tolist(), strict=True)
        found.append(ChosenThreshold(purpose, choose(scores, golds), Confusion.count(pairs)))
    return found


def _worst(judge: JudgeColumn, wrong: Truths, table: VerdictTable, confidence: Numbers, most: int) -> list[Row]:
    """The disagreements of which the judge was surest, one a question, with the label and columns of the input."""
    places = np.flatnonzero(wrong)
    found: dict[int, Row] = {}
    for place in places[np.argsort(-confidence[places], kind="stable")].tolist():
        if len(found) == most:
            break
        said, row = judge.verdicts[place], table.rows[place]
        if said is not None and table.clusters[place] not in found:
            verdict = replace(said.verdict, label=int(judge.labels[place]))
            found[table.clusters[place]] = replace(row, verdict=verdict)
    return list(found.values())


def _baselines(table: VerdictTable) -> list[JudgeColumn]:
    """The labels of the baselines, as those of judges without scores; the majority class is the first."""
    labels = {MAJORITY: np.full(len(table.rows), int(table.golds.mean() >= 0.5))}
    texts = all(row.candidate is not None and row.references for row in table.rows)
    if texts and all(judge.name != CONTAINMENT for judge in table.judges):
        labels[CONTAINMENT] = np.asarray([_contains(row) for row in table.rows], np.int64)
    runs, nothing = table.judges[0].runs, [None] * len(table.rows)
    return [JudgeColumn(name, runs, nothing, np.full(len(table.rows), np.nan), own) for name, own in labels.items()]


def _contains(row: Row) -> int:
    return int(any(containment(row.candidate or "", reference) for reference in row.references))


def _against_majority(table: VerdictTable, majority: JudgeColumn, settings: EvaluationSettings) -> Iterator[str]:
    """A sentence for each judge that is not better than the majority class, or not beyond chance."""
    always = "correct" if majority.labels[0] else "incorrect"
    for judge in table.judges:
        ours, theirs = (each.labels == table.golds for each in (judge, majority))
        data = Differences.of(theirs, ours, table.clusters)
        found = Estimate.of(data.mean, data.interval(resamples=settings.resamples, seed=settings.seed))
        if found.value <= 0:
            yield (
                f"{judge.name} is not better than the majority class: it is right on {percent(ours.mean())} of the "
                f"rows, always saying {always} on {percent(theirs.mean())}."
            )
        elif found.low is not None and found.low <= 0:
            yield (
                f"{judge.name} may be no better than the majority class: it is right on {percent(ours.mean())} of the "
                f"rows, always saying {always} on {percent(theirs.mean())}; the difference is "
                f"{interval(found, points)} points."
            )


def _comparisons(table: VerdictTable, settings: EvaluationSettings) -> list[Comparison]:
    first, *others = [judge.labels == table.golds for judge in table.judges]
    data = [Differences.of(first, other, table.clusters) for other in others]
    p_values = [each.p_value() for each in data]
    return [
        Comparison(
            judge.name,
            Estimate.of(each.mean, each.interval(resamples=settings.resamples, seed=settings.seed)),
            int((first & ~other).sum()),
            int((~first & other).sum()),
            p,
            adjusted,
        )
        for judge, each, other, p, adjusted in zip(
            table.judges[1:], data, others, p_values, holm(p_values), strict=True
        )
    ]


def _slice(part: Slice, table: VerdictTable, settings: EvaluationSettings) -> SliceFound:
    own = table.part(part.rows)
    return SliceFound(
        part.kind,
        part.level,
        rows=len(own.rows),
        questions=len(set(own.clusters)),
        right=float(own.golds.mean()),
        small=is_small(own.golds.tolist()),
        undecided=[int((judge.labels < 0).sum()) for judge in own.judges],
        estimates=measure(own, settings),
    )


def _notes(labelled: Sequence[tuple[JudgeColumn, str]]) -> Iterator[str]:
    """What a reader has to know of the figures of each judge."""
    for judge, labels in labelled:
        if not judge.probable:
            yield f"{judge.name}: its scores are {_MEANING[judge.scale]}: no Brier score, ECE and reliability."
        if labels != OWN_LABELS:
            yield f"{judge.name}: labelled correct are {labels}."
        if undecided := int((judge.labels < 0).sum()):
            yield f"{judge.name}: {undecided} of {len(judge.labels)} rows are undecided; measures leave them out."
