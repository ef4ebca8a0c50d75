r"""Texts that state the same values and still differ: by order, brackets, a bound, a sign, or yes and no.

`compare_arrangements` compares a candidate with one reference, and only where that is nothing else than a tuple, an
interval, a ratio, a bound, "±12", a name like "C++", a version, yes or no, or a list where the question asks for an
order. As a rule the last such thing of a candidate is its answer. Each comparison below is for one of them and gives
None where it does not apply: then values are compared one by one, as in any other text. `compare_expressions` does the
same for mathematical expressions such as `\frac{x}{2}`, by Math-Verify.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

from bert_judge.metrics import strip_markup, verify_math
from bert_judge.reading.text_values import read, split_options
from bert_judge.reading.words import Amount, Value, WordForm, fold, is_function_word

_LONGEST = 200  # characters of a reference
_FEW = 7  # values of "x = 12 or x = -12"


class SpanComparison(NamedTuple):
    """Whether a span of a candidate, as one value, says the same as a span of a reference; None for all of it."""

    same: bool
    span: tuple[int, int]
    reference_span: tuple[int, int] | None = None


Comparison = Callable[[str, str, str], SpanComparison | None]
"""Compares a candidate with a reference, given the question."""


def compare_arrangements(candidate: str, reference: str, question: str) -> SpanComparison | None:
    """Whether the candidate arranges values as the reference does; None where there is nothing to compare."""
    if len(reference) > _LONGEST:
        return None
    in_order = (_same_order,) if _asks_for_order(question) else ()
    compared = (compare(candidate, reference, question) for compare in (*_comparisons(reference), *in_order))
    return next((comparison for comparison in compared if comparison), None)


@lru_cache(maxsize=8_192)
def _comparisons(reference: str) -> tuple[Comparison, ...]:
    """The comparisons that may apply to a reference, by a quick look at it; of most references none."""
    bare = reference.strip(" .!*\"'`")
    digits = any(character.isdigit() for character in reference)
    looks: tuple[tuple[object, Comparison], ...] = (
        (bare.casefold() in _YES | _NO, _same_polarity),
        ("," in reference or ";" in reference, _same_tuple),
        (digits and (":" in reference or " to " in reference), _same_ratio),
        (digits and (_BOUND.search(reference) or " or " in reference or " and " in reference), _same_bound),
        (digits and (_PLUS_MINUS.fullmatch(bare) or len(read(reference).values) < _FEW), _same_signs),
        (_DOTTED.search(reference), _same_version),
        (_SIGNED.fullmatch(bare) or _BASE.fullmatch(bare), _same_name),
    )
    return tuple(comparison for applies, comparison in looks if applies)


# Tuples and intervals

_BRACKETS = re.compile(r"(?:\\left)?([(\[\]])([^()\[\]\n]{1,200}?)(?:\\right)?([)\]\[])")
_MEMBER = re.compile(r"\s*(?:\w{1,3}\s*)?(?:=|∈|\\in)?\s*")
_NAME = re.compile(r"(?<!\\)(?<![a-z])(?!inf|sqrt|sin|cos|exp)[a-z]{3,}", re.IGNORECASE)
_OF_INTERVALS = re.compile(
    r"\b(?:intervals?|domain|range|inequalit|increas|decreas|positive|negative|values? of)", re.IGNORECASE
)


def _bracketed(text: str) -> list[tuple[list[str], re.Match[str]]]:
    """The tuples of numbers and short expressions in a text, by their items; but "(1,000)" is a number."""
    tuples = []
    for match in _BRACKETS.finditer(text):
        inside = match[2].replace("\\,", " ").replace("{,}", ",")
        items = ["".join(item.split()) for item in re.split(r"[;,]", inside)]
        grouped = re.fullmatch(r"\s*\d{1,3}(?:,\d{3})+\s*", inside)
        if len(items) > 1 and all(items) and not grouped and not any(map(_NAME.search, items)):
            tuples.append(([_item(item) for item in items], match))
    return tuples


def _same_tuple(candidate: str, reference: str, question: str) -> SpanComparison | None:
    right = _bracketed(reference)
    if len(right) != 1 or not _MEMBER.fullmatch(reference[: right[0][1].start()].strip("$ ")):
        return None
    right_items, right_match = right[0]
    answers = [answer for answer in _bracketed(candidate) if len(answer[0]) == len(right_items)]
    if not answers or Counter(answers[-1][0]) != Counter(right_items):
        return None
    items, match = answers[-1]
    # (0, 1) and [0, 1] are the same tuple, but not the same interval: brackets count only where it must be an interval.
    brackets, right_brackets = ((one[1] == "[", one[3] == "]") for one in (match, right_match))
    mixed = brackets[0] != brackets[1] or right_brackets[0] != right_brackets[1]
    infinite = any("inf" in item or "∞" in item for item in items)
    is_interval = len(items) == 2 and (mixed or infinite or bool(_OF_INTERVALS.search(question)))
    same = items == right_items and (not is_interval or brackets == right_brackets)
    return SpanComparison(same, match.span())


def _item(text: str) -> str:
    """An item of a tuple in one spelling: a number as a number, else its characters."""
    values = read(text).values
    if len(values) == 1 and type(values[0].content) is Amount:
        return str(values[0].key)
    return text.replace("\\dfrac", "\\frac").replace("\\infty", "∞")


# Ratios

_RATIO = re.compile(r"(?<![\d:.])(\d+(?:\.\d+)?)\s*(?::|to)\s*(\d+(?:\.\d+)?)(?![\d:])")
_TIME_OF_DAY = re.compile(r"\s*\d?\d:[0-5]\d\s*")
_OF_RATIOS = re.compile(r"\b(?:ratio|proportion|odds|score|scale)", re.IGNORECASE)


def _same_ratio(candidate: str, reference: str, question: str) -> SpanComparison | None:
    right = _RATIO.fullmatch(reference.strip(" $."))
    if right is None or (_TIME_OF_DAY.fullmatch(reference) and not _OF_RATIOS.search(question)):
        return None
    answers = list(_RATIO.finditer(candidate))
    if not answers:
        return None
    (one, other), (first, second) = map(float, answers[-1].groups()), map(float, right.groups())
    if one * second == other * first:
        return SpanComparison(True, answers[-1].span())
    # Upside down it is another ratio; anything else is compared number by number.
    return SpanComparison(False, answers[-1].span()) if one * first == other * second else None


# Bounds

_BOUNDS = {
    ">=": r">=|≥|\\geq?(?:slant)?\b|at least|no (?:less|fewer) than|not (?:less|fewer) than|(?:a )?minimum(?: of)?",
    "<=": r"<=|≤|\\leq?(?:slant)?\b|at most|(?:no|not) more than|up to|(?:a )?maximum(?: of)?",
    ">": r">|\\gt\b|(?:more|greater|larger|higher|bigger) than|over|above|exceeds|exceeding",
    "<": r"<|\\lt\b|(?:less|fewer|smaller|lower) than|under|below",
}
_BOUND = re.compile("|".join(f"(?P<b{n}>{words})" for n, words in enumerate(_BOUNDS.values())), re.IGNORECASE)
_BOUND_AFTER = re.compile(
    r"\s*(?:(?P<up>or (?:more|greater|higher|above|over)|and (?:above|up|over))"
    r"|(?P<down>or (?:less|fewer|lower|below|under)|and (?:below|under)))\b",
    re.IGNORECASE,
)
_FLIPPED = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
_VARIABLE = re.compile(r"\s*\\?[A-Za-z]\w?(?!\w)")


def _bounds(text: str) -> list[tuple[tuple[str, Hashable], int, int]]:
    """The bounds of a text, "at least 5", "x > 3", "3 < x", "5 or more": sign and number, and their characters."""
    numbers = [
        (value.key[0] if isinstance(value.key, tuple) else value.key, value.start, value.end)
        for value in read(text).values
        if type(value) is Value and type(value.content) is Amount
    ]
    signs, bounds = tuple(_BOUNDS), []
    for match in _BOUND.finditer(text):
        sign, begin, end = signs[int((match.lastgroup or "b0")[1:])], *match.span()
        after = next((number for number in numbers if number[1] >= end), None)
        if after and not text[end : after[1]].strip(" $€£"):
            bounds.append(((sign, after[0]), begin, after[2]))
        before = [number for number in numbers if number[2] <= begin]
        if before and not text[before[-1][2] : begin].strip() and _VARIABLE.match(text, end):
            bounds.append(((_FLIPPED[sign], before[-1][0]), before[-1][1], end))
    for number, begin, end in numbers:
        if words := _BOUND_AFTER.match(text, end):
            bounds.append(((">=" if words["up"] else "<=", number), begin, words.end()))
    return bounds


def _same_bound(candidate: str, reference: str, question: str) -> SpanComparison | None:
    right_bounds = _bounds(reference)
    right, count = {bound for bound, _, _ in right_bounds}, len(right_bounds)
    if not right or len(read(reference).values) > count + 4:
        return None
    numbers = {number for _, number in right}
    answers = [answer for answer in _bounds(candidate) if answer[0][1] in numbers]
    if len(answers) < count:
        return None
    windows = [answers[i : i + count] for i in range(len(answers) - count + 1)]
    same = [window for window in windows if {bound for bound, _, _ in window} == right]
    best = same[0] if same else windows[-1]
    return SpanComparison(bool(same), (min(start for _, start, _ in best), max(end for _, _, end in best)))


# Plus or minus

_PLUS_MINUS = re.compile(r"(?:[A-Za-z]\w?\s*=\s*)?(?:±|\\pm\b|\+/-|\+-)\s*(.+)")
_BOTH_SIGNS = re.compile(r"(?:±|\\pm\b|\+/-|\+-)\s*(\d+(?:\.\d+)?)")


def _same_signs(candidate: str, reference: str, question: str) -> SpanComparison | None:
    right = _PLUS_MINUS.fullmatch(reference.strip(" $."))
    if right:
        number = right[1].strip(" $.")
    else:
        values = read(reference).values
        numbers = [value.content.number for value in values if type(value.content) is Amount]
        if len(numbers) != 2 or numbers[0] != -numbers[1] or not _BOTH_SIGNS.search(candidate):
            return None
        number = f"{abs(numbers[0]):.12g}"
    base = re.escape(number)
    positive = re.search(rf"(?<![\w.\-]){base}(?![\w.])|(?<=[^\s\-]\s)\b{base}(?![\w.])", candidate)
    negative = re.search(rf"-\s?{base}(?![\w.])", candidate)
    both = re.search(rf"(?:±|\\pm|\+/-|\+-)\s*{base}(?![\w.])", candidate)
    if both:
        return SpanComparison(True, both.span())
    if not (positive or negative):
        return None
    spans = [match.span() for match in (positive, negative) if match]
    return SpanComparison(len(spans) == 2, (min(spans)[0], max(end for _, end in spans)))


# Signs that belong to a name, and versions

_SIGNED = re.compile(r"([A-Za-z]{1,3}\d?)(\+\+|[+#-])")
_BASE = re.compile(r"[A-Z][A-Za-z]?\d?")


def _same_name(candidate: str, reference: str, question: str) -> SpanComparison | None:
    text = reference.strip(" .`*")
    signed = _SIGNED.fullmatch(text)
    base = re.escape(signed[1] if signed else text)
    if read(candidate).keys >= read(text).keys:
        return None
    pattern = rf"(?<![\w-]){base.rstrip('0123456789')}\d?(?:\+\+|[+#]|-(?![\w>-]))?(?![\w+#])"
    names = list(re.finditer(pattern, candidate))
    if not names or any(name[0] == text for name in names):
        return None
    return SpanComparison(False, names[-1].span())


_DOTTED = re.compile(r"(?<![\w.])[vV]?(\d+(?:\.\d+)+)(?!\w|\.\d)")
_VERSIONED = re.compile(
    r"\b(?:versions?|releases?|python|java|node|django|numpy|pytorch|ubuntu|macos|android|ios|sections?|chapters?|v\d)",
    re.IGNORECASE,
)


def _same_version(candidate: str, reference: str, question: str) -> SpanComparison | None:
    (right, *others), answers = list(_DOTTED.finditer(reference)), list(_DOTTED.finditer(candidate))
    if others or not answers or any(answer[1] == right[1] for answer in answers):
        return None
    answer = answers[-1]
    if "." not in right[1].replace(".", "", 1) and not any(map(_VERSIONED.search, (question, reference, candidate))):
        return None
    return SpanComparison(False, answer.span()) if answer[1].count(".") == right[1].count(".") else None


# Order

_ASKS_FOR_ORDER = re.compile(
    r"\b(?:sort|rank|arrange|order(?! to\b)|ascending|descending|chronological|alphabetical|sequence of"
    r"|in (?:the )?(?:right |correct )?sequence|(?:smallest|largest|lowest|highest|oldest|newest|earliest"
    r"|latest|first|least|most)(?:[- ]\w+)? (?:first|to)|from \w+est to)\b",
    re.IGNORECASE,
)
_LIST = re.compile(r"[,;>\n→]|\band\b|\bthen\b")


@lru_cache(maxsize=4_096)
def _asks_for_order(question: str) -> bool:
    return bool(_ASKS_FOR_ORDER.search(question)) and not split_options(question).options


def _same_order(candidate: str, reference: str, question: str) -> SpanComparison | None:
    right = [value.key for value in read(reference).values] if _LIST.search(reference) else []
    values = [value for value in read(candidate).values if value.key in set(right)]
    keys = [value.key for value in values]
    if len(right) < 2 or set(keys) != set(right) or len(keys) < len(right):
        return None
    last = values[-len(right) :]
    same = right in (keys[: len(right)], keys[-len(right) :])
    return SpanComparison(same, (min(value.start for value in last), max(value.end for value in last)))


# Yes and no

_YES, _NO = frozenset("yes true correct y 1".split()), frozenset("no false incorrect n 0".split())
_STATES = re.compile(
    r"\W*(?:(?:the )?(?:final )?answer(?: is)?\W*)?(?:"
    r"(?P<no>(?:absolutely|definitely|certainly|of course|probably|surely|actually|clearly|unfortunately|sadly) not\b"
    r"|not at all\b|by no means\b|no way\b|(?:no|nope|nah|false|incorrect|disagree|never|untrue)\b(?! doubt)"
    r"|(?:wrong|negative)(?=\W*$|[,.;!]))"
    r"|(?P<yes>(?:yes|yeah|yep|yup|true|agreed?|affirmative|indeed)\b"
    r"|(?:absolutely|definitely|certainly|of course|correct|right|sure|exactly)(?=\W*$|[,.;!])))",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:answer|conclusion)(?: is)?[ :*_]+(?:(?P<no>no|false)|(?P<yes>yes|true))\b(?![,;]? (?:or|and)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:^|[.!?:,]\s+|\n)\s*((?:is|are|was|were|am|do|does|did|can|could|will|would|has|have|had|should|may|might|must)"
    r"(?:n't)?\b[^.?!\n]*)\?",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not(?! only)|never|cannot|no(?! doubt)|nobody|nothing|neither|without)\b|n't\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:it|they|he|she|this|that|these|those|you|we|i|one)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]+")
_MOST_WORDS = 40  # of a sentence that answers yes or no


def _same_polarity(candidate: str, reference: str, question: str) -> SpanComparison | None:
    word = reference.strip(" .!*\"'`").casefold()
    asks = _ASKS.search(question)
    if word in ("1", "0") and not asks:
        return None
    stated = [*filter(None, [_STATES.match(candidate)]), *_CONCLUDES.finditer(candidate)]
    if stated:
        kind = "yes" if stated[-1]["yes"] else "no"
        return SpanComparison((kind == "yes") == (word in _YES), stated[-1].span(kind))
    sentence = _SENTENCE.search(candidate)
    if asks is None or sentence is None or "\n" in candidate.strip() or asks[1].casefold() in candidate.casefold():
        return None
    if not _restates(sentence[0], asks[1]):
        return None
    negative = len(_NEGATION.findall(sentence[0])) % 2 == 1
    return SpanComparison(negative == (word in _NO), sentence.span())


def _restates(sentence: str, question: str) -> bool:
    """Whether a sentence has all words of a question; a pronoun may stand for the first ones."""
    if len(sentence.split()) > _MOST_WORDS:
        return False
    stems = _stems(sentence)
    repeated = [stem in stems for stem in _stems(question)]
    if not any(repeated):
        return False
    return all(repeated) or (bool(_PRONOUN.search(sentence)) and all(repeated[repeated.index(True) :]))


def _stems(text: str) -> list[Hashable]:
    """The stems of the words of a text, without function words, and the keys of its other values."""
    values = [value for value in read(text).values if not is_function_word(value)]
    return [value.content.stem if isinstance(value.content, WordForm) else value.key for value in values]


# Expressions

CAN_COMPARE_EXPRESSIONS = find_spec("math_verify") is not None

_SECONDS = 5.0  # for a pair, which takes some milliseconds, and longer on a busy machine
_LONGEST_EXPRESSION = 400  # characters of an expression
_LABEL = re.compile(r"\s*\(?[A-J][).:]\s+")
_FORMULA = re.compile(
    r"\$\$?[^$]+\$\$?|\\\(.+?\\\)|\\\[.+?\\\]|\\f?boxed\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", re.DOTALL
)
_SIGN = re.compile(r"\\[A-Za-z]|[\^√π∞]|[A-Za-z0-9)]\s*[-+*/=]\s*[(A-Za-z]|[A-Za-z)]\s*[-+*/=]\s*\d|\d[a-z]\b|\)\(")
_WORD = re.compile(r"(?<![\\A-Za-z])(?!(?:sin|cos|tan|log|ln|exp|max|min|lim)\b)[A-Za-z]{2,}")
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf)\{[^{}]*\}")


def compare_expressions(candidate: str, reference: str, question: str) -> SpanComparison | None:
    """Whether the expressions of both texts are equal; None where one has none, or Math-Verify can't tell."""
    if not CAN_COMPARE_EXPRESSIONS or not (right := _find_expression(reference)):
        return None
    answer = _find_expression(candidate)
    same = _equal(answer[0], right[0]) if answer else None
    return None if answer is None or same is None else SpanComparison(same, answer[1], right[1])


