"""Graded overlap of two texts, by the packages whose figures are commonly reported: rouge-score and sacrebleu."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from bert_judge.metrics.extras import ROUGE_SCORE, SACREBLEU
from bert_judge.metrics.text import split_words
from bert_judge.metrics.timing import check_time

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

_FREQUENT = 64  # times from which on the places of a word are kept as bits, which take memory
_CHECKED = 256  # words after which the time is looked at


def rouge_l(candidate: str, reference: str) -> float:
    """ROUGE-L, in [0, 1]: the F-measure of the longest common subsequence of words (Lin, 2004, W04-1013).

    For ASCII texts it is the figure of the package rouge-score (`rougeL`, no stemmer), as the paper's package computes
    it. That package deletes every other letter; here words of all scripts count, and each character of a script
    without spaces. That package fills a table of words by words, which takes hours and gigabytes for long texts; here
    only the length of the subsequence is computed, many cells at a time. Raises MissingExtraError.
    """
    fmeasure = _fmeasure()
    ours, theirs = _words(candidate), _words(reference)
    if not ours or not theirs:
        return 0.0
    common = _common_length(ours, theirs)
    return float(fmeasure(common / len(ours), common / len(theirs)))


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


def _words(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and their marks: on ASCII those of rouge-score, elsewhere of any script."""
    kept = (char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in text.lower())
    return split_words("".join(kept))


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, a row of the table at a time as the bits of a number (Hyyrö, 2004).

    A bit is 0 where the length grows by one at this place of `one`.
    """
    places: dict[str, list[int]] = {word: [] for word in other}
    for place, word in enumerate(one):
        if word in places:
            places[word].append(place)
    frequent = {word: _bits(found) for word, found in places.items() if len(found) > _FREQUENT}
    full = (1 << len(one)) - 1
    row = full
    for number, word in enumerate(other):
        if number % _CHECKED == 0:
            check_time()
        if matches := row & (frequent.get(word) or (_bits(places[word]) if places[word] else 0)):
            row = ((row + matches) | (row - matches)) & full
    return len(one) - row.bit_count()


def _bits(places: Sequence[int]) -> int:
    """The number with these bits, which are in order."""
    if len(places) == 1:
        return 1 << places[0]
    held = bytearray(places[-1] // 8 + 1)
    for place in places:
        held[place // 8] |= 1 << place % 8
    return int.from_bytes(held, "little")


@lru_cache(maxsize=1)
def _fmeasure() -> Callable[[float, float], float]:
    ROUGE_SCORE.require()
    from rouge_score.scoring import fmeasure

    return fmeasure  # type: ignore[no-any-return]


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
