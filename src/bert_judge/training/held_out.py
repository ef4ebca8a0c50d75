"""Measures of a judge on the held-out rows, whose labels may be probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.measures import Confusion, brier, expected_calibration_error, fit_temperature
from bert_judge.records import Sample
from bert_judge.training.rows import grouped, labels_of

_COPIES = 100  # of a row with a soft label


@dataclass(frozen=True, slots=True)
class HeldOutMeasures:
    """The number of rows, the fraction of correct ones (`right`), and the measures of `bert_judge.measures`.

    In `accuracy`, `f1` and `kappa` a soft label counts as correct from 0.5 on; in `brier` and `ece` a soft label p
    counts as p correct and 1 - p incorrect rows (in hundredths). Undefined measures, such as kappa of a single label,
    are None.
    """

    rows: int
    right: float
    accuracy: float | None
    f1: float | None
    kappa: float | None
    brier: float
    ece: float


def measure(margins: Sequence[float], labels: Sequence[float], temperature: float = 1.0) -> HeldOutMeasures:
    """The measures of margins (logit of correct minus logit of incorrect) against labels; at least one row."""
    scores = [1 / (1 + math.exp(-max(-700.0, min(700.0, margin / temperature)))) for margin in margins]
    confusion = Confusion.count(
        (int(label >= 0.5), int(score >= 0.5)) for label, score in zip(labels, scores, strict=True)
    )
    values, golds = _with_hard_labels(scores, labels)
    return HeldOutMeasures(
        rows=len(labels),
        right=round(math.fsum(labels) / len(labels), 4),
        accuracy=confusion.accuracy,
        f1=confusion.f1,
        kappa=confusion.kappa,
        brier=brier(values, golds),
        ece=expected_calibration_error(values, golds),
    )


def measure_tasks(
    rows: Sequence[Sample], margins: Sequence[float], temperature: float = 1.0
) -> dict[str, HeldOutMeasures]:
    """The measures of each task named in the rows."""
    return {
        name: measure([margins[i] for i in places], labels_of(rows[i] for i in places), temperature)
        for name, places in grouped(rows, "task").items()
    }


def calibrate(margins: Sequence[float], labels: Sequence[float]) -> float:
    """The temperature that fits margins best to labels, hard or soft."""
    return round(fit_temperature(*_with_hard_labels(margins, labels)), 4)


def is_soft(labels: Sequence[float]) -> bool:
    """Whether some label is neither 0 nor 1."""
    return any(label not in (0, 1) for label in labels)


def _with_hard_labels(values: Sequence[float], labels: Sequence[float]) -> tuple[list[float], list[int]]:
    """Values with labels of 0 and 1; if some are soft, each row is repeated a hundred times."""
    if not is_soft(labels):
        return list(values), [int(label) for label in labels]
    golds = []
    for label in labels:
        correct = round(label * _COPIES)
        golds += [1] * correct + [0] * (_COPIES - correct)
    return [value for value in values for _ in range(_COPIES)], golds
