"""Models against each other on the same questions: by what judges say of their answers, or by human labels.

table = comparison_table([load_run("out-a"), load_run("out-b")])
compare_models(table)[0].pairs[0].difference
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from bert_judge.errors import InputError
from bert_judge.measures.agreement import RankCorrelation, kendall_tau
from bert_judge.measures.arrays import Integers, Numbers, Truths, np
from bert_judge.measures.paired import LEVEL, Differences, holm, mcnemar
from bert_judge.measures.rates import Rate
from bert_judge.measures.resampling import bootstrap_interval
from bert_judge.records import Row, Signature
from bert_judge.studies.measures import BootstrapSettings, Estimate
from bert_judge.studies.pairing import check_matched, numbered, question_of
from bert_judge.studies.table import DIFFERENT, JudgeColumn, VerdictTable

HUMAN_LABELS = "human labels"
_FEW_QUESTIONS = 30
_MOST_NOTES = 3


@dataclass(frozen=True, slots=True)
class ModelMeasure:
    """What models are compared by: its title, and whether values are labels (1, 0), not scores."""

    title: str
    labels: bool = True


ACCURACY = ModelMeasure("accuracy")
MEAN_SCORE = ModelMeasure("mean score", labels=False)
TRUE_ACCURACY = ModelMeasure("true accuracy")


@dataclass(frozen=True, slots=True)
class ModelFound:
    """One model: its rows, how many have no value, the mean of the others, and with those as incorrect (labels)."""

    name: str
    rows: int
    undecided: int
    value: Estimate
    value_all: float | None


@dataclass(frozen=True, slots=True)
class Flip:
    """Two answers to one question; `better` says whose has the higher label or score, 0 the first one's or 1."""

    first: Row
    second: Row
    better: int


@dataclass(frozen=True, slots=True)
class PairFound:
    """Two models on the `rows` questions and answers for which both have a value; differences are second less first.

    `matched` counts all answers that belong together. `interval` says how the interval was found. `only_first` and
    `only_second` count flips: where one alone is correct (or its score higher). `p_value` is by question, `mcnemar` by
    row; both are the same where no question is repeated. `p_holm` is corrected for all pairs.
    """

    first: str
    second: str
    matched: int
    rows: int
    questions: int
    first_value: float
    second_value: float
    difference: Estimate
    difference_all: float | None
    interval: str
    only_first: int
    only_second: int
    p_value: float
    mcnemar: float | None
    p_holm: float
    flips: Sequence[Flip]

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is under 5 %."""
        return self.p_holm < LEVEL


@dataclass(frozen=True, slots=True)
class ModelsFound:
    """Models by one judge, or by human labels, the best first, and all pairs of them."""

    judge: str
    signature: Signature | None
    measure: ModelMeasure
    models: Sequence[ModelFound]
    pairs: Sequence[PairFound]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Rankings:
    """How far two judges rank the models alike: Kendall's tau-b, and the pairs that they rank differently."""

    first: str
    second: str
    tau: RankCorrelation
    turned: Sequence[tuple[str, str]]


def compare_models(table: VerdictTable, settings: BootstrapSettings | None = None) -> list[ModelsFound]:
    """Compare models by each judge that has two or more of them, and by human labels where these are there.

    Raises InputError where two models have no question in common, and where a judge gave no label and no score.
    """
    settings = settings or BootstrapSettings()
    groups = [*(_Models.by_judge(table, judge) for judge in table.judges), _Models.by_labels(table)]
    return [_compare(group, settings) for group in groups if group and len(group.places) > 1]


def rankings(found: Sequence[ModelsFound]) -> list[Rankings]:
    """Kendall's tau between the rankings of three or more models by each two judges (or human labels)."""
    result = []
    for one, two in combinations(found, 2):
        theirs = {model.name: model.value.value for model in two.models}
        pairs = [(model.name, model.value.value, theirs[model.name]) for model in one.models if model.name in theirs]
        tau = kendall_tau([pair[1] for pair in pairs], [pair[2] for pair in pairs]) if len(pairs) > 2 else None
        if tau:
            turned = [(a[0], b[0]) for a, b in combinations(pairs, 2) if (a[1] - b[1]) * (a[2] - b[2]) < 0]
            result.append(Rankings(one.judge, two.judge, tau, turned))
    return result


