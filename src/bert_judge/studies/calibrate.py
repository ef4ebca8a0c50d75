"""Cascades of judges: their calibration on labelled rows, and what each stage did in a run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from bert_judge.errors import InputError, named_in_errors
from bert_judge.judges import Judge
from bert_judge.judges.base import SECRETS
from bert_judge.judges.cascade import CascadePlan, Stage
from bert_judge.judges.naming import JudgeSpec
from bert_judge.measures.arrays import np
from bert_judge.measures.certified import rows_needed
from bert_judge.measures.inputs import factorise
from bert_judge.measures.resampling import draw_clusters
from bert_judge.records import Row, Sample, Signature, Verdict
from bert_judge.studies.thresholds import (
    GROUPS,
    CascadeSettings,
    Found,
    Labelled,
    StageResult,
    find_thresholds,
    labelled,
)

Watch = Callable[[str, Iterable[Verdict], int], Iterable[Verdict]]
"""From a judge's name, its verdicts and their number to the same verdicts: shows the progress."""


@dataclass(frozen=True, slots=True)
class CascadeResult:
    """A calibrated cascade: its plan, what was found, the agreement of what was decided early (by what is certified;
    None where nothing was), and the seconds that each judge took for a row.
    """

    plan: CascadePlan
    found: Found
    agreement: float | None
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StageCount:
    """What a stage did in a run: rows that reached it, that it decided, and of those with a label, how many agree."""

    name: str
    reached: int
    decided: int
    labelled: int
    agreed: int


def calibrate_cascade(
    specs: Sequence[JudgeSpec],
    rows: Iterable[Sample],
    settings: CascadeSettings | None = None,
    origin: Mapping[str, Any] | None = None,
    watch: Watch = lambda name, verdicts, count: verdicts,
) -> CascadeResult:
    """Find the thresholds of a cascade on labelled rows. Judges are loaded one at a time, and asked what reaches them.

    `origin` is what the plan says of the rows besides their numbers (file and digest). Raises InputError for too few
    stages, labels or questions, for labels of one kind only, and where nothing can be certified: it says what could be.
    """
    settings = settings or CascadeSettings()
    people = settings.agree_with == "people"
    deciding = specs if settings.abstain and people else specs[:-1]
    if not deciding:
        raise InputError(
            f"{len(specs)} stage was named; two or more were expected, cheapest first: the last one decides what is "
            "left (or one, with --abstain and human labels)."
        )
    given = list(rows)
    panel = _Panel(specs, given, watch)
    labels = [row.gold for row in given] if people else panel.labels(len(specs) - 1)
    truth = labelled([Row.of(row) for row in given], labels, settings.certify)
    questions = len({row.question for row in truth.values()})
    _check_labels(truth, questions, len(given), len(deciding), settings)
    found = find_thresholds([spec.name for spec in deciding], panel.scores, truth, settings)
    if not any(side.certificate for stage in found.stages for side in (stage.high, stage.low)):
        raise InputError(_nothing(found.stages, questions, settings))
    kept = len(deciding) if settings.abstain else len(deciding) + 1
    plan = CascadePlan(
        tuple(panel.stage(number, found.stages) for number in range(kept)),
        settings.target_agreement,
        settings.delta,
        "people" if people else f"last: {specs[-1].name}",
        settings.abstain,
        {
            **(origin or {}),
            "rows": len(given),
            "labelled": len(truth),
            "questions": questions,
            "right": sum(row.label for row in truth.values()),
            "split_stages": settings.split_stages,
            "seed": settings.seed,
        },
        settings.certify,
    )
    return CascadeResult(plan, found, _agreement(found, truth), panel.seconds)


def stage_counts(records: Iterable[Mapping[str, Any]], plan: CascadePlan) -> list[StageCount]:
    """What each stage of a cascade did in a result, from the lines of its `verdicts.jsonl`."""
    decided, labelled, agreed = Counter[str](), Counter[str](), Counter[str]()
    rows = 0
    for record in records:
        rows += 1
        stage = record.get("details", {}).get("stage")
        if record["label"] is not None:
            decided[stage] += 1
            labelled[stage] += "gold" in record
            agreed[stage] += record.get("gold") == record["label"]
    names = [stage.name for stage in plan.stages]
    before = accumulate((decided[name] for name in names[:-1]), initial=0)
    return [
        StageCount(name, rows - earlier, decided[name], labelled[name], agreed[name])
        for name, earlier in zip(names, before, strict=True)
    ]


