"""The rows of a training: selected by the mix, split, and checked against the form of the judge."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bert_judge.encoder.models import load_config
from bert_judge.errors import InputError
from bert_judge.paths import model_folder
from bert_judge.reading import InputForm
from bert_judge.records import Sample
from bert_judge.training.config import TrainConfig
from bert_judge.training.held_out import is_soft
from bert_judge.training.rows import GROUPS, group_of, grouped, labels_of, read_examples, split_by_question

Amount = int | float
Mix = Mapping[str, Amount | Mapping[str, Amount]]
"""How many rows to use: `{task: {model: amount}}`, or `{task: amount}`, or `{model: amount}`.

An amount is the largest number of rows (500) or a fraction of them (0.5; 1.0 for all). Names are compared as in paths:
without the organisation, and with `-` as `_`.
"""

_SHOWN = 8
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_LARGEST_SHARE, _ENOUGH = 0.2, 50  # of few rows, the share grows up to this until so many are held out


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows of both sides in random order, how many were undecided or left out (by the mix), the share held out."""

    train: list[Sample]
    dev: list[Sample]
    undecided: int
    left_out: int
    dev_share: float


def choose_rows(data: Any, mix: Mix | None, config: TrainConfig) -> TrainingRows:
    """The labelled rows in random order, some questions held out. Raises InputError if a side lacks a label.

    Without a `dev_share` one question in twenty is held out. Of few rows it is up to one in five, to have 50 rows, and
    up to one in two, to have both labels.
    """
    examples = read_examples(data)
    labelled = [example for example in examples if example.gold is not None]
    chosen = labelled if mix is None else apply_mix(labelled, mix, config.seed)
    undecided = len(examples) - len(labelled)
    for share in _SHARES if config.dev_share is None else (config.dev_share,):
        sides = split_by_question(chosen, share)
        if all(map(_has_both_labels, sides)) and (len(sides[1]) >= _ENOUGH or share >= _LARGEST_SHARE):
            break
    for name, side in zip(("training", "held-out"), sides, strict=True):
        if not _has_both_labels(side):
            kinds = "hold one label only" if side else "are too few"
            more = f", or a larger dev_share than {share:g}" if side is sides[1] and config.dev_share else ""
            raise InputError(
                f"{len(side)} labelled {name} rows of {len(chosen)}{f' ({undecided} undecided)' if undecided else ''} "
                f"{kinds}; correct (1) and incorrect (0) answers to several questions are needed{more}."
            )
    chance = random.Random(config.seed)
    for side in sides:
        chance.shuffle(side)
    return TrainingRows(*sides, undecided, len(labelled) - len(chosen), share)


def _has_both_labels(rows: Sequence[Sample]) -> bool:
    labels = labels_of(rows)
    return len(set(labels)) > 1 or (bool(labels) and is_soft(labels))


def check_form(source: Path, form: InputForm, rows: TrainingRows, config: TrainConfig, trust_remote_code: bool) -> None:
    """Raise InputError if encoder or rows do not fit the form."""
    architecture = load_config(source, trust_remote_code)
    if form.marks and getattr(architecture, "type_vocab_size", 0) < 2:
        raise InputError(f"{source} has no token types, which carry match marks; train it with marks=False.")
    everything = [*rows.train, *rows.dev]
    without = sum(not any(example.references) for example in everything)
    if form.forms != ("qc",) and without:
        raise InputError(
            f"{without} rows have no reference, but the judge would read one; give references, or train it without "
            "(the form 'qc', include_reference=False)."
        )
    without = sum(example.question is None for example in everything)
    if set(form.forms) <= {"qcr", "qc"} and without:
        raise InputError(
            f"{without} rows have no question, but the judge would read one; give questions, or train it without "
            "(the form 'cr', include_question=False)."
        )
    if _reads_both(form) and not (config.question_dropout or without):
        raise InputError("the forms 'qcr' and 'cr' need rows without a question, or a question_dropout above 0.")


def drop_questions(rows: Sequence[Sample], form: InputForm, config: TrainConfig) -> list[Sample]:
    """The rows, some without their question if the judge learns to read with and without one."""
    if not _reads_both(form):
        return list(rows)
    chance = random.Random(config.seed)
    return [replace(row, question=None) if chance.random() < config.question_dropout else row for row in rows]


