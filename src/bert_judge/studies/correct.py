"""The accuracy of a saved run without its judge's error, by human labels of some of its rows.

found = correct(load_run("out"), read_labels("labels.jsonl"))
print(found.corrected.value, found.corrected.low, found.corrected.high)
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bert_judge.errors import InputError
from bert_judge.measures.arrays import Integers, Numbers, np
from bert_judge.measures.corrected import (
    FEW_ERRORS,
    FEW_LABELS,
    AccuracyEstimate,
    LabelledSample,
    corrected,
    labels_only,
    suffices,
)
from bert_judge.measures.inputs import factorise
from bert_judge.measures.labels import Confusion
from bert_judge.measures.rates import rate_interval
from bert_judge.records import Row
from bert_judge.results.runs import Run
from bert_judge.studies.labels import Labels, check_votes

FEWEST_LABELS = 10


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """The places of labelled rows in a run, their labels, and the probabilities with which they were drawn.

    All three have the shape (labelled rows,), in the order of the run. `drawn` says in words how; `of_file` counts
    those of the file, all others are of the run itself. `unused` counts labels of the run that could not be used
    together with them, `even` rows whose labels in the file are a tie.
    """

    rows: Integers
    golds: Integers
    probabilities: Numbers
    drawn: str
    of_file: int = 0
    unused: int = 0
    even: int = 0


@dataclass(frozen=True, slots=True)
class Corrected:
    """What labels say of a run: the accuracy by the labels, by the judge as it is, and by both together.

    `corrected` is PPI++. `judge` is over decided rows, all others are over all `rows`, of which the judge could not
    decide `undecided`. `confusion` counts the labelled rows, undecided ones as labelled incorrect. Of the labels
    `of_file` are from the file, `of_run` from the run itself. `notes` are sentences for the reader.
    """

    rows: int
    undecided: int
    drawn: str
    confusion: Confusion
    labels_only: AccuracyEstimate
    judge: AccuracyEstimate
    corrected: AccuracyEstimate
    notes: Sequence[str]
    of_file: int
    of_run: int

    @property
    def complete(self) -> bool:
        """Whether every row has a label, so that the judge can add nothing."""
        return self.confusion.n == self.rows


def correct(run: Run, labels: Labels | None = None, confidence: float = 0.95) -> Corrected:
    """Estimate the accuracy of all rows of a run from labels of some, those in the run itself included.

    Rows that the judge could not decide count as labelled incorrect, which costs precision, but adds no bias. Each row
    is looked at once, and not kept. Raises InputError where the judge labels no row, for no matching labels, under 10,
    or of one class.
    """
    columns, matched = _columns(run, labels)
    found = _labelled(columns, labels, matched)
    scores, verdicts, clusters = (np.asarray(each) for each in (columns.scores, columns.labels, columns.questions))
    decided, scored = verdicts >= 0, ~np.isnan(scores)
    _check_judge(run, bool(decided.any()), bool(scored.any()))
    _check_labels(found, run, labels, matched)
    said = np.maximum(verdicts, 0)
    sample = LabelledSample.of(said, found.rows, found.golds, found.probabilities, clusters)
    undecided = int((~decided).sum())
    mean = float(scores[scored].mean()) if scored.any() else 0.0
    return Corrected(
        len(said),
        undecided,
        found.drawn,
        Confusion.count(zip(found.golds.tolist(), said[found.rows].tolist(), strict=True)),
        labels_only(sample, confidence),
        _alone(verdicts[decided], clusters[decided], confidence),
        corrected(sample, np.where(scored, scores, mean), confidence),
        list(_notes(found, len(said), suffices(sample), undecided)),
        found.of_file,
        len(found.rows) - found.of_file,
    )


def _alone(labels: Integers, clusters: Integers, confidence: float) -> AccuracyEstimate:
    """The rate of rows that the judge calls correct."""
    of_row, count = factorise(clusters)
    rows = np.bincount(of_row, minlength=count)
    ends = rate_interval(np.bincount(of_row, labels, count), rows, confidence)
    way = "interval by question" if count < len(labels) else "Wilson interval"
    return AccuracyEstimate(float(labels.mean()), *ends, f"the judge alone, {way}")


def labelled_rows(run: Run, labels: Labels | None = None) -> LabelledRows:
    """Find the rows of a run that have a label, in `labels` or in the run itself; the former count where both are.

    Without probabilities each row is taken to have been drawn with the same one. Where a file's probabilities differ,
    labels of the run that it does not hold are left out, as they were drawn otherwise. Raises InputError where labels
    of a file match no row, or have a probability only here and there.
    """
    columns, matched = _columns(run, labels)
    return _labelled(columns, labels, matched)


@dataclass(frozen=True, slots=True)
class _Columns:
    """What is kept of a run's rows, 26 bytes each: scores (NaN where undecided), labels and human labels (-1: none),
    and numbers that rows of the same question, and copies of the same answer, have in common.
    """

    scores: array[float] = field(default_factory=lambda: array("d"))
    labels: array[int] = field(default_factory=lambda: array("b"))
    golds: array[int] = field(default_factory=lambda: array("b"))
    questions: array[int] = field(default_factory=lambda: array("q"))
    answers: array[int] = field(default_factory=lambda: array("q"))

    def of(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, each of which is added as it goes by."""
        for row in rows:
            self.scores.append(math.nan if row.score is None else row.score)
            self.labels.append(-1 if row.label is None else row.label)
            self.golds.append(-1 if row.gold is None else row.gold)
            self.questions.append(hash(row.cluster))
            self.answers.append(hash(row.key))
            yield row


