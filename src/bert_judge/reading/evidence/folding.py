"""Characters that look alike or differ in width only, as one: a text of the same length, so that spans stay valid."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# What stands for a Latin letter alone, or in a word that has Latin letters, too (from Unicode's confusables, UTS 39).
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁɡԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρ",
    "ABESIJKMHOPCTYXaesijopcyxhdgqwABEZHIKMNOPTYXoavp",
)
_LOOK_ALIKE = re.compile(f"[{''.join(map(chr, _ALIKE))}]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_KEPT = frozenset(("super", "sub", "fraction"))  # x² is not x2
_OTHERS = {
    **dict.fromkeys("‘’‚‛′＇", "'"),
    **dict.fromkeys("“”„‟″", '"'),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
}


def fold(text: str) -> str:
    """The text with full-width and styled letters, exotic spaces, quotation marks and dashes as ASCII has them.

    Letters of other alphabets that look like Latin ones become these alone (an option in Cyrillic) and in words that
    hold Latin letters as well. Each character stands for one: the result is as long as the text.
    """
    if text.isascii():
        return text
    folded = _NOT_ASCII.sub(lambda found: _fold_character(found[0]), text)
    return _WORD.sub(_fold_word, folded) if _LOOK_ALIKE.search(folded) else folded


@lru_cache(maxsize=4_096)
def _fold_character(character: str) -> str:
    kind = unicodedata.decomposition(character).partition(">")[0].lstrip("<")
    plain = unicodedata.normalize("NFKC", character)
    folded = plain if len(plain) == 1 and kind not in _KEPT else character
    return _OTHERS.get(folded, folded)


def _fold_word(match: re.Match[str]) -> str:
    word = match[0]
    return word.translate(_ALIKE) if len(word) == 1 or _LATIN.search(word) else word
