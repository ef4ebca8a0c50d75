"""The card of a trained judge: what the Hub shows, and what users need to know before they trust a score."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

_PARTS = {"q": "question", "c": "candidate answer", "r": "reference answer"}
_COMBINED = ", combined with the evidence (equal numbers, the chosen option, shared words),"
_COUNTED = {"task": "by_task", "model": "by_model", "label source": "by_label_source"}


def make_card(name: str, record: Mapping[str, Any]) -> str:
    """The card, in Markdown with a head in YAML, of the judge that a record (`metrics.json`) describes."""
    from jinja2 import Environment, StrictUndefined

    template = Path(__file__).with_name("card.md.jinja").read_text(encoding="utf-8")
    page = Environment(undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True).from_string(template)
    forms = [[_PARTS[letter] for letter in form] for form in record["form"]["forms"]]
    return page.render(
        record,
        name=name,
        parts=[f"{', '.join(form[:-1])} and {form[-1]}" for form in forms],
        measured={**record["tasks"], "**all**": record["dev"]},
        combined=_COMBINED if record["combiner"] else "",
        counted={title: record["data"][key] for title, key in _COUNTED.items() if record["data"][key]},
        cell=lambda text: text.replace("|", "\\|").replace("\n", " "),
        count="{:,}".format,
        percent="{:.0%}".format,
        number=lambda value: "" if value is None else f"{value:.3f}",
        json=partial(json.dumps, ensure_ascii=False),
        shell=shlex.join,
    )
