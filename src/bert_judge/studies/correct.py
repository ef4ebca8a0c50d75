"""The accuracy of a saved run without its judge's error, by human labels of some of its rows; and which to label next.

correction = correct(load_run("out"), read_labels("labels.jsonl"))
print(correction.corrected.value, correction.corrected.interval)
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from bert_judge.errors import InputError
from bert_judge.measures.arrays import Integers, Numbers, np
from bert_judge.measures.confusion import Confusion
from bert_judge.measures.corrected import (
    FEW_ERRORS,
    FEW_LABELS,
    LabelledSample,
    corrected,
    labels_only,
    suffices,
)
from bert_judge.measures.estimates import Estimate, rate
from bert_judge.records import Row
from bert_judge.results.runs import Run
from bert_judge.studies.groups import CorrectedGroups, correct_groups, lacking_labels
from bert_judge.studies.pairing import LabelledRows, Labels, labelled_rows, question_of
from bert_judge.studies.table import check_columns, comparison_table
from bert_judge.wording import counted

Strategy = Literal["active", "uniform"]
"""How rows are drawn: by the judge's uncertainty, mixed with chance; by chance alone."""

UNIFORM_SHARE = 0.5
"""How much of an active draw is chance alone, so that errors of a judge that is sure are found, too."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The accuracy of a run by human labels alone, by the judge alone, and by both together.

    `corrected` is PPI++. `judge` is over decided rows; the others are for all `rows`, of which the judge could not
    decide `undecided`. `confusion` counts the labelled rows, undecided ones as labelled incorrect. Of the labels
    `of_file` are from the file, `of_run` from the run itself. `notes` are sentences for the reader. `groups` are those
    of a column, where one was named.
    """

    rows: int
    undecided: int
    drawn: str
    confusion: Confusion
    labels_only: Estimate
    judge: Estimate
    corrected: Estimate
    notes: Sequence[str]
    of_file: int
    of_run: int
    groups: CorrectedGroups | None = None

    @property
    def complete(self) -> bool:
        """Whether every row has a label, so that the judge can add nothing."""
        return self.confusion.n == self.rows


def correct(run: Run, labels: Labels | None = None, confidence: float = 0.95, by: str | None = None) -> Correction:
    """Estimate the accuracy of all rows of a run from labels of some, those in the run itself included.

    `by` names a column, such as that of the model: the accuracy of each of its values is estimated, too, and the
    difference of each two that answered the same questions.

    Rows that the judge could not decide count as labelled incorrect, which costs precision, but adds no bias. Each row
    is looked at once, and not kept. Raises InputError where the judge labels no row, for no matching labels, under 10,
    or of one class, and for a column that no row has.
    """
    arrays, matched, places = _read(run, labels, by)
    if by and not places:
        check_columns(run.rows, [by])
    labelled = labelled_rows(arrays.golds, arrays.answers, labels, matched)
    scores, verdicts, clusters = arrays.scores, arrays.labels, arrays.questions
    decided, scored = verdicts >= 0, ~np.isnan(scores)
    _check_judge(run, bool(decided.any()), bool(scored.any()))
    _check_labels(labelled, run)
    predictions = np.maximum(verdicts, 0)
    sample = LabelledSample.of(predictions, labelled.rows, labelled.golds, labelled.probabilities, clusters)
    undecided = int((~decided).sum())
    mean = float(scores[scored].mean()) if scored.any() else 0.0
    groups = correct_groups(sample, verdicts, scores, places, confidence) if by else None
    if groups and (left := len(predictions) - sum(group.rows for group in groups.accuracies)):
        without = counted(left, f"row has no {by} and is", f"rows have no {by} and are")
        groups = replace(groups, notes=[f"{without} in no group", *groups.notes])
    return Correction(
        rows=len(predictions),
        undecided=undecided,
        drawn=labelled.drawn,
        confusion=Confusion.count(zip(labelled.golds.tolist(), predictions[labelled.rows].tolist(), strict=True)),
        labels_only=labels_only(sample, confidence),
        judge=rate(verdicts[decided], clusters[decided], confidence),
        corrected=corrected(sample, np.where(scored, scores, mean), confidence),
        notes=list(_notes(labelled, len(predictions), suffices(sample), undecided)),
        of_file=labelled.of_file,
        of_run=len(labelled.rows) - labelled.of_file,
        groups=groups,
    )