def differing(table: VerdictTable) -> Iterator[dict[str, Any]]:
    """A record of each question to which the models' answers differ in label (or in score, without labels)."""
    for models in (_Models.by_judge(table, judge) for judge in table.judges):
        for name in dict.fromkeys(name for places in models.places.values() for name in places):
            answers = {model: places[name] for model, places in models.places.items() if name in places}
            if len({value for place in answers.values() if math.isfinite(value := models.values[place])}) > 1:
                first = models.rows[next(iter(answers.values()))]
                yield {
                    "judge": models.judge,
                    "question": first.question,
                    "references": first.references,
                    "answers": {model: _answer_record(models.rows[place]) for model, place in answers.items()},
                }


def _answer_record(row: Row) -> dict[str, Any]:
    """What a file of differences says of one answer."""
    given = {name: getattr(row, name) for name in ("id", "candidate", "score", "label", "gold")}
    return {name: value for name, value in given.items() if value is not None or name in ("score", "label")}


@dataclass(frozen=True, eq=False)
class _Models:
    """Models by one judge, or by human labels: where each one's answers are, by their questions, and their values.

    `rows` and `values` (NaN: none) have an entry for each answer of the table, `places` point at these.
    """

    judge: str
    signature: Signature | None
    measure: ModelMeasure
    rows: Sequence[Row]
    values: Numbers
    clusters: Integers
    places: Mapping[str, Mapping[tuple[Any, int], int]]

    @classmethod
    def by_judge(cls, table: VerdictTable, judge: JudgeColumn) -> _Models:
        """By the labels of a judge where every model has some, else by its scores."""
        places = _places(table, judge.judged)
        measure, values = ACCURACY, np.where(judge.labels >= 0, judge.labels, np.nan)
        if _without(values, places):
            measure, values = MEAN_SCORE, judge.scores
        if len(places) > 1 and (without := _without(values, places)):
            raise InputError(
                f"{judge.name} gave the answers of {', '.join(without)} no labels and no scores, all are undecided; "
                "judge them by another judge."
            )
        if measure is MEAN_SCORE and len(kinds := {run.signature.name for run in judge.runs}) > 1:
            raise InputError(
                f"scores of {' and '.join(sorted(kinds))} can't be compared, and not all models have labels; judge all "
                "by one judge."
            )
        signature = None if judge.name == DIFFERENT else judge.signature
        rows = [said or row for said, row in zip(judge.verdicts, table.rows, strict=True)]
        return cls(judge.name, signature, measure, rows, values, table.clusters, places)

    @classmethod
    def by_labels(cls, table: VerdictTable) -> _Models | None:
        """By human labels; None unless every model has some."""
        places = _places(table, np.ones(len(table.rows), bool))
        values = np.where(table.golds >= 0, table.golds, np.nan)
        if _without(values, places):
            return None
        return cls(HUMAN_LABELS, None, TRUE_ACCURACY, table.rows, values, table.clusters, places)


def _places(table: VerdictTable, there: Truths) -> dict[str, dict[tuple[Any, int], int]]:
    """Where each model's answers are, by the question; by the id where a row has no texts that could be matched."""
    bare = any(row.candidate is None for row in table.rows)
    models: dict[str, list[int]] = {}
    for place in there.nonzero()[0].tolist():
        models.setdefault(table.models[place], []).append(place)
    found = {}
    for model, own in models.items():
        rows = [table.rows[place] for place in own]
        names = numbered(("id", row.id) if bare else question_of(row) for row in rows)
        found[model] = dict(zip(names, own, strict=True))
    return found


def _without(values: Numbers, places: Mapping[str, Mapping[Any, int]]) -> list[str]:
    """The models none of whose answers has a value."""
    return [model for model, own in places.items() if not np.isfinite(values[list(own.values())]).any()]


def _compare(models: _Models, settings: BootstrapSettings) -> ModelsFound:
    made = [_pair(models, one, two, settings) for one, two in combinations(models.places, 2)]
    pairs = [pair for pair, _ in made if pair]
    pairs = [replace(p, p_holm=value) for p, value in zip(pairs, holm([p.p_value for p in pairs]), strict=True)]
    found = [_model(models, name, settings) for name in models.places]
    notes = [note for _, said in made for note in said]
    more = len(notes) - _MOST_NOTES
    return ModelsFound(
        models.judge,
        models.signature,
        models.measure,
        sorted(found, key=lambda model: -model.value.value),
        pairs,
        [*_notes(models, pairs), *notes[:_MOST_NOTES], *([f"({more} more such pairs)"] if more > 0 else [])],
    )


