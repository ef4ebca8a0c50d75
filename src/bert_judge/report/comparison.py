"""A comparison as a document and as JSON: models against each other, and judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from bert_judge.records import Row
from bert_judge.report.document import Block, Content, Document, Example, Examples, Table
from bert_judge.report.sections.corrected import MOST_PAIRS, corrected_tables
from bert_judge.report.sentences import pair_sentence, paired_test
from bert_judge.studies.agree import Disagreement, Panel
from bert_judge.studies.compare import ACCURACY, MEAN_SCORE, TRUE_ACCURACY, Flip, ModelComparison, ModelPair, Rankings
from bert_judge.wording import INTERVALS, SAID, counted, interval, number, p_value, percent, points

_MOST_TURNED = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """Models by each judge (and by human labels), their rankings, and the judges."""

    models: Sequence[ModelComparison]
    rankings: Sequence[Rankings]
    judges: Panel | None
    notes: Sequence[str]


def comparison_document(
    comparison: Comparison,
    title: str,
    apart: Sequence[Disagreement] = (),
    flips: int = 0,
    *,
    every_pair: bool = True,
    more: str = "",
) -> Document:
    """All tables, a sentence for each judge, and `flips` of the answers on which models or judges (`apart`) differ.

    Without `every_pair`, of many pairs of models only those of neighbours in the ranking are there. `more` says where
    further answers are, with a placeholder for their number.
    """
    parts: list[Block] = [*comparison_tables(comparison, every_pair)]
    notes, judges = [*comparison.notes], []
    for models in comparison.models:
        parts += corrected_tables(models.corrected, "", models.judge) if models.corrected else ()
        parts += [pair_sentence(models, (_neighbours(models) or models.pairs)[0])] if models.pairs else []
        if len(models.pairs) == 1 and models.measure != TRUE_ACCURACY:
            both_ways = (_flips(models.pairs[0], better, flips, more) for better in (0, 1))
            parts += [examples for examples in both_ways if examples.examples]
        notes += models.notes
        judges += [(models.judge, models.signature)] if models.signature else []
    parts += [_disagreements(apart, flips, more)] if apart and flips else []
    if comparison.judges:
        notes += comparison.judges.notes
        judges += [(judge.name, judge.signature) for judge in comparison.judges.judges]
    return Document(title, parts, list(dict.fromkeys(notes)), list(dict.fromkeys(judges)))


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON; the answers that differ are not in it, and each pair of models has its sentence."""
    return {
        "models": [_models_record(models) for models in comparison.models],
        "rankings": [asdict(two) | {"tau": two.tau._asdict()} for two in comparison.rankings],
        "judges": comparison.judges and asdict(comparison.judges),
        "notes": list(comparison.notes),
    }


def _models_record(models: ModelComparison) -> dict[str, Any]:
    pairs = []
    for pair in models.pairs:
        record = asdict(replace(pair, flips=()))
        del record["flips"]
        pairs.append({**record, "significant": pair.significant, "sentence": pair_sentence(models, pair)})
    return {**asdict(replace(models, pairs=())), "pairs": pairs}


def comparison_tables(comparison: Comparison, every_pair: bool) -> Iterator[Table]:
    """The models by each judge, with their differences; then the rankings, and the judges."""
    for models in comparison.models:
        yield _models(models)
        if models.pairs:
            yield _pairs(models, every_pair)
    if comparison.rankings:
        yield _rankings(comparison.rankings)
    if panel := comparison.judges:
        yield _judges(panel)
        yield _agreement(panel)


def _models(comparison: ModelComparison) -> Table:
    labels_missing = any(model.undecided for model in comparison.models)
    by_labels = comparison.measure == TRUE_ACCURACY
    as_incorrect = labels_missing and comparison.measure == ACCURACY
    title = "accuracy" if by_labels else comparison.measure
    form = percent if comparison.measure != MEAN_SCORE else number
    body: list[list[Content]] = [
        [
            model.name,
            model.rows,
            *([model.undecided] if labels_missing else []),
            interval(model.value, form),
            *([percent(model.value_all)] if as_incorrect else []),
        ]
        for model in comparison.models
    ]
    missing = ["no label" if by_labels else "undecided"] if labels_missing else []
    head = ["", "rows", *missing, title, *(["undecided as incorrect"] if as_incorrect else [])]
    return Table(f"{title.capitalize()} by {comparison.judge}", head, body, INTERVALS)


def _pairs(comparison: ModelComparison, every_pair: bool) -> Table:
    """The pairs of models, one a line."""
    labels, several = comparison.measure != MEAN_SCORE, len(comparison.pairs) > 1
    pairs = comparison.pairs if every_pair or len(comparison.pairs) <= MOST_PAIRS else _neighbours(comparison)
    form = points if labels else _signed
    all_rows = any(pair.difference_all is not None for pair in pairs)
    body: list[list[Content]] = [
        [
            f"{pair.second} minus {pair.first}",
            pair.difference.rows,
            interval(pair.difference.estimate, form),
            *([form(pair.difference_all)] if all_rows else []),
            pair.difference.only_first,
            pair.difference.only_second,
            p_value(pair.difference.p_value),
            *([p_value(pair.p_holm)] if several else []),
        ]
        for pair in pairs
    ]
    head = ["second minus first", "rows", "points" if labels else "difference"]
    head += [*(["undecided as incorrect"] if all_rows else []), "first better", "second better", "p"]
    head += ["p, Holm"] if several else []
    left = len(comparison.pairs) - len(pairs)
    more = f"\n{left:,} more pairs, of models that are not neighbours above, are only in the files" if left else ""
    return Table("Differences" if len(pairs) > 1 else "Difference", head, body, _how(comparison) + more)