def as_one(runs: Sequence[Run]) -> Run:
    """Results of one judge on several models' answers as one; rows without a column `model` get the one that
    `comparison_table` names. Raises InputError for several judges, and for the same answers twice.
    """
    first, *others = [run.signature for run in runs]
    if difference := next(filter(None, map(first.difference, others)), None):
        raise InputError(f"the results are by different judges ({difference}); those of one judge were expected.")
    table = comparison_table(runs)
    if len(table.judges) > 1:
        raise InputError("the results are on the same answers, by the same judge; give one of them.")
    rows = [
        replace(row, meta={"model": model, **row.meta}) for row, model in zip(table.rows, table.models, strict=True)
    ]
    return replace(runs[0], folder=Path(", ".join(str(run.folder) for run in runs)), rows=rows)


class _RunArrays(NamedTuple):
    """What is kept of a run's rows, 26 bytes each: scores (NaN where undecided), labels and human labels (-1: none),
    and hashes that rows of the same question, and copies of the same answer, have in common.
    """

    scores: Numbers
    labels: Integers
    golds: Integers
    questions: Integers
    answers: Integers


_Places = dict[str, dict[Hashable, int]]  # of each group: by the question, and how often the group answered it before


def _read(run: Run, labels: Labels | None, by: str | None) -> tuple[_RunArrays, Mapping[int, Row], _Places]:
    """In one pass: the arrays of a run, the row of the file of labels for each row that has one, and the places of the
    rows of each group.
    """
    scores, verdicts, golds = array("d"), array("b"), array("b")
    questions, answers = array("q"), array("q")
    groups: _Places = {}
    counted: Counter[tuple[str, int]] = Counter()

    def passing() -> Iterator[Row]:
        for place, row in enumerate(run.rows):
            scores.append(math.nan if row.score is None else row.score)
            verdicts.append(-1 if row.label is None else row.label)
            golds.append(-1 if row.gold is None else row.gold)
            questions.append(hash(row.cluster))
            answers.append(hash(row.key))
            if by and (value := row.meta.get(by)) is not None:
                name, question = str(value), hash(question_of(row))
                groups.setdefault(name, {})[question, counted[name, question]] = place
                counted[name, question] += 1
            yield row

    matched: Mapping[int, Row] = labels.match(passing()) if labels else {}
    deque(() if labels else passing(), maxlen=0)
    return _RunArrays(*map(np.array, (scores, verdicts, golds, questions, answers))), matched, groups


def _check_judge(run: Run, decided: bool, scored: bool) -> None:
    """Raise InputError where the judge labels no row."""
    if decided:
        return
    if scored:
        raise InputError(
            f"{run.folder} holds similarities without a threshold, which label nothing correct or incorrect; judge "
            "again with a threshold, or with a judge of correctness."
        )
    raise InputError(f"the judge of {run.folder} decided no row; a run with verdicts was expected.")


def _check_labels(labelled: LabelledRows, run: Run) -> None:
    if not len(labelled.rows):
        raise InputError(f"no labels are in {run.folder}; give a file of them, or make one with bert-judge label.")
    if sentence := lacking_labels(labelled.golds):
        raise InputError(sentence)


