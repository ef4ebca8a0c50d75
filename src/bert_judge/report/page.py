"""The page of a report: the figures of its document, which need no script, and the rows for `report.js` to show."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files

from bert_judge.document import shown
from bert_judge.report.figures import Figures
from bert_judge.report.overview import cards, charts, headline, tables
from bert_judge.report.packing import Packed
from bert_judge.version import __version__


def page(found: Figures, packed: Packed, title: str) -> Iterator[str]:
    """The page in pieces: what is seen first comes first, the chunks of texts last."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    style = _file("bertscore/alignment.css") + _file("report/report.css")
    script = _file("bertscore/alignment.js") + _file("report/report.js")
    facts = json.dumps(packed.facts, separators=(",", ":")).replace("<", "\\u003c")  # no text can end the script
    notes = [*found.notes]
    if packed.limit is not None:
        notes.append(
            f"To keep this page small, texts of over {packed.limit:,} characters are shown without their middle; "
            "verdicts.jsonl has them whole."
        )
    pages = Environment(
        autoescape=True,
        loader=FunctionLoader(_file),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals["shown"] = shown
    return pages.get_template("report/report.html").generate(
        title=title,
        headline=headline(found),
        policy=Markup(
            f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        style=Markup(style),
        script=Markup(script),
        notes=notes,
        cards=cards(found),
        charts=charts(found),
        tables=tables(found),
        facts=Markup(facts),
        columns=packed.columns,
        chunks=packed.chunks(),
        version=__version__,
    )


def _file(name: str) -> str:
    return files("bert_judge").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """What the page's policy knows an inline script or style by: no other one runs."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
