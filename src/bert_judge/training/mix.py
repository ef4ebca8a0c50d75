"""Which rows of which task and model are trained on."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence

from bert_judge.errors import InputError
from bert_judge.training.rows import Example

Amount = int | float
Mix = Mapping[str, Amount | Mapping[str, Amount]]
"""How much of what: `{task: {model: amount}}`, or `{task: amount}`, or `{model: amount}`.

An amount is a number of rows, the most that are taken (500), or a share of them (0.5; all is 1.0).
"""

_SHOWN = 8


def apply_mix(examples: Sequence[Example], mix: Mix, seed: int) -> list[Example]:
    """The rows that a mix asks for, drawn at random; what it does not name is left out.

    Raises InputError for a name that no row has (and what there is), and for an amount that is none.
    """
    groups: dict[tuple[str | None, str | None], list[Example]] = {}
    for example in examples:
        groups.setdefault((_plain(example.task), _plain(example.model)), []).append(example)
    taken: list[Example] = []
    for name, wanted in mix.items():
        if isinstance(wanted, Mapping):
            for model, amount in wanted.items():
                taken += _draw(_of_both(groups, examples, name, model), amount, f"{name}/{model}", seed)
        else:
            taken += _draw(_of_one(groups, examples, name, list(mix)), wanted, name, seed)
    if not taken:
        raise InputError("the training mix names nothing; {task: {model: number of rows}} was expected.")
    return taken


def _of_both(
    groups: Mapping[tuple[str | None, str | None], list[Example]], examples: Sequence[Example], task: str, model: str
) -> list[Example]:
    rows = groups.get((_plain(task), _plain(model)))
    if rows is None:
        models = [each.model for each in examples if _plain(each.task) == _plain(task)]
        if not models:
            raise _unknown("task", task, (each.task for each in examples))
        raise _unknown(f"model of {task}", model, models)
    return rows


def _of_one(
    groups: Mapping[tuple[str | None, str | None], list[Example]],
    examples: Sequence[Example],
    name: str,
    names: Sequence[str],
) -> list[Example]:
    """The rows of a task, or of a model. All names are of one kind, or rows would be taken twice."""
    tasks, models = ({key[i] for key in groups} - {None} for i in (0, 1))
    plain = _plain(name)
    kinds = [kind for kind, known in enumerate((tasks, models)) if {_plain(each) for each in names} & known]
    if plain not in tasks | models:
        raise _unknown("task or model", name, [*(e.task for e in examples), *(e.model for e in examples)])
    if len(kinds) > 1:
        raise InputError("the training mix names tasks beside models; {task: {model: number of rows}} has both.")
    return [example for key, rows in groups.items() if key[kinds[0]] == plain for example in rows]


def _draw(rows: Sequence[Example], amount: Amount, name: str, seed: int) -> list[Example]:
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    if not (whole and amount >= 1) and not (isinstance(amount, float) and 0 < amount <= 1):
        raise InputError(
            f"the training mix wants {amount!r} of {name}; a number of rows (500) or a share of them (0.5) was "
            "expected."
        )
    count = min(int(amount), len(rows)) if whole else math.ceil(amount * len(rows))
    return random.Random(f"{seed}{name}").sample(rows, count)


def _unknown(kind: str, name: str, known: Iterable[str | None]) -> InputError:
    names = sorted({each for each in known if each is not None})
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return InputError(f"the training mix names the {kind} {name!r}, which no row has; there is {shown or 'none'}.")


def _plain(name: str | None) -> str | None:
    """A name as it stands in paths, where `-` is `_`, without the organisation."""
    return None if name is None else name.split("/")[-1].replace("-", "_")
