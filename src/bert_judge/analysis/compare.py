"""Models against each other on the same questions: by what a judge says of their answers, or by people's labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Any

from bert_judge.analysis.matching import DIFFERENT, Entry, check_matched, fitting, matched, numbered, question_key
from bert_judge.analysis.measures import Estimate
from bert_judge.analysis.results import Row
from bert_judge.errors import InputError
from bert_judge.stats.agreement import RankCorrelation, kendall_tau
from bert_judge.stats.labels import wilson_interval
from bert_judge.stats.paired import LEVEL, Differences, holm, mcnemar
from bert_judge.stats.resampling import RESAMPLES, bootstrap_interval
from bert_judge.types import Signature

MARGIN = 0.02
"""Accuracies that differ by less than this are taken as equal, where nothing else is asked."""

PEOPLE = "people's labels"
_FEW_QUESTIONS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of a comparison: the margin of equivalence (None: `MARGIN` for labels, none for scores), draws."""

    margin: float | None = None
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.margin is not None and not (self.margin > 0 and math.isfinite(self.margin)):
            raise InputError(f"margin is {self.margin}; a difference over 0 was expected, like 0.02 for 2 points.")
        if self.resamples < 100:
            raise InputError(f"resamples is {self.resamples}; a number of at least 100 was expected.")


@dataclass(frozen=True, slots=True)
class Measure:
    """What models are compared by: its title, and the value of a row, None where there is none."""

    title: str
    of: Callable[[Row], float | None]
    labels: bool = True


ACCURACY = Measure("accuracy", lambda row: row.label)
MEAN_SCORE = Measure("mean score", lambda row: row.score, labels=False)
TRUE_ACCURACY = Measure("true accuracy", lambda row: row.gold)


@dataclass(frozen=True, slots=True)
class ModelFound:
    """One model: its rows, how many have no value, the mean of the others, and that with those as wrong (labels).

    `places` are the best and the worst place that it can have: the models that are better and worse by the corrected
    p-values tell them, so all models' places hold together with 95 % confidence (after Mogstad et al., 2024).
    """

    name: str
    rows: int
    undecided: int
    value: Estimate
    value_all: float | None
    places: tuple[int, int]


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
    `only_second` count flips: where one alone is right (or its score higher). `p_value` takes whole questions as the
    draws, `mcnemar` rows; both are the same where no question is repeated. `p_holm` is corrected for all pairs.
    `equivalence` is the p-value of the claim that they differ by less than `margin`. `detectable` is the smallest
    difference that such data would show with 80 % power; None where they would show none.
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
    margin: float | None
    equivalence: float | None
    detectable: float | None
    flips: Sequence[Flip]

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is under 5 %."""
        return self.p_holm < LEVEL

    @property
    def equivalent(self) -> bool:
        """Whether the models are equal within the margin, at 5 %."""
        return self.equivalence is not None and self.equivalence < LEVEL


@dataclass(frozen=True, slots=True)
class ModelsFound:
    """Models by one judge, or by people: the best first; and all pairs of them."""

    judge: str
    signature: Signature | None
    measure: Measure
    models: Sequence[ModelFound]
    pairs: Sequence[PairFound]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Rankings:
    """How far two judges put the models in the same order: Kendall's tau-b, and the pairs that they put differently."""

    first: str
    second: str
    tau: RankCorrelation
    turned: Sequence[tuple[str, str]]


def compare_models(entries: Sequence[Entry], asked: Asked | None = None) -> list[ModelsFound]:
    """Compare models by each judge that has two or more of them, and by people's labels where these are there.

    Raises InputError where two models have no question in common, and where a judge gave no label and no score.
    """
    asked = asked or Asked()
    judges: dict[str, list[Entry]] = {}
    for entry in entries:
        judges.setdefault(entry.judge, []).append(entry)
    found = [_compare(own, _measure(own), asked) for own in judges.values() if len(own) > 1]
    models = list({entry.model: entry for entry in reversed(entries)}.values())[::-1]
    if len(models) > 1 and all(any(row.gold is not None for row in entry.rows) for entry in models):
        people = [replace(entry, judge=PEOPLE) for entry in models]
        found.append(_compare(people, TRUE_ACCURACY, asked))
    return found


