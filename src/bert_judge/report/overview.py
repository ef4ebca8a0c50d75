"""The figures of a report as parts of a document, for the page, Markdown and the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bert_judge.report.charts import histogram, reliability
from bert_judge.report.document import BarCell, Block, Chart, Content, Document, Facts, Table
from bert_judge.report.figures import AgreementFigures, Cell, Cross, Figures, JudgeFigures, Kind
from bert_judge.wording import INTERVALS, duration, interval, number, percent, rows_outside

_MEANS = "of a judge without labels: its mean score"
_IN_CHARTS = ("precision", "recall", "F1", "Brier score", "ECE", "false positives", "false negatives")


class Card(NamedTuple):
    """A judge at a glance: its figures by name, and how they were made."""

    judge: JudgeFigures
    facts: Mapping[str, str]
    commands: Sequence[str]
    origin: Sequence[tuple[str, str]]


def report_document(found: Figures, title: str) -> Document:
    """The report without its rows."""
    origins = [
        Facts([*(("command", each) for each in _commands(judge)), *_origin(judge)], f"How {judge.name} was made")
        for judge in found.judges
    ]
    parts: list[Block] = [headline(found), judges_table(found), *charts(found), *tables(found), *origins]
    return Document(title, parts, found.notes, [(judge.name, judge.signature) for judge in found.judges])


def headline(found: Figures) -> str:
    """How many answers, judges and labels there are."""
    several = f", {len(found.judges)} judges" if len(found.judges) > 1 else ""
    said = f"{found.rows:,} answers{several}"
    if found.gold and found.gold.value is not None:
        said += f"; {found.gold.rows:,} with human labels, {percent(found.gold.value)} of these correct"
    return said


def judges_table(found: Figures) -> Table:
    """The judges side by side; lines that none of them has are left out."""
    columns = [_facts(judge) for judge in found.judges]
    lines = [[name, *(column[name] for column in columns)] for name in columns[0]]
    body = [line for line in lines if any(said != "-" for said in line[1:])]
    return Table("Judges", ["", *(judge.name for judge in found.judges)], body, INTERVALS)


def cards(found: Figures) -> list[Card]:
    """A card for each judge, without what charts show."""
    made = []
    for judge in found.judges:
        facts = {name: said for name, said in _facts(judge).items() if said != "-" and name not in _IN_CHARTS}
        more = f" and {len(judge.folders) - 1:,} more" if len(judge.folders) > 1 else ""
        facts["result"] = judge.folders[0] + more
        made.append(Card(judge, facts, _commands(judge), _origin(judge)))
    return made


def charts(found: Figures) -> list[Chart]:
    """The charts of all judges."""
    compared = [(judge.name, judge.agreement) for judge in found.judges if judge.agreement]
    made = [_scores(judge, found.labels is not None) for judge in found.judges if judge.histogram]
    return made + [_reliability(name, agreement) for name, agreement in compared if agreement.bins]


def tables(found: Figures) -> list[Table]:
    """All tables but the one of the judges."""
    made = [_pairs(found)] if found.pairs else []
    made += [_kind(kind, found) for kind in found.kinds]
    return made + [_cross(cross) for cross in found.crosses]


def _origin(judge: JudgeFigures) -> list[tuple[str, str]]:
    """When, where and on what a judge's verdicts were made."""
    facts = [
        ("started", judge.started),
        ("input", ", ".join(dict.fromkeys(judge.inputs))),
        ("result", ", ".join(judge.folders)),
        ("versions", ", ".join(f"{name} {version}" for name, version in judge.versions.items())),
        ("machine", ", ".join(f"{name} {value}" for name, value in judge.machine.items())),
    ]
    return [(name, said) for name, said in facts if said]


def _commands(judge: JudgeFigures) -> list[str]:
    """The commands of a judge's runs, each once."""
    return list(dict.fromkeys(shlex.join(command) for command in judge.commands if command))


