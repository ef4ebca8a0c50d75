"""Replaces `import bert_score` (0.3.13, which calls itself 0.3.12): `from bert_judge.compat import bert_score`.

Numbers are bert-score's, with its defects (`compat="bert_score"` of `bert_judge.BERTScorer`).
"""

from bert_judge.compat.bert_score import utils
from bert_judge.compat.bert_score.scorer import BERTScorer, plot_example, score
from bert_judge.compat.bert_score.utils import __version__

__all__ = ["BERTScorer", "__version__", "plot_example", "score", "utils"]
