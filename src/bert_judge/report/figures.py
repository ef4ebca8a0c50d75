"""The numbers of a report: what each judge says of all rows and of each kind, and how far judges and labels agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from bert_judge.measures.calibration import Bin, brier, expected_calibration_error, reliability
from bert_judge.measures.labels import Confusion
from bert_judge.measures.rates import Rate
from bert_judge.records import Row, Signature
from bert_judge.results import BAD_ROWS
from bert_judge.results.runs import Run
from bert_judge.studies.pairing import judge_kinds
from bert_judge.studies.slices import Facet
from bert_judge.studies.table import JudgeColumn, VerdictTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BARS = 20
"""The bars of a histogram."""

MOST_SHOWN = 25
"""The most levels of a kind, and the most tasks or models, that a table has; the largest are taken."""

_TABLES = 6  # kinds of rows that have a table
_MODELS = ("model", "candidate_model")


@dataclass(frozen=True, slots=True)
class Cell:
    """A rate with its 95 % interval, by question, or (without an interval) a mean score; None for no rows."""

    value: float | None
    rows: int
    low: float | None = None
    high: float | None = None

    @classmethod
    def rate(cls, holds: NDArray[np.bool_], questions: NDArray[np.int64]) -> Cell:
        """The rate of rows for which something holds."""
        found = Rate.of(holds, questions)
        return cls(found.value, found.rows, found.low, found.high) if found else cls(None, 0)


@dataclass(frozen=True, slots=True)
class Bar:
    """Scores in [`low`, `high`): how many candidates with them are labelled correct, incorrect, and not at all."""

    low: float
    high: float
    right: int
    wrong: int
    other: int


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """A judge against human labels, on rows with both; bins, Brier score and ECE where scores are probabilities.

    `share` is the rate of rows on which they agree.
    """

    share: Cell
    confusion: Confusion
    f1: float | None
    kappa: float | None
    bins: Sequence[Bin]
    brier: float | None
    ece: float | None


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What one judge says of all answers.

    `right` is the rate that it labels correct, None where it gives no labels; `right_all` counts undecided rows as
    incorrect; `outside` counts the rows outside of what the judge knows, by reason. Times and tokens are sums over its
    runs, as far as these record them; `money` is in the unit of the prices that were given.
    """

    name: str
    kind: str
    signature: Signature
    rows: int
    judged: int
    undecided: int
    truncated: int
    outside: Mapping[str, int]
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
    """The rows of one level of a kind: how many, the rate labelled correct, and what each judge says."""

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
    """What a judge says of each model on each task; `cells` has a line for each task, a column for each model."""

    judge: str
    tasks: Sequence[str]
    models: Sequence[str]
    cells: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges with labels: the rate of rows on which they agree (`share`), and Cohen's kappa."""

    first: str
    second: str
    share: Cell
    kappa: float | None
    confusion: Confusion


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that a report says in numbers. `gold` is the rate correct by human labels."""

    rows: int
    labels: str | None
    gold: Cell | None
    disagreements: int
    judges: Sequence[JudgeFigures]
    pairs: Sequence[Pair]
    kinds: Sequence[Kind]
    crosses: Sequence[Cross]
    notes: Sequence[str]


def find_figures(table: VerdictTable, notes: Iterable[str] = ()) -> Figures:
    """Count everything; `notes` stand before those of the table."""
    named = {facet.name: facet for facet in table.facets}
    kinds = judge_kinds([judge.signature for judge in table.judges])
    task, model = named.get("task"), next((named[name] for name in _MODELS if name in named), None)
    pairs = [
        Pair(first.name, second.name, _same(first.labels, second.labels, table.clusters), both.kappa, both)
        for first, second in combinations(table.judges, 2)
        if (both := _confusion(first.labels, second.labels)).n
    ]
    return Figures(
        rows=len(table.rows),
        labels=table.labels,
        gold=_rate(table.golds, table.clusters) if table.labels else None,
        disagreements=int(table.disagree.sum()),
        judges=[_judge(judge, kind, table) for judge, kind in zip(table.judges, kinds, strict=True)],
        pairs=pairs,
        kinds=[_kind(facet, table) for facet in table.facets[:_TABLES]],
        crosses=[_cross(judge, task, model, table.clusters) for judge in table.judges] if task and model else (),
        notes=[*notes, *table.notes, *_notes(table)],
    )


def _judge(judge: JudgeColumn, kind: str, table: VerdictTable) -> JudgeFigures:
    import numpy as np

    rows = [row for row in judge.verdicts if row is not None]
    scores = judge.scores[np.isfinite(judge.scores)]
    labelled, undecided = bool((judge.labels >= 0).any()), judge.judged & ~np.isfinite(judge.scores)
    runs, last = judge.runs, judge.runs[-1].record
    timings = [run.record["timings"] for run in runs if "timings" in run.record]
    costs = [run.record["costs"]["money"] for run in runs if run.record.get("costs", {}).get("money") is not None]
    return JudgeFigures(
        name=judge.name,
        kind=kind,
        signature=judge.signature,
        rows=len(rows),
        judged=len(scores),
        undecided=int(undecided.sum()),
        truncated=sum(bool(row.verdict.truncated) for row in rows),
        outside=dict(Counter(row.verdict.outside for row in rows if row.verdict.outside)),
        bad_rows=sum(map(_bad_rows, runs)),
        mean_score=math.fsum(scores) / len(scores) if len(scores) else None,
        right=_rate(judge.labels, table.clusters) if labelled else None,
        right_all=_rate(np.where(undecided & (judge.labels < 0), 0, judge.labels), table.clusters)
        if labelled
        else None,
        histogram=_histogram(judge, table.golds),
        agreement=_agreement(judge, table.golds, table.clusters),
        seconds=math.fsum(each["seconds"] for each in timings) if timings else None,
        timed_rows=sum(each["rows"] for each in timings),
        tokens_in=_tokens(rows, "prompt_tokens"),
        tokens_out=_tokens(rows, "completion_tokens"),
        money=math.fsum(costs) if costs else None,
        commands=[list(run.record.get("command", ())) for run in runs],
        inputs=[str(run.input.get("path", "")) for run in runs],
        folders=[str(run.folder) for run in runs],
        versions=last.get("versions", {}),
        machine=last.get("machine", {}),
        started=min((each["started"] for each in timings), default=""),
    )


def _tokens(rows: Iterable[Row], name: str) -> int:
    found = (row.verdict.details.get(name) for row in rows)
    return sum(tokens for tokens in found if isinstance(tokens, int))


def _bad_rows(run: Run) -> int:
    path = run.folder / BAD_ROWS
    if not path.exists():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _histogram(judge: JudgeColumn, golds: NDArray[np.int64]) -> list[Bar]:
    """Bars of equal width, on [0, 1] where all scores lie in it, else between round numbers."""
    import numpy as np

    scored = np.isfinite(judge.scores)
    scores = judge.scores[scored]
    if not len(scores):
        return []
    low, high = float(scores.min()), float(scores.max())
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else _round_ends(low, high)
    width = (high - low) / BARS
    bars = np.minimum(BARS - 1, ((scores - low) / width).astype(int))
    counts = Counter(zip(bars.tolist(), golds[scored].tolist(), strict=True))
    return [Bar(low + i * width, low + (i + 1) * width, counts[i, 1], counts[i, 0], counts[i, -1]) for i in range(BARS)]


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """The nearest multiples of a power of ten outside; they differ."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6)))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return low, high if high > low else low + step


