"""The numbers of a report: what each judge says on the whole and kind by kind, and how far labels and judges agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bert_judge.analysis.results import Row, Run
from bert_judge.artifacts import BAD_ROWS
from bert_judge.report.answers import AnswerTable, Facet, JudgeColumn
from bert_judge.stats.calibration import Bin, brier, expected_calibration_error, reliability
from bert_judge.stats.labels import Confusion, wilson_interval
from bert_judge.types import Signature

BARS = 20
"""The bars of a histogram."""

MOST_SHOWN = 25
"""The most levels of a kind, and the most tasks or models, that a table has; the largest are taken."""

_TABLES = 6  # kinds of rows that have a table
_MODELS = ("model", "candidate_model")


@dataclass(frozen=True, slots=True)
class Cell:
    """A share with its 95 % Wilson interval, or (without an interval) a mean score; None for no rows."""

    value: float | None
    rows: int
    low: float | None = None
    high: float | None = None

    @classmethod
    def share(cls, right: int, rows: int) -> Cell:
        """The share of `rows` that are right."""
        return cls(right / rows, rows, *wilson_interval(right, rows)) if rows else cls(None, 0)


@dataclass(frozen=True, slots=True)
class Bar:
    """Scores in [`low`, `high`): how many candidates people call right, wrong, and say nothing of."""

    low: float
    high: float
    right: int
    wrong: int
    other: int


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """A judge against people, on rows with both labels; bins, Brier score and ECE where scores are probabilities."""

    share: Cell
    confusion: Confusion
    f1: float | None
    kappa: float | None
    bins: Sequence[Bin]
    brier: float | None
    ece: float | None


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What one judge says of all answers. `right` is the share that it calls right; None where it gives no labels.

    `right_all` counts undecided rows as wrong. Times and tokens are sums over its runs, as far as these tell them;
    `money` is in the unit of the prices that were given.
    """

    name: str
    kind: str
    signature: Signature
    rows: int
    judged: int
    undecided: int
    truncated: int
    bad_rows: int
    mean_score: float | None
    right: Cell | None
    right_all: Cell | None
    histogram: Sequence[Bar]
    agreement: AgreementFigures | None
    seconds: float | None
    timed_rows: int
    tokens_in: int
    tokens_out: int
    money: float | None
    commands: Sequence[Sequence[str]]
    inputs: Sequence[str]
    folders: Sequence[str]
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    started: str


@dataclass(frozen=True, slots=True)
class Level:
    """The rows of one level of a kind: how many, the share that people call right, and what each judge says."""

    name: str
    rows: int
    gold: Cell | None
    judges: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows, its largest levels, and how many more it has."""

    name: str
    levels: Sequence[Level]
    left_out: int


@dataclass(frozen=True, slots=True)
class Cross:
    """What a judge says of each model on each task; cells are lines of tasks by columns of models."""

    judge: str
    tasks: Sequence[str]
    models: Sequence[str]
    cells: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges with labels: on how many rows both have one, the share of these that agree, and Cohen's kappa."""

    first: str
    second: str
    share: Cell
    kappa: float | None
    confusion: Confusion


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that a report says in numbers. `gold` is the share of labelled answers that people call right."""

    rows: int
    labels: str | None
    gold: Cell | None
    disagreements: int
    judges: Sequence[JudgeFigures]
    pairs: Sequence[Pair]
    kinds: Sequence[Kind]
    crosses: Sequence[Cross]
    notes: Sequence[str]


def find_figures(table: AnswerTable) -> Figures:
    """Count everything."""
    golds = [row.gold for row in table.rows]
    judges = [_judge(judge, golds) for judge in table.judges]
    facets = {facet.name: facet for facet in table.facets}
    task, model = facets.get("task"), next((facets[name] for name in _MODELS if name in facets), None)
    return Figures(
        rows=len(table.rows),
        labels=table.labels,
        gold=_gold(golds) if table.labels else None,
        disagreements=sum(disagree(verdicts) for verdicts in zip(*(j.verdicts for j in table.judges), strict=True)),
        judges=judges,
        pairs=[pair for both in combinations(table.judges, 2) if (pair := _pair(*both)).share.rows],
        kinds=[_kind(facet, table, golds) for facet in table.facets[:_TABLES]],
        crosses=[_cross(judge, task, model) for judge in table.judges] if task and model else (),
        notes=table.notes,
    )


def disagree(verdicts: Iterable[Row | None]) -> bool:
    """Whether judges give the same answer different labels."""
    return len({row.label for row in verdicts if row is not None and row.label is not None}) > 1


def _judge(judge: JudgeColumn, golds: Sequence[int | None]) -> JudgeFigures:
    rows = [row for row in judge.verdicts if row is not None]
    scores = [row.score for row in rows if row.score is not None]
    labels = [row.label for row in rows if row.label is not None]
    undecided, right = sum(row.score is None for row in rows), sum(labels)
    runs, last = judge.runs, judge.runs[-1].record
    timings = [run.record["timings"] for run in runs if "timings" in run.record]
    costs = [run.record["costs"]["money"] for run in runs if run.record.get("costs", {}).get("money") is not None]
    return JudgeFigures(
        name=judge.name,
        kind=judge.signature.short,
        signature=judge.signature,
        rows=len(rows),
        judged=len(rows) - undecided,
        undecided=undecided,
        truncated=sum(bool(row.truncated) for row in rows),
        bad_rows=sum(map(_bad_rows, runs)),
        mean_score=math.fsum(scores) / len(scores) if scores else None,
        right=Cell.share(right, len(labels)) if labels else None,
        right_all=Cell.share(right, len(labels) + undecided) if labels else None,
        histogram=_histogram(judge, golds),
        agreement=_agreement(judge, golds),
        seconds=math.fsum(each["seconds"] for each in timings) if timings else None,
        timed_rows=sum(each["rows"] for each in timings),
        tokens_in=_tokens(rows, "prompt_tokens"),
        tokens_out=_tokens(rows, "completion_tokens"),
        money=math.fsum(costs) if costs else None,
        commands=[list(run.record.get("command", ())) for run in runs],
        inputs=[str(run.record.get("input", {}).get("path", "")) for run in runs],
        folders=[str(run.folder) for run in runs],
        versions=last.get("versions", {}),
        machine=last.get("machine", {}),
        started=min((each["started"] for each in timings), default=""),
    )


def _tokens(rows: Iterable[Row], name: str) -> int:
    found = (row.details.get(name) for row in rows)
    return sum(tokens for tokens in found if isinstance(tokens, int))


def _bad_rows(run: Run) -> int:
    path = run.folder / BAD_ROWS
    if not path.exists():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _histogram(judge: JudgeColumn, golds: Sequence[int | None]) -> list[Bar]:
    """Bars of equal width, on [0, 1] where all scores are there, else between round numbers."""
    pairs = [
        (row.score, gold)
        for row, gold in zip(judge.verdicts, golds, strict=True)
        if row is not None and row.score is not None
    ]
    if not pairs:
        return []
    low, high = min(score for score, _ in pairs), max(score for score, _ in pairs)
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else _round_ends(low, high)
    width = (high - low) / BARS
    counts = Counter((min(BARS - 1, int((score - low) / width)), gold) for score, gold in pairs)
    return [
        Bar(low + i * width, low + (i + 1) * width, counts[i, 1], counts[i, 0], counts[i, None]) for i in range(BARS)
    ]


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """The nearest ends outside that are multiples of a power of ten; they differ."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6)))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return low, high if high > low else low + step


