"""The page of a report: figures as HTML and SVG that need no script, and the rows for `report.js` to show."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template

from bert_judge.report.charts import confusion, histogram, interval, reliability
from bert_judge.report.figures import AgreementFigures, Cell, Cross, Figures, JudgeFigures, Kind
from bert_judge.report.packing import Packed
from bert_judge.report.words import below, commands, crossed, duration, folders, headline, share, speed
from bert_judge.version import __version__


def page(found: Figures, packed: Packed, title: str) -> Iterator[str]:
    """The page in parts: what is seen first comes first, the chunks of texts last."""
    style = _file("bertscore/alignment.css") + _file("report/report.css")
    script = _file("bertscore/alignment.js") + _file("report/report.js")
    facts = json.dumps(packed.facts, separators=(",", ":")).replace("<", "\\u003c")  # no text can end the script
    chunks = packed.chunks()
    yield Template(_file("report/report.html")).substitute(
        title=escape(title),
        headline=escape(headline(found)),
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        notes=_notes(found, packed),
        cards=_cards(found),
        figures=_figures(found),
        origin="".join(_origin(judge) for judge in found.judges),
        version=escape(__version__),
        facts=facts,
        columns=packed.columns,
        first=_chunk(0, next(chunks)),
        script=script,
    )
    for number, chunk in enumerate(chunks, 1):
        yield _chunk(number, chunk)
    yield "</body>\n</html>\n"


def _file(name: str) -> str:
    return files("bert_judge").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """What the page's policy knows an inline script or style by: no other one runs."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _chunk(number: int, chunk: str) -> str:
    return f'<script type="text/plain" id="texts-{number}">{chunk}</script>\n'


def _notes(found: Figures, packed: Packed) -> str:
    notes = [*found.notes]
    if packed.limit is not None:
        notes.append(
            f"To keep this page small, texts of over {packed.limit:,} characters are shown without their middle; "
            "verdicts.jsonl has them whole."
        )
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _cards(found: Figures) -> str:
    """One card a judge: its main number, and what a reader must know to believe it."""
    return "".join(map(_card, found.judges))


def _card(judge: JudgeFigures) -> str:
    what, cell = ("of decided answers called right", judge.right) if judge.right else ("mean score", None)
    if judge.right is None and judge.mean_score is not None:
        cell = Cell(judge.mean_score, judge.judged)
    facts = [("judged", f"{judge.judged:,} of {judge.rows:,}", "")]
    if judge.agreement:
        facts.append(("agrees with people", share(judge.agreement.share), ""))
        if judge.agreement.kappa is not None:
            facts.append(("Cohen's kappa", f"{judge.agreement.kappa:.3f}", ""))
    if judge.right and judge.mean_score is not None:
        facts.append(("mean score", f"{judge.mean_score:.3f}", ""))
    facts.append(("undecided", f"{judge.undecided:,}", "warn" if judge.undecided else ""))
    if judge.undecided and judge.right_all:
        facts.append(("right, undecided as wrong", share(judge.right_all), ""))
    facts.append(("truncated", f"{judge.truncated:,}", "warn" if judge.truncated else ""))
    if judge.bad_rows:
        facts.append(("bad rows set aside", f"{judge.bad_rows:,}", "warn"))
    if judge.seconds is not None:
        facts.append(("time", f"{duration(judge.seconds)} · {speed(judge)} rows/s", ""))
    if judge.tokens_in or judge.tokens_out:
        facts.append(("tokens", f"{judge.tokens_in:,} in · {judge.tokens_out:,} out", ""))
    if judge.money is not None:
        facts.append(("cost", f"{judge.money:.4f}", ""))
    facts.append(("result", folders(judge), ""))
    kind = f"<small>{escape(judge.kind)}</small>" if judge.kind != judge.name else ""
    number = "-" if cell is None or cell.value is None else share(cell, brackets=False)
    brackets = f"<span>{escape(share(cell)[len(number) :])}</span>" if cell else ""
    lines = "".join(f'<div class="{mark}"><dt>{name}</dt><dd>{escape(text)}</dd></div>' for name, text, mark in facts)
    return (
        f'<article class="card"><h3>{escape(judge.name)}{kind}</h3>'
        f'<p class="number"><b>{number}</b>{brackets}</p><p class="what">{what}</p>'
        f"{interval(cell) if cell else ''}<dl>{lines}</dl></article>"
    )


def _figures(found: Figures) -> str:
    """Charts and tables, each in a panel of its own."""
    panels = [_scores(judge, found.labels is not None) for judge in found.judges if judge.histogram]
    compared = [(judge.name, judge.agreement) for judge in found.judges if judge.agreement]
    panels += [_calibration(name, agreement) for name, agreement in compared if agreement.bins]
    panels += [_confusions(name, agreement) for name, agreement in compared]
    tables = [_pairs(found)] if found.pairs else []
    tables += [_kind(kind, found.judges, found.labels is not None) for kind in found.kinds]
    tables += [_cross(cross, len(found.judges)) for cross in found.crosses]
    return f'<div class="panels">{"".join(panels)}</div><div class="tables">{"".join(tables)}</div>'


