"""The only place where texts meet: how the values of a candidate relate to those of its references.

Each text is read alone (`text_values`); then each value gets a relation to the other side, first by its key, stem or
spelling, then, if it is a number or date, by comparison with each one there. At last come texts that count as a whole,
an expression or an arrangement of values, whose relation covers those of the values inside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence, Set
from enum import IntEnum
from functools import lru_cache
from itertools import islice, product
from math import isclose
from operator import attrgetter
from typing import Any, NamedTuple

from bert_judge.reading.arrangement import compare_arrangements, compare_expressions
from bert_judge.reading.quantities import HOUR
from bert_judge.reading.tables import NO_UNIT, Unit
from bert_judge.reading.text_values import TextValues, lists_letters, named_letter, read, split_options
from bert_judge.reading.words import (
    AFTER_CHRIST,
    BEFORE_CHRIST,
    EXACT,
    Amount,
    AnyValue,
    Moment,
    OptionLetter,
    WordForm,
    is_function_word,
)


class Relation(IntEnum):
    """How a value relates to the values of the other side, seen from the candidate.

    Where several hold, the first of this list wins. But a date or time may say more than one of the other side and less
    than another: then the other side's more exact one counts.
    """

    SAME = 1
    """The same word, or the same value in the same unit."""
    VARIANT = 2
    """The same in another form: a word inflected, as an acronym or as two; a number with its unit and without."""
    ASKED = 3
    """It only repeats the question."""
    CONVERTED = 4
    """The same value in another unit or notation."""
    ROUNDED = 5
    """Equal when the more exact one is rounded to the last figure of the other, which has at least two."""
    MORE = 6
    """The candidate's date or time includes the reference's and says more: a day, not only its month."""
    LESS = 7
    """The candidate says a part of the reference's date or time: a month, not its day."""
    OTHER = 8
    """Another value of the same kind (of an option also its words), or the number with a unit of another dimension."""
    ALONE = 9
    """The other side has nothing like it."""


SAME, VARIANT, ASKED, CONVERTED, ROUNDED, MORE, LESS, OTHER, ALONE = Relation
"""The relations as constants: looking one up in the class takes longer than comparing two numbers."""

EVIDENCE_VERSION = 3
"""Changes whenever texts are read or compared in another way: a judge reads the marks that it was trained with."""

AGREEING = frozenset((SAME, VARIANT, CONVERTED, ROUNDED, MORE))
_EXCHANGED = {MORE: LESS, LESS: MORE}
_SHARE: dict[int, float] = {**dict.fromkeys(AGREEING, 1.0), LESS: 0.5}
_new = tuple.__new__  # faster than MatchMark(...), and there is one for each value
_ANY_LETTER = frozenset(map(OptionLetter, "ABCDEFGHIJ"))
_MOST_NUMBERS = 200  # different numbers of a text that are compared: every one with every one would take long in tables

Relations = dict[Hashable, Relation]
"""The relations of numbers and dates to the other side, by their keys."""


