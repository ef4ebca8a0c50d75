"""The audit in two halves: one to choose judges by, and one that is run once, at the end.

A hash of a question's key says which half it is in, and a hash of a wording's words says the same of the frames of
attacks and invariances; so neither moves when others are added. A half has its own questions in its own wordings, drawn
anew, so that no trial mixes the two. Both halves have what has no words (a full stop, bold type, capitals), and a
family's only wording.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from bert_judge.measures.questions import question_key
from bert_judge.studies.audit import FAMILIES, Trial, load_items, make_trials
from bert_judge.studies.audit.trials import Attack, Invariance

HALVES = ("choose", "final")
DRAWS = 3  # so often is drawn: each family has at least 60 trials in each half


def trials_of(half: str) -> list[Trial]:
    """The trials of one of `HALVES`: those of its plain answers, then family by family."""
    items = [item for item in load_items() if half_of(question_key(item.question, item.references)) == half]
    made = (
        trial._replace(family=name)
        for name, family in FAMILIES.items()
        for draw in range(DRAWS)
        for trial in _divided(family, half).trials(f"{name} {draw}", items)
    )
    return make_trials(items, families=()) + list(dict.fromkeys(made))


def half_of(text: str) -> str:
    """The half that a text is in."""
    return HALVES[hashlib.sha256(text.encode()).digest()[0] % 2]


def wording_key(frame: str) -> str:
    """A frame by its letters and places alone."""
    places = re.sub(r"\{\w*\}", "@", frame.replace("\\n", "\n"))
    return re.sub(r"[^a-z@]+", " ", places.casefold()).strip() or frame


def _divided(family: Attack | Invariance, half: str) -> Attack | Invariance:
    """An attack or invariance with the wordings of a half."""

    def ours(wording: str) -> bool:
        key = wording_key(wording)
        return re.search("[a-z]", key) is None or half_of(key) == half

    if isinstance(family, Attack):
        return replace(family, frames=[*filter(ours, family.frames)] or family.frames)
    frames = {name: isinstance(change, str) and "{}" in change for name, change in family.changes.items()}
    changes = {name: change for name, change in family.changes.items() if not frames[name] or ours(str(change))}
    return replace(family, changes=changes or family.changes)
