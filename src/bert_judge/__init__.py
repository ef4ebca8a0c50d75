"""Judge model answers against references: `from bert_judge import BERTJudge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bert_judge.types import Sample, Verdict
from bert_judge.version import __version__

if TYPE_CHECKING:
    from bert_judge.judges import BERTJudge

__all__ = ["BERTJudge", "Sample", "Verdict", "__version__"]


def __getattr__(name: str) -> object:
    """Judges are imported when they are asked for."""
    if name == "BERTJudge":
        from bert_judge.judges import BERTJudge

        return BERTJudge
    raise AttributeError(f"module 'bert_judge' has no attribute {name!r}")