class MatchMark(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text are a value with this `Relation` to the other side."""

    start: int
    end: int
    relation: int


class Match(NamedTuple):
    """What a candidate has in common with its references.

    `candidate` has the marks of the candidate's values, each with its best relation to any reference, `references`
    those of each reference; values without a mark don't count. `recall` is, for each reference, the share of its values
    that the candidate agrees with, in [0, 1]; a date or time that the candidate states in part counts half.
    """

    candidate: tuple[MatchMark, ...]
    references: tuple[tuple[MatchMark, ...], ...]
    recall: tuple[float, ...]

    @property
    def best_reference(self) -> int:
        """The index of the reference that the candidate covers best; the first of equals."""
        return max(range(len(self.recall)), key=self.recall.__getitem__)


def match(candidate: str, references: Sequence[str], question: str | None = None) -> Match:
    """Compare a candidate with its references; takes time about linear in the length of the texts."""
    asked = _read_question(question or "")
    answer, *rights = _sides([read(text) for text in (candidate, *references)], asked.letters)
    relations, right_relations = _compare_all(answer.text, [right.text for right in rights], asked.keys)
    names_option = any(named_letter(right.text.text) for right in rights)
    marks = _marks(answer, rights, relations, asked.keys, asked.option_keys if names_option else frozenset())
    # A reference does not count as one of the other options, so there are no option keys for it.
    pairs = zip(rights, right_relations, strict=True)
    right_marks = [_marks(right, [answer], compared, asked.keys, frozenset()) for right, compared in pairs]
    for compare_whole in (compare_expressions, compare_arrangements):
        spans = [compare_whole(candidate, reference, question or "") for reference in references]
        for i, span in enumerate(spans):
            if span:
                right_marks[i] = _covered(right_marks[i], span.reference_span or (0, len(references[i])), span.same)
        if best := max(filter(None, spans), key=attrgetter("same"), default=None):  # any that is the same counts
            marks = _covered(marks, best.span, best.same)
    recall = [sum([_SHARE.get(mark[2], 0.0) for mark in one]) / max(len(one), 1) for one in right_marks]
    return Match(marks, tuple(right_marks), tuple(recall))


class _QuestionValues(NamedTuple):
    """The keys of a question before its options, the keys of these, and the letters that name them."""

    keys: Set[Hashable]
    option_keys: Set[Hashable]
    letters: Set[OptionLetter]


@lru_cache(maxsize=4_096)
def _read_question(question: str) -> _QuestionValues:
    stem, options = split_options(question)
    option_keys = _union([read(text).keys for text in options.values()])
    values = read(stem)
    # "3 days" in the question also makes a bare 3 a repetition of it.
    numbers = {key[0] for key, one in values.comparable.items() if type(key) is tuple and type(one) is Amount}
    return _QuestionValues(values.keys | numbers, option_keys, frozenset(map(OptionLetter, options)))


class _MatchedText(NamedTuple):
    """A text of a match, the values of it that count there, and their keys."""

    text: TextValues
    values: Sequence[AnyValue]
    keys: Set[Hashable]

    def stems(self) -> Set[str]:
        """The stems of its words, without letters that name options."""
        if self.values is self.text.values:
            return self.text.stems
        return {value.content.stem for value in self.values if isinstance(value.content, WordForm)}


def _sides(texts: Sequence[TextValues], letters: Set[OptionLetter]) -> list[_MatchedText]:
    """The candidate and its references, where what counts in one text can depend on the others."""
    letters = letters or _letters_without_list(texts)
    values = [_with_letters(text, letters) for text in texts]
    if any(text.values and all(map(is_function_word, text.values)) for text in texts):
        others = [values[1:], *[values[:1]] * (len(texts) - 1)]
        values = [_with_function_words(*one) for one in zip(texts, values, others, strict=True)]
    return [
        _MatchedText(text, one, text.keys if one is text.values else {value.key for value in one})
        for text, one in zip(texts, values, strict=True)
    ]


def _compare_all(
    answer: TextValues, rights: Sequence[TextValues], asked: Set[Hashable]
) -> tuple[Relations, list[Relations]]:
    """The best relation of each of a candidate's numbers and dates to those of the references, and the reverse.

    A number that only repeats the question must not agree by chance with a reference that states it otherwise (a
    question about "3 days" does not make "72 hours" answered): beyond SAME and VARIANT it has no relation here.

    Beside "3 May 1918 … May" a "May 1918" says both less and more. On either side the other text's more exact date
    counts, so that a text's values have the same relations whichever side it is on: a reference's date is MORE before
    it is LESS, a candidate's date LESS before it is MORE. Of several references the candidate's best one counts.
    """
    best: Relations = {}
    best_of_rights: list[Relations] = []
    numbers = list(islice(answer.comparable.items(), _MOST_NUMBERS))
    for right in rights:
        relations: Relations = {}
        exchanged: Relations = {}  # the candidate's, seen from the reference: MORE for LESS and LESS for MORE
        not_in_both = [(key, number) for key, number in numbers if key not in right.comparable]
        for right_key, right_number in islice(right.comparable.items(), _MOST_NUMBERS):
            # Values that both texts have are the same whatever else is there: comparing them would change nothing.
            for key, number in not_in_both if right_key in answer.comparable else numbers:
                relation = _compare(number, right_number)
                if relation and (relation < ASKED or not _repeats(key, asked)):
                    relations[right_key] = min(relation, relations.get(right_key, relation))
                    relation = _EXCHANGED.get(relation, relation)
                    exchanged[key] = min(relation, exchanged.get(key, relation))
        for key, relation in exchanged.items():
            relation = _EXCHANGED.get(relation, relation)
            best[key] = min(relation, best.get(key, relation))
        best_of_rights.append(relations)
    return best, best_of_rights


def _marks(
    side: _MatchedText,
    others: Sequence[_MatchedText],
    relations: Relations,
    asked: Set[Hashable],
    option_keys: Set[Hashable],
) -> tuple[MatchMark, ...]:
    """The values of a text with their relations to the texts of the other side."""
    same = _union([other.keys for other in others])
    stems = _union([other.stems() for other in others])
    variants = _other_spellings(side.text, [other.text for other in others], same)
    marks = []
    for key, start, end, content in side.values:
        if key in same:
            relation = SAME
        elif type(content) is WordForm:
            if content[1] in stems or key in variants:
                relation = VARIANT
            else:
                relation = ASKED if key in asked else OTHER if key in option_keys else ALONE
        elif type(content) is OptionLetter:
            relation = OTHER if any(type(other) is OptionLetter for other in same) else ALONE
        else:
            relation = relations.get(key, ALONE)
            if relation > ASKED and _repeats(key, asked):
                relation = ASKED
        marks.append(_new(MatchMark, (start, end, relation)))
    return tuple(marks)


def _repeats(key: Hashable, asked: Set[Hashable]) -> bool:
    """Whether a number or date is one of the question, with its unit or without."""
    return key in asked or (type(key) is tuple and key[0] in asked)


def _union(sets: Sequence[Set[Any]]) -> Set[Any]:
    return sets[0] if len(sets) == 1 else frozenset().union(*sets)


def _other_spellings(text: TextValues, others: Iterable[TextValues], same: Set[Hashable]) -> set[Hashable]:
    """The words of a text that the other side writes as one, as two, or as an acronym."""
    variants: set[Hashable] = set()
    for other in others:
        # In order: "sea water" here for "seawater" there; the reverse; "NBA" here for its words there; the reverse.
        joined_there = other.long_words - text.keys
        if joined_there:
            variants.update(word for key in joined_there & text.joined_pairs.keys() for word in text.joined_pairs[key])
        joined_here = text.long_words - other.keys
        if joined_here:
            variants.update(joined_here & other.joined_pairs.keys())
        variants.update([acronym for acronym in text.acronyms - same if other.spelled_out_at(acronym) >= 0])
        for acronym in other.acronyms - text.keys:
            at = text.spelled_out_at(acronym)
            variants.update(text.words[at : at + len(acronym)] if at >= 0 else ())
    return variants


def _covered(marks: Sequence[MatchMark], span: tuple[int, int], same: bool) -> tuple[MatchMark, ...]:
    """The marks with a single one for a span that was compared as one value, instead of those that touch it."""
    start, end = span
    before = [mark for mark in marks if mark.end <= start]
    after = [mark for mark in marks if mark.start >= end]
    return (*before, MatchMark(start, end, SAME if same else OTHER), *after)


def _letters_without_list(texts: Sequence[TextValues]) -> Set[OptionLetter]:
    """The letters that name options where the question lists none.

    A lone letter may as well be an initial or a variable, so letters count only where both sides have some and one of
    the texts is an option ("(B) iron") or lists several ("A, C and D").
    """
    answer, *rights = texts
    if not any(right.letters for right in rights) or not answer.letters:
        return frozenset()
    names_options = any(named_letter(one.text) or lists_letters(one.text) for one in texts)
    return _ANY_LETTER if names_options else frozenset()


def _with_letters(text: TextValues, letters: Set[OptionLetter]) -> Sequence[AnyValue]:
    """The values of a text, with the letters that name options as such."""
    if not letters:
        return text.values
    named = [value for value in text.letters if value.content in letters and not _is_inside(text.values, value.start)]
    if not named:
        return text.values
    starts = {letter.start for letter in named}
    others = [value for value in text.values if value.start not in starts and not is_function_word(value)]
    return sorted([*others, *named], key=attrgetter("start"))


def _is_inside(values: Sequence[AnyValue], at: int) -> bool:
    """Whether a character is within a value, but not its first: the C of "25 °C"."""
    place = bisect_right(values, at, key=attrgetter("start")) - 1
    return place >= 0 and values[place].start < at < values[place].end


def _with_function_words(
    text: TextValues, values: Sequence[AnyValue], others: Sequence[Sequence[AnyValue]]
) -> Sequence[AnyValue]:
    """The values of a text with its function words that count on the other side, which has no others ("The Who")."""
    counting = {value.key for other in others for value in other if is_function_word(value)}
    starts = {value.start for value in values}
    words = [word for word in text.tokens if is_function_word(word) and word.start not in starts]
    added = [word for word in words if word.key in counting and not _is_inside(values, word.start)]
    return sorted([*values, *added], key=attrgetter("start")) if added else values


# Two values

_LEAST_ROUNDED = 2  # figures of a rounded number
_LEAST_CLOCK = 3  # figures of hours and minutes together
_FIRST_YEAR, _LAST_YEAR = 1_000, 2_100  # that a number alone can be


def _compare(candidate: Amount | Moment, reference: Amount | Moment) -> Relation | None:
    """How a candidate's number, quantity, date or time relates to a reference's; None for values of different kinds."""
    if type(candidate) is Amount and type(reference) is Amount:
        if not candidate.others and not reference.others:
            return _compare_amounts(candidate, candidate.unit, reference, reference.unit)
        units = product((candidate.unit, *candidate.others), (reference.unit, *reference.others))
        relations = [_compare_amounts(candidate, unit, reference, other_unit) for unit, other_unit in units]
        return min([relation for relation in relations if relation], default=None)
    moment, other = _as_moment(candidate), _as_moment(reference)
    if moment is None or other is None or moment.kind != other.kind:
        return None
    return min(
        _compare_parts(parts, other_parts, same_notation=moment.notation == other.notation)
        for parts in (moment.parts, moment.other or moment.parts)
        for other_parts in (other.parts, other.other or other.parts)
    )


def _compare_amounts(candidate: Amount, unit: Unit, reference: Amount, other_unit: Unit) -> Relation | None:
    """The relation of two numbers, each in a unit that its word may mean."""
    if unit.notation != other_unit.notation:  # an ordinal, a Roman numeral or a year's era beside a plain number
        eras = {unit.notation, other_unit.notation} & {BEFORE_CHRIST.notation, AFTER_CHRIST.notation}
        if len(eras) == 2 or (eras and candidate.number != reference.number):
            return OTHER
        plain = not unit.dimension and not other_unit.dimension and unit.factor == other_unit.factor
        return CONVERTED if plain and candidate.number == reference.number else None
    if unit.dimension == other_unit.dimension:
        here, there = candidate.number * unit.factor, reference.number * other_unit.factor
        if unit != other_unit:  # in one unit the offset only hides differences: beside 273.15 small ones look like none
            here, there = here + unit.offset, there + other_unit.offset
        if max(candidate.figures, reference.figures) <= EXACT and isclose(here, there, rel_tol=1e-9):
            return SAME if unit == other_unit else CONVERTED
        step, other_step = candidate.step * unit.factor, reference.step * other_unit.factor
        if _rounded(here, step, candidate.figures, there, other_step, reference.figures):
            return ROUNDED
    if NO_UNIT in (unit, other_unit) and unit != other_unit:
        if candidate.number == reference.number:
            return VARIANT
        return ROUNDED if _rounded(*candidate[:3], *reference[:3]) else OTHER
    related = unit.dimension == other_unit.dimension or candidate.number == reference.number
    return OTHER if related else None


def _rounded(one: float, step: float, figures: int, other: float, other_step: float, other_figures: int) -> bool:
    """Whether the more exact number is the other when rounded to its last figure; a step is that figure's value."""
    if step < other_step:
        step, other_step, figures = other_step, step, other_figures
    is_rounded = figures >= _LEAST_ROUNDED and step > other_step * (1 + 1e-9)
    return is_rounded and abs(one - other) <= step * 0.500001


def _as_moment(content: Amount | Moment) -> Moment | None:
    """A date or time; a number may be a year, and hours a time of day."""
    if isinstance(content, Moment):
        return content
    if content.unit == HOUR and content.figures >= _LEAST_CLOCK and 0 <= content.number < 24:  # 15h30
        hour, minute = divmod(round(content.number * 60), 60)
        return Moment("time", (1 if hour > 11 else None, hour % 12, minute), "24 hours")
    is_whole = content.unit in (NO_UNIT, AFTER_CHRIST) and content.step == 1
    is_year = is_whole and _FIRST_YEAR <= content.number <= _LAST_YEAR
    return Moment("date", (int(content.number), None, None)) if is_year else None


def _compare_parts(parts: Sequence[int | None], others: Sequence[int | None], *, same_notation: bool) -> Relation:
    more = less = False
    for part, other in zip(parts, others, strict=True):
        more |= other is None and part is not None
        less |= part is None and other is not None
        if part != other and part is not None and other is not None:
            return OTHER
    if more or less:
        return OTHER if more and less else MORE if more else LESS
    return SAME if same_notation else CONVERTED
