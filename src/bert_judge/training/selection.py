"""The rows of one training: chosen by the mix, some questions held out, and fit for how the judge is to read."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bert_judge.errors import InputError
from bert_judge.models import load_config
from bert_judge.prompt import InputForm
from bert_judge.training.config import TrainConfig
from bert_judge.training.held_out import is_soft
from bert_judge.training.mix import Mix, apply_mix
from bert_judge.training.rows import GROUPS, Example, grouped, is_held_out, labels_of, read_examples


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows of both sides in random order, and how many were not used, and why."""

    train: list[Example]
    dev: list[Example]
    undecided: int
    left_out: int


def choose_rows(data: Any, mix: Mix | None, config: TrainConfig) -> TrainingRows:
    """The labelled rows in random order, some questions set apart. Raises InputError if they can't teach anything."""
    examples = read_examples(data)
    labelled = [example for example in examples if example.label is not None]
    chosen = labelled if mix is None else apply_mix(labelled, mix, config.seed)
    undecided = len(examples) - len(labelled)
    sides: tuple[list[Example], list[Example]] = ([], [])
    for example in chosen:
        sides[is_held_out(example.sample, config.dev_share)].append(example)
    for name, side in zip(("training", "development"), sides, strict=True):
        labels = labels_of(side)
        if len(set(labels)) < 2 and not (labels and is_soft(labels)):
            kinds = "hold one label only" if side else "are too few"
            more = f", or a larger dev_share than {config.dev_share:g}" if name == "development" else ""
            raise InputError(
                f"{len(side)} labelled {name} rows of {len(chosen)}{f' ({undecided} undecided)' if undecided else ''} "
                f"{kinds}; correct (1) and incorrect (0) answers to several questions are needed{more}."
            )
    shuffle = random.Random(config.seed).shuffle
    shuffle(sides[0])
    shuffle(sides[1])
    return TrainingRows(*sides, undecided, len(labelled) - len(chosen))


def check_form(source: Path, form: InputForm, rows: TrainingRows, config: TrainConfig, trust_remote_code: bool) -> None:
    """Raise InputError where encoder and rows do not suit the form."""
    architecture = load_config(source, trust_remote_code)
    if form.marks and getattr(architecture, "type_vocab_size", 0) < 2:
        raise InputError(f"{source} has no second token type to carry match marks; train it with marks=False.")
    without = sum(example.sample.question is None for example in [*rows.train, *rows.dev])
    if form.forms == ("qcr",) and without:
        raise InputError(
            f"{without} rows have no question, but the judge is to read one; give questions, or train it without "
            "(the form 'cr', include_question=False)."
        )
    if _reads_both(form) and not (config.question_dropout or without):
        raise InputError("the forms 'qcr' and 'cr' need rows without a question, or a question_dropout above 0.")


def drop_questions(rows: Sequence[Example], form: InputForm, config: TrainConfig) -> list[Example]:
    """Some rows without their question, where one judge learns to read with and without one."""
    if not _reads_both(form):
        return list(rows)
    chance = random.Random(config.seed)
    return [
        replace(row, sample=replace(row.sample, question=None)) if chance.random() < config.question_dropout else row
        for row in rows
    ]


def _reads_both(form: InputForm) -> bool:
    return {"qcr", "cr"} <= set(form.forms)


def describe(rows: TrainingRows) -> dict[str, Any]:
    """How many rows there are, of what, and the rate of correct ones."""
    labels = labels_of(used := [*rows.train, *rows.dev])
    counts = {
        f"by_{kind}": {
            name: {"rows": len(places), "right": round(math.fsum(labels[place] for place in places) / len(places), 4)}
            for name, places in grouped(used, kind).items()
        }
        for kind in GROUPS
    }
    sizes = {"train": len(rows.train), "dev": len(rows.dev), "undecided": rows.undecided, "left_out": rows.left_out}
    return {**sizes, "soft": is_soft(labels), **counts}
