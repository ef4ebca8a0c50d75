"""Which rows a person should label next, and how many labels it takes.

Rows are drawn one after the other, without replacement, each with its probability among those left, so labelling may
stop at any time (see `measures.corrected`). The order is fixed by the texts and a seed, not by the order of the rows
(permanent random numbers; Ohlsson, 1995).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pvariance

from bert_judge.errors import InputError
from bert_judge.records import Row
from bert_judge.results.runs import Run
from bert_judge.studies.correct import correct, labelled_rows
from bert_judge.studies.pairing import Labels

STRATEGIES = ("active", "uniform")
"""By the judge's uncertainty, mixed with chance; by chance alone."""

UNIFORM_SHARE = 0.5
"""How much of an active draw is chance alone, so that errors of a judge that is sure are found, too."""

_FEWEST_TO_PLAN = 30
_EXACTNESS = 20  # labels that intervals which hold for few labels take on top of the normal approximation


def sampling_probabilities(scores: Sequence[float | None], strategy: str) -> list[float]:
    """With which probability each row is the first one drawn; they add up to 1.

    "active" is the square root of p (1 - p), p being the score (0.5 if undecided), which is optimal where scores are
    calibrated (Zrnic and Candès, 2024), mixed half and half with "uniform", so that no row weighs over twice as much as
    under "uniform". Raises InputError where no score is between 0 and 1.
    """
    uniform = 1 / len(scores)
    if strategy == "uniform":
        return [uniform] * len(scores)
    doubts = [math.sqrt(max(p * (1 - p), 0.0)) for p in (0.5 if score is None else score for score in scores)]
    if not any(doubts):
        raise InputError("the judge's scores show no uncertainty, as all are 0 or 1; use the strategy uniform.")
    total = math.fsum(doubts)
    return [UNIFORM_SHARE * uniform + (1 - UNIFORM_SHARE) * doubt / total for doubt in doubts]


def default_strategy(run: Run) -> str:
    """ "active" where the judge's scores are probabilities that are not all 0 or 1, else "uniform"."""
    scores = [row.score for row in run.rows if row.score is not None]
    return "active" if run.scale == "probability" and any(0 < score < 1 for score in scores) else "uniform"


@dataclass(frozen=True, slots=True)
class Draw:
    """One answer in the order of drawing: its row, and the probability that it is the first one drawn.

    Copies of an answer are drawn together, with the sum of their probabilities. `row` is the first copy, with the label
    that the run has for any of them.
    """

    row: Row
    probability: float


def draw_order(run: Run, strategy: str, seed: int = 0) -> list[Draw]:
    """All answers of a run in the order in which they are drawn; each run, strategy and seed has one order.

    Raises InputError for an unknown strategy, for a run without texts, and as `sampling_probabilities` does.
    """
    if strategy not in STRATEGIES:
        raise InputError(f"the strategy is {strategy!r}; {' or '.join(STRATEGIES)} was expected.")
    if any(row.candidate is None for row in run.rows):
        raise InputError(
            f"{run.folder} was made without texts, and nobody can label unseen answers; judge again with texts."
        )
    probabilities = sampling_probabilities([row.score for row in run.rows], strategy)
    copies: dict[tuple[str, ...], list[int]] = {}
    rows = list(run.rows)
    for place, row in enumerate(rows):
        copies.setdefault(row.key, []).append(place)
    timed = []
    for key, places in copies.items():
        probability = math.fsum(probabilities[place] for place in places)
        first = next((place for place in places if rows[place].gold is not None), places[0])
        timed.append((_exponential(key, seed) / probability, Draw(rows[first], probability)))
    return [draw for _, draw in sorted(timed, key=lambda pair: pair[0])]


def _exponential(key: Sequence[str], seed: int) -> float:
    """A standard exponential number that the texts and the seed decide."""
    digest = hashlib.sha256(json.dumps([seed, *key]).encode()).digest()
    return -math.log((int.from_bytes(digest[:8], "big") + 0.5) / 2**64)


@dataclass(frozen=True, slots=True)
class LabellingPlan:
    """How many labels an interval of some width needs, in all, and what that was estimated from, in words."""

    labels: int
    basis: str


def labels_needed(run: Run, width: float, strategy: str, labels: Labels | None = None) -> LabellingPlan:
    """How many labels make the 95 % interval of the corrected accuracy `width` wide, 0.04 being 4 points in all.

    With 30 labels or more, of both classes, it is estimated from these; before, from the judge's scores, taken as true
    probabilities, or from what labels alone would need. Raises InputError for a width that labels of all rows don't
    reach, as the interval is for rows like these.
    """
    if not 0 < width < 1:
        raise InputError(f"the width is {width}; a number between 0 and 1 was expected, like 0.04.")
    plan = _by_labels(run, width, labels) or _by_scores(run, width, strategy)
    if plan is None or plan.labels > len(run.rows):
        raise InputError(
            f"an interval {width:g} wide needs more labels than the {len(run.rows)} rows of {run.folder}; ask for a "
            "wider one, or judge more rows."
        )
    return plan


def _by_labels(run: Run, width: float, labels: Labels | None) -> LabellingPlan | None:
    labelled = labelled_rows(run, labels)
    if len(labelled.rows) < _FEWEST_TO_PLAN or labelled.golds.min() == labelled.golds.max():
        return None
    so_far, count = correct(run, labels).corrected.width, len(labelled.rows)
    basis = f"the {count} labels so far, whose interval is {so_far:.3f}"
    return LabellingPlan(math.ceil(count * (so_far / width) ** 2), basis)


def _by_scores(run: Run, width: float, strategy: str) -> LabellingPlan | None:
    """From the variance that is left if scores are what they say."""
    scores = [0.5 if row.score is None else row.score for row in run.rows]
    allowed = (width / 2 / NormalDist().inv_cdf(0.975)) ** 2
    if default_strategy(run) == "active":
        chances = sampling_probabilities(scores, strategy)
        left = fmean(p * (1 - p) / chance for p, chance in zip(scores, chances, strict=True)) / len(scores)
        allowed -= pvariance(scores) / len(scores)
        basis = "the judge's scores, as if they were true probabilities"
    else:
        right = fmean(row.label or 0 for row in run.rows)
        left, basis = max(right * (1 - right), 0.09), "the labels alone, as the judge's scores show no uncertainty"
    return LabellingPlan(math.ceil(left / allowed) + _EXACTNESS, basis) if allowed > 0 else None
