"""Which rows of which task and model are trained on."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bert_judge.artifacts import model_folder
from bert_judge.errors import InputError
from bert_judge.training.rows import Example

Amount = int | float
Mix = Mapping[str, Amount | Mapping[str, Amount]]
"""How much of what: `{task: {model: amount}}`, or `{task: amount}`, or `{model: amount}`.

An amount is a number of rows, the most that are taken (500), or a fraction of them (0.5; all is 1.0). Names are
compared as they stand in paths: without the organisation, `-` as `_`.
"""

_SHOWN = 8


def load_mix(path: str) -> Mix:
    """Read a mix from a JSON file. Raises InputError where that can't be read."""
    try:
        mix: Mix = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the training mix {path} can't be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(f"the training mix {path} is not valid JSON ({error}).") from error
    if not isinstance(mix, dict):
        raise InputError(
            f"the training mix {path} holds a {type(mix).__name__}; {{task: {{model: rows}}}} was expected."
        )
    return mix


def apply_mix(examples: Sequence[Example], mix: Mix, seed: int) -> list[Example]:
    """The rows that a mix asks for, drawn at random; what it does not name is left out.

    Raises InputError for a name that no row has (and what there is), and for an amount that can't be taken.
    """
    groups: dict[tuple[str | None, str | None], list[Example]] = {}
    for example in examples:
        groups.setdefault((_plain(example.task), _plain(example.model)), []).append(example)
    tasks, models = ({key[place] for key in groups} - {None} for place in (0, 1))
    names = {_plain(name) for name in mix}
    taken: list[Example] = []
    for name, wanted in mix.items():
        plain = _plain(name)
        if isinstance(wanted, Mapping):
            if plain not in tasks:
                raise _unknown("task", name, (example.task for example in examples))
            for model, amount in wanted.items():
                rows = groups.get((plain, _plain(model)))
                if rows is None:
                    there = (example.model for example in examples if _plain(example.task) == plain)
                    raise _unknown(f"model of {name}", model, there)
                taken += _draw(rows, amount, f"{name}/{model}", seed)
        elif plain not in tasks | models:
            raise _unknown("task or model", name, (each for e in examples for each in (e.task, e.model)))
        elif names & tasks and names & models:  # rows would be taken twice
            raise InputError("the training mix names tasks beside models; {task: {model: number of rows}} has both.")
        else:
            place = 0 if plain in tasks else 1
            rows = [example for key, group in groups.items() if key[place] == plain for example in group]
            taken += _draw(rows, wanted, name, seed)
    if not taken:
        raise InputError("the training mix names nothing; {task: {model: number of rows}} was expected.")
    return taken


def _draw(rows: Sequence[Example], amount: Amount, name: str, seed: int) -> list[Example]:
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    if not (whole and amount >= 1) and not (isinstance(amount, float) and 0 < amount <= 1):
        raise InputError(
            f"the training mix wants {amount!r} of {name}; a number of rows (500) or a fraction (0.5) was expected."
        )
    count = min(int(amount), len(rows)) if whole else math.ceil(amount * len(rows))
    return random.Random(f"{seed}{name}").sample(rows, count)


def _unknown(kind: str, name: str, known: Iterable[str | None]) -> InputError:
    names = sorted({each for each in known if each is not None})
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return InputError(f"the training mix names the {kind} {name!r}, which no row has; there is {shown or 'none'}.")


def _plain(name: str | None) -> str | None:
    return None if name is None else model_folder(name)
