"""What a comparison found, for people: as lines of a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bert_judge.analysis.agree import Disagreement, JudgePair, JudgesFound
from bert_judge.analysis.compare import ACCURACY, TRUE_ACCURACY, Flip, ModelsFound, PairFound, Rankings
from bert_judge.analysis.measures import Estimate
from bert_judge.analysis.results import Row
from bert_judge.analysis.tables import Table, escaped, exact_test
from bert_judge.types import Signature

_MOST_PAIRS = 15
_MOST_TURNED = 5
_CLIPPED = 160
_SAYS = {1: "right", 0: "wrong", None: "undecided"}


@dataclass(frozen=True, slots=True)
class Compared:
    """All that a comparison found: of models by each judge (and by people), of their rankings, and of the judges."""

    models: Sequence[ModelsFound]
    rankings: Sequence[Rankings]
    judges: JudgesFound | None
    notes: Sequence[str]

    @property
    def all_notes(self) -> list[str]:
        """What a reader has to know of the figures."""
        found = [*self.notes, *(note for each in self.models for note in each.notes)]
        return list(dict.fromkeys([*found, *(self.judges.notes if self.judges else [])]))

    @property
    def signatures(self) -> list[tuple[str, Signature]]:
        """The judges and their signatures."""
        told = [(each.judge, each.signature) for each in self.models if each.signature is not None]
        told += [(judge.name, judge.signature) for judge in self.judges.judges] if self.judges else []
        return list(dict.fromkeys(told))


def to_text(found: Compared, found_apart: Sequence[Disagreement], flips: int) -> str:
    """What the terminal shows: tables, and `flips` of the answers on which two models differ, or the judges."""
    parts = [table.text() for table in _tables(found, _MOST_PAIRS)]
    for each in found.models:
        if len(each.pairs) == 1 and each.measure is not TRUE_ACCURACY:
            parts += [_flips(each.pairs[0], better, flips) for better in (0, 1)]
    if found.judges:
        parts.append(_disagreements(found_apart, flips))
    parts.append("\n".join(f"note: {note}" for note in found.all_notes))
    parts.append("\n".join(f"judge  {name}: {signature.short}" for name, signature in found.signatures))
    return "\n\n".join(part for part in parts if part)


def to_markdown(found: Compared, title: str) -> str:
    """All tables as Markdown."""
    parts = [f"# {escaped(title)}", "\n".join(f"- {escaped(note)}" for note in found.all_notes)]
    parts += [table.markdown() for table in _tables(found, None)]
    parts.append("\n".join(f"- {escaped(name)}: `{signature}`" for name, signature in found.signatures))
    return "\n\n".join(part for part in parts if part) + "\n"


def _tables(found: Compared, most: int | None) -> Iterator[Table]:
    for each in found.models:
        yield _models(each)
        if each.pairs:
            yield _pairs(each, most)
    if found.rankings:
        yield _rankings(found.rankings)
    if found.judges:
        yield _judges(found.judges)
        yield _agreement(found.judges)
        if any(pair.dispute for pair in found.judges.pairs):
            yield _disputes(found.judges.pairs)


def _models(found: ModelsFound) -> Table:
    missing = any(model.undecided for model in found.models)
    columns: list[tuple[str, Callable[[int], str]]] = [
        ("rows", lambda i: f"{found.models[i].rows:,}"),
        (found.measure.title, lambda i: _estimate(found.models[i].value, found.measure.labels)),
        ("place", lambda i: " to ".join(map(str, dict.fromkeys(found.models[i].places)))),
    ]
    if missing:
        name = "no label" if found.measure is TRUE_ACCURACY else "undecided"
        columns.insert(1, (name, lambda i: f"{found.models[i].undecided:,}"))
    if missing and found.measure is ACCURACY:
        columns.insert(3, ("undecided as wrong", lambda i: _percent(found.models[i].value_all)))
    body = [[model.name, *(of(i) for _, of in columns)] for i, model in enumerate(found.models)]
    below = "in brackets: 95 % intervals; place: what the differences between the models leave open"
    title = f"{found.measure.title.capitalize()} by {found.judge}"
    return Table(title, ["", *(name for name, _ in columns)], body, below)


def _pairs(found: ModelsFound, most: int | None) -> Table:
    """The pairs of models, one a line; of more than `most` those of neighbours in the ranking."""
    labels = found.measure.labels
    pairs = _neighbours(found) if most is not None and len(found.pairs) > most else found.pairs
    columns: list[tuple[str, Callable[[PairFound], str]]] = [
        ("rows", lambda pair: f"{pair.rows:,}"),
        ("points" if labels else "difference", lambda pair: _change(pair.difference, labels)),
        ("first better", lambda pair: f"{pair.only_first:,}"),
        ("second better", lambda pair: f"{pair.only_second:,}"),
        ("p", lambda pair: _p_value(pair.p_value)),
    ]
    if any(pair.difference_all is not None for pair in pairs):
        columns.insert(2, ("undecided as wrong", lambda pair: _signed(pair.difference_all, labels)))
    if len(found.pairs) > 1:
        columns.append(("p, Holm", lambda pair: _p_value(pair.p_holm)))
    if margin := found.pairs[0].margin:
        columns.append((f"within ±{_size(margin, labels)}", _equivalent))
    columns.append(("detectable", lambda pair: _size(pair.detectable, labels)))
    body = [[f"{pair.second} less {pair.first}", *(of(pair) for _, of in columns)] for pair in pairs]
    left = len(found.pairs) - len(pairs)
    more = f"\n{left:,} more pairs, which are no neighbours above, are in the files of --output_dir" if left else ""
    head = ["second less first", *(name for name, _ in columns)]
    return Table("Differences" if len(pairs) > 1 else "Difference", head, body, _how(found) + more)


def _neighbours(found: ModelsFound) -> list[PairFound]:
    names = [model.name for model in found.models]
    pairs = {frozenset((pair.first, pair.second)): pair for pair in found.pairs}
    wanted = [frozenset(two) for two in pairwise(names)]
    return [pairs[two] for two in wanted if two in pairs]


def _how(found: ModelsFound) -> str:
    """How the columns were found."""
    ways = dict.fromkeys(pair.interval for pair in found.pairs)
    single = all(pair.questions == pair.rows for pair in found.pairs)
    if not found.measure.labels:
        test = "t-test of paired differences" + ("" if single else ", clustered by question")
    else:
        test = exact_test(single)
    said = [f"95 % intervals: {'; or '.join(ways)}", f"p: {test}"]
    if found.pairs[0].margin:
        said.append("within: two one-sided tests")
    return "; ".join([*said, "detectable: the least difference found with 80 % power"])


def _rankings(found: Sequence[Rankings]) -> Table:
    body = [
        [
            f"{each.first}, {each.second}",
            f"{each.tau.units:,}",
            f"{each.tau.tau:.3f}",
            _p_value(each.tau.p_value),
            _turned(each.turned),
        ]
        for each in found
    ]
    head = ["", "models", "Kendall's tau", "p", "in other order"]
    return Table("Do they put the models in the same order?", head, body)


def _turned(pairs: Sequence[tuple[str, str]]) -> str:
    shown = "; ".join(f"{one}, {two}" for one, two in pairs[:_MOST_TURNED])
    more = len(pairs) - _MOST_TURNED
    return (f"{shown}; {more} more" if more > 0 else shown) or "none"


def _judges(found: JudgesFound) -> Table:
    labelled = any(judge.labelled for judge in found.judges)
    body = [
        [
            judge.name,
            f"{judge.rows:,}",
            f"{judge.undecided:,}",
            _percent(judge.right),
            *([] if judge.alone is None else [f"{judge.alone:,}"]),
            *([_percent(judge.accuracy)] if labelled else []),
        ]
        for judge in found.judges
    ]
    several = found.judges[0].alone is not None
    if several and labelled:
        body.append(["majority", "", "", "", "", _percent(found.majority)])
    people = ["accuracy by people"] if labelled else []
    head = ["judge", "rows", "undecided", "labels right", *(["alone"] if several else []), *people]
    alone = "alone: rows on which a judge is against the majority" if several else ""
    title = f"{found.rows:,} answers to {found.questions:,} questions, {found.disagreements:,} with different labels"
    return Table(title, head, body, alone)


def _agreement(found: JudgesFound) -> Table:
    body = [
        [
            f"{pair.first}, {pair.second}",
            f"{pair.labelled:,}",
            f"{pair.both_right:,}",
            f"{pair.only_first:,}",
            f"{pair.only_second:,}",
            f"{pair.both_wrong:,}",
            _estimate(pair.agreement, True),
            _estimate(pair.kappa, False),
            _number(pair.scores.tau if pair.scores else None),
        ]
        for pair in found.pairs
    ]
    head = ["labels", "rows", "both right", "only first", "only second", "both wrong"]
    head += ["agree", "Cohen's kappa", "tau of scores"]
    below = f"Krippendorff's alpha: {_number(found.alpha)} of the labels"
    below += f", {_number(found.score_alpha)} of the scores" if found.score_alpha is not None else ""
    return Table("Agreement", head, body, f"{below}; in brackets: 95 % intervals, whole questions drawn again")


def _disputes(pairs: Sequence[JudgePair]) -> Table:
    body = [
        [
            f"{pair.second} less {pair.first}",
            f"{pair.dispute.rows:,}",
            f"{pair.dispute.first_right:,}",
            f"{pair.dispute.second_right:,}",
            _change(pair.dispute.difference, True),
            _p_value(pair.dispute.p_value),
        ]
        for pair in pairs
        if pair.dispute
    ]
    head = ["second less first", "rows", "first right alone", "second right alone", "accuracy, points", "p"]
    single = all(pair.dispute.rows == pair.dispute.questions for pair in pairs if pair.dispute)
    below = f"in brackets: 95 % intervals; p: {exact_test(single)}"
    return Table("By people's labels, where both decided", head, body, below)


def _flips(pair: PairFound, better: int, most: int) -> str:
    """The first of the answers of which one model's is better."""
    flips = [flip for flip in pair.flips if flip.better == better]
    if not flips or not most:
        return ""
    name, other = (pair.first, pair.second) if better == 0 else (pair.second, pair.first)
    lines = [f"{name} better than {other} in {len(flips):,}:"]
    for flip in flips[:most]:
        lines.append(f"  {_clip(flip.first.question or f'id {flip.first.id}')}")
        lines.append(f"    reference    {_clip(' / '.join(flip.first.references))}")
        lines += [f"    {_verdict(row)}  {model}: {_clip(row.candidate)}" for model, row in _sides(pair, flip)]
    return "\n".join([*lines, *_left(len(flips), most)])