def _agreement(judge: JudgeColumn, golds: NDArray[np.int64], questions: NDArray[np.int64]) -> AgreementFigures | None:
    import numpy as np

    confusion = _confusion(golds, judge.labels)
    if not confusion.n:
        return None
    told = (golds >= 0) & (judge.labels >= 0) & np.isfinite(judge.scores) & (judge.scale == "probability")
    scores, labels = judge.scores[told], golds[told]
    return AgreementFigures(
        share=_same(golds, judge.labels, questions),
        confusion=confusion,
        f1=confusion.f1,
        kappa=confusion.kappa,
        bins=reliability(scores, labels, clusters=questions[told]) if len(scores) else (),
        brier=brier(scores, labels) if len(scores) else None,
        ece=expected_calibration_error(scores, labels) if len(scores) else None,
    )


def _confusion(golds: NDArray[np.int64], labels: NDArray[np.int64]) -> Confusion:
    """The counts of the rows that have both labels."""
    both = (golds >= 0) & (labels >= 0)
    return Confusion.count(zip(golds[both].tolist(), labels[both].tolist(), strict=True))


def _same(first: NDArray[np.int64], second: NDArray[np.int64], questions: NDArray[np.int64]) -> Cell:
    """The rate of equal labels among the rows that have both."""
    both = (first >= 0) & (second >= 0)
    return Cell.rate(first[both] == second[both], questions[both])


