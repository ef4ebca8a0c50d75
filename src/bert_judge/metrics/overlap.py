"""Graded overlap of two texts, with the numbers of the packages that papers report: rouge-score and sacrebleu."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from bert_judge.errors import import_extra
from bert_judge.metrics.text import split_words
from bert_judge.metrics.timing import check_time

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU, CHRF

_CACHED = 1_024  # words: the places of all may take more memory than there is
_CHECKED = 256  # words between two looks at the time


def rouge_l(candidate: str, reference: str) -> float:
    """ROUGE-L, in [0, 1]: the F-measure of the longest common subsequence of words (Lin, 2004, W04-1013).

    For ASCII texts it equals that of the package rouge-score (`rougeL`, no stemmer), which the paper's package uses.
    rouge-score deletes all other letters; here words of every script count, and each character of a script without
    spaces. Long texts take seconds instead of hours, as only the subsequence's length is computed. Raises
    MissingExtraError.
    """
    fmeasure = _fmeasure()
    candidate_words, reference_words = _words(candidate), _words(reference)
    if not candidate_words or not reference_words:
        return 0.0
    common = _common_length(candidate_words, reference_words)
    return float(fmeasure(common / len(candidate_words), common / len(reference_words)))


def bleu(candidate: str, reference: str) -> float:
    """Sentence BLEU, in [0, 1]: sacrebleu's `sentence_bleu` divided by 100 (Papineni et al., 2002; Post, 2018).

    Tokens as mteval-13a makes them, exponential smoothing, effective order. Raises MissingExtraError.
    """
    return min(float(_scorer("bleu").sentence_score(candidate, [reference]).score) / 100, 1.0)


def chrf(candidate: str, reference: str) -> float:
    """Sentence chrF2, in [0, 1]: sacrebleu's `sentence_chrf` divided by 100 (Popović, 2015, W15-3049).

    N-grams of up to six characters, recall twice as important as precision; for any script. Raises MissingExtraError.
    """
    return min(float(_scorer("chrf").sentence_score(candidate, [reference]).score) / 100, 1.0)


def _words(text: str) -> list[str]:
    """Lower-case runs of letters, digits and their marks of any script: for ASCII, those of rouge-score."""
    chars = [char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in text.lower()]
    return split_words("".join(chars))


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence; a row of its table is the bits of one integer (Hyyrö, 2004).

    A bit is 0 where the length grows by one at this place of `one`.
    """
    places: dict[str, list[int]] = {word: [] for word in other}
    for place, word in enumerate(one):
        if word in places:
            places[word].append(place)

    @lru_cache(_CACHED)
    def bits(word: str) -> int:
        octets = bytearray(len(one) // 8 + 1)
        for place in places[word]:
            octets[place // 8] |= 1 << place % 8
        return int.from_bytes(octets, "little")

    full = (1 << len(one)) - 1
    row = full
    for number, word in enumerate(other):
        if number % _CHECKED == 0:
            check_time()
        if matches := row & bits(word) if places[word] else 0:
            row = ((row + matches) | (row - matches)) & full
    return len(one) - row.bit_count()


@cache
def _fmeasure() -> Callable[[float, float], float]:
    scoring = import_extra("rouge_score.scoring", "the metric ROUGE", "lexical", "rouge-score")
    return scoring.fmeasure  # type: ignore[no-any-return]


@cache
def _scorer(name: str) -> BLEU | CHRF:
    metrics = import_extra("sacrebleu.metrics", f"the metric {name}", "lexical", "sacrebleu")
    return metrics.BLEU(effective_order=True) if name == "bleu" else metrics.CHRF()