def _facts(judge: JudgeFigures) -> dict[str, str]:
    """The figures of a judge by name; `-` for those that it lacks."""
    agreement = judge.agreement
    counts = agreement.confusion if agreement else None
    speed = f" · {judge.timed_rows / judge.seconds:,.0f} rows/s" if judge.seconds else ""
    return {
        "judged": f"{judge.judged:,} of {judge.rows:,}",
        "judged correct": interval(judge.right),
        "undecided as incorrect": interval(judge.right_all) if judge.undecided else "-",
        "mean score": number(judge.mean_score),
        "agreement with human labels": interval(agreement.share if agreement else None),
        "Cohen's kappa": number(agreement.kappa if agreement else None),
        "precision": percent(counts.precision if counts else None),
        "recall": percent(counts.recall if counts else None),
        "F1": number(agreement.f1 if agreement else None),
        "Brier score": number(agreement.brier if agreement else None),
        "ECE": number(agreement.ece if agreement else None),
        "false positives": f"{counts.false_positive:,}" if counts else "-",
        "false negatives": f"{counts.false_negative:,}" if counts else "-",
        "undecided": f"{judge.undecided:,}",
        "truncated": f"{judge.truncated:,}",
        "outside": rows_outside(judge.outside),
        "bad rows set aside": f"{judge.bad_rows:,}" if judge.bad_rows else "-",
        "time": "-" if judge.seconds is None else f"{duration(judge.seconds)}{speed}",
        "tokens": f"{judge.tokens_in:,} in · {judge.tokens_out:,} out" if judge.tokens_in or judge.tokens_out else "-",
        "cost": "-" if judge.money is None else f"{judge.money:.4f}",
    }


def _figure(found: Cell | None, brackets: bool = True) -> Content:
    """A rate with its interval and a bar; a mean score, which has no interval, as a number."""
    if found is None or found.value is None or found.low is None or found.high is None:
        return number(found.value if found else None)
    bar = (found.value, found.low, found.high)
    if brackets:
        return BarCell(interval(found), bar)
    return BarCell(percent(found.value), bar, f"{found.rows:,} rows, {interval(found)}")


def _scores(judge: JudgeFigures, labelled: bool) -> Chart:
    key = '<i class="right"></i>labelled correct <i class="wrong"></i>labelled incorrect'
    key += ' <i class="other"></i>no label' if any(each.other for each in judge.histogram) else ""
    return Chart("Scores", judge.name, histogram(judge.histogram, judge.name), key if labelled else "")


def _reliability(name: str, agreement: AgreementFigures) -> Chart:
    key = f"rate labelled correct, by mean score · ECE {number(agreement.ece)} · Brier {number(agreement.brier)}"
    return Chart("Reliability", name, reliability(agreement.bins, name), key)


def _pairs(found: Figures) -> Table:
    body = [
        [f"{pair.first} / {pair.second}", pair.share.rows, _figure(pair.share), number(pair.kappa)]
        for pair in found.pairs
    ]
    below = (
        f"{found.disagreements:,} answers have different labels; the page lists them with its filter “judges disagree”"
    )
    return Table("Agreement of judges", ["judges", "rows", "same label", "kappa"], body, below)


def _kind(kind: Kind, found: Figures) -> Table:
    gold, cells = found.labels is not None, [cell for level in kind.levels for cell in level.judges]
    body: list[list[Content]] = [
        [level.name, level.rows, *([_figure(level.gold)] if gold else []), *map(_figure, level.judges)]
        for level in kind.levels
    ]
    head = [kind.name, "rows", *(["human labels"] if gold else []), *(judge.name for judge in found.judges)]
    means = [_MEANS] if any(cell.value is not None and cell.low is None for cell in cells) else []
    left_out = [f"{kind.left_out} smaller ones are left out"] if kind.left_out else []
    return Table(f"Rate correct by {kind.name}", head, body, "; ".join([INTERVALS, *means, *left_out]))


def _cross(cross: Cross) -> Table:
    rates = any(cell.low is not None for line in cross.cells for cell in line)
    title = f"{'Rate correct' if rates else 'Mean score'} by task and model"
    body: list[list[Content]] = [
        [task, *(_figure(cell, brackets=False) for cell in line)]
        for task, line in zip(cross.tasks, cross.cells, strict=True)
    ]
    return Table(title, ["task", *cross.models], body, of=cross.judge)