def _neighbours(comparison: ModelComparison) -> list[ModelPair]:
    """The pairs of models that follow each other in the ranking."""
    pairs = {frozenset((pair.first, pair.second)): pair for pair in comparison.pairs}
    neighbours = [frozenset((one.name, two.name)) for one, two in pairwise(comparison.models)]
    return [pairs[two] for two in neighbours if two in pairs]


def _how(comparison: ModelComparison) -> str:
    """The methods behind the columns."""
    estimates = [pair.difference.estimate for pair in comparison.pairs]
    methods = dict.fromkeys(estimate.method for estimate in estimates if estimate.method)
    return f"95 % intervals: {'; or '.join(methods) or 'none'}; p: {paired_test(comparison)}"


def _rankings(rankings: Sequence[Rankings]) -> Table:
    body: list[list[Content]] = [
        [f"{two.first}, {two.second}", two.tau.units, number(two.tau.tau), p_value(two.tau.p_value), _turned(two)]
        for two in rankings
    ]
    head = ["", "models", "Kendall's tau", "p", "in another order"]
    return Table("Do they put the models in the same order?", head, body)


def _turned(rankings: Rankings) -> str:
    pairs = [f"{one}, {two}" for one, two in rankings.turned[:_MOST_TURNED]]
    more = len(rankings.turned) - _MOST_TURNED
    return "; ".join([*pairs, *([f"{more} more"] if more > 0 else [])]) or "none"


def _judges(panel: Panel) -> Table:
    labelled = any(judge.accuracy.n for judge in panel.judges)
    several = panel.judges[0].alone is not None
    body: list[list[Content]] = []
    for judge in panel.judges:
        accuracy = [percent(judge.accuracy.value)] if labelled else []
        alone = [judge.alone] if several else []
        body.append([judge.name, judge.rows, judge.undecided, percent(judge.right.value), *alone, *accuracy])
    head = ["judge", "rows", "undecided", "judged correct", *(["alone"] if several else [])]
    head += ["accuracy by human labels"] if labelled else []
    below = "alone: rows on which a judge is against the majority" if several else ""
    title = f"{counted(panel.rows, 'answer')} to {counted(panel.questions, 'question')}, "
    title += f"{panel.disagreements:,} with different labels"
    return Table(title, head, body, below)


def _agreement(panel: Panel) -> Table:
    body: list[list[Content]] = [
        [
            f"{pair.first}, {pair.second}",
            *(pair.labelled, pair.both_right, pair.only_first, pair.only_second, pair.both_wrong),
            *(interval(pair.agreement), interval(pair.kappa, number)),
            number(pair.scores.tau if pair.scores else None),
        ]
        for pair in panel.pairs
    ]
    head = ["labels", "rows", "both correct", "only first", "only second", "both incorrect"]
    head += ["agreement", "Cohen's kappa", "tau of scores"]
    return Table("Agreement", head, body, "in brackets: 95 % intervals by question")


def _flips(pair: ModelPair, better: int, most: int, more: str) -> Examples:
    """The questions to which one of the models has the better answer."""
    flips = [flip for flip in pair.flips if flip.better == better]
    names = (pair.first, pair.second)
    title = f"{names[better]} better than {names[1 - better]} in {len(flips):,}"
    return Examples(title, [_flip(names, flip) for flip in flips[:most]], len(flips), most, more)


def _flip(names: tuple[str, str], flip: Flip) -> Example:
    sides = [*zip(names, (flip.first, flip.second), strict=True)]
    answers = [(f"{_verdict(row)}  {name}", row.candidate) for name, row in sides[:: -1 if flip.better else 1]]
    return Example(
        flip.first.question or f"id {flip.first.id}", [("reference", " / ".join(flip.first.references)), *answers]
    )


def _disagreements(disagreements: Sequence[Disagreement], most: int, more: str) -> Examples:
    """The answers with different labels by the judges, those with the most different scores first."""
    examples = []
    for disagreement in disagreements[:most]:
        row = disagreement.row
        texts = [("reference", " / ".join(row.references)), ("candidate", row.candidate)]
        texts += [("human label", SAID[row.gold])] if row.gold is not None else []
        texts += [(name, _verdict(verdict)) for name, verdict in disagreement.verdicts.items()]
        examples.append(Example(row.question or f"id {row.id}", texts))
    title = f"The judges disagree on {counted(len(disagreements), 'answer')}"
    return Examples(title, examples, len(disagreements), most, more)


def _verdict(row: Row) -> str:
    score = "" if row.score is None else f" {row.score:.2f}"
    return ("score" if row.label is None and score else SAID[row.label]) + score


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"
