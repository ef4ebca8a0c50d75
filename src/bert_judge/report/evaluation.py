"""What an evaluation found, as a document: judges against human labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bert_judge.measures.discrimination import RiskCoverage
from bert_judge.measures.labels import Confusion
from bert_judge.report.document import Block, Chart, Content, Document, Example, Examples, Table
from bert_judge.report.reasons import shared
from bert_judge.studies.evaluate import Baseline, ChosenThreshold, Evaluation, JudgeEvaluation, SliceFound
from bert_judge.studies.measures import AUROC, TITLES, Estimate
from bert_judge.studies.slices import SMALL_CLASS, SMALL_ROWS
from bert_judge.studies.teacher import TeacherErrors
from bert_judge.wording import SAID, interval, number, p_value, percent, points

_RATES = frozenset(["accuracy", "accuracy_all", "balanced_accuracy", "precision", "recall"])
_IN_SLICES = ("accuracy", "balanced_accuracy", "f1", "kappa", AUROC, "ece")
_IN_SLICES_OF_MANY = ("accuracy", AUROC)
_COVERAGES, _RISKS = (0.5, 0.8, 0.9, 1.0), (0.01, 0.02, 0.05, 0.1)
_ON_THE_TERMINAL = 3  # disagreements of a judge
_SMALL = f"* fewer than {SMALL_ROWS} rows, or than {SMALL_CLASS} correct or incorrect ones: these figures say little"


def evaluation_document(found: Evaluation, title: str, figure: str = "") -> Document:
    """All tables and disagreements; `figure` is the file of the figure, if there is one."""
    judges = found.judges
    headline = f"{found.rows:,} rows of {found.questions:,} questions, {found.right:.1%} labelled correct"
    parts: list[Block] = [headline, _overall(judges, found.baselines)]
    parts += [Chart("reliability and risk-coverage", file=figure)] if figure else []
    parts += [_comparisons(found)] if found.comparisons else []
    parts += [_thresholds(judge, len(judges)) for judge in judges if judge.thresholds]
    parts += [_risk(judges)] if any(judge.curve for judge in judges) else []
    kinds = groupby(found.slices, key=lambda part: part.kind)
    parts += [_slices(kind, list(own), [judge.name for judge in judges]) for kind, own in kinds]
    parts += [_teacher(found.teacher)] if found.teacher else []
    parts += [Chart("Reliability", judge.name, data=_reliability(judge)) for judge in judges if judge.bins]
    parts += [_disagreements(judge) for judge in judges if judge.worst]
    return Document(title, parts, found.notes, [(judge.name, judge.signature) for judge in judges])


def exact_test(single: bool) -> str:
    """The name of the test of two series of labels (`Differences.p_value`); `single`: no question is repeated."""
    return "McNemar's exact test" if single else "exact sign-flip test by question"


def _shown(name: str, estimate: Estimate | None, brackets: bool = True) -> str:
    """A measure, in per cent if it is a rate."""
    form = percent if name in _RATES else number
    if brackets:
        return interval(estimate, form)
    return form(estimate.value if estimate else None)


def _overall(judges: Sequence[JudgeEvaluation], baselines: Sequence[Baseline]) -> Table:
    undecided = any(judge.undecided for judge in judges)
    named: list[JudgeEvaluation | Baseline] = [*judges, *baselines]
    columns = [each.estimates for each in named]
    body: list[list[Content]] = (
        [["undecided", *(judge.undecided for judge in judges), *([0] * len(baselines))]] if undecided else []
    )
    body += [
        [title, *(_shown(name, own.get(name)) for own in columns)]
        for name, title in TITLES.items()
        if (name != "accuracy_all" or undecided) and any(name in own for own in columns)
    ]
    names = " and ".join(each.name for each in baselines)
    below = f"in brackets: 95 % intervals by question; without a judge: {names}"
    return Table("", ["", *(each.name for each in named)], body, below)


def _comparisons(found: Evaluation) -> Table:
    first, several = found.judges[0].name, len(found.comparisons) > 1
    body: list[list[Content]] = [
        [each.name, interval(each.difference, points), each.only_this, each.only_first, p_value(each.p_adjusted)]
        for each in found.comparisons
    ]
    head = [f"against {first}", "accuracy, points", "correct alone", f"{first} alone", "p, Holm" if several else "p"]
    adjusted = ", adjusted for several judges (Holm)" if several else ""
    test = exact_test(found.rows == found.questions)
    return Table("Differences", head, body, f"of all rows, undecided ones as incorrect; p: {test}{adjusted}")


def _thresholds(judge: JudgeEvaluation, judges: int) -> Table:
    body = [row for chosen in judge.thresholds for row in _threshold(chosen)]
    head = ["for", "threshold", "accuracy", "balanced", "precision", "recall", "F1"]
    below = "held-out: chosen on four fifths of the questions, measured on the fifth"
    return Table(f"Thresholds of {judge.name}" if judges > 1 else "Thresholds", head, body, below)


def _threshold(chosen: ChosenThreshold) -> list[list[str]]:
    if chosen.found is None:
        return [[chosen.purpose, "none", *["-"] * 5]]
    return [
        [chosen.purpose, f"{chosen.found.value:.4g}", *_counts(chosen.found.confusion)],
        ["  held-out", "", *_counts(chosen.elsewhere)],
    ]


def _counts(counts: Confusion) -> list[str]:
    rates = [counts.accuracy, counts.balanced_accuracy, counts.precision, counts.recall]
    return [*map(percent, rates), number(counts.f1)]


def _risk(judges: Sequence[JudgeEvaluation]) -> Table:
    """The error rates of the rows on which a judge is most confident."""
    curves = [judge.curve for judge in judges]
    body: list[list[Content]] = [
        [f"errors in the most confident {part:.0%}", *(percent(_risk_at(each, part)) for each in curves)]
        for part in _COVERAGES
    ]
    body += [
        [f"coverage at {risk:.0%} errors", *(percent(each.coverage_at(risk) if each else None) for each in curves)]
        for risk in _RISKS
    ]
    body.append(["area under the curve", *(number(each.area if each else None) for each in curves)])
    return Table("Risk and coverage", ["of the decided rows", *(judge.name for judge in judges)], body)


def _risk_at(curve: RiskCoverage | None, coverage: float) -> float | None:
    if curve is None:
        return None
    return next(risk for covered, risk in zip(curve.coverage, curve.risk, strict=True) if covered >= coverage)


def _slices(kind: str, parts: Sequence[SliceFound], names: Sequence[str]) -> Table:
    measures = _IN_SLICES if len(names) == 1 else _IN_SLICES_OF_MANY
    titles = [TITLES[name] if len(names) == 1 else f"{judge} {TITLES[name]}" for judge in names for name in measures]
    body: list[list[Content]] = []
    for part in parts:
        found = [_shown(name, each.get(name), name == "accuracy") for each in part.estimates for name in measures]
        body.append([part.level + (" *" if part.small else ""), part.rows, percent(part.right), *found])
    return Table(f"By {kind}", [kind, "rows", "correct", *titles], body, _SMALL if any(p.small for p in parts) else "")


def _teacher(found: Sequence[TeacherErrors]) -> Table:
    several = len({each.judge for each in found}) > 1
    body: list[list[Content]] = []
    for each in found:
        level = each.level if each.kind == "all" else f"{each.kind}: {each.level}"
        name = level + (f", {each.judge}" if several else "") + (" *" if each.small else "")
        body.append([name, each.teacher_wrong, interval(each.repeated), each.teacher_right, interval(each.broken)])
    head = ["", "teacher incorrect", "repeated", "teacher correct", "broken"]
    small = "* too few errors or rows to say much" if any(each.small for each in found) else ""
    return Table("The teacher's errors", head, body, small)


def _reliability(judge: JudgeEvaluation) -> Table:
    body: list[list[Content]] = [
        [f"{each.low:.1f} to {each.high:.1f}", each.rows, number(each.mean_score), percent(each.right)]
        for each in judge.bins
    ]
    return Table(f"Reliability of {judge.name}", ["score", "rows", "mean score", "labelled correct"], body)


def _disagreements(judge: JudgeEvaluation) -> Examples:
    """The answers on which a judge was most confident against the label."""
    examples = []
    for row in judge.worst:
        texts = (
            ("id", row.id),
            ("question", row.question),
            ("reference", " / ".join(row.references) or None),
            ("candidate", row.candidate),
            ("shares", shared(row)),
            ("says", row.verdict.explanation),
        )
        said = f"score {number(row.score)}, judge {SAID[row.label]}, human label {SAID[row.gold]}"
        examples.append(Example(said, [(name, text) for name, text in texts if text is not None]))
    title = f"Where {judge.name} disagrees: {judge.disagreements:,} labels; those of which it was most confident"
    return Examples(title, examples, len(examples), _ON_THE_TERMINAL, "{:,} more in evaluation.md")
