"""BERTScore with the interface of torchmetrics' `BERTScore`: `update`, `compute`, `reset`.

metric = BERTScoreMetric(lang="en")
metric.update(["It is Paris."], ["The capital is Paris."])
metric.compute()["f1"]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bert_judge.bertscore import BERTScorer
from bert_judge.bertscore.pairs import Pair
from bert_judge.bertscore.scorer import checked_pairs

if TYPE_CHECKING:
    import torch


class BERTScoreMetric:
    """BERTScore of texts that come in batches, as in a training or evaluation loop.

    It takes the arguments of `BERTScorer`, the model as `model_name_or_path`. Several processes must gather their texts
    first, as each metric holds only those of its own process. Raises what `BERTScorer` raises.
    """

    higher_is_better = True

    def __init__(self, model_name_or_path: str | None = None, **options: Any) -> None:
        self._scorer = BERTScorer(model_name_or_path, **options)
        self._pairs: list[Pair] = []

    def update(self, preds: str | Sequence[str], target: str | Sequence[str] | Sequence[Sequence[str]]) -> None:
        """Add texts, and a reference or a list of references for each. Raises InputError for other lengths."""
        references = [target] if isinstance(target, str) else target
        self._pairs += checked_pairs([preds] if isinstance(preds, str) else preds, references)

    def compute(self) -> dict[str, torch.Tensor]:
        """`precision`, `recall` and `f1` of all texts so far, float32 tensors of shape (texts,).

        Of several references the one with the best F1 counts.
        """
        candidates = [candidate for candidate, _ in self._pairs]
        scores = self._scorer.score(candidates, [references for _, references in self._pairs])
        return dict(zip(("precision", "recall", "f1"), scores, strict=True))

    def reset(self) -> None:
        """Forget all texts."""
        self._pairs = []

    def __call__(
        self, preds: str | Sequence[str], target: str | Sequence[str] | Sequence[Sequence[str]]
    ) -> dict[str, torch.Tensor]:
        """The scores of these texts, which are also added to the others."""
        before, self._pairs = self._pairs, []
        self.update(preds, target)
        scores = self.compute()
        self._pairs = before + self._pairs
        return scores