def _agreement(judge: JudgeColumn, golds: Sequence[int | None]) -> AgreementFigures | None:
    both = [
        (row, gold)
        for row, gold in zip(judge.verdicts, golds, strict=True)
        if row is not None and gold is not None and row.label is not None
    ]
    if not both:
        return None
    confusion = Confusion.count((gold, row.label) for row, gold in both if row.label is not None)
    pairs = [(row.score, gold) for row, gold in both if row.score is not None] if judge.scale == "probability" else []
    scores, labels = [score for score, _ in pairs], [gold for _, gold in pairs]
    return AgreementFigures(
        share=Cell.share(confusion.correct, confusion.n),
        confusion=confusion,
        f1=confusion.f1,
        kappa=confusion.kappa,
        bins=reliability(scores, labels) if pairs else (),
        brier=brier(scores, labels) if pairs else None,
        ece=expected_calibration_error(scores, labels) if pairs else None,
    )


def _gold(golds: Iterable[int | None]) -> Cell:
    counts = Counter(golds)
    return Cell.share(counts[1], counts[0] + counts[1])


def _pair(first: JudgeColumn, second: JudgeColumn) -> Pair:
    pairs = (
        (one.label, other.label)
        for one, other in zip(first.verdicts, second.verdicts, strict=True)
        if one is not None and other is not None
    )
    confusion = Confusion.count((one, other) for one, other in pairs if one is not None and other is not None)
    same = Cell.share(confusion.correct, confusion.n)
    return Pair(first.name, second.name, same, confusion.kappa, confusion)


def _kind(facet: Facet, table: AnswerTable, golds: Sequence[int | None]) -> Kind:
    places: dict[int, list[int]] = {}
    for place, code in enumerate(facet.codes):
        places.setdefault(code, []).append(place)
    largest = sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_SHOWN]
    levels = [
        Level(
            facet.levels[code] if code >= 0 else "(none)",
            len(own),
            _gold(golds[place] for place in own) if table.labels else None,
            [_cell(judge.verdicts[place] for place in own) for judge in table.judges],
        )
        for code, own in sorted(largest, key=lambda item: item[0] if item[0] >= 0 else len(facet.levels))
    ]
    return Kind(facet.name, levels, len(places) - len(levels))


def _cell(verdicts: Iterable[Row | None]) -> Cell:
    """The share that is called right, of rows with labels; the mean score where there are none."""
    rows = [row for row in verdicts if row is not None]
    labels = [row.label for row in rows if row.label is not None]
    if labels:
        return Cell.share(sum(labels), len(labels))
    scores = [row.score for row in rows if row.score is not None]
    return Cell(math.fsum(scores) / len(scores), len(scores)) if scores else Cell(None, 0)


def _cross(judge: JudgeColumn, task: Facet, model: Facet) -> Cross:
    verdicts: dict[tuple[int, int], list[Row | None]] = {}
    for line, column, row in zip(task.codes, model.codes, judge.verdicts, strict=True):
        verdicts.setdefault((line, column), []).append(row)
    tasks, models = (_most(facet) for facet in (task, model))
    cells = [[_cell(verdicts.get((line, column), ())) for column in models] for line in tasks]
    return Cross(judge.name, [task.levels[i] for i in tasks], [model.levels[i] for i in models], cells)


def _most(facet: Facet) -> list[int]:
    """The levels with the most rows, in their order."""
    counts = Counter(code for code in facet.codes if code >= 0)
    return sorted(code for code, _ in counts.most_common(MOST_SHOWN))