def _sides(pair: PairFound, flip: Flip) -> list[tuple[str, Row]]:
    sides = [(pair.first, flip.first), (pair.second, flip.second)]
    return sides[::-1] if flip.better else sides


def _disagreements(found: Sequence[Disagreement], most: int) -> str:
    """The answers that the judges label differently, those with the most different scores first."""
    if not found or not most:
        return ""
    lines = [f"The judges disagree on {len(found):,} answers:"]
    for each in found[:most]:
        row = each.row
        people = "" if row.gold is None else f"    people       {_SAYS[row.gold]}"
        lines += [f"  {_clip(row.question or f'id {row.id}')}", f"    reference    {_clip(' / '.join(row.references))}"]
        lines += [f"    candidate    {_clip(row.candidate)}", *([people] if people else [])]
        lines += [f"    {_verdict(own)}  {name}" for name, own in each.verdicts.items()]
    return "\n".join([*lines, *_left(len(found), most)])


def _left(count: int, most: int) -> list[str]:
    return [f"  ({count - most:,} more; --flips shows more, --output_dir writes all)"] if count > most else []


def _verdict(row: Row) -> str:
    score = "" if row.score is None else f"{row.score:.2f}"
    return f"{'score' if row.label is None and score else _SAYS[row.label]} {score}".ljust(11)


