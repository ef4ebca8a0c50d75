"""How good a judge is on rows held out, also where their labels are probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.stats import Confusion, brier, expected_calibration_error, fit_temperature

_COPIES = 100  # rows that a soft label stands for


@dataclass(frozen=True, slots=True)
class Measures:
    """What a judge does on some rows: the shares of right answers, and the measures of `bert_judge.stats`.

    A soft label p is right from 0.5 on in `accuracy`, `f1` and `kappa`; in `brier` and `ece` it counts as p right and
    1 - p wrong rows (in hundredths). Measures that are undefined, as kappa of one kind of label, are None.
    """

    rows: int
    right: float
    accuracy: float | None
    f1: float | None
    kappa: float | None
    brier: float
    ece: float


def measure(margins: Sequence[float], labels: Sequence[float], temperature: float = 1.0) -> Measures:
    """The measures of logits (right minus wrong) against labels, one or more of each."""
    scores = [1 / (1 + math.exp(-max(-700.0, min(700.0, margin / temperature)))) for margin in margins]
    confusion = Confusion.count(
        (int(label >= 0.5), int(score >= 0.5)) for label, score in zip(labels, scores, strict=True)
    )
    values, golds = _hardened(scores, labels)
    return Measures(
        rows=len(labels),
        right=round(math.fsum(labels) / len(labels), 4),
        accuracy=confusion.accuracy,
        f1=confusion.f1,
        kappa=confusion.kappa,
        brier=brier(values, golds),
        ece=expected_calibration_error(values, golds),
    )


def calibrate(margins: Sequence[float], labels: Sequence[float]) -> float:
    """The temperature that makes logits fit labels best, hard or soft ones."""
    return round(fit_temperature(*_hardened(margins, labels)), 4)


def is_soft(labels: Sequence[float]) -> bool:
    """Whether some label is neither 0 nor 1."""
    return any(label not in (0, 1) for label in labels)


def _hardened(values: Sequence[float], labels: Sequence[float]) -> tuple[list[float], list[int]]:
    """Values with hard labels: each row of a soft one stands for a hundred, of which a share is right."""
    if not is_soft(labels):
        return list(values), [int(label) for label in labels]
    golds = []
    for label in labels:
        right = round(label * _COPIES)
        golds += [1] * right + [0] * (_COPIES - right)
    return [value for value in values for _ in range(_COPIES)], golds
