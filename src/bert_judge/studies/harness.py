"""A tool's own scores of its run beside a judge's labels: who calls what correct, and where they differ.

    found = beside_harness(map(Row.of, result.records()))
    for line in found.lines:
        print(line.task, line.theirs, line.ours)

The rows are those of a saved run (`sources.saved`), whose columns `harness:METRIC` hold the tool's scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import NamedTuple

from bert_judge.inputs import HARNESS
from bert_judge.records import Row


class Metric(NamedTuple):
    """A tool's metric on a model's answers to a task; `file` is empty where a model's task lies in one file alone."""

    model: str
    task: str
    name: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class HarnessLine:
    """The scores of a metric beside the judge's labels, over the `rows` that have both.

    `theirs` is the mean of the tool's scores, which lie in [0, 1], `ours` the rate of answers that the judge calls
    correct; `interval` is the 95 % interval of `ours` minus `theirs`, by questions. `only_ours` counts the answers with
    0 of the tool that the judge calls correct (missed by a regex, say), `only_theirs` those with 1 that it calls
    incorrect, `partial` those with a score between. `undecided` are further rows, which the judge did not decide.
    """

    metric: Metric
    rows: int
    theirs: float
    ours: float
    interval: tuple[float, float] | None
    only_ours: int
    only_theirs: int
    partial: int
    undecided: int


@dataclass(frozen=True, slots=True)
class HarnessFound:
    """A line for each metric. `unscaled` are metrics with values outside of [0, 1], which are no rates of correct
    answers; `repeats` counts the rows of which several share one score, that of their document.
    """

    lines: Sequence[HarnessLine]
    unscaled: Sequence[str]
    repeats: int


class Difference(NamedTuple):
    """An answer that the tool scores 0 and the judge calls correct, or 1 and incorrect."""

    metric: Metric
    theirs: float
    row: Row


@dataclass(slots=True)
class _Pairs:
    """The pairs of a metric so far: the tool's scores and the judge's labels, and the question of each."""

    theirs: list[float] = field(default_factory=list)
    ours: list[int] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    undecided: int = 0


def beside_harness(rows: Iterable[Row]) -> HarnessFound:
    """Compare a tool's scores with a judge's labels, by model, task and metric."""
    pairs: dict[Metric, _Pairs] = {}
    unscaled: dict[str, None] = {}
    repeats = 0
    for row in rows:
        scores = _scores(row)
        if "repeat" in row.meta:
            repeats += bool(scores)
            continue
        for metric, score in scores.items():
            if not 0 <= score <= 1:
                unscaled[metric.name] = None
            own = pairs.setdefault(metric, _Pairs())
            own.undecided += row.label is None
            if row.label is not None:
                own.theirs.append(score)
                own.ours.append(row.label)
                own.questions.append(row.cluster)
    files = Counter(metric._replace(file="") for metric in pairs)
    lines = [
        _line(metric if files[metric._replace(file="")] > 1 else metric._replace(file=""), own)
        for metric, own in pairs.items()
        if metric.name not in unscaled and own.theirs
    ]
    return HarnessFound(lines, list(unscaled), repeats)


def harness_differences(rows: Iterable[Row]) -> Iterator[Difference]:
    """The rows in which a tool's score of 0 or 1 and the judge's label differ, once for each such metric."""
    for row in rows:
        yield from differences_of(row)


def differences_of(row: Row) -> list[Difference]:
    """The metrics whose score of 0 or 1 of a row differs from the judge's label."""
    if row.label is None or "repeat" in row.meta:
        return []
    scores = _scores(row)
    return [
        Difference(metric, score, row) for metric, score in scores.items() if score in (0, 1) and score != row.label
    ]


def first_disagreements(rows: Iterable[Row], most: int) -> tuple[list[list[Difference]], int]:
    """The first `most` rows in which tool and judge differ, each with its metrics, and how many there are in all.

    Both kinds, correct by the judge alone and by the tool alone, take turns as long as there are both.
    """
    kinds: dict[int | None, list[list[Difference]]] = {1: [], 0: []}
    total = 0
    for row in rows:
        if found := differences_of(row):
            total += 1
            if len(kinds[row.label]) < most:
                kinds[row.label].append(found)
    turns = chain.from_iterable(zip_longest(*kinds.values()))
    return [found for found in turns if found][:most], total


def harness_scores(row: Row) -> dict[str, float]:
    """The tool's own scores of a row by metric; empty for rows of no saved run."""
    return {metric.name: score for metric, score in _scores(row).items()}


def difference_record(difference: Difference) -> Mapping[str, object]:
    """A line of `differences.jsonl`: the row as in `verdicts.jsonl`, with the metric and the tool's score of it."""
    row = difference.row
    texts = {"question": row.question, "references": list(row.references), "candidate": row.candidate}
    record = {
        "id": row.id,
        **{name: row.meta[name] for name in ("task", "model", "file") if name in row.meta},
        "metric": difference.metric.name,
        "harness_score": difference.theirs,
        "score": row.score,
        "label": row.label,
        "explanation": row.verdict.explanation,
        **(texts if row.candidate is not None else {}),
    }
    return {name: value for name, value in record.items() if value is not None}


def _scores(row: Row) -> dict[Metric, float]:
    whose = (str(row.meta.get("model", "")), str(row.meta.get("task", "")))
    file = str(row.meta.get("file", ""))
    return {
        Metric(*whose, name.removeprefix(HARNESS), file): float(value)
        for name, value in row.meta.items()
        if name.startswith(HARNESS)
    }


def _line(metric: Metric, pairs: _Pairs) -> HarnessLine:
    from bert_judge.measures.paired import Differences

    both = list(zip(pairs.theirs, pairs.ours, strict=True))
    difference = Differences.of(pairs.theirs, pairs.ours, pairs.questions)
    return HarnessLine(
        metric,
        rows=len(both),
        theirs=sum(pairs.theirs) / len(both),
        ours=sum(pairs.ours) / len(both),
        interval=difference.interval(),
        only_ours=sum(theirs == 0 and ours == 1 for theirs, ours in both),
        only_theirs=sum(theirs == 1 and ours == 0 for theirs, ours in both),
        partial=sum(0 < theirs < 1 for theirs, _ in both),
        undecided=pairs.undecided,
    )
