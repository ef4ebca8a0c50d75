"""The card of a trained judge: what the Hub shows, and what a person needs to know before trusting a score."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from bert_judge.version import __version__

_PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "numpy")
_MEASURES = ("accuracy", "f1", "kappa", "brier", "ece")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that training depends on."""
    found = {"bert-judge": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def make_card(name: str, record: Mapping[str, Any]) -> str:
    """The card of the judge that a record (`metrics.json`) tells of, in Markdown with a head in YAML."""
    data, steps = record["data"], record["steps"]
    tables = [_counts(title, data[f"by_{key}"]) for title, key in _TABLES if data[f"by_{key}"]]
    labels = "probabilities" if data["soft"] else "1 (right) or 0 (wrong)"
    best = "" if steps["best"] is None else f", of which the state after {steps['best']:,} was the best"
    parts = [
        _head(record),
        f"# {name}",
        _MADE.format(parts=_parts(record), base=record["base_model"]),
        _fenced("python", _USE.format(name=name)),
        "## How good it is",
        _CAUTION.format(rows=data["dev"]),
        _measures({**record["tasks"], "**all**": record["dev"]}),
        _CALIBRATION.format(what=_COMBINED if record["combiner"] else "logits", **record),
        "## What it was trained on",
        _DATA.format(labels=labels, **data),
        *(["Rows trained on and held out together:"] if tables else []),
        *tables,
        "## How it was trained",
        f"{steps['all']:,} steps{best}.",
        *([_fenced("sh", shlex.join(record["command"]))] if record["command"] else []),
        _fenced("json", json.dumps(record["settings"])),
        "Versions: " + ", ".join(f"{package} {version}" for package, version in record["versions"].items()) + ".",
    ]
    return "\n\n".join(parts) + "\n"


_USE = """from bert_judge import BERTJudge

scores = BERTJudge("{name}").predict(questions, candidates, references)"""
_MADE = """An encoder that reads a {parts}, and gives the probability that the candidate is right.
Made with bert-judge from `{base}`."""
_CAUTION = """On {rows:,} rows whose questions are in no training row. They also chose the best state of the training
and the temperature, so that these figures are a little too good. Brier score and ECE: 0 is the best."""
_CALIBRATION = """Calibration: {what} are divided by a temperature of {temperature:g}, fitted on the same rows.
The loss before it was {dev_loss:.4f}."""
_COMBINED = "logits, combined with the evidence (equal numbers, the chosen option, shared words),"
_DATA = """{train:,} rows. Dropped: {undecided:,} undecided rows, and {left_out:,} that the training mix leaves out.
Labels are {labels}."""
_TABLES = (("task", "task"), ("model", "model"), ("label source", "label_source"))


def _head(record: Mapping[str, Any]) -> str:
    lines = {
        "library_name": "bert-judge",
        "pipeline_tag": "text-classification",
        "base_model": record["base_model"],
        "tags": ["bert-judge", "evaluation"],
    }
    return "\n".join(
        ["---", *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in lines.items()), "---"]
    )


def _parts(record: Mapping[str, Any]) -> str:
    words = {"q": "question", "c": "candidate answer", "r": "reference answer"}
    forms = [[words[letter] for letter in form] for form in record["form"]["forms"]]
    return ", or a ".join(f"{', '.join(form[:-1])} and {form[-1]}" for form in forms)


def _measures(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        (name, f"{row['rows']:,}", _share(row["right"]), *(_number(row[key]) for key in _MEASURES))
        for name, row in rows.items()
    ]
    return _table(("task", "rows", "right", "accuracy", "F1", "kappa", "Brier", "ECE"), lines)


def _counts(title: str, counts: Mapping[str, Mapping[str, Any]]) -> str:
    return _table((title, "rows", "right"), [(n, f"{c['rows']:,}", _share(c["right"])) for n, c in counts.items()])


def _table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    rows = [head, tuple("---" for _ in head), *lines]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    )


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _share(value: float) -> str:
    return f"{value:.0%}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
