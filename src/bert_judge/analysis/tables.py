"""What an evaluation found, for people: as lines of a terminal, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from bert_judge.analysis.evaluate import ChosenThreshold, Evaluation, JudgeEvaluation, SliceFound
from bert_judge.analysis.measures import AUROC, TITLES, Estimate
from bert_judge.analysis.results import Row
from bert_judge.analysis.slices import SMALL_CLASS, SMALL_ROWS
from bert_judge.analysis.teacher import TeacherErrors
from bert_judge.stats.labels import Confusion

_SHARES = frozenset(["accuracy", "accuracy_all", "balanced_accuracy", "precision", "recall"])
_IN_SLICES = ("accuracy", "balanced_accuracy", "f1", "kappa", AUROC, "ece")
_IN_SLICES_OF_MANY = ("accuracy", AUROC)
_COVERAGES, _RISKS = (0.5, 0.8, 0.9, 1.0), (0.01, 0.02, 0.05, 0.1)
_SHOWN = 3
_CLIPPED, _CLIPPED_LINE = 400, 96
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
_SMALL = f"* fewer than {SMALL_ROWS} rows, or than {SMALL_CLASS} right or wrong ones: these figures say little"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: the first column is aligned to the left, the others to the right."""

    title: str
    head: Sequence[str]
    body: Sequence[Sequence[str]]
    below: str = ""

    def text(self) -> str:
        """As lines of a terminal."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.body, strict=True)]
        lines = ["  ".join(_placed(row, widths)).rstrip() for row in (self.head, *self.body)]
        return "\n".join([*([self.title] if self.title else []), *lines, *([self.below] if self.below else [])])

    def markdown(self) -> str:
        """As a table of Markdown."""
        rule = ["---", *["---:"] * (len(self.head) - 1)]
        rows = [[*map(escaped, self.head)], *([escaped(row[0]), *row[1:]] for row in self.body)]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, f"| {' | '.join(rule)} |")
        heading = [f"## {self.title}", ""] if self.title else []
        return "\n".join([*heading, *lines, *(["", escaped(self.below)] if self.below else [])])


def to_text(found: Evaluation) -> str:
    """What the terminal shows: all tables, and the first of the disagreements."""
    parts = [_headline(found), *(table.text() for table in _tables(found))]
    parts += [_worst_lines(judge) for judge in found.judges if judge.worst]
    parts += ["\n".join(f"note: {note}" for note in found.notes)] if found.notes else []
    return "\n\n".join(parts)


def to_markdown(found: Evaluation, title: str, figure: str | None = None) -> str:
    """The same as Markdown, with all disagreements; `figure` is the file of the figure."""
    parts = [f"# {escaped(title)}", _headline(found), "\n".join(f"- {escaped(note)}" for note in found.notes)]
    tables = _tables(found)
    parts.append(tables[0].markdown())
    parts += [f"![reliability and risk-coverage]({figure})"] if figure else []
    parts += [table.markdown() for table in tables[1:]]
    parts += [table.markdown() for judge in found.judges if judge.bins for table in [_reliability(judge)]]
    parts += [_worst_markdown(judge) for judge in found.judges if judge.worst]
    parts.append("## Judges\n\n" + "\n".join(f"- {escaped(j.name)}: `{j.signature}`" for j in found.judges))
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """A text in which nothing is markup, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def exact_test(single: bool) -> str:
    """The name of the test of two series of labels (`Differences.p_value`); `single`: no question is repeated."""
    return "McNemar's exact test" if single else "exact sign-flip test, whole questions"


def _headline(found: Evaluation) -> str:
    return f"{found.rows:,} rows of {found.questions:,} questions, {found.right:.1%} labelled right"


def _tables(found: Evaluation) -> list[Table]:
    tables = [_overall(found)]
    tables += [_comparisons(found)] if found.comparisons else []
    tables += [_thresholds(judge, len(found.judges)) for judge in found.judges if judge.thresholds]
    tables += [_risk(found.judges)] if any(judge.curve for judge in found.judges) else []
    kinds = groupby(found.slices, key=lambda part: part.kind)
    tables += [_slices(kind, list(parts), [judge.name for judge in found.judges]) for kind, parts in kinds]
    tables += [_teacher(found.teacher)] if found.teacher else []
    return tables


