"""What a comparison found, as a document: models against each other, and judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bert_judge.records import Row
from bert_judge.report.document import Block, Content, Document, Example, Examples, Table
from bert_judge.report.evaluation import exact_test
from bert_judge.studies.agree import Disagreement, JudgePair, JudgesFound
from bert_judge.studies.compare import ACCURACY, TRUE_ACCURACY, Flip, ModelsFound, PairFound, Rankings
from bert_judge.wording import INTERVALS, SAID, interval, number, p_value, percent, points

_MOST_PAIRS = 15
_MOST_TURNED = 5
_MORE = "{:,} more; --flips shows more, --output_dir writes all"


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison found: models by each judge (and by human labels), their rankings, and the judges."""

    models: Sequence[ModelsFound]
    rankings: Sequence[Rankings]
    judges: JudgesFound | None
    notes: Sequence[str]


def comparison_document(
    found: Compared, title: str, apart: Sequence[Disagreement] = (), flips: int = 0, *, every_pair: bool = True
) -> Document:
    """All tables, and `flips` of the answers on which two models, or judges (`apart`), differ.

    Without `every_pair`, of many pairs of models only those of neighbours in the ranking are there.
    """
    parts: list[Block] = [*_tables(found, every_pair)]
    for each in found.models:
        if len(each.pairs) == 1 and each.measure is not TRUE_ACCURACY:
            parts += [shown for better in (0, 1) if (shown := _flips(each.pairs[0], better, flips)).examples]
    parts += [_disagreements(apart, flips)] if apart and flips else []
    notes, judges = [*found.notes], []
    for each in found.models:
        notes += each.notes
        judges += [(each.judge, each.signature)] if each.signature else []
    if found.judges:
        notes += found.judges.notes
        judges += [(judge.name, judge.signature) for judge in found.judges.judges]
    return Document(title, parts, list(dict.fromkeys(notes)), list(dict.fromkeys(judges)))


def _tables(found: Compared, every_pair: bool) -> Iterator[Table]:
    for each in found.models:
        yield _models(each)
        if each.pairs:
            yield _pairs(each, every_pair)
    if found.rankings:
        yield _rankings(found.rankings)
    if found.judges:
        yield _judges(found.judges)
        yield _agreement(found.judges)
        if any(pair.dispute for pair in found.judges.pairs):
            yield _disputes(found.judges.pairs)


def _models(found: ModelsFound) -> Table:
    labels_missing = any(model.undecided for model in found.models)
    by_labels = found.measure is TRUE_ACCURACY
    as_incorrect = labels_missing and found.measure is ACCURACY
    title = "accuracy" if by_labels else found.measure.title
    form = percent if found.measure.labels else number
    body: list[list[Content]] = [
        [
            model.name,
            model.rows,
            *([model.undecided] if labels_missing else []),
            interval(model.value, form),
            *([percent(model.value_all)] if as_incorrect else []),
        ]
        for model in found.models
    ]
    missing = ["no label" if by_labels else "undecided"] if labels_missing else []
    head = ["", "rows", *missing, title, *(["undecided as incorrect"] if as_incorrect else [])]
    return Table(f"{title.capitalize()} by {found.judge}", head, body, INTERVALS)


def _pairs(found: ModelsFound, every_pair: bool) -> Table:
    """The pairs of models, one a line."""
    labels, several = found.measure.labels, len(found.pairs) > 1
    pairs = found.pairs if every_pair or len(found.pairs) <= _MOST_PAIRS else _neighbours(found)
    form = points if labels else _signed
    all_rows = any(pair.difference_all is not None for pair in pairs)
    body: list[list[Content]] = [
        [
            f"{pair.second} minus {pair.first}",
            pair.rows,
            interval(pair.difference, form),
            *([form(pair.difference_all)] if all_rows else []),
            pair.only_first,
            pair.only_second,
            p_value(pair.p_value),
            *([p_value(pair.p_holm)] if several else []),
        ]
        for pair in pairs
    ]
    head = ["second minus first", "rows", "points" if labels else "difference"]
    head += [*(["undecided as incorrect"] if all_rows else []), "first better", "second better", "p"]
    head += ["p, Holm"] if several else []
    left = len(found.pairs) - len(pairs)
    more = f"\n{left:,} more pairs, of models that are not neighbours above, are in the files of --output_dir"
    return Table("Differences" if len(pairs) > 1 else "Difference", head, body, _how(found) + (more if left else ""))


def _neighbours(found: ModelsFound) -> list[PairFound]:
    names = [model.name for model in found.models]
    pairs = {frozenset((pair.first, pair.second)): pair for pair in found.pairs}
    wanted = [frozenset(two) for two in pairwise(names)]
    return [pairs[two] for two in wanted if two in pairs]


