"""The only place where texts meet: how the values of a candidate relate to those of its references.

Each text is read alone (`text_values`); then each value gets a relation to the other side, first by its key, stem or
spelling, then, if it is a number or date, by comparison with each one there (`comparing`). At last come texts that
count as a whole, an expression or an arrangement of values, whose relation covers those of the values inside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence, Set
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from bert_judge.reading.arrangement import SpanComparison, compare_arrangements, compare_expressions
from bert_judge.reading.comparing import (
    ALONE,
    ASKED,
    CONVERTED,
    LESS,
    MORE,
    OTHER,
    ROUNDED,
    SAME,
    VARIANT,
    Relation,
    compare,
)
from bert_judge.reading.text_values import TextValues, lists_letters, named_letter, read, split_options
from bert_judge.reading.words import STOP, Amount, OptionLetter, Value, Word, WordForm

EVIDENCE_VERSION = 3
"""Changes whenever texts are read or compared in another way: a judge reads the marks that it was trained with."""

AGREEING = frozenset((SAME, VARIANT, CONVERTED, ROUNDED, MORE))
_EXCHANGED = {MORE: LESS, LESS: MORE}
_SHARE: dict[int, float] = {**dict.fromkeys(AGREEING, 1.0), LESS: 0.5}
_new = tuple.__new__  # faster than MatchMark(...), and there is one for each value
_ANY_LETTER = frozenset(map(OptionLetter, "ABCDEFGHIJ"))
_MOST_NUMBERS = 200  # different numbers of a text that are compared: every one with every one would take long in tables

AnyValue = Word | Value
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
        """Index of the reference that the candidate covers best; the first of equals."""
        return max(range(len(self.recall)), key=self.recall.__getitem__)


def match(candidate: str, references: Sequence[str], question: str | None = None) -> Match:
    """Compare a candidate with its references; takes time about linear in the length of the texts."""
    asked = _read_question(question or "")
    answer, rights = _sides(candidate, references, asked)
    relations, right_relations = _compare_all(answer.text, [right.text for right in rights], asked.keys)
    names_option = any(named_letter(right.text.text) for right in rights)
    marks = _marks(answer, rights, relations, asked.keys, asked.option_keys if names_option else frozenset())
    # A reference does not count as one of the other options, so there are no option keys for it.
    pairs = zip(rights, right_relations, strict=True)
    right_marks = [_marks(right, [answer], compared, asked.keys, frozenset()) for right, compared in pairs]
    for compare_whole in (compare_expressions, compare_arrangements):
        compared = [compare_whole(candidate, reference, question or "") for reference in references]
        marks, right_marks = _with_spans(marks, references, right_marks, compared)
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


def _sides(
    candidate: str, references: Sequence[str], asked: _QuestionValues
) -> tuple[_MatchedText, list[_MatchedText]]:
    """The candidate and its references, where what counts in one text can depend on the others."""
    answer, rights = read(candidate), [read(text) for text in references]
    letters = asked.letters or _letters_without_list(answer, rights)
    values = _with_letters(answer, letters)
    right_values = [_with_letters(right, letters) for right in rights]
    if any(map(_has_function_words_only, (answer, *rights))):
        with_letters = values
        values = _with_function_words(answer, values, right_values)
        pairs = zip(rights, right_values, strict=True)
        right_values = [_with_function_words(right, one, [with_letters]) for right, one in pairs]
    return _matched_text(answer, values), [
        _matched_text(right, one) for right, one in zip(rights, right_values, strict=True)
    ]


def _matched_text(text: TextValues, values: Sequence[AnyValue]) -> _MatchedText:
    return _MatchedText(text, values, text.keys if values is text.values else {value.key for value in values})


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
                relation = compare(number, right_number)
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


def _with_spans(
    marks: tuple[MatchMark, ...],
    references: Sequence[str],
    right_marks: list[tuple[MatchMark, ...]],
    spans: Sequence[SpanComparison | None],
) -> tuple[tuple[MatchMark, ...], list[tuple[MatchMark, ...]]]:
    """The marks of both sides with those of spans compared as one value, one for each reference or none.

    If any is the same, the candidate agrees.
    """
    best = max(filter(None, spans), key=attrgetter("same"), default=None)
    if best is None:
        return marks, right_marks
    covered = []
    for reference, one, span in zip(references, right_marks, spans, strict=True):
        start, end = (span and span.reference_span) or (0, len(reference))
        covered.append(_covered(one, start, end, SAME if span.same else OTHER) if span else one)
    return _covered(marks, best.start, best.end, SAME if best.same else OTHER), covered


def _covered(marks: Sequence[MatchMark], start: int, end: int, relation: Relation) -> tuple[MatchMark, ...]:
    """The marks with a single one from `start` to `end`, instead of those that touch these characters."""
    before = [mark for mark in marks if mark.end <= start]
    after = [mark for mark in marks if mark.start >= end]
    return (*before, MatchMark(start, end, relation), *after)


def _letters_without_list(answer: TextValues, rights: Sequence[TextValues]) -> Set[OptionLetter]:
    """The letters that name options where the question lists none.

    A lone letter may as well be an initial or a variable, so letters count only where both sides have some and one of
    the texts is an option ("(B) iron") or lists several ("A, C and D").
    """
    if not any(right.letters for right in rights) or not answer.letters:
        return frozenset()
    names_options = any(named_letter(one.text) or lists_letters(one.text) for one in (answer, *rights))
    return _ANY_LETTER if names_options else frozenset()


def _with_letters(text: TextValues, letters: Set[OptionLetter]) -> Sequence[AnyValue]:
    """The values of a text, with the letters that name options as such."""
    if not letters:
        return text.values
    named = [value for value in text.letters if value.content in letters and not _is_inside(text.values, value.start)]
    if not named:
        return text.values
    starts = {letter.start for letter in named}
    others = [value for value in text.values if value.start not in starts and not _is_function_word(value)]
    return sorted([*others, *named], key=attrgetter("start"))


def _is_inside(values: Sequence[AnyValue], at: int) -> bool:
    """Whether a character is within a value, but not its first: the C of "25 °C"."""
    place = bisect_right(values, at, key=attrgetter("start")) - 1
    return place >= 0 and values[place].start < at < values[place].end


def _has_function_words_only(text: TextValues) -> bool:
    return bool(text.values) and all(map(_is_function_word, text.values))


def _with_function_words(
    text: TextValues, values: Sequence[AnyValue], others: Sequence[Sequence[AnyValue]]
) -> Sequence[AnyValue]:
    """The values of a text with its function words that count on the other side, which has no others ("The Who")."""
    counting = {value.key for other in others for value in other if _is_function_word(value)}
    starts = {value.start for value in values}
    words = [word for word in text.tokens if word.key in counting and _is_function_word(word)]
    added = [word for word in words if word.start not in starts]
    return sorted([*values, *added], key=attrgetter("start")) if added else values


def _is_function_word(value: AnyValue) -> bool:
    return isinstance(value.content, WordForm) and bool(value.content.roles & STOP)
