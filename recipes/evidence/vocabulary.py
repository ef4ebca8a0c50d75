"""The table of words that are read in a way of their own: function words, and words in -s that are no plurals."""

from __future__ import annotations

import re
from typing import Any

from spelling import frequency, rows
from wordfreq import top_n_list

CLASSES = {name: words.split() for name, words in rows("words.txt")}
FUNCTION_WORDS = frozenset(word for words in CLASSES.values() for word in words)
RARER = 1.5  # a singular is hardly ever thirty times rarer than its plural
KNOWN = 25_000  # words of English that are looked at, the most common ones
# Words that are no plurals although they are a word without the s: "new" is no singular of "news".
OTHERS = (
    "news means goods odds jeans mars wales species lens customs maths politics economics statistics mathematics "
    "athletics physics ethics electronics mechanics dynamics aerobics acoustics genetics gymnastics linguistics "
    "logistics classics graphics "
    "olympics optics robotics tactics thermodynamics kinetics genomics semantics phonetics aesthetics ceramics "
    "hydraulics pediatrics paediatrics headquarters billiards rabies scabies measles mumps minus plus series "
    "adams andrews daniels edwards evans jacobs matthews owens peters phillips richards roberts rogers stevens williams"
).split()


def singular_forms(word: str) -> list[str]:
    """What a word in -s may be the plural of: "box" and "boxe" for "boxes"."""
    forms = [word[:-1]]
    if re.search(r"(?:[sxzo]|ch|sh)es$", word):
        forms.append(word[:-2])
    if word.endswith("ves"):
        forms += [f"{word[:-3]}f", f"{word[:-3]}fe"]
    return forms


def singulars() -> list[str]:
    """Words in -s that are no plurals: without s they are no word of English, or a much rarer one."""
    words = (word for word in top_n_list("en", KNOWN) if re.fullmatch(r"[a-z]{3,}s(?<!ss)(?<!ies)", word))
    rarer = {word for word in words if frequency(word) - max(map(frequency, singular_forms(word))) > RARER}
    return sorted(rarer.union(OTHERS))


def word_table() -> dict[str, Any]:
    """The table words.json."""
    return {"function": CLASSES, "singulars": singulars()}
