"""Judge model answers against references: `from bert_judge import BERTJudge`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from bert_judge.records import Sample, Verdict, __version__

if TYPE_CHECKING:
    from bert_judge.bertscore import BERTScorer, bert_score
    from bert_judge.bertscore import bert_score as score
    from bert_judge.compat.bert_score import plot_example
    from bert_judge.integrations import rewards
    from bert_judge.judges import BERTJudge, LLMJudge, RegexJudge

__all__ = [
    "BERTJudge",
    "BERTScorer",
    "LLMJudge",
    "RegexJudge",
    "Sample",
    "Verdict",
    "__version__",
    "bert_score",
    "plot_example",
    "rewards",
    "score",
]

_HOMES = {
    "BERTJudge": ("judges", "BERTJudge"),
    "BERTScorer": ("bertscore", "BERTScorer"),
    "LLMJudge": ("judges", "LLMJudge"),
    "RegexJudge": ("judges", "RegexJudge"),
    "bert_score": ("bertscore", "bert_score"),
    "plot_example": ("compat.bert_score", "plot_example"),
    "score": ("bertscore", "bert_score"),  # its name in bert_score
}


def __dir__() -> list[str]:
    """The public names, imported or not; what else is here are modules for which nobody looks first."""
    return [*__all__, *(name for name in globals() if name.startswith("__") and name not in __all__)]


def __getattr__(name: str) -> object:
    """What needs more than the standard library is imported when it is asked for."""
    if name == "rewards":
        return importlib.import_module("bert_judge.integrations.rewards")
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(importlib.import_module(f"bert_judge.{module}"), attribute)
    raise AttributeError(f"module 'bert_judge' has no attribute {name!r}")
