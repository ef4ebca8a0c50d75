r"""Mathematics: where a text has an expression such as `\frac{x}{2}`, and whether two are equal.

Math-Verify tells, where the extra [lexical] is installed, in a process of its own and with a time limit; without it a
text has words and numbers only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

from bert_judge.metrics import strip_markup, verify_math
from bert_judge.reading.evidence.folding import fold
from bert_judge.reading.evidence.reading import read
from bert_judge.reading.evidence.values import Form

_SECONDS = 5.0  # for one pair, which takes some milliseconds; on a busy machine longer
_LONGEST = 400  # characters of an expression
_LABEL = re.compile(r"\s*\(?[A-J][).:]\s+")
_FORMULA = re.compile(
    r"\$\$?[^$]+\$\$?|\\\(.+?\\\)|\\\[.+?\\\]|\\f?boxed\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", re.DOTALL
)
_SIGN = re.compile(r"\\[A-Za-z]|[\^√π∞]|[A-Za-z0-9)]\s*[-+*/=]\s*[(A-Za-z]|[A-Za-z)]\s*[-+*/=]\s*\d|\d[a-z]\b|\)\(")
_WORD = re.compile(r"(?<![\\A-Za-z])(?!(?:sin|cos|tan|log|ln|exp|max|min|lim)\b)[A-Za-z]{2,}")
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf)\{[^{}]*\}")


class Expression(NamedTuple):
    """An expression at characters `start` to `end` (exclusive) of a text."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=512)  # candidates may be long
def find_expression(text: str) -> Expression | None:
    """The whole text where that is mathematics, else its last formula; None where it has none, or only a number."""
    text = fold(text)
    if not _SIGN.search(text):
        return None
    label = _LABEL.match(text)  # an option's: "(B) x + 1"
    start = label.end() if label else len(text) - len(text.lstrip())
    if _is_expression(text[start:]):
        return Expression(text[start:].strip(), start, len(text.rstrip()))
    for found in reversed(list(_FORMULA.finditer(text))):
        if _is_expression(found[0]):
            return Expression(found[0], found.start(), found.end())
    return None


def _is_expression(text: str) -> bool:
    if len(text) > _LONGEST or not _SIGN.search(text) or _WORD.search(_TEXT.sub("", text)):
        return False
    values = read(strip_markup(text)).values
    return len(values) != 1 or type(values[0].what) is Form  # else it is a number or quantity


@lru_cache(maxsize=8_192)
def equal(candidate: str, reference: str) -> bool | None:
    """Whether two expressions are equal; None where Math-Verify is not there, can't tell, or takes too long."""
    if not CAN_COMPARE:
        return None
    found = verify_math(candidate, reference, _SECONDS)
    return None if found.score is None or not found.finished else found.score == 1.0


CAN_COMPARE = find_spec("math_verify") is not None
"""Whether expressions are compared."""