def _rate(labels: NDArray[np.int64], questions: NDArray[np.int64]) -> Cell:
    """The rate of correct ones among labels, where -1 is none."""
    there = labels >= 0
    return Cell.rate(labels[there] == 1, questions[there])


def _kind(facet: Facet, table: VerdictTable) -> Kind:
    import numpy as np

    codes = np.asarray(facet.codes)
    counts = Counter(facet.codes)
    largest = sorted(counts, key=lambda code: (-counts[code], code))[:MOST_SHOWN]
    levels = [
        Level(
            facet.levels[code] if code >= 0 else "(none)",
            counts[code],
            _rate(table.golds[codes == code], table.clusters[codes == code]) if table.labels else None,
            [_cell(judge, codes == code, table.clusters) for judge in table.judges],
        )
        for code in sorted(largest, key=lambda code: (code < 0, code))
    ]
    return Kind(facet.name, levels, len(counts) - len(levels))


def _cell(judge: JudgeColumn, chosen: NDArray[np.bool_], questions: NDArray[np.int64]) -> Cell:
    """The rate that a judge labels correct, of the rows with its labels; its mean score where there are none."""
    import numpy as np

    labels, scores = judge.labels[chosen], judge.scores[chosen]
    if (labels >= 0).any():
        return _rate(labels, questions[chosen])
    scores = scores[np.isfinite(scores)]
    return Cell(math.fsum(scores) / len(scores), len(scores)) if len(scores) else Cell(None, 0)


def _cross(judge: JudgeColumn, task: Facet, model: Facet, questions: NDArray[np.int64]) -> Cross:
    import numpy as np

    lines, columns = np.asarray(task.codes), np.asarray(model.codes)
    tasks, models = (_most(facet) for facet in (task, model))
    cells = [[_cell(judge, (lines == line) & (columns == column), questions) for column in models] for line in tasks]
    return Cross(judge.name, [task.levels[i] for i in tasks], [model.levels[i] for i in models], cells)


def _most(facet: Facet) -> list[int]:
    """The levels with the most rows, in the order of the facet."""
    counts = Counter(code for code in facet.codes if code >= 0)
    return sorted(code for code, _ in counts.most_common(MOST_SHOWN))


def _notes(table: VerdictTable) -> list[str]:
    """What a reader would not expect."""
    rows = len(table.rows)
    judged = [(judge.name, int(judge.judged.sum())) for judge in table.judges]
    notes = [f"{name} judged {count:,} of the {rows:,} answers." for name, count in judged if count < rows]
    if any(row.candidate is None for row in table.rows):
        notes.append("The runs were made with --no_texts: there is nothing to read beside the scores.")
    return notes
