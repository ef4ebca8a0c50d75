"""Making a baseline for rescaling: the mean scores of pairs of texts that have nothing to do with each other."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bert_judge.bertscore.defaults import BASELINE_HEADER
from bert_judge.bertscore.scorer import BERTScorer
from bert_judge.errors import InputError, OutputError


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


def write_baseline(path: Path, rows: NDArray[np.float64]) -> None:
    """Write a baseline file, which bert-score can read, too."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(BASELINE_HEADER)
            lines.writerows([layer, *(f"{value:.6f}" for value in row)] for layer, row in enumerate(rows))
    except OSError as error:
        raise OutputError(f"the baseline file {path} can't be written ({error.strerror}).") from error


def _random_pairs(texts: Sequence[str], seed: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Pairs of different texts without end; each text appears once on either side before one is repeated."""
    chance = random.Random(seed)
    order = list(range(len(texts)))
    while True:
        chance.shuffle(order)
        shift = chance.randrange(1, len(order))
        for place, number in enumerate(order):
            yield texts[number], (texts[order[(place + shift) % len(order)]],)
