"""Cascades of judges: thresholds that keep a target, found on labelled rows, and what each stage did in a run.

The promise: with confidence 1 - delta, at least the target rate of the rows decided before the last stage have the
human label (or the last stage's). Each stage and side (correct, incorrect) is certified on its own along one path of
thresholds that was fixed beforehand (`PATH`), by fixed sequence testing with exact binomial bounds at the level
delta / (2 * stages); where every part keeps the target, the whole does. After Jung et al., 2024, arXiv 2407.18370.

Which rows reach a later stage depends a little on the labels that the earlier one was tested with. That is not in the
level, and shows in no simulation (`benchmarks/cascade.py`); with `split_stages` it does not exist.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, Literal

from bert_judge.analysis.results import Row
from bert_judge.errors import InputError, named_in_errors
from bert_judge.judges import Judge
from bert_judge.judges.cascade import CascadePlan, Certificate, Stage
from bert_judge.judges.naming import JudgeSpec
from bert_judge.stats.certified import Counts, fixed_sequence, highest_target, lower_bound, rows_needed
from bert_judge.types import Sample, Signature, Verdict

PATH = (
    *(0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25),
    *(0.275, 0.3, 0.325, 0.35, 0.375, 0.4, 0.425, 0.45, 0.475, 0.49),
)
"""How far from sure a score may be, from strict to loose: scores up to this are incorrect, from 1 minus it correct."""

Ask = Callable[[int, Sequence[int]], Sequence[float | None]]
"""From the number of a stage and those of rows to its scores of these rows."""
Watch = Callable[[str, Iterable[Verdict], int], Iterable[Verdict]]
"""From a judge's name, its verdicts and their number to the same verdicts: shows the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSettings:
    """What a cascade is to promise, and how it is calibrated. Raises InputError where a number is out of its range."""

    target_agreement: Annotated[float, "the rate of rows decided early that is to agree"] = 0.95
    delta: Annotated[float, "how likely the promise may be false"] = 0.1
    agree_with: Annotated[Literal["people", "last"], "the labels of the file, or those of the last stage"] = "people"
    abstain: Annotated[bool, "no last stage: every one has thresholds, what none is sure of stays undecided"] = False
    split_stages: Annotated[bool, "each stage on questions of its own: the promise is exact, but needs more rows"] = (
        False
    )
    seed: Annotated[int, "chooses the row of each question"] = 0

    def __post_init__(self) -> None:
        rows_needed(self.target_agreement, self.delta)  # tells what is out of range


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a stage on the calibration rows that reach it: how many pass each threshold along `PATH`."""

    label: int
    reached: int
    counts: tuple[Counts, ...]
    target: float
    level: float

    @property
    def certificate(self) -> Certificate | None:
        """The loosest threshold that is certified; of several that the same rows pass, the strictest."""
        found = fixed_sequence(self.counts, self.target, self.level)
        if found is None:
            return None
        found = self.counts.index(self.counts[found])
        rows, agreed = self.counts[found]
        at_least = lower_bound(agreed, rows, self.level)
        return Certificate(_thresholds(self.label)[found], rows, agreed, round(at_least, 6))

    @property
    def reachable(self) -> tuple[float, float] | None:
        """The highest target in whole percents that could be certified, and the rate of rows decided then."""
        target = highest_target(self.counts, self.level)
        found = None if target is None else fixed_sequence(self.counts, target, self.level)
        return None if target is None or found is None else (target, self.counts[found].rows / self.reached)


@dataclass(frozen=True, slots=True)
class StageResult:
    """A stage on the calibration rows: how many reach it, how many it decides, and how many of these agree."""

    name: str
    high: Side
    low: Side
    asked: int
    decided: int
    agreed: int


@dataclass(frozen=True, slots=True)
class Found:
    """What `find_thresholds` found. Of the rows `through` all stages, `decided` have a label before the end."""

    stages: tuple[StageResult, ...]
    through: tuple[int, ...]
    decided: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class CascadeResult:
    """A calibrated cascade: its plan, what was found, how many of these rows were decided early and agree, and the
    seconds that each judge took for a row.
    """

    plan: CascadePlan
    found: Found
    agreed: int
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
    chosen = one_per_question([row for row in given if row.gold is not None] if people else given, settings.seed)
    panel = _Panel(specs, chosen, watch)
    truth = [row.gold for row in chosen] if people else panel.labels(len(specs) - 1)
    known = {row: int(label) for row, label in enumerate(truth) if label is not None}
    _check_labels(known, len(given), len(deciding), settings)
    found = find_thresholds([spec.name for spec in deciding], panel.scores, known, settings)
    if not any(side.certificate for stage in found.stages for side in (stage.high, stage.low)):
        raise InputError(_nothing(found.stages, len(known), settings))
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
            "questions": len(known),
            "right": sum(known.values()),
            "split_stages": settings.split_stages,
            "seed": settings.seed,
        },
    )
    agreed = sum(known[row] == found.decided[row] for row in found.through if row in found.decided)
    return CascadeResult(plan, found, agreed, panel.seconds)


def find_thresholds(names: Sequence[str], ask: Ask, truth: Mapping[int, int], settings: CascadeSettings) -> Found:
    """The thresholds of stages on independent rows, whose labels are `truth`; each is asked what the former left."""
    level = settings.delta / (2 * len(names))
    waiting, decided, results = list(truth), dict[int, int](), list[StageResult]()
    tested_at: dict[int, int] = {}  # the stage of each row, where each stage has rows of its own
    if settings.split_stages:
        shuffled = random.Random(settings.seed).sample(waiting, len(waiting))
        tested_at = {row: position % len(names) for position, row in enumerate(shuffled)}
    last = len(names) - 1
    through = tuple(row for row in waiting if tested_at.get(row, last) == last)
    for number, name in enumerate(names):
        waiting = [row for row in waiting if tested_at.get(row, number) >= number]
        scores = dict(zip(waiting, ask(number, waiting), strict=True))
        tested = [(scores[row], truth[row]) for row in waiting if tested_at.get(row, number) == number]
        high, low = (_side(label, tested, settings.target_agreement, level) for label in (1, 0))
        stage = Stage(name, {}, Signature(""), high.certificate, low.certificate)
        labels = {row: label for row in waiting if (label := stage.decide(scores[row])) is not None}
        agreed = sum(truth[row] == label for row, label in labels.items())
        results.append(StageResult(name, high, low, len(waiting), len(labels), agreed))
        decided |= labels
        waiting = [row for row in waiting if row not in labels]
    return Found(tuple(results), through, decided)


def one_per_question(rows: Sequence[Sample], seed: int) -> list[Sample]:
    """One row of each question, chosen by the seed: answers to one question are not independent of each other."""
    clusters: dict[str, list[Sample]] = {}
    for row in rows:
        clusters.setdefault(Row.unjudged(row).cluster, []).append(row)
    chance = random.Random(seed)
    return [chance.choice(group) for group in clusters.values()]


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
        judge = {"judge_type": spec.judge_type, **spec.settings}
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
        self._signatures[number] = Signature.of(judge.signature)
        return judge


def _side(label: int, tested: Sequence[tuple[float | None, int]], target: float, level: float) -> Side:
    """Count, for each threshold of the path, the rows that pass it and those of them with the label of the side."""
    rows, agreed = [0] * (len(PATH) + 1), [0] * (len(PATH) + 1)
    thresholds = [-each if label else each for each in _thresholds(label)]  # ascending, from strict to loose
    for score, truth in tested:
        if score is not None:
            first = bisect_left(thresholds, -score if label else score)
            rows[first] += 1
            agreed[first] += truth == label
    counts = zip(accumulate(rows[:-1]), accumulate(agreed[:-1]), strict=True)
    return Side(label, len(tested), tuple(Counts(*each) for each in counts), target, level)


def _thresholds(label: int) -> list[float]:
    return [round(1 - each, 6) if label else each for each in PATH]


def _check_labels(known: Mapping[int, int], rows: int, stages: int, settings: CascadeSettings) -> None:
    if not known:
        raise InputError(
            f"none of the {rows} calibration rows has a label; name its column with --map label=COLUMN, or take those "
            "of the last stage with --agree_with last."
        )
    if len(set(known.values())) == 1:
        kind = "correct" if 1 in known.values() else "incorrect"
        raise InputError(f"all {len(known)} labelled questions are labelled {kind}; both were expected.")
    needed = rows_needed(settings.target_agreement, settings.delta / (2 * stages))
    needed *= stages if settings.split_stages else 1
    if len(known) < needed:
        raise InputError(
            f"there are {len(known)} labelled questions (one row of each counts), but a target of "
            f"{settings.target_agreement:g} with delta {settings.delta:g} needs at least {needed}, better some "
            "hundreds; label more, or lower the target."
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
