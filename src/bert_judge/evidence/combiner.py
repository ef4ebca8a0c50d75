"""A logistic regression of an encoder's logit and the signals: small enough to be read, and explained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from bert_judge.errors import InputError
from bert_judge.evidence.signals import SIGNALS, Signals

_FREE = 100.0  # scales the logit's column, so that its weight is not held back


@dataclass(frozen=True, slots=True)
class Combiner:
    """Log odds = bias + logit x (the encoder's logit) + the weighted signals.

    `weights` names signals of `SIGNALS`; those that are missing weigh nothing. It is stored in `judge.json`.
    """

    bias: float = 0.0
    logit: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        unknown = set(self.weights) - set(SIGNALS)
        if unknown:
            raise InputError(f"there is no signal {min(unknown)!r}; one of {', '.join(SIGNALS)} was expected.")

    def combine(self, logit: float, signals: Signals) -> float:
        """The log odds, in natural logarithms, that a candidate is right."""
        told: float = sum(weight * getattr(signals, name) for name, weight in self.weights.items())
        return self.bias + self.logit * logit + told

    def digest(self) -> str:
        """A short digest of all numbers, for a signature."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:6]

    @classmethod
    def fit(
        cls, logits: Sequence[float], signals: Sequence[Signals], golds: Sequence[float], strength: float = 0.003
    ) -> Combiner:
        """The combiner that fits labels best: 1 right, 0 wrong, or a probability of being right.

        The weights of the signals are kept small (ridge, by `1 / strength`), so that they speak up where the encoder
        is at a loss: what it has learnt from the rows it knows better. Fit it on rows that it was not trained on.
        Raises InputError unless there are rows of both labels, and one logit and one label each.
        """
        import numpy as np
        from sklearn.linear_model import LogisticRegression

        if not len(logits) == len(signals) == len(golds):
            raise InputError(
                f"{len(logits)} logits, {len(signals)} signals and {len(golds)} labels were given; "
                "one each was expected."
            )
        p = np.asarray(golds, float)
        if not len(p) or p.max() <= 0 or p.min() >= 1:
            raise InputError("a combiner needs right and wrong rows to be fitted on; only one kind was given.")
        columns = np.column_stack([logits, [signal.vector() for signal in signals]])
        scale = columns.std(axis=0)
        scale[scale < 1e-9] = np.inf  # a column that never changes weighs nothing
        scale[0] /= _FREE
        model = LogisticRegression(C=strength, max_iter=5_000)
        # A soft label is a right row and a wrong one, each with its share.
        model.fit(np.vstack([columns / scale] * 2), [1] * len(p) + [0] * len(p), np.concatenate([p, 1 - p]))
        bias, (logit, *weights) = model.intercept_[0], np.round(model.coef_[0] / scale, 4).tolist()
        kept = {name: weight for name, weight in zip(SIGNALS, weights, strict=True) if weight}
        return cls(round(float(bias), 4), logit, kept)