def _model(models: _Models, name: str, settings: BootstrapSettings) -> ModelFound:
    everywhere = list(models.places[name].values())
    valued = [place for place in everywhere if math.isfinite(models.values[place])]
    values, clusters = models.values[valued], models.clusters[valued]
    rate = Rate.of(values, clusters) if models.measure.labels else None
    if rate:
        interval: tuple[float, float] | None = rate.interval
    else:
        interval = bootstrap_interval(
            lambda w: float(w @ values / w.sum()), clusters, resamples=settings.resamples, seed=settings.seed
        )
    return ModelFound(
        name,
        len(everywhere),
        len(everywhere) - len(valued),
        Estimate.of(float(values.mean()), interval),
        float(values.sum() / len(everywhere)) if models.measure is ACCURACY else None,
    )


def _pair(models: _Models, first: str, second: str, settings: BootstrapSettings) -> tuple[PairFound | None, list[str]]:
    """Two models, and what there is to note; None where no question has values for both."""
    ours, theirs = models.places[first], models.places[second]
    matched = np.asarray([(place, theirs[name]) for name, place in ours.items() if name in theirs], int).reshape(-1, 2)
    sides = [[models.rows[place] for place in places] for places in (matched[:, 0], ours.values(), theirs.values())]
    note = check_matched(sides[0], sides[1], sides[2], (first, second))
    notes = [note] if note else []
    valued = matched[np.isfinite(models.values[matched]).all(axis=1)]
    if not len(valued):
        return None, [*notes, f"{first} and {second} have no question with a value for both."]
    ones, twos = models.values[valued].T
    data = Differences.of(ones, twos, models.clusters[valued[:, 0]])
    difference = Estimate.of(data.mean, data.interval(resamples=settings.resamples, seed=settings.seed))
    labels = models.measure.labels
    only_first, only_second, p_value = int((ones > twos).sum()), int((twos > ones).sum()), data.p_value()
    undecided = models.measure is ACCURACY and len(valued) < len(matched)
    return PairFound(
        first=first,
        second=second,
        matched=len(matched),
        rows=len(valued),
        questions=data.clusters,
        first_value=float(ones.mean()),
        second_value=float(twos.mean()),
        difference=difference,
        difference_all=float(np.diff(np.nan_to_num(models.values[matched])).mean()) if undecided else None,
        interval="Bonett and Price, as the differences vary little" if data.counted else "paired bootstrap",
        only_first=only_first,
        only_second=only_second,
        p_value=p_value,
        mcnemar=mcnemar(only_first, only_second) if labels else None,
        p_holm=p_value,
        flips=_flips(models, valued[ones != twos].tolist()),
    ), notes


def _flips(models: _Models, places: Sequence[tuple[int, int]]) -> list[Flip]:
    """Answers with different values, the largest difference in score first."""
    found = [
        Flip(models.rows[one], models.rows[two], better=int(models.values[two] > models.values[one]))
        for one, two in places
    ]
    return sorted(found, key=lambda flip: -abs((flip.first.score or 0.0) - (flip.second.score or 0.0)))


def _notes(models: _Models, pairs: Sequence[PairFound]) -> Iterator[str]:
    """What a reader has to know of all pairs."""
    if few := min((pair.questions for pair in pairs if pair.questions < _FEW_QUESTIONS), default=0):
        count = "is only 1 question" if few == 1 else f"are only {few} questions"
        yield f"there {count}: little can be said of so few."
    if any(pair.questions < pair.rows for pair in pairs):
        yield "questions are repeated: intervals and p-values are by question."
    asked = [places.keys() for places in models.places.values()]
    if any(each != asked[0] for each in asked):
        everywhere = set(asked[0]).intersection(*asked)
        yield (
            f"the models answered different questions ({len(everywhere):,} are common to all): each one's figure is "
            "over its own, pairs are over shared ones."
        )
