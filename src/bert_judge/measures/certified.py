"""The loosest threshold that keeps a target with confidence, from answers of which those to one question are alike.

The claim "at least `target` agree" is tested at the level `delta`: if false, it is made with a probability of at most
`delta`. What is counted (rows, questions …) is said by the weights of rows, which `Evidence` holds by question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bert_judge.measures.arrays import Numbers, check_fraction, np

_STEP = 0.001  # between the targets that `at_least` tries
_FRESH = 16  # questions that agree after which a stake is computed from scratch; it takes long
_SEEN = 0.1  # of a question of weight 1 that disagrees as a whole: what is taken as seen before the first one


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What one threshold lets pass on labelled rows: `rows` of them, of which `agreed` do.

    `passed` and `disagreed` have the shape (questions,), in an order that does not depend on labels: the weight of a
    question's rows that pass, in (0, 1], and of those that disagree. 1 is the most that any question can weigh.
    """

    rows: int
    agreed: int
    passed: Numbers
    disagreed: Numbers

    @property
    def weight(self) -> float:
        """How many questions of weight 1 pass; the number of rows where each question has one."""
        return float(self.passed.sum())

    @property
    def agreement(self) -> float:
        """The rate by weight, in [0, 1]; NaN for no rows."""
        return 1.0 - float(self.disagreed.sum()) / self.weight if self.rows else math.nan


def rows_needed(target: float, delta: float) -> int:
    """The fewest questions of weight 1 that can certify a target, if all their rows agree.

    Raises InputError unless target and delta are between 0 and 1.
    """
    check_fraction("the target", target, 0.95)
    check_fraction("delta", delta, 0.1)
    return math.ceil(math.log(delta) / math.log(target) - 1e-9)  # e.g. 0.9 ** 2 is to need 2 rows, not 3


def is_certified(evidence: Evidence, target: float, delta: float) -> bool:
    """Whether the rate by weight is at least the target, tested at the level `delta`.

    The test is a bet (Waudby-Smith and Ramdas, 2024, arXiv 2010.09686): a stake of 1 is put, question by question, on
    less disagreement than the target allows. If the claim is false, no question pays on average, whatever was staked
    before it was seen: the stake grows to 1 / delta with a probability of at most `delta` (Ville's inequality).

    How much is staked is free, and chosen so that 1 / delta is reached at the last question if at all (the idea of
    Voráček and Orabona, 2025, arXiv 2505.22422): as a test of a Poisson number of disagreements would, the size of one
    being that of those seen. Where questions have one row each, it decides as the exact binomial test does; where
    answers to one question differ in whether they agree, it needs fewer questions.
    """
    from scipy.special import bdtrik, betainc

    allowed = 1.0 - target
    before = np.arange(len(evidence.passed))
    weights = (evidence.disagreed, evidence.disagreed**2, evidence.passed)
    lost, squares, passed = (np.cumsum(values) - values for values in weights)  # sums before each question
    sizes = (_SEEN + squares) / (_SEEN + lost)
    to_come = (len(before) - before) * (_SEEN + passed) / (_SEEN + before) / sizes
    gains = allowed * evidence.passed - evidence.disagreed
    stale = (lost > np.roll(lost, 1)) | (before % _FRESH == 0)
    won, spare = delta, 0.0  # the stake as a share of 1 / delta; as many disagreements to come would still do
    for size, rows, gain, old in zip(sizes.tolist(), to_come.tolist(), gains.tolist(), stale.tolist(), strict=True):
        spare = float(bdtrik(won, rows, allowed)) if old else spare
        left = 0.0  # of the stake, after a disagreement
        if 0 < spare < rows:
            none = betainc(rows - 1 - spare, spare + 1, target) if spare < rows - 1 else 1.0
            left = betainc(rows - spare, spare, target) / none
        won *= 1.0 + min((1.0 - left) / (1.0 - allowed * (1.0 - left)) / size, 1.0 / target) * gain
        if won >= 1.0 - 1e-9:
            return True
        if won <= 0.0:
            return False
    return False


def at_least(evidence: Evidence, target: float, delta: float) -> float:
    """The highest rate that is certified together with a target that is, in steps of 0.001."""
    steps = math.floor((1.0 - target) / _STEP - 1e-9)
    for step in range(1, steps + 1):
        if not is_certified(evidence, target + step * _STEP, delta):
            return target + (step - 1) * _STEP
    return target + steps * _STEP


def fixed_sequence(path: Sequence[Evidence], target: float, delta: float) -> int | None:
    """The index of the loosest threshold for which the target is certified, None where there is none.

    `path` goes from strict to loose: each threshold lets pass what the one before it does. They are tested in this
    order, each at the level `delta`, up to the first that fails (Maurer, Hothorn and Lehmacher, 1995; for judges: Jung
    et al., 2024, arXiv 2407.18370). All that pass are certified together with confidence 1 - delta, if the questions
    are independent draws and the path was fixed without looking at their labels. Of thresholds that the same rows
    pass, the strictest is taken.

    The first one tested has twice the weight of `rows_needed`, so that some may disagree, or half of all if this is
    less, but at least `rows_needed`. The choice looks at weights alone: it keeps the level where agreement, once below
    the target, stays below it in the rows that looser thresholds add.
    """
    needed = rows_needed(target, delta)
    if not path:
        return None
    enough = max(needed, min(2 * needed, path[-1].weight / 2)) - 1e-9
    start = next((index for index, evidence in enumerate(path) if evidence.weight >= enough), len(path) - 1)
    loosest = None
    for index, evidence in enumerate(path[start:], start):
        if loosest is not None and evidence.rows == path[loosest].rows:
            continue
        if not is_certified(evidence, target, delta):
            break
        loosest = index
    return loosest