def _notes(labelled: LabelledRows, rows: int, enough: bool, undecided: int) -> Iterator[str]:
    if labelled.chosen and len(labelled.rows) < rows:
        yield labelled.chosen
    if len(labelled.rows) == rows:
        yield (
            f"all rows are labelled: the accuracy of these rows is {labelled.golds.mean():.1%}; the intervals are for "
            "the accuracy on further rows like these"
        )
    elif not enough:
        yield (
            f"there are under {FEW_LABELS} labels, or under {FEW_ERRORS} errors of the judge among them (of different "
            "questions), too few for the normal interval of PPI++: the interval here holds for few labels, and uses "
            "the judge's labels, not its scores"
        )
    if undecided:
        count = counted(
            undecided, "row that the judge could not decide counts", "rows that the judge could not decide count"
        )
        yield f"{count} as incorrect, except for the judge alone"
    if labelled.unused:
        yield (
            f"{counted(labelled.unused, 'label of the run itself is', 'labels of the run itself are')} left out, not "
            "drawn like those of the file, which have different probabilities"
        )
    if labelled.even:
        yield f"{counted(labelled.even, 'row has', 'rows have')} as many labels 1 as 0 in the file: not counted"


# ----------------------------------------------------------------------------------------------- which rows to label


def sampling_probabilities(scores: Sequence[float | None], strategy: Strategy) -> list[float]:
    """With which probability each row is the first one drawn; they add up to 1.

    "active" is the square root of p (1 - p), p being the score (0.5 if undecided), which is optimal where scores are
    calibrated (Zrnic and Candès, 2024), mixed half and half with "uniform", so that no row weighs over twice as much as
    under "uniform". Raises InputError where no score is between 0 and 1.
    """
    uniform = 1 / len(scores)
    if strategy == "uniform":
        return [uniform] * len(scores)
    doubts = [math.sqrt(max(p * (1 - p), 0.0)) for p in (0.5 if score is None else score for score in scores)]
    if not any(doubts):
        raise InputError("the judge's scores show no uncertainty, as all are 0 or 1; use the strategy uniform.")
    total = math.fsum(doubts)
    return [UNIFORM_SHARE * uniform + (1 - UNIFORM_SHARE) * doubt / total for doubt in doubts]


def default_strategy(run: Run) -> Strategy:
    """ "active" where the judge's scores are probabilities that are not all 0 or 1, else "uniform"."""
    scores = [row.score for row in run.rows if row.score is not None]
    return "active" if run.scale == "probability" and any(0 < score < 1 for score in scores) else "uniform"


@dataclass(frozen=True, slots=True)
class Draw:
    """One answer in the order of drawing: its row, and the probability that it is the first one drawn.

    Copies of an answer are drawn together, with the sum of their probabilities. `row` is the first copy, with the label
    that the run has for any of them.
    """

    row: Row
    probability: float


def draw_order(run: Run, strategy: Strategy, seed: int = 0) -> list[Draw]:
    """All answers of a run in the order in which they are drawn; each run, strategy and seed has one order.

    Rows are drawn one after the other, without replacement, each with its probability among those left, so labelling
    may stop at any time (see `measures.corrected`). The order is fixed by the texts and the seed, not by the order of
    the rows (permanent random numbers; Ohlsson, 1995). Raises InputError for a run without texts, and as
    `sampling_probabilities` does.
    """
    rows = list(run.rows)
    if any(row.candidate is None for row in rows):
        raise InputError(
            f"{run.folder} was made without texts, and nobody can label unseen answers; judge again with texts."
        )
    copies: dict[tuple[str, ...], list[tuple[Row, float]]] = {}
    for row, probability in zip(rows, sampling_probabilities([row.score for row in rows], strategy), strict=True):
        copies.setdefault(row.key, []).append((row, probability))
    timed = []
    for key, group in copies.items():
        digest = hashlib.sha256(json.dumps([seed, *key]).encode()).digest()
        exponential = -math.log((int.from_bytes(digest[:8], "big") + 0.5) / 2**64)
        probability = math.fsum(probability for _, probability in group)
        first = next((row for row, _ in group if row.gold is not None), group[0][0])
        timed.append((exponential / probability, Draw(first, probability)))
    return [draw for _, draw in sorted(timed, key=lambda pair: pair[0])]