def _overall(found: Evaluation) -> Table:
    undecided = any(judge.undecided for judge in found.judges)
    body = [
        [title, *(_cell(name, judge.estimates.get(name)) for judge in found.judges)]
        for name, title in TITLES.items()
        if (name != "accuracy_all" or undecided) and any(name in judge.estimates for judge in found.judges)
    ]
    if undecided:
        body.insert(0, ["undecided", *(f"{judge.undecided:,}" for judge in found.judges)])
    head = ["", *(judge.name for judge in found.judges)]
    return Table("", head, body, "in brackets: 95 % bootstrap intervals, whole questions drawn again")


def _comparisons(found: Evaluation) -> Table:
    first, several = found.judges[0].name, len(found.comparisons) > 1
    body = [
        [each.name, _points(each.difference), f"{each.only_this:,}", f"{each.only_first:,}", _p_value(each.p_adjusted)]
        for each in found.comparisons
    ]
    head = [f"against {first}", "accuracy, points", "right alone", f"{first} alone", "p, Holm" if several else "p"]
    adjusted = ", adjusted for several judges (Holm)" if several else ""
    below = f"of all rows, undecided ones as wrong; p: {exact_test(found.rows == found.questions)}{adjusted}"
    return Table("Differences", head, body, below)


def _thresholds(judge: JudgeEvaluation, judges: int) -> Table:
    body = [row for chosen in judge.thresholds for row in _threshold(chosen)]
    head = ["for", "threshold", "accuracy", "balanced", "precision", "recall", "F1"]
    below = "second lines: chosen on four fifths of the questions, measured on the fifth"
    return Table(f"Thresholds of {judge.name}" if judges > 1 else "Thresholds", head, body, below)


def _threshold(chosen: ChosenThreshold) -> list[list[str]]:
    if chosen.found is None:
        return [[chosen.purpose, "none", *["-"] * 5]]
    return [
        [chosen.purpose, f"{chosen.found.value:.4g}", *_counts(chosen.found.confusion)],
        ["  on other rows", "", *_counts(chosen.elsewhere)],
    ]


def _counts(counts: Confusion) -> list[str]:
    shares = [counts.accuracy, counts.balanced_accuracy, counts.precision, counts.recall]
    return [*("-" if share is None else f"{share:.1%}" for share in shares), _number(counts.f1)]


def _risk(judges: Sequence[JudgeEvaluation]) -> Table:
    """How many errors are among the rows of which a judge is surest."""
    body = [
        [f"errors in the surest {share:.0%}", *(_risk_at(judge, share) for judge in judges)] for share in _COVERAGES
    ]
    body += [
        [
            f"rows kept with {risk:.0%} errors",
            *(f"{judge.curve.coverage_at(risk):.1%}" if judge.curve else "-" for judge in judges),
        ]
        for risk in _RISKS
    ]
    body.append(["area (mean risk)", *(_number(judge.curve.area if judge.curve else None) for judge in judges)])
    return Table("Risk and coverage", ["of the decided rows", *(judge.name for judge in judges)], body)


def _risk_at(judge: JudgeEvaluation, share: float) -> str:
    if not judge.curve:
        return "-"
    points = zip(judge.curve.coverage, judge.curve.risk, strict=True)
    return next(f"{risk:.1%}" for covered, risk in points if covered >= share)