def rankings(found: Sequence[ModelsFound]) -> list[Rankings]:
    """Kendall's tau between the rankings of three or more models by each two judges (or people)."""
    result = []
    for one, two in combinations(found, 2):
        theirs = {model.name: model.value.value for model in two.models}
        pairs = [(model.name, model.value.value, theirs[model.name]) for model in one.models if model.name in theirs]
        tau = kendall_tau([pair[1] for pair in pairs], [pair[2] for pair in pairs]) if len(pairs) > 2 else None
        if tau:
            turned = [(a[0], b[0]) for a, b in combinations(pairs, 2) if (a[1] - b[1]) * (a[2] - b[2]) < 0]
            result.append(Rankings(one.judge, two.judge, tau, turned))
    return result


def differing(entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """A record of each question to which the models' answers differ in label (or in score, without labels)."""
    judges: dict[str, list[Entry]] = {}
    for entry in entries:
        judges.setdefault(entry.judge, []).append(entry)
    for name, own in judges.items():
        measure = _measure(own)
        rows = [numbered(entry.rows, fitting(question_key, [e.rows for e in own])) for entry in own]
        for key in dict.fromkeys(key for each in rows for key in each):
            answers = {e.model: each[key] for e, each in zip(own, rows, strict=True) if key in each}
            if len({value for row in answers.values() if (value := measure.of(row)) is not None}) > 1:
                first = next(iter(answers.values()))
                told = {model: answer_record(row) for model, row in answers.items()}
                yield {"judge": name, "question": first.question, "references": first.references, "answers": told}


def answer_record(row: Row) -> dict[str, Any]:
    """What a file of differences says of one answer."""
    told = {"id": row.id, "candidate": row.candidate, "score": row.score, "label": row.label, "gold": row.gold}
    return {name: value for name, value in told.items() if value is not None or name in ("score", "label")}


def _measure(entries: Sequence[Entry]) -> Measure:
    """Labels where every model has some, else scores."""
    for measure in (ACCURACY, MEAN_SCORE):
        without = [e.model for e in entries if all(measure.of(row) is None for row in e.rows)]
        if not without:
            break
    judge = entries[0].judge
    if without:
        raise InputError(
            f"{judge} gave the answers of {', '.join(without)} no labels and no scores, all are undecided; judge them "
            "by another judge."
        )
    if measure is MEAN_SCORE and len(kinds := {e.signature.name for e in entries}) > 1:
        raise InputError(
            f"scores of {' and '.join(sorted(kinds))} can't be compared, and not all models have labels; judge all by "
            "one judge."
        )
    return measure


def _compare(entries: Sequence[Entry], measure: Measure, asked: Asked) -> ModelsFound:
    made = [_pair(one, two, measure, asked) for one, two in combinations(entries, 2)]
    pairs = [pair for pair, _ in made if pair]
    pairs = [replace(p, p_holm=value) for p, value in zip(pairs, holm([p.p_value for p in pairs]), strict=True)]
    models = sorted((_model(e, measure, pairs, asked) for e in entries), key=lambda model: -model.value.value)
    notes = [note for _, found in made for note in found]
    return ModelsFound(
        entries[0].judge,
        entries[0].signature if measure is not TRUE_ACCURACY and entries[0].judge != DIFFERENT else None,
        measure,
        models,
        pairs,
        [*_notes(entries, pairs), *notes[:3], *([f"({len(notes) - 3} more such pairs)"] if len(notes) > 3 else [])],
    )


def _model(entry: Entry, measure: Measure, pairs: Sequence[PairFound], asked: Asked) -> ModelFound:
    import numpy as np

    rows = [(value, row.cluster) for row in entry.rows if (value := measure.of(row)) is not None]
    values = np.array([value for value, _ in rows], float)
    clusters = [cluster for _, cluster in rows]
    questions = len(set(clusters))
    if measure.labels and (questions == len(rows) or values.min() == values.max()):
        interval: tuple[float, float] | None = wilson_interval(round(float(values.mean()) * questions), questions)
    else:
        interval = bootstrap_interval(
            lambda w: float(w @ values / w.sum()), clusters, resamples=asked.resamples, seed=asked.seed
        )
    low, high = interval or (None, None)
    sides = [_side(entry.model, pair) for pair in pairs if pair.significant]
    models = {name for pair in pairs for name in (pair.first, pair.second)}
    return ModelFound(
        entry.model,
        len(entry.rows),
        len(entry.rows) - len(rows),
        Estimate(float(values.mean()), low, high),
        float(values.sum() / len(entry.rows)) if measure is ACCURACY else None,
        (1 + sides.count(-1), len(models) - sides.count(1)),
    )


def _side(model: str, pair: PairFound) -> int:
    """1 where the model is the better one of a pair, -1 where it is the worse one, 0 where it is not in it."""
    if model not in (pair.first, pair.second):
        return 0
    return 1 if (pair.difference.value > 0) == (model == pair.second) else -1


@dataclass(frozen=True, slots=True)
class _Together:
    """Two models' answers that belong together, and of those with two values the values."""

    rows: Sequence[tuple[Row, Row]]
    told: Sequence[tuple[Row, Row]]
    values: Sequence[tuple[float, float]]

    @classmethod
    def of(cls, first: Entry, second: Entry, measure: Measure) -> _Together:
        rows = matched(first.rows, second.rows, fitting(question_key, [first.rows, second.rows]))
        told = [
            (a, b, (v, w)) for a, b in rows if (v := measure.of(a)) is not None and (w := measure.of(b)) is not None
        ]
        return cls(rows, [(a, b) for a, b, _ in told], [values for _, _, values in told])

    @property
    def flips(self) -> list[Flip]:
        """Those with different values, the largest difference in score first."""
        pairs = zip(self.told, self.values, strict=True)
        found = [Flip(a, b, better=int(w > v)) for (a, b), (v, w) in pairs if v != w]
        return sorted(found, key=lambda flip: -abs((flip.first.score or 0.0) - (flip.second.score or 0.0)))

    @property
    def difference_all(self) -> float | None:
        """The mean difference of labels with undecided ones as wrong; None where none is undecided."""
        if len(self.told) == len(self.rows):
            return None
        return sum((b.label or 0) - (a.label or 0) for a, b in self.rows) / len(self.rows)


def _pair(first: Entry, second: Entry, measure: Measure, asked: Asked) -> tuple[PairFound | None, list[str]]:
    """Two models, and what there is to note; None where no question has values for both."""
    together = _Together.of(first, second, measure)
    note = check_matched([row for row, _ in together.rows], first.rows, second.rows, (first.model, second.model))
    notes = [note] if note else []
    if not together.told:
        return None, [*notes, f"{first.model} and {second.model} have no question with a value for both."]
    ones, twos = zip(*together.values, strict=True)
    data = Differences.of(ones, twos, [row.cluster for row, _ in together.told])
    low, high = data.interval(resamples=asked.resamples, seed=asked.seed) or (None, None)
    margin = asked.margin if asked.margin or not measure.labels else MARGIN
    flips, p_value = together.flips, data.p_value()
    only_second = sum(flip.better for flip in flips)
    return PairFound(
        first=first.model,
        second=second.model,
        matched=len(together.rows),
        rows=len(together.told),
        questions=data.clusters,
        first_value=fmean(ones),
        second_value=fmean(twos),
        difference=Estimate(data.mean, low, high),
        difference_all=together.difference_all if measure is ACCURACY else None,
        interval="Bonett and Price, as few answers differ" if data.counted else "paired bootstrap",
        only_first=len(flips) - only_second,
        only_second=only_second,
        p_value=p_value,
        mcnemar=mcnemar(len(flips) - only_second, only_second) if measure.labels else None,
        p_holm=p_value,
        margin=margin,
        equivalence=data.equivalence(margin) if margin else None,
        detectable=data.detectable(),
        flips=flips,
    ), notes


def _notes(entries: Sequence[Entry], pairs: Sequence[PairFound]) -> list[str]:
    """What a reader has to know of all pairs."""
    notes = []
    if few := min((pair.questions for pair in pairs if pair.questions < _FEW_QUESTIONS), default=0):
        count = "is only 1 question" if few == 1 else f"are only {few} questions"
        notes.append(f"there {count}: little can be said of so few.")
    if any(pair.questions < pair.rows for pair in pairs):
        notes.append("questions are repeated: intervals and p-values take whole questions as the draws.")
    keys = [set(numbered(e.rows, fitting(question_key, [e.rows]))) for e in entries]
    if any(each != keys[0] for each in keys):
        everywhere = set.intersection(*keys)
        notes.append(
            f"the models answered different questions ({len(everywhere):,} are common to all): each one's figure is "
            "over its own, pairs are over shared ones."
        )
    return notes
