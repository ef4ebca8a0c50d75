"""Judges, and the table of their names. From outside the package: `--judge_type my_module:MyJudge`."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

from bert_judge.errors import InputError, nearest
from bert_judge.judges.base import Judge
from bert_judge.judges.bert import BERTJudge
from bert_judge.judges.bertscore import BERTScore
from bert_judge.judges.cascade import Cascade
from bert_judge.judges.llm import LLMJudge
from bert_judge.judges.regex import RegexJudge
from bert_judge.judges.rules import RuleJudge

__all__ = [
    "JUDGES",
    "BERTJudge",
    "BERTScore",
    "Cascade",
    "Judge",
    "LLMJudge",
    "RegexJudge",
    "RuleJudge",
    "find_judge",
]

JUDGES: dict[str, type[Judge]] = {
    "BERTJudge": BERTJudge,
    "BERTScore": BERTScore,
    "LLMJudge": LLMJudge,
    "RegexJudge": RegexJudge,
    "RuleJudge": RuleJudge,
    "Cascade": Cascade,
}


def find_judge(name: str) -> type[Judge]:
    """The class of a judge, by its name in the table or as `module:Class`. Raises InputError with the nearest names."""
    if name in JUDGES:
        return JUDGES[name]
    if ":" not in name:
        near = nearest(name, JUDGES, cutoff=0.4)
        hint = f"did you mean {near}?" if near else f"there is {', '.join(JUDGES)}."
        raise InputError(f"there is no judge {name!r}; {hint} One of your own is named module:Class.")
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # a judge of your own lies where you work
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise InputError(f"the judge {name!r} can't be imported: {error}.") from error
    if not (isinstance(found, type) and issubclass(found, Judge)):
        raise InputError(f"{name!r} is not a judge; a subclass of bert_judge.judges.Judge was expected.")
    if inspect.isabstract(found):
        raise InputError(f"{name!r} lacks {', '.join(sorted(found.__abstractmethods__))}, which every judge has.")
    return found
