"""BERTScore (arXiv 1904.09675): a drop-in for bert_score, on the package's own engine."""

from bert_judge.bertscore.pairs import PairScore
from bert_judge.bertscore.scorer import BERTScorer, bert_score

__all__ = ["BERTScorer", "PairScore", "bert_score"]