def _clip(text: str | None) -> str:
    """A text in one line that a terminal can show, with both ends of a long one."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text or "(no text)").split())
    half = _CLIPPED // 2
    return line if len(line) <= _CLIPPED else f"{line[:half].rstrip()} … {line[-half:].lstrip()}"


def _equivalent(pair: PairFound) -> str:
    if pair.equivalence is None:
        return "-"
    return f"{'yes' if pair.equivalent else 'not shown'} (p {_p_value(pair.equivalence)})"


def _estimate(estimate: Estimate | None, labels: bool) -> str:
    if estimate is None:
        return "-"
    value = f"{estimate.value:.1%}" if labels else f"{estimate.value:.3f}"
    if estimate.low is None or estimate.high is None:
        return value
    low, high = (f"{end * 100:.1f}" if labels else f"{end:.3f}" for end in (estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _change(difference: Estimate, labels: bool) -> str:
    ends = [_signed(end, labels) for end in (difference.low, difference.high) if end is not None]
    return _signed(difference.value, labels) + (f" [{', '.join(ends)}]" if ends else "")


def _signed(value: float | None, labels: bool) -> str:
    if value is None:
        return "-"
    return f"{value * 100:+.1f}" if labels else f"{value:+.3f}"


def _size(value: float | None, labels: bool) -> str:
    if value is None:
        return "none"
    return f"{value * 100:.3g}" if labels else f"{value:.3g}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _p_value(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