def _reads_both(form: InputForm) -> bool:
    return {"qcr", "cr"} <= set(form.forms)


def describe(rows: TrainingRows) -> dict[str, Any]:
    """The numbers of rows, in all and by group, and the fractions of correct ones."""
    labels = labels_of(used := [*rows.train, *rows.dev])
    sizes = {"train": len(rows.train), "dev": len(rows.dev), "undecided": rows.undecided, "left_out": rows.left_out}
    counts = {f"by_{kind}": _count(labels, grouped(used, kind)) for kind in GROUPS}
    return {**sizes, "dev_share": rows.dev_share, "soft": is_soft(labels), **counts}


def _count(labels: Sequence[float], groups: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    return {
        name: {"rows": len(places), "right": round(math.fsum(labels[place] for place in places) / len(places), 4)}
        for name, places in groups.items()
    }


def load_mix(path: str) -> Mix:
    """Read a mix from a JSON file. Raises InputError if it can't be read."""
    try:
        mix: Mix = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the training mix {path} can't be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(f"the training mix {path} is not valid JSON ({error}).") from error
    if not isinstance(mix, dict):
        kind = type(mix).__name__
        raise InputError(f"the training mix {path} holds a {kind}; {{task: {{model: rows}}}} was expected.")
    return mix


def apply_mix(examples: Sequence[Sample], mix: Mix, seed: int) -> list[Sample]:
    """The rows that a mix asks for, drawn at random; rows that it does not name are left out.

    Raises InputError for a name that no row has, and for an amount that is neither a number nor a fraction of rows.
    """
    groups: dict[tuple[str | None, str | None], list[Sample]] = {}
    for example in examples:
        groups.setdefault((_plain(group_of(example, "task")), _plain(group_of(example, "model"))), []).append(example)
    tasks, models = ({key[place] for key in groups} - {None} for place in (0, 1))
    names = {_plain(name) for name in mix}
    drawn: list[Sample] = []
    for name, amount in mix.items():
        plain = _plain(name)
        if isinstance(amount, Mapping):
            if plain not in tasks:
                raise _unknown("task", name, (group_of(example, "task") for example in examples))
            of_task = {model: rows for (task, model), rows in groups.items() if task == plain}
            for model, model_amount in amount.items():
                if _plain(model) not in of_task:
                    models_of_task = (group_of(row, "model") for rows in of_task.values() for row in rows)
                    raise _unknown(f"model of {name}", model, models_of_task)
                drawn += _draw(of_task[_plain(model)], model_amount, f"{name}/{model}", seed)
        elif plain not in tasks | models:
            raise _unknown("task or model", name, (group_of(e, kind) for e in examples for kind in ("task", "model")))
        elif names & tasks and names & models:  # rows would be drawn twice
            raise InputError("the training mix names tasks beside models; {task: {model: number of rows}} has both.")
        else:
            place = 0 if plain in tasks else 1
            rows = [example for key, group in groups.items() if key[place] == plain for example in group]
            drawn += _draw(rows, amount, name, seed)
    if not drawn:
        raise InputError("the training mix names nothing; {task: {model: number of rows}} was expected.")
    return drawn


def _draw(rows: Sequence[Sample], amount: Amount, name: str, seed: int) -> list[Sample]:
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    if not (whole and amount >= 1) and not (isinstance(amount, float) and 0 < amount <= 1):
        raise InputError(
            f"the training mix wants {amount!r} of {name}; a number of rows (500) or a fraction (0.5) was expected."
        )
    count = min(int(amount), len(rows)) if whole else math.ceil(amount * len(rows))
    return random.Random(f"{seed}{name}").sample(rows, count)


def _unknown(kind: str, name: str, existing: Iterable[str | None]) -> InputError:
    names = sorted({other for other in existing if other is not None})
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return InputError(f"the training mix names the {kind} {name!r}, which no row has; there is {shown or 'none'}.")


def _plain(name: str | None) -> str | None:
    return None if name is None else model_folder(name)
