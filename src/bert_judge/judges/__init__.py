"""Judges, and the table of their names. From outside the package: `--judge my_module:MyJudge`."""

from __future__ import annotations

from bert_judge.judges.base import Judge
from bert_judge.judges.bert import BERTJudge
from bert_judge.judges.bertscore import BERTScore
from bert_judge.judges.cascade import Cascade
from bert_judge.judges.decision import DecisionJudge
from bert_judge.judges.llm import LLMJudge
from bert_judge.judges.regex import RegexJudge
from bert_judge.judges.remote import RemoteJudge

__all__ = [
    "JUDGES",
    "BERTJudge",
    "BERTScore",
    "Cascade",
    "DecisionJudge",
    "Judge",
    "LLMJudge",
    "RegexJudge",
    "RemoteJudge",
]

JUDGES: dict[str, type[Judge]] = {
    "BERTJudge": BERTJudge,
    "BERTScore": BERTScore,
    "LLMJudge": LLMJudge,
    "DecisionJudge": DecisionJudge,
    "RegexJudge": RegexJudge,
    "Cascade": Cascade,
    "RemoteJudge": RemoteJudge,
}
