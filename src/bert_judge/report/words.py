"""The figures of a report as texts and tables, which Markdown and the page show alike."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from bert_judge.analysis.tables import Table, escaped
from bert_judge.report.figures import Cell, Cross, Figures, JudgeFigures, Kind

INDEPENDENT = "in brackets: 95 % Wilson intervals, which take rows as independent"
MEANS = "of a judge without labels: its mean score"


def to_markdown(found: Figures, title: str) -> str:
    """The report without its rows."""
    parts = [f"# {escaped(title)}", headline(found), "\n".join(f"- {escaped(note)}" for note in found.notes)]
    parts += [table.markdown() for table in tables(found)]
    parts.append("## How this was made")
    parts += [_origin(judge) for judge in found.judges]
    return "\n\n".join(part for part in parts if part) + "\n"


def headline(found: Figures) -> str:
    """How many answers, judges and labels there are."""
    several = f", {len(found.judges)} judges" if len(found.judges) > 1 else ""
    said = f"{found.rows:,} answers{several}"
    if found.gold and found.gold.value is not None:
        said += f"; people labelled {found.gold.rows:,}, and {found.gold.value:.1%} of these right"
    return said


def tables(found: Figures) -> list[Table]:
    """All tables, the one of the judges first."""
    made = [Table("Judges", ["", *(judge.name for judge in found.judges)], _lines(found), INDEPENDENT)]
    if any(judge.agreement for judge in found.judges):
        made.append(_agreement(found.judges))
    if found.pairs:
        made.append(_pairs(found))
    made += [_kind(kind, found) for kind in found.kinds]
    return made + [_cross(cross) for cross in found.crosses]


def share(cell: Cell | None, brackets: bool = True) -> str:
    """A share in percent with its interval, a mean score with three digits."""
    if cell is None or cell.value is None:
        return "-"
    if cell.low is None or cell.high is None:
        return f"{cell.value:.3f}"
    return f"{cell.value:.1%}" + (f" [{cell.low * 100:.1f}, {cell.high * 100:.1f}]" if brackets else "")


def duration(seconds: float | None) -> str:
    """A time for people: 4.9 s, 12 min, 3.1 h."""
    if seconds is None:
        return "-"
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def speed(judge: JudgeFigures) -> str:
    """Rows a second."""
    return f"{judge.timed_rows / judge.seconds:,.0f}" if judge.seconds else "-"


def commands(judge: JudgeFigures) -> list[str]:
    """The command lines that made a judge's runs, each once."""
    return list(dict.fromkeys(shlex.join(command) for command in judge.commands if command))


def folders(judge: JudgeFigures) -> str:
    """The folder that a judge's verdicts are from; of several, the first and how many more there are."""
    more = f" and {len(judge.folders) - 1:,} more" if len(judge.folders) > 1 else ""
    return judge.folders[0] + more


def _origin(judge: JudgeFigures) -> str:
    lines = "\n".join([str(judge.signature), *commands(judge)])
    return f"{escaped(judge.name)}, from {escaped(folders(judge))}\n\n```\n{lines}\n```"


def _lines(found: Figures) -> list[list[str]]:
    """The lines of the first table; what no judge has is left out."""
    judges = found.judges
    lines = [
        ["judged", *(f"{judge.judged:,}" for judge in judges)],
        ["called right", *(share(judge.right) for judge in judges)],
        ["called right, undecided as wrong", *(share(judge.right_all) if judge.undecided else "-" for judge in judges)],
        ["agrees with people", *(share(judge.agreement.share if judge.agreement else None) for judge in judges)],
        ["mean score", *(_number(judge.mean_score) for judge in judges)],
        ["undecided", *(f"{judge.undecided:,}" if judge.undecided else "-" for judge in judges)],
        ["truncated", *(f"{judge.truncated:,}" if judge.truncated else "-" for judge in judges)],
        ["bad rows set aside", *(f"{judge.bad_rows:,}" if judge.bad_rows else "-" for judge in judges)],
        ["time", *(duration(judge.seconds) for judge in judges)],
        ["rows a second", *(speed(judge) for judge in judges)],
        ["tokens in", *(f"{judge.tokens_in:,}" if judge.tokens_in else "-" for judge in judges)],
        ["tokens out", *(f"{judge.tokens_out:,}" if judge.tokens_out else "-" for judge in judges)],
        ["cost", *("-" if judge.money is None else f"{judge.money:.4f}" for judge in judges)],
    ]
    return [line for line in lines if any(text != "-" for text in line[1:])]


def _agreement(judges: Sequence[JudgeFigures]) -> Table:
    body = []
    for judge in judges:
        if agreement := judge.agreement:
            counts = agreement.confusion
            body.append(
                [
                    judge.name,
                    f"{counts.n:,}",
                    share(agreement.share),
                    *(_percent(value) for value in (counts.precision, counts.recall)),
                    *(_number(value) for value in (agreement.f1, agreement.kappa, agreement.brier, agreement.ece)),
                    f"{counts.false_positive:,}",
                    f"{counts.false_negative:,}",
                ]
            )
    head = [
        "judge",
        "rows",
        "agrees",
        "precision",
        "recall",
        "F1",
        "kappa",
        "Brier",
        "ECE",
        "wrongly right",
        "wrongly wrong",
    ]
    return Table("Judges and people", head, body, "bert-judge evaluate has intervals that allow for repeated questions")


def _pairs(found: Figures) -> Table:
    body = [
        [f"{pair.first} / {pair.second}", f"{pair.share.rows:,}", share(pair.share), _number(pair.kappa)]
        for pair in found.pairs
    ]
    return Table("Judges among each other", ["judges", "rows", "same label", "kappa"], body)


def _kind(kind: Kind, found: Figures) -> Table:
    gold = found.labels is not None
    body = [
        [level.name, f"{level.rows:,}", *([share(level.gold)] if gold else []), *map(share, level.judges)]
        for level in kind.levels
    ]
    head = [kind.name, "rows", *(["people"] if gold else []), *(judge.name for judge in found.judges)]
    return Table(f"Called right by {kind.name}", head, body, below(kind))


def below(kind: Kind) -> str:
    """What must be said of the table of a kind."""
    means = any(cell.value is not None and cell.low is None for level in kind.levels for cell in level.judges)
    left_out = [f"{kind.left_out} smaller ones are left out"] if kind.left_out else []
    return "; ".join([INDEPENDENT, *([MEANS] if means else []), *left_out])


def _cross(cross: Cross) -> Table:
    body = [
        [task, *(share(cell, brackets=False) for cell in line)]
        for task, line in zip(cross.tasks, cross.cells, strict=True)
    ]
    return Table(f"{crossed(cross)}: {cross.judge}", ["task", *cross.models], body)


def crossed(cross: Cross) -> str:
    """What the table of tasks and models shows."""
    shares = any(cell.low is not None for line in cross.cells for cell in line)
    return f"{'Called right' if shares else 'Mean score'} by task and model"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