def _scores(judge: JudgeFigures, labelled: bool) -> str:
    key = (
        '<p class="key"><i class="right"></i>people: right <i class="wrong"></i>people: wrong'
        + (' <i class="other"></i>no label' if any(bar.other for bar in judge.histogram) else "")
        + "</p>"
        if labelled
        else ""
    )
    return _panel("Scores", judge.name, histogram(judge.histogram, judge.name) + key)


def _calibration(name: str, agreement: AgreementFigures) -> str:
    text = "share that people call right, by mean score"
    if agreement.ece is not None and agreement.brier is not None:
        text += f" · ECE {agreement.ece:.3f} · Brier {agreement.brier:.3f}"
    return _panel("Reliability", name, f'{reliability(agreement.bins, name)}<p class="key">{text}</p>')


def _confusions(name: str, agreement: AgreementFigures) -> str:
    measures = (("F1", agreement.f1), ("kappa", agreement.kappa))
    told = [f"{measure} {value:.3f}" for measure, value in measures if value is not None]
    text = " · ".join([f"{agreement.share.rows:,} labelled rows", *told])
    return _panel("Labels", name, f'{confusion(agreement.confusion, "people", "judge")}<p class="key">{text}</p>')


def _pairs(found: Figures) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(pair.first)} / {escape(pair.second)}</th><td>{pair.share.rows:,}</td>'
        f"<td>{share(pair.share)}{interval(pair.share)}</td>"
        f"<td>{'-' if pair.kappa is None else f'{pair.kappa:.3f}'}</td></tr>"
        for pair in found.pairs
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("judges", "rows", "same label", "kappa"))
    text = f"{found.disagreements:,} answers have different labels; the filter “judges disagree” lists them"
    return _table_panel("Judges among each other", f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>", text)


def _panel(title: str, name: str, content: str) -> str:
    return f'<section class="panel"><h3>{title} <small>{escape(name)}</small></h3>{content}</section>'


def _kind(kind: Kind, judges: Sequence[JudgeFigures], labelled: bool) -> str:
    heads = [*(["people"] if labelled else []), *(judge.name for judge in judges)]
    body = "".join(
        f'<tr><th scope="row">{escape(level.name)}</th><td>{level.rows:,}</td>'
        + "".join(
            f"<td>{share(cell)}{interval(cell) if cell else ''}</td>"
            for cell in ([level.gold] if labelled else []) + list(level.judges)
        )
        + "</tr>"
        for level in kind.levels
    )
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return _table_panel(
        f"Called right by {escape(kind.name)}",
        f'<thead><tr><th scope="col">{escape(kind.name)}</th><th scope="col">rows</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody>",
        below(kind),
    )


def _cross(cross: Cross, judges: int) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(task)}</th>'
        + "".join(
            f'<td title="{cell.rows:,} rows, {escape(share(cell))}">{share(cell, brackets=False)}{interval(cell)}</td>'
            for cell in line
        )
        + "</tr>"
        for task, line in zip(cross.tasks, cross.cells, strict=True)
    )
    head = "".join(f'<th scope="col">{escape(model)}</th>' for model in cross.models)
    of = f" <small>{escape(cross.judge)}</small>" if judges > 1 else ""
    return _table_panel(
        f"{crossed(cross)}{of}",
        f'<thead><tr><th scope="col">task</th>{head}</tr></thead><tbody>{body}</tbody>',
        "point at a cell for its rows and interval",
    )


def _table_panel(title: str, table: str, text: str) -> str:
    scroll = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
    return (
        f'<section class="panel wide"><h3>{title}</h3>{scroll}<table>{table}</table></div>'
        f'<p class="key">{escape(text)}</p></section>'
    )


def _origin(judge: JudgeFigures) -> str:
    """What made a judge's verdicts, and the command that makes them again."""
    settings = [f"{name}:{value}" for name, value in judge.signature.settings.items()]
    signature = "".join(f"<li>{escape(part)}</li>" for part in [judge.signature.name, *settings])
    versions = ", ".join(f"{name} {version}" for name, version in judge.versions.items())
    machine = ", ".join(f"{name} {value}" for name, value in judge.machine.items())
    facts = [
        ("started", judge.started),
        ("input", ", ".join(dict.fromkeys(judge.inputs))),
        ("result", ", ".join(judge.folders)),
        ("versions", versions),
        ("machine", machine),
    ]
    lines = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in facts if text)
    made = "\n".join(commands(judge))
    again = (
        f'<p class="what">The command that made it:</p><pre tabindex="0"><code>{escape(made)}</code></pre>'
        if made
        else ""
    )
    return (
        f'<section class="panel wide"><h3>{escape(judge.name)} <small>{escape(judge.kind)}</small></h3>{again}'
        f'<dl>{lines}</dl><h4>Signature</h4><ul class="signature">{signature}</ul></section>'
    )
