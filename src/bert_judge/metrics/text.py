"""Matches of two texts and of their words.

All but `raw_match` compare `normalise`d texts, as SQuAD's evaluation script does (Rajpurkar et al., 2016, arXiv
1606.05250).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

_ARTICLES = frozenset(["a", "an", "the"])
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
)
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_OPTION = re.compile(r"\(?([A-Za-z])\)?\Z|\(?([A-Z])\)(?!\S)")


def normalise(text: str) -> str:
    """The text in NFKC, case-folded, without punctuation and English articles, single-spaced.

    Punctuation is ASCII's (with `$` and `+`) and Unicode's category P; it is deleted, not replaced by a space, so that
    "1,000" becomes "1000" (and "12.5" becomes "125"). Accents stay. These are SQuAD's rules, except that a text of
    articles alone keeps them, so that the answer "(A)" does not become empty.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    chars = (char for char in folded if char not in string.punctuation and unicodedata.category(char)[0] != "P")
    words = unicodedata.normalize("NFC", "".join(chars)).split()
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def raw_match(candidate: str, reference: str) -> float:
    """1.0 if both texts are the same up to white space around them, else 0.0: the `EM` of the paper's package.

    Options, "A) Paris" or "(A) Paris", are compared by their letter, so that they equal "A". Case and punctuation
    count.
    """
    texts = (candidate.strip(), reference.strip())
    one, other = (option_letter(text) or text for text in texts)
    return float(one == other)


def exact_match(candidate: str, reference: str) -> float:
    """1.0 if both texts are the same once normalised, else 0.0 (SQuAD)."""
    return float(normalise(candidate) == normalise(reference))


def containment(candidate: str, reference: str) -> float:
    """1.0 if the candidate contains the words of the reference in a row, else 0.0; 0.0 for an empty reference.

    Both are normalised. In scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) each character counts
    as a word.
    """
    words = _tokens(reference)
    return float(bool(words) and f" {' '.join(words)} " in f" {' '.join(_tokens(candidate))} ")


def token_f1(candidate: str, reference: str) -> float:
    """Harmonic mean of precision and recall of the candidate's words, in [0, 1], order ignored (SQuAD).

    A word counts as often as it occurs in both. If a text is empty once normalised, 1.0 if both are, else 0.0
    (SQuAD 2.0). In scripts without spaces each character counts as a word, as in MLQA (Lewis et al., 2020, arXiv
    1910.07475).
    """
    counts, reference_counts = Counter(_tokens(candidate)), Counter(_tokens(reference))
    if not counts or not reference_counts:
        return float(counts == reference_counts)
    return 2 * (counts & reference_counts).total() / (counts.total() + reference_counts.total())


def split_words(text: str) -> list[str]:
    """The words between white space; in scripts without spaces, the characters."""
    return _TOKEN.findall(text)


def option_letter(text: str) -> str | None:
    """The letter, as written, of a text that is an option ("D", "(D)", "D) none of these"), else None ("NO")."""
    option = _OPTION.match(text.strip())
    return option and (option[1] or option[2])


def _tokens(text: str) -> list[str]:
    return split_words(normalise(text))