def _slices(kind: str, parts: Sequence[SliceFound], names: Sequence[str]) -> Table:
    measures = _IN_SLICES if len(names) == 1 else _IN_SLICES_OF_MANY
    titles = [TITLES[name] if len(names) == 1 else f"{judge} {TITLES[name]}" for judge in names for name in measures]
    body = [
        [
            part.level + (" *" if part.small else ""),
            f"{part.rows:,}",
            f"{part.right:.1%}",
            *(
                _cell(name, each.get(name)) if name == "accuracy" else _plain(name, each.get(name))
                for each in part.estimates
                for name in measures
            ),
        ]
        for part in parts
    ]
    small = _SMALL if any(part.small for part in parts) else ""
    return Table(f"By {kind}", [kind, "rows", "right", *titles], body, small)


def _teacher(found: Sequence[TeacherErrors]) -> Table:
    several = len({each.judge for each in found}) > 1
    body = [
        [
            (f"{each.kind}: {each.level}" if each.kind != "all" else each.level)
            + (f", {each.judge}" if several else "")
            + (" *" if each.small else ""),
            f"{each.teacher_wrong:,}",
            _cell("accuracy", each.repeated),
            f"{each.teacher_right:,}",
            _cell("accuracy", each.broken),
        ]
        for each in found
    ]
    head = ["", "teacher wrong", "repeated", "teacher right", "broken"]
    small = "* fewer errors or rows than say much" if any(each.small for each in found) else ""
    return Table("The teacher's errors", head, body, small)


def _reliability(judge: JudgeEvaluation) -> Table:
    body = [
        [f"{each.low:.1f} to {each.high:.1f}", f"{each.rows:,}", f"{each.mean_score:.3f}", f"{each.right:.3f}"]
        for each in judge.bins
    ]
    return Table(f"Reliability of {judge.name}", ["score", "rows", "mean score", "share right"], body)


def _worst_lines(judge: JudgeEvaluation) -> str:
    lines = [f"{judge.name} disagrees with {judge.disagreements:,} labels; it was surest of these:"]
    for row in judge.worst[:_SHOWN]:
        lines.append(f"  {_verdict(row)}")
        lines += [f"    {name:10} {_clip(text, _CLIPPED_LINE)}" for name, text in _texts(row)]
    more = len(judge.worst) - _SHOWN
    return "\n".join([*lines, *([f"  ({more} more in evaluation.md)"] if more > 0 else [])])


def _worst_markdown(judge: JudgeEvaluation) -> str:
    lines = [f"## Where {escaped(judge.name)} disagrees", ""]
    lines += [f"{judge.disagreements:,} labels; the {len(judge.worst)} of which it was surest, one a question:", ""]
    for number, row in enumerate(judge.worst, 1):
        lines.append(f"{number}. **{_verdict(row)}** · {escaped(str(row.id))}")
        lines += [f"    - {name}: {escaped(_clip(text, _CLIPPED))}" for name, text in _texts(row)]
    return "\n".join(lines)


def _verdict(row: Row) -> str:
    score = "no score" if row.score is None else f"score {row.score:.3f}"
    return f"{score}, judge {_SAYS[row.label]}, people {_SAYS[row.gold]}"


_SAYS = {1: "right", 0: "wrong", None: "undecided"}


def _texts(row: Row) -> Iterable[tuple[str, str]]:
    given = (
        ("question", row.question),
        ("reference", " / ".join(row.references) or None),
        ("candidate", row.candidate),
        ("because", row.explanation),
    )
    return [(name, text) for name, text in given if text is not None]


def _clip(text: str, most: int) -> str:
    """One line of at most so many characters; a long text keeps both ends."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most * 2 // 3].rstrip()} … {line[-(most // 3) + 3 :].lstrip()}"


def _placed(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]


def _cell(name: str, estimate: Estimate | None) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return _plain(name, estimate)
    if name in _SHARES:
        return f"{estimate.value:.1%} [{estimate.low * 100:.1f}, {estimate.high * 100:.1f}]"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _plain(name: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{estimate.value:.1%}" if name in _SHARES else f"{estimate.value:.3f}"


def _points(difference: Estimate) -> str:
    value = f"{difference.value * 100:+.1f}"
    if difference.low is None or difference.high is None:
        return value
    return f"{value} [{difference.low * 100:+.1f}, {difference.high * 100:+.1f}]"


def _p_value(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