def _how(found: ModelsFound) -> str:
    """The methods behind the columns."""
    ways = dict.fromkeys(pair.interval for pair in found.pairs)
    single = all(pair.questions == pair.rows for pair in found.pairs)
    if not found.measure.labels:
        test = "t-test of paired differences" + ("" if single else ", clustered by question")
    else:
        test = exact_test(single)
    return f"95 % intervals: {'; or '.join(ways)}; p: {test}"


def _rankings(found: Sequence[Rankings]) -> Table:
    body: list[list[Content]] = [
        [f"{each.first}, {each.second}", each.tau.units, number(each.tau.tau), p_value(each.tau.p_value), _turned(each)]
        for each in found
    ]
    head = ["", "models", "Kendall's tau", "p", "in another order"]
    return Table("Do they put the models in the same order?", head, body)


def _turned(found: Rankings) -> str:
    shown = [f"{one}, {two}" for one, two in found.turned[:_MOST_TURNED]]
    more = len(found.turned) - _MOST_TURNED
    return "; ".join([*shown, *([f"{more} more"] if more > 0 else [])]) or "none"


def _judges(found: JudgesFound) -> Table:
    labelled = any(judge.labelled for judge in found.judges)
    several = found.judges[0].alone is not None
    body: list[list[Content]] = []
    for judge in found.judges:
        accuracy = [percent(judge.accuracy)] if labelled else []
        alone = [judge.alone] if several else []
        body.append([judge.name, judge.rows, judge.undecided, percent(judge.right), *alone, *accuracy])
    if several and labelled:
        body.append(["majority", "", "", "", "", percent(found.majority)])
    head = ["judge", "rows", "undecided", "judged correct", *(["alone"] if several else [])]
    head += ["accuracy by human labels"] if labelled else []
    below = "alone: rows on which a judge is against the majority" if several else ""
    title = f"{found.rows:,} answers to {found.questions:,} questions, {found.disagreements:,} with different labels"
    return Table(title, head, body, below)


def _agreement(found: JudgesFound) -> Table:
    body: list[list[Content]] = [
        [
            f"{pair.first}, {pair.second}",
            *(pair.labelled, pair.both_right, pair.only_first, pair.only_second, pair.both_wrong),
            *(interval(pair.agreement), interval(pair.kappa, number)),
            number(pair.scores.tau if pair.scores else None),
        ]
        for pair in found.pairs
    ]
    head = ["labels", "rows", "both correct", "only first", "only second", "both incorrect"]
    head += ["agreement", "Cohen's kappa", "tau of scores"]
    alpha = f"Krippendorff's alpha: {number(found.alpha)} of the labels"
    alpha += f", {number(found.score_alpha)} of the scores" if found.score_alpha is not None else ""
    return Table("Agreement", head, body, f"{alpha}; in brackets: 95 % intervals by question")


def _disputes(pairs: Sequence[JudgePair]) -> Table:
    body: list[list[Content]] = []
    single = True
    for pair in pairs:
        if found := pair.dispute:
            difference = [interval(found.difference, points), p_value(found.p_value)]
            name = f"{pair.second} minus {pair.first}"
            body.append([name, found.rows, found.first_right, found.second_right, *difference])
            single = single and found.rows == found.questions
    head = ["second minus first", "rows", "first alone correct", "second alone correct", "accuracy, points", "p"]
    below = f"in brackets: 95 % intervals; p: {exact_test(single)}"
    return Table("By human labels, where both decided", head, body, below)


def _flips(pair: PairFound, better: int, most: int) -> Examples:
    """The questions to which one of the models has the better answer."""
    flips = [flip for flip in pair.flips if flip.better == better]
    names = (pair.first, pair.second)
    title = f"{names[better]} better than {names[1 - better]} in {len(flips):,}"
    return Examples(title, [_flip(names, flip) for flip in flips[:most]], len(flips), most, _MORE)


def _flip(names: tuple[str, str], flip: Flip) -> Example:
    sides = [*zip(names, (flip.first, flip.second), strict=True)]
    answers = [(f"{_verdict(row)}  {name}", row.candidate) for name, row in sides[:: -1 if flip.better else 1]]
    return Example(_asked(flip.first), [("reference", " / ".join(flip.first.references)), *answers])


def _disagreements(found: Sequence[Disagreement], most: int) -> Examples:
    """The answers with different labels by the judges, those with the most different scores first."""
    examples = []
    for each in found[:most]:
        row = each.row
        texts = [("reference", " / ".join(row.references)), ("candidate", row.candidate)]
        texts += [("human label", SAID[row.gold])] if row.gold is not None else []
        texts += [(name, _verdict(own)) for name, own in each.verdicts.items()]
        examples.append(Example(_asked(row), texts))
    return Examples(f"The judges disagree on {len(found):,} answers", examples, len(found), most, _MORE)


def _asked(row: Row) -> str:
    return row.question or f"id {row.id}"


def _verdict(row: Row) -> str:
    score = "" if row.score is None else f" {row.score:.2f}"
    return ("score" if row.label is None and score else SAID[row.label]) + score


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"
