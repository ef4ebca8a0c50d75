"""Graded overlap of two texts, by the packages whose figures are commonly reported: rouge-score and sacrebleu."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from bert_judge.metrics.extras import ROUGE_SCORE, SACREBLEU
from bert_judge.metrics.text import split_words

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF


def rouge_l(candidate: str, reference: str) -> float:
    """ROUGE-L, in [0, 1]: the F-measure of the longest common subsequence of words (Lin, 2004, W04-1013).

    For ASCII texts it is the figure of the package rouge-score (`rougeL`, no stemmer), as the paper's package computes
    it. That package deletes every other letter; here words of all scripts count, and each character of a script
    without spaces. Takes time in proportion to the product of both lengths. Raises MissingExtraError.
    """
    return float(_rouge().score(reference, candidate)["rougeL"].fmeasure)


def bleu(candidate: str, reference: str) -> float:
    """Sentence BLEU, in [0, 1]: sacrebleu's `sentence_bleu` divided by 100 (Papineni et al., 2002; Post, 2018).

    Tokens as mteval-13a makes them, exponential smoothing, effective order. Raises MissingExtraError.
    """
    return min(float(_bleu().sentence_score(candidate, [reference]).score) / 100, 1.0)


def chrf(candidate: str, reference: str) -> float:
    """Sentence chrF2, in [0, 1]: sacrebleu's `sentence_chrf` divided by 100 (Popović, 2015, W15-3049).

    Characters up to six in a row, recall twice as important as precision; for any script. Raises MissingExtraError.
    """
    return min(float(_chrf().sentence_score(candidate, [reference]).score) / 100, 1.0)


class _Words:
    """A tokenizer for rouge-score: on ASCII the one it has, elsewhere words of any script."""

    def tokenize(self, text: str) -> list[str]:
        """Lower-cased runs of letters, digits and their marks."""
        kept = (char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in text.lower())
        return split_words("".join(kept))


@lru_cache(maxsize=1)
def _rouge() -> RougeScorer:
    ROUGE_SCORE.require()
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_Words())


@lru_cache(maxsize=1)
def _bleu() -> BLEU:
    SACREBLEU.require()
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


@lru_cache(maxsize=1)
def _chrf() -> CHRF:
    SACREBLEU.require()
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()
