"""The accuracy of a saved run without its judge's error, by human labels of some of its rows.

found = correct(load_run("out"), read_labels("labels.jsonl"))
print(found.corrected.value, found.corrected.low, found.corrected.high)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from bert_judge.analysis.labels import Labels, relabelled
from bert_judge.analysis.results import Run
from bert_judge.errors import InputError
from bert_judge.stats.corrected import (
    FEW_ERRORS,
    FEW_LABELS,
    AccuracyEstimate,
    LabelledSample,
    corrected,
    labels_only,
    rogan_gladen,
    suffices,
)
from bert_judge.stats.labels import Confusion

FEWEST_LABELS = 10


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """The places of labelled rows in a run, their labels, and the probabilities with which they were drawn.

    `drawn` says in words how; `of_file` counts those of the file, all others are of the run itself. `unused` counts
    labels of the run that could not be used together with them, `even` rows whose labels in the file are a tie.
    """

    rows: Sequence[int]
    golds: Sequence[int]
    probabilities: Sequence[float]
    drawn: str
    of_file: int = 0
    unused: int = 0
    even: int = 0


@dataclass(frozen=True, slots=True)
class Corrected:
    """What labels say of a run: the accuracy by the labels, by the judge as it is, and by both together.

    `corrected` is PPI++, `rogan_gladen` None where labels don't define it. `judge` is over decided rows, all others are
    over all `rows`, of which the judge could not decide `undecided`. `confusion` counts the labelled rows, undecided
    ones as labelled incorrect. Of the labels `of_file` are from the file, `of_run` from the run itself. `notes` are
    sentences for the reader.
    """

    rows: int
    undecided: int
    drawn: str
    confusion: Confusion
    labels_only: AccuracyEstimate
    judge: AccuracyEstimate
    corrected: AccuracyEstimate
    rogan_gladen: AccuracyEstimate | None
    notes: Sequence[str]
    of_file: int
    of_run: int

    @property
    def complete(self) -> bool:
        """Whether every row has a label, so that the judge can add nothing."""
        return self.confusion.n == self.rows


def correct(run: Run, labels: Labels | None = None, confidence: float = 0.95) -> Corrected:
    """Estimate the accuracy of all rows of a run from labels of some, those in the run itself included.

    Rows that the judge could not decide count as labelled incorrect, which costs precision, but adds no bias. Raises
    InputError where the judge labels no row, for no matching labels, under 10, or of one class.
    """
    _check_judge(run)
    found = labelled_rows(run, labels)
    _check_labels(found, run, labels)
    clusters = [row.cluster for row in run.rows]
    said = [row.label or 0 for row in run.rows]
    sample = LabelledSample.of(said, found.rows, found.golds, found.probabilities, clusters)
    decided = [(row.label, cluster) for row, cluster in zip(run.rows, clusters, strict=True) if row.label is not None]
    alone, own_clusters = zip(*decided, strict=True)
    by_judge = LabelledSample.of(alone, range(len(alone)), alone, clusters=own_clusters)
    by_ratio = rogan_gladen(sample, confidence)
    undecided = len(run.rows) - len(decided)
    scored = [row.score for row in run.rows if row.score is not None]
    mean = fmean(scored) if scored else 0.0
    scores = [mean if row.score is None else row.score for row in run.rows]
    return Corrected(
        len(run.rows),
        undecided,
        found.drawn,
        Confusion.count((gold, said[place]) for place, gold in zip(found.rows, found.golds, strict=True)),
        labels_only(sample, confidence),
        replace(labels_only(by_judge, confidence), method="the judge alone, Jeffreys' interval"),
        corrected(sample, scores, confidence),
        by_ratio,
        list(_notes(found, len(run.rows), suffices(sample), undecided, by_ratio)),
        found.of_file,
        len(found.rows) - found.of_file,
    )


def labelled_rows(run: Run, labels: Labels | None = None) -> LabelledRows:
    """Find the rows of a run that have a label, in `labels` or in the run itself; the former count where both are.

    Without probabilities each row is taken to have been drawn with the same one. Where a file's probabilities differ,
    labels of the run that it does not hold are left out, as they were drawn otherwise. Raises InputError where labels
    of a file match no row, or have a probability only here and there.
    """
    golds = {place: row.gold for place, row in enumerate(run.rows) if row.gold is not None}
    if labels is None:
        places, own = sorted(golds), "of the run itself, taken as drawn uniformly"
        return LabelledRows(places, [golds[place] for place in places], [1.0] * len(places), own)
    of_file, given, even = _of_file(run, labels)
    # A copy of an answer is labelled as soon as one of its copies is drawn.
    copies = Counter(run.rows[place].key for place in of_file) if labels.by_texts else Counter()
    uniform = {place: float(copies[run.rows[place].key] or 1) for place in of_file}
    ratios = [given[place] / chance for place, chance in uniform.items() if given]
    if ratios and max(ratios) > min(ratios) * (1 + 1e-6):
        chances, drawn, unused = given, "drawn with different probabilities", len(golds.keys() - of_file.keys())
        golds = of_file
    else:
        drawn = "drawn uniformly" if given else "without probabilities, taken as drawn uniformly"
        chances, unused, golds = {**dict.fromkeys(golds, 1.0), **uniform}, 0, golds | of_file
    places = sorted(golds)
    return LabelledRows(
        places, [golds[i] for i in places], [chances[i] for i in places], drawn, len(of_file), unused, even
    )


def _of_file(run: Run, labels: Labels) -> tuple[dict[int, int], dict[int, float], int]:
    """Labels of a file by the place of their row, the probabilities of these (none where it has none), and the number
    of rows whose labels are even.
    """
    matched = {place: label for place, label in enumerate(labels.match(run.rows)) if label is not None}
    golds = {place: label.gold for place, label in matched.items() if label.gold is not None}
    given = {place: matched[place].meta["probability"] for place in golds if "probability" in matched[place].meta}
    if given and len(given) < len(golds):
        raise InputError(
            f"{len(given)} of the {len(golds)} matching labels of {labels.where} have a probability; one for each, or "
            "for none, was expected."
        )
    wrong = [value for value in given.values() if not isinstance(value, int | float) or not 0 < value <= 1]
    if wrong:
        raise InputError(f"{labels.where} has the probability {wrong[0]!r}; a number over 0, up to 1, was expected.")
    return golds, given, len(matched) - len(golds)


def _check_judge(run: Run) -> None:
    """Raise InputError where the judge labels no row."""
    if all(row.label is None for row in run.rows):
        if any(row.score is not None for row in run.rows):
            raise InputError(
                f"{run.folder} holds similarities without a threshold, which label nothing correct or incorrect; judge "
                "again with --threshold, or with a judge of correctness."
            )
        raise InputError(f"the judge of {run.folder} decided no row; a run with verdicts was expected.")


def _check_labels(found: LabelledRows, run: Run, labels: Labels | None) -> None:
    if not found.rows:
        if labels is not None:
            relabelled(run.rows, labels)  # says that all votes are even
        raise InputError(
            f"{run.folder} holds no labels; give a file of labels with --labels, or make one with bert-judge label."
        )
    if len(found.rows) < FEWEST_LABELS:
        raise InputError(f"{len(found.rows)} rows have a label; {FEWEST_LABELS} or more were expected: label more.")
    if len(set(found.golds)) == 1:
        which = "1 (correct)" if found.golds[0] else "0 (incorrect)"
        raise InputError(
            f"all {len(found.rows)} labels are {which}, which can't show how often the judge errs; both 0 and 1 were "
            "expected: label more rows."
        )


def _notes(
    found: LabelledRows, rows: int, enough: bool, undecided: int, by_ratio: AccuracyEstimate | None
) -> Iterator[str]:
    if len(found.rows) == rows:
        yield (
            f"all rows are labelled: the accuracy of these rows is {fmean(found.golds):.1%}; the intervals are for the "
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
    if by_ratio is not None and by_ratio.low <= 0 and by_ratio.high >= 1:
        yield (
            "the interval of Rogan-Gladen is all from 0 to 1: on these labels the judge separates correct from "
            "incorrect answers too badly for it"
        )
    if by_ratio is None:
        yield "Rogan-Gladen is undefined, as the judge is no better than chance on the labels"