@lru_cache(maxsize=512)  # candidates may be long
def _find_expression(text: str) -> tuple[str, tuple[int, int]] | None:
    """The whole text if that is mathematics, else its last formula, with its characters; None if that is a number."""
    text = fold(text)
    if not _SIGN.search(text):
        return None
    label = _LABEL.match(text)  # an option's: "(B) x + 1"
    start = label.end() if label else len(text) - len(text.lstrip())
    if _is_expression(text[start:]):
        return text[start:].strip(), (start, len(text.rstrip()))
    for formula in reversed(list(_FORMULA.finditer(text))):
        if _is_expression(formula[0]):
            return formula[0], formula.span()
    return None


def _is_expression(text: str) -> bool:
    if len(text) > _LONGEST_EXPRESSION or not _SIGN.search(text) or _WORD.search(_TEXT.sub("", text)):
        return False
    values = read(strip_markup(text)).values
    return len(values) != 1 or type(values[0].content) is WordForm  # else it is a number or quantity


@lru_cache(maxsize=8_192)
def _equal(candidate: str, reference: str) -> bool | None:
    """Whether two expressions are equal; None where Math-Verify can't tell, or takes too long."""
    result = verify_math(candidate, reference, _SECONDS)
    return None if result.score is None or not result.finished else result.score == 1.0