def early_agreement(records: Iterable[Mapping[str, Any]], plan: CascadePlan) -> tuple[float, float] | None:
    """The agreement, by what the plan certifies, of the rows of a result with a human label that were decided early.

    Beside it its upper bound at the confidence 1 - `plan.delta`, of a bootstrap that draws questions. None for no rows.
    """
    names = {stage.name for stage in plan.deciding}
    sizes, agreed, decided = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for record in records:
        if "gold" in record:
            row = Row.read(record)
            group = GROUPS[plan.certifies](row)
            sizes[group] += 1
            if row.label is not None and row.verdict.details.get("stage") in names:
                decided[row.cluster, group] += 1
                agreed[row.cluster, group] += row.label == row.gold
    if not decided:
        return None
    weights = np.array([1 / sizes[group] for _, group in decided])
    above, below = (weights * [counts[key] for key in decided] for counts in (agreed, decided))
    of_key, questions = factorise([cluster for cluster, _ in decided])
    drawn = (times[of_key] for times in draw_clusters(questions))
    rates = [times @ above / (times @ below) for times in drawn]
    return float(above.sum() / below.sum()), float(np.quantile(rates, 1 - plan.delta))


class _Panel:
    """The judges of a cascade on the calibration rows: each is loaded when it is first needed, and not kept."""

    def __init__(self, specs: Sequence[JudgeSpec], rows: Sequence[Sample], watch: Watch) -> None:
        self._specs, self._rows, self._watch = specs, rows, watch
        self._signatures: dict[int, Signature] = {}
        self.seconds: dict[str, float] = {}

    def scores(self, number: int, rows: Sequence[int]) -> list[float | None]:
        """The scores that a judge gives to rows."""
        return [verdict.score for verdict in self._verdicts(number, [self._rows[row] for row in rows])]

    def labels(self, number: int) -> list[int | None]:
        """The labels that a judge gives to all rows. Raises InputError where it gives none."""
        labels = [verdict.label for verdict in self._verdicts(number, self._rows)]
        if labels and not any(label is not None for label in labels):
            raise InputError(
                f"the last stage, {self._specs[number].name}, labels no row; the others can't agree with it."
            )
        return labels

    def stage(self, number: int, results: Sequence[StageResult]) -> Stage:
        """A stage as it is stored, with its thresholds if it is among those that have such."""
        spec = self._specs[number]
        if number not in self._signatures:
            self._made(number)
        result = results[number] if number < len(results) else None
        certificates = (result.high.certificate, result.low.certificate) if result else (None, None)
        shown = {name: value for name, value in spec.settings.items() if name not in SECRETS}
        judge = {"judge_type": spec.judge_type, **shown}
        return Stage(spec.name, judge, self._signatures[number], *certificates)

    def _verdicts(self, number: int, rows: Sequence[Sample]) -> list[Verdict]:
        if not rows:
            return []
        name, judge = self._specs[number].name, self._made(number).fitted(rows)
        start = time.monotonic()
        with named_in_errors(f"the stage {name} of the cascade failed"):
            verdicts = list(self._watch(name, judge.assess(rows), len(rows)))
        self.seconds[name] = (time.monotonic() - start) / len(rows)
        return verdicts

    def _made(self, number: int) -> Judge:
        judge = self._specs[number].make()
        self._signatures[number] = judge.info.signature
        return judge


def _agreement(found: Found, truth: Mapping[int, Labelled]) -> float | None:
    """The rate, by weight, of the rows through all stages and decided early that have the label."""
    early = [(truth[row], found.decided[row]) for row in found.through if row in found.decided]
    whole = sum(row.weight for row, _ in early)
    return sum(row.weight for row, label in early if row.label == label) / whole if early else None


def _check_labels(
    truth: Mapping[int, Labelled], questions: int, rows: int, stages: int, settings: CascadeSettings
) -> None:
    if not truth:
        raise InputError(
            f"none of the {rows} calibration rows has a label; name its column with --map label=COLUMN, or take those "
            "of the last stage with --agree_with last."
        )
    labels = {row.label for row in truth.values()}
    if len(labels) == 1:
        kind = "correct" if 1 in labels else "incorrect"
        raise InputError(f"all {len(truth)} labelled rows are labelled {kind}; both were expected.")
    needed = rows_needed(settings.target_agreement, settings.delta / (2 * stages))
    needed *= stages if settings.split_stages else 1
    counted = int(sum(row.weight for row in truth.values()) + 1e-9)
    if counted < needed:
        as_if = "" if counted == questions else f" of unequal weight, which count as {counted}"
        raise InputError(
            f"there are {questions} labelled questions{as_if}, but a target of {settings.target_agreement:g} with "
            f"delta {settings.delta:g} needs at least {needed}, better some hundreds; label more, or lower the target."
        )


def _nothing(stages: Sequence[StageResult], questions: int, settings: CascadeSettings) -> str:
    """Says that no stage can be certified, and what could be."""
    reached = [(*side.reachable, stage.name) for stage in stages for side in (stage.high, stage.low) if side.reachable]
    best = max(reached, default=None)
    could = (
        f"the most that could be is {best[0]:.0%}, by {best[2]}, which decides {best[1]:.0%} of its rows then"
        if best
        else "no agreement from 50 % on could be either"
    )
    return (
        f"an agreement of {settings.target_agreement:.4g} with delta {settings.delta:g} can be certified for no stage "
        f"on these {questions} questions; {could}: lower --target_agreement, or label more questions."
    )
