"""Baselines for rescaling: the mean scores of pairs of texts that have nothing to do with each other."""

from __future__ import annotations

import csv
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bert_judge.errors import InputError, OutputError

if TYPE_CHECKING:
    from bert_judge.bertscore.scorer import BERTScorer

_HEADER = ["LAYER", "P", "R", "F"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Means of P, R and F1 over random pairs of texts, one row for each layer from 0 on, and where they come from."""

    rows: Sequence[Sequence[float]]
    source: str

    @property
    def name(self) -> str:
        """The last part of the source, with eight hexadecimal digits that stand for the numbers."""
        return f"{Path(self.source).name}@{hashlib.sha256(repr(self.rows).encode()).hexdigest()[:8]}"

    def of(self, layer: int | None, layers: int) -> NDArray[np.float32]:
        """The row of a layer, or those of all `layers` (None), as rows by 3. Raises InputError where one is missing."""
        wanted = range(layers) if layer is None else [layer]
        if len(self.rows) <= max(wanted):
            raise InputError(
                f"the baseline ({self.source}) has layers 0 to {len(self.rows) - 1}, but layer {max(wanted)} is read; "
                "make one for this model with bert-judge bertscore-baseline."
            )
        return np.array([self.rows[number] for number in wanted], np.float32)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file as bert-score has it: CSV with the header LAYER,P,R,F, layers from 0 on.

    Raises InputError where the file can't be read or holds something else.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
        if [name.upper() for name in header] != _HEADER:
            raise ValueError(f"its first line is {','.join(header)!r}")
        if [row[0] for row in rows] != list(map(str, range(len(rows)))) or {len(row) for row in rows} - {4}:
            raise ValueError("its rows are not the layers 0, 1, 2 …, each with three numbers")
        numbers = [[float(value) for value in row[1:]] for row in rows]
        if not all(-1 <= value < 1 for row in numbers for value in row):
            raise ValueError("it holds a mean that is not from -1 to below 1")
    except OSError as error:
        raise InputError(f"the baseline file {path} can't be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(
            f"{path} is not a baseline file: {error}; LAYER,P,R,F and a row for each layer were expected."
        ) from error
    return Baseline(numbers, str(path))


def write_baseline(path: Path, rows: NDArray[np.float64]) -> None:
    """Write a baseline file, which bert-score can read, too."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(_HEADER)
            lines.writerows([layer, *(f"{value:.6f}" for value in row)] for layer, row in enumerate(rows))
    except OSError as error:
        raise OutputError(f"the baseline file {path} can't be written ({error.strerror}).") from error


def measure_baseline(
    scorer: BERTScorer, texts: Sequence[str], pairs: int, seed: int = 0, progress: bool = False
) -> NDArray[np.float64]:
    """Means of P, R and F1 over random pairs of texts, as layers by 3; bert-score made its own from news texts.

    `scorer` is one for all layers, without rescaling and idf. The two texts of a pair differ; the same seed gives the
    same pairs. Raises InputError where there are fewer than two different texts.
    """
    from tqdm import tqdm

    different = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(different) < 2:
        raise InputError(f"{len(different)} different texts were given; a baseline needs two, better some thousands.")
    scores = scorer.score_each(islice(_random_pairs(different, seed), pairs))
    total = np.zeros((1, 3))  # grows to layers by 3
    for score in tqdm(scores, total=pairs, unit="pair", desc="baseline", disable=not progress):
        total = total + np.stack([score.precision, score.recall, score.f1], axis=1).astype(np.float64)
    return total / pairs


def _random_pairs(texts: Sequence[str], seed: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Pairs of different texts without end; each text appears once on either side before one is repeated."""
    chance = random.Random(seed)
    order = list(range(len(texts)))
    while True:
        chance.shuffle(order)
        shift = chance.randrange(1, len(order))
        for place, number in enumerate(order):
            yield texts[number], (texts[order[(place + shift) % len(order)]],)
