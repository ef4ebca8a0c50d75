"""Rows of a result on the terminal: verdict, texts, and which parts of the candidate carried the score."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from bert_judge.records import Row
from bert_judge.report.rows import because, pieces, shared
from bert_judge.results.runs import Run, read_explanations
from bert_judge.studies.harness import harness_scores
from bert_judge.wording import SAID, not_judged

CLIPPED = 600
"""The most characters of a text that are shown, unless all are."""

LEGEND = (
    "[words +0.38] speak for the candidate: without them the score is 0.38 lower; [words -0.38] speak against it: "
    "0.38 higher."
)

_FOR, _AGAINST, _END = "\ue000", "\ue001", "\ue002"  # stand for brackets until lines are wrapped: as wide as these
_PLAIN = str.maketrans({_FOR: "[", _AGAINST: "[", _END: "]"})
_COLOURED = str.maketrans({_FOR: "\x1b[32m[", _AGAINST: "\x1b[31m[", _END: "]\x1b[0m"})
_FIRST = 3  # of the rows that were explained
_BETWEEN = 120  # characters of the text between two parts that matter


def row_lines(row: Row, clipped: int | None = CLIPPED) -> Iterator[str]:
    """A row as lines: the verdict, then each text under its name."""
    score = "" if row.score is None else f"  {row.score:.3f}"
    gold = "" if row.gold is None else f"  (human label: {SAID[row.gold]})"
    yield f"{row.id}  {SAID[row.label] if row.label is not None or row.score is None else 'no label'}{score}{gold}"
    texts = [("question", _clip(row.question, clipped)), *(("reference", _clip(r, clipped)) for r in row.references)]
    texts += [
        ("candidate", _candidate(row, clipped)),
        ("shares", shared(row)),
        ("says", _clip(row.verdict.explanation, clipped)),
    ]
    if own_scores := harness_scores(row):
        texts.append(("theirs", ", ".join(f"{name} {score:g}" for name, score in own_scores.items())))
    texts += [("why", because(row.why) if row.why else None)]
    if row.verdict.truncated:
        texts.append(
            ("cut", ", ".join(f"{count} characters of the {part}" for part, count in row.verdict.truncated.items()))
        )
    if row.verdict.left_out:
        texts.append(("left out", not_judged(row.verdict.left_out)))
    if row.verdict.out_of_scope:
        texts.append(("scope", f"out of scope: {row.verdict.out_of_scope}"))
    width = max(40, min(120, shutil.get_terminal_size().columns))
    colours = _COLOURED if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else _PLAIN
    for name, text in texts:
        if text is None:
            continue
        wrapped = [
            line
            for paragraph in text.splitlines() or ["(empty)"]
            for line in textwrap.wrap(paragraph, width - 14) or [""]
        ]
        for number, line in enumerate(wrapped):
            yield f"  {name if number == 0 else '':12}{line}".rstrip().translate(colours)


def first_explained(run: Run) -> str:
    """The rows that were explained first, and how to see all; nothing where there are none."""
    explained = list(read_explanations(run.folder))
    if run.left or not explained:
        return where_explained(run.folder) if explained else ""
    rows = list(run.rows)
    shown = ["\n".join(row_lines(rows[number])) for number in explained[:_FIRST]]
    return "\n\n".join([*shown, LEGEND, *([where_explained(run.folder)] if len(explained) > len(shown) else [])])


def where_explained(folder: Path | str) -> str:
    """How to see all rows that were explained."""
    return f"bert-judge show {folder} --explained shows all rows that were explained"


def _candidate(row: Row, clipped: int | None) -> str | None:
    """The candidate, with the parts that matter in brackets where it was explained."""
    if row.candidate is None or row.why is None:
        return _clip(row.candidate, clipped)
    return "".join(_piece(*piece, clipped) for piece in pieces(row.candidate, row.why))


def _piece(text: str, effect: float | None, clipped: int | None) -> str:
    if effect is None:
        return f"{_clip(text, clipped and _BETWEEN)}"
    return f"{_FOR if effect > 0 else _AGAINST}{_clip(text, clipped)} {effect:+.2f}{_END}"


def _clip(text: str | None, most: int | None) -> str | None:
    """The text without its middle, if it is long: answers stand at an end."""
    if text is None or most is None or len(text) <= most:
        return text
    return f"{text[: most // 2].rstrip()} [… {len(text) - most} characters …] {text[-most // 2 :].lstrip()}"
