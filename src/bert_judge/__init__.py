"""Judge model answers against references: `from bert_judge import BERTJudge`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from bert_judge.types import Sample, Verdict
from bert_judge.version import __version__

if TYPE_CHECKING:
    from bert_judge.bertscore import BERTScorer, bert_score
    from bert_judge.judges import BERTJudge, LLMJudge, RegexJudge

__all__ = ["BERTJudge", "BERTScorer", "LLMJudge", "RegexJudge", "Sample", "Verdict", "__version__", "bert_score"]

_HOMES = {
    "BERTJudge": "judges",
    "BERTScorer": "bertscore",
    "LLMJudge": "judges",
    "RegexJudge": "judges",
    "bert_score": "bertscore",
}


def __getattr__(name: str) -> object:
    """What needs more than the standard library is imported when it is asked for."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"bert_judge.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bert_judge' has no attribute {name!r}")