def _columns(run: Run, labels: Labels | None) -> tuple[_Columns, Mapping[int, Row]]:
    """What is needed of all rows, and the row of labels for each row that has one in the file, in one look."""
    columns = _Columns()
    passing = columns.of(run.rows)
    if labels:
        return columns, labels.match(passing)
    deque(passing, maxlen=0)
    return columns, {}


def _labelled(columns: _Columns, labels: Labels | None, matched: Mapping[int, Row]) -> LabelledRows:
    golds, chances = np.array(columns.golds), np.ones(len(columns.golds))
    if labels is None:
        places = np.flatnonzero(golds >= 0)
        return LabelledRows(places, golds[places], chances[places], "of the run itself, taken as drawn uniformly")
    counted = {place: label for place, label in sorted(matched.items()) if label.gold is not None}
    of_file = np.fromiter(counted, int, len(counted))
    given = _probabilities(labels, counted)
    # A copy of an answer is labelled as soon as one of its copies is drawn.
    _, answer, copies = np.unique(np.array(columns.answers)[of_file], return_inverse=True, return_counts=True)
    uniform = copies[answer] if labels.by_texts else np.ones(len(of_file))
    unused, drawn = 0, "drawn uniformly" if len(given) else "without probabilities, taken as drawn uniformly"
    if len(given) and (given / uniform).max() > (given / uniform).min() * (1 + 1e-6):
        drawn = "drawn with different probabilities"
        unused = int((golds >= 0).sum() - (golds[of_file] >= 0).sum())
        golds[:], chances[of_file] = -1, given
    else:
        chances[of_file] = uniform
    golds[of_file] = [label.gold for label in counted.values()]
    places, even = np.flatnonzero(golds >= 0), len(matched) - len(counted)
    return LabelledRows(places, golds[places], chances[places], drawn, len(of_file), unused, even)


def _probabilities(labels: Labels, counted: Mapping[int, Row]) -> Numbers:
    """With which probability each row was drawn, as its row of labels says; nothing where no row says it."""
    given = [label.meta["probability"] for label in counted.values() if "probability" in label.meta]
    if given and len(given) < len(counted):
        raise InputError(
            f"{len(given)} of the {len(counted)} matching labels of {labels.where} have a probability; one for each, "
            "or for none, was expected."
        )
    wrong = [value for value in given if not isinstance(value, int | float) or not 0 < value <= 1]
    if wrong:
        raise InputError(f"{labels.where} has the probability {wrong[0]!r}; a number over 0, up to 1, was expected.")
    return np.array(given, float)


def _check_judge(run: Run, decided: bool, scored: bool) -> None:
    """Raise InputError where the judge labels no row."""
    if decided:
        return
    if scored:
        raise InputError(
            f"{run.folder} holds similarities without a threshold, which label nothing correct or incorrect; judge "
            "again with --threshold, or with a judge of correctness."
        )
    raise InputError(f"the judge of {run.folder} decided no row; a run with verdicts was expected.")


def _check_labels(found: LabelledRows, run: Run, labels: Labels | None, matched: Mapping[int, Row]) -> None:
    if not len(found.rows):
        if labels is not None:
            check_votes(labels, matched)
        raise InputError(
            f"{run.folder} holds no labels; give a file of labels with --labels, or make one with bert-judge label."
        )
    if len(found.rows) < FEWEST_LABELS:
        raise InputError(f"{len(found.rows)} rows have a label; {FEWEST_LABELS} or more were expected: label more.")
    if found.golds.min() == found.golds.max():
        which = "1 (correct)" if found.golds[0] else "0 (incorrect)"
        raise InputError(
            f"all {len(found.rows)} labels are {which}, which can't show how often the judge errs; both 0 and 1 were "
            "expected: label more rows."
        )


def _notes(found: LabelledRows, rows: int, enough: bool, undecided: int) -> Iterator[str]:
    if len(found.rows) == rows:
        yield (
            f"all rows are labelled: the accuracy of these rows is {found.golds.mean():.1%}; the intervals are for the "
            "accuracy on further rows like these"
        )
    elif not enough:
        yield (
            f"there are under {FEW_LABELS} labels, or under {FEW_ERRORS} errors of the judge among them (of different "
            "questions), too few for the normal interval of PPI++: the one given holds for few labels, and uses the "
            "judge's labels, not its scores"
        )
    if undecided:
        yield f"{undecided} rows that the judge could not decide count as incorrect, but for the judge as it is"
    if found.unused:
        yield (
            f"{found.unused} labels of the run itself are left out, as they were not drawn like those of the file, "
            "which have different probabilities"
        )
    if found.even:
        yield f"{found.even} rows have as many labels 1 as 0 in the file, which count for nothing"
