"""A rescaling baseline from one's own texts: the mean scores of pairs that have nothing to do with each other."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bert_judge.bertscore.scorer import BERTScorer
from bert_judge.errors import InputError, OutputError


def measure_baseline(
    scorer: BERTScorer, texts: Sequence[str], pairs: int, seed: int = 0, progress: bool = False
) -> NDArray[np.float64]:
    """Means of P, R and F1 over random pairs of texts, as layers by 3; bert-score's tables are made so from news texts.

    `scorer` is one for all layers, without rescaling and idf. Pairs are of different texts, the same for the same seed.
    Raises InputError where there are fewer than two different texts.
    """
    from tqdm import tqdm

    different = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(different) < 2:
        raise InputError(f"{len(different)} different texts were given; a baseline needs two, better some thousands.")
    total = np.zeros((0, 3))
    scores = scorer.score_each(islice(_random_pairs(different, seed), pairs))
    for score in tqdm(scores, total=pairs, unit="pair", desc="baseline", disable=not progress):
        found = np.stack([score.precision, score.recall, score.f1], axis=1).astype(np.float64)
        total = found if not len(total) else total + found
    return total / pairs


def write_baseline(path: Path, rows: NDArray[np.float64]) -> None:
    """Write a baseline file as bert-score reads it, too: CSV with the header LAYER,P,R,F."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(["LAYER", "P", "R", "F"])
            lines.writerows([layer, *(f"{value:.6f}" for value in row)] for layer, row in enumerate(rows))
    except OSError as error:
        raise OutputError(f"the baseline file {path} can't be written ({error.strerror}).") from error


def _random_pairs(texts: Sequence[str], seed: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Pairs of different texts without end; each text once on either side before one comes again."""
    chance = random.Random(seed)
    order = list(range(len(texts)))
    while True:
        chance.shuffle(order)
        shift = chance.randrange(1, len(order))
        for place, number in enumerate(order):
            yield texts[number], (texts[order[(place + shift) % len(order)]],)
