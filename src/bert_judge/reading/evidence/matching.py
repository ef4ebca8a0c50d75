"""The only place where texts meet: what a candidate's values are to those of its references."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence, Set
from enum import IntEnum
from functools import lru_cache
from itertools import islice, product
from operator import attrgetter
from typing import NamedTuple

from bert_judge.reading.evidence.arrangement import arranged
from bert_judge.reading.evidence.expressions import CAN_COMPARE, Expression, equal, find_expression
from bert_judge.reading.evidence.numbers import AFTER_CHRIST, BEFORE_CHRIST
from bert_judge.reading.evidence.options import lists_letters, named_letter, split_options
from bert_judge.reading.evidence.quantities import HOUR
from bert_judge.reading.evidence.reading import Reading, read
from bert_judge.reading.evidence.values import EXACT, NO_UNIT, Amount, Form, Option, Parts, Unit, Value, Word
from bert_judge.reading.evidence.words import STOP


class Relation(IntEnum):
    """What a value is to the values of the other side, told from the candidate's side.

    Where several hold, the first of this list wins.
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
    """The candidate's date or time holds the reference's and says more: a day, not only its month."""
    LESS = 7
    """The candidate says a part of the reference's date or time: a month, not its day."""
    OTHER = 8
    """Another value of the same kind (of an option also its words), or the number with a unit of another dimension."""
    ALONE = 9
    """The other side has nothing like it."""


SAME, VARIANT, ASKED, CONVERTED, ROUNDED, MORE, LESS, OTHER, ALONE = Relation
AGREEING = frozenset((SAME, VARIANT, CONVERTED, ROUNDED, MORE))
_SHARE: dict[int, float] = {**dict.fromkeys(AGREEING, 1.0), LESS: 0.5}
_new = tuple.__new__
_FEWEST_FIGURES = 2
_CLOCK_FIGURES = 3  # of hours and minutes together
_ANY_LETTER = frozenset("ABCDEFGHIJ")
_FIRST_YEAR, _LAST_YEAR = 1_000, 2_100  # that a number alone can be
_MOST = 200  # different numbers of a text that are compared: long tables would take long


class Mark(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text are a value with this `Relation` to the other side."""

    start: int
    end: int
    relation: int


class Match(NamedTuple):
    """What a candidate has in common with its references.

    `candidate` has the marks of the candidate's values, each with its best relation to any reference, `references`
    those of each reference; values without a mark say nothing. `recall` is, for each reference, the share of its values
    that the candidate agrees with, in [0, 1]; one of which it says a part counts half.
    """

    candidate: tuple[Mark, ...]
    references: tuple[tuple[Mark, ...], ...]
    recall: tuple[float, ...]

    @property
    def best_reference(self) -> int:
        """Index of the reference that the candidate covers best; the first of equals."""
        return max(range(len(self.recall)), key=self.recall.__getitem__)


def match(candidate: str, references: Sequence[str], question: str | None = None) -> Match:
    """Compare a candidate with its references; about linear in the length of the texts."""
    said, wanted, asked = read(candidate), [read(text) for text in references], _asked(question or "")
    letters = asked.letters or _letters(candidate, references)
    ours = _with_letters(said, letters)
    theirs = [_with_letters(one, letters) for one in wanted]
    if any(map(_is_hollow, (said, *wanted))):
        ours, theirs = (
            _with_function_words(said, ours, theirs),
            [_with_function_words(one, values, [ours]) for one, values in zip(wanted, theirs, strict=True)],
        )
    keys = said.keys if ours is said.values else {value.key for value in ours}
    every = {value[0] for values in theirs for value in values}
    best, bests = _compare_all(said, wanted, asked.keys)
    rivals = asked.rivals if any(named_letter(one.text) for one in wanted) else frozenset[Hashable]()
    marks = _marks(ours, every, _stems(wanted, theirs), _other_forms(said, wanted, every), asked.keys, rivals, best)
    stems = _stems([said], [ours])
    marked = [  # a reference is no rival of itself
        _marks(values, keys, stems, _other_forms(one, (said,), keys), asked.keys, frozenset(), found)
        for one, values, found in zip(wanted, theirs, bests, strict=True)
    ]
    if CAN_COMPARE:
        marks, marked = _with_expressions(candidate, marks, references, marked)
    marks, marked = _with_arrangements(candidate, marks, references, marked, question)
    recall = [sum([_SHARE.get(mark[2], 0.0) for mark in each]) / max(len(each), 1) for each in marked]
    return Match(marks, tuple(marked), tuple(recall))


def _with_expressions(
    candidate: str, marks: tuple[Mark, ...], references: Sequence[str], marked: list[tuple[Mark, ...]]
) -> tuple[tuple[Mark, ...], list[tuple[Mark, ...]]]:
    """The marks with an expression as one value where both sides have one that can be compared."""
    wanted = {i: found for i, text in enumerate(references) if (found := find_expression(text))}
    said = find_expression(candidate) if wanted else None
    if said is None:
        return marks, marked
    relations = {i: equal(said.text, found.text) for i, found in wanted.items()}
    known = {i: SAME if same else OTHER for i, same in relations.items() if same is not None}
    if known:
        marks = _covered(marks, said, min(known.values()))
        marked = [_covered(one, wanted[i], known[i]) if i in known else one for i, one in enumerate(marked)]
    return marks, marked


def _with_arrangements(
    candidate: str,
    marks: tuple[Mark, ...],
    references: Sequence[str],
    marked: list[tuple[Mark, ...]],
    question: str | None,
) -> tuple[tuple[Mark, ...], list[tuple[Mark, ...]]]:
    """The marks where what counts is how values are arranged: the same arrangement of any reference agrees."""
    compared = {i: said for i, text in enumerate(references) if (said := arranged(candidate, text, question))}
    if not compared:
        return marks, marked
    best = max(compared.values(), key=attrgetter("same"))
    relations = {i: SAME if said.same else OTHER for i, said in compared.items()}
    wholes = {i: Expression(references[i], 0, len(references[i])) for i in compared}
    marks = _covered(marks, Expression("", best.start, best.end), SAME if best.same else OTHER)
    return marks, [_covered(one, wholes[i], relations[i]) if i in compared else one for i, one in enumerate(marked)]


def _covered(marks: Sequence[Mark], expression: Expression, relation: Relation) -> tuple[Mark, ...]:
    """The marks, with one for an expression instead of those inside it."""
    before = [mark for mark in marks if mark.end <= expression.start]
    after = [mark for mark in marks if mark.start >= expression.end]
    return (*before, Mark(expression.start, expression.end, relation), *after)


class _Asked(NamedTuple):
    """What a question has: the values before its options, those of its options, and the letters of these."""

    keys: Set[Hashable]
    rivals: Set[Hashable]
    letters: Set[str]


@lru_cache(maxsize=4_096)
def _asked(question: str) -> _Asked:
    stem, options = split_options(question)
    rivals: Set[Hashable] = frozenset().union(*[read(text).keys for text in options.values()])
    given = read(stem)
    plain = {key[0] for key, what in given.told.items() if type(key) is tuple and type(what) is Amount}  # 3 of 3 days
    return _Asked(given.keys | plain, rivals, frozenset(options))


Best = dict[Hashable, Relation]


def _compare_all(said: Reading, wanted: Sequence[Reading], asked: Set[Hashable]) -> tuple[Best, list[Best]]:
    """The best relation of each of a candidate's numbers and dates to those of the references, and the reverse.

    What only repeats the question agrees with no reference that says it otherwise.
    """
    best: Best = {}
    bests: list[Best] = []
    ours = list(islice(said.told.items(), _MOST))
    for one in wanted:
        found: Best = {}
        new = [(key, our) for key, our in ours if key not in one.told]
        for key, their in islice(one.told.items(), _MOST):
            for other, our in new if key in said.told else ours:  # what both have needs no comparison
                relation = compare(our, their)
                if relation and (relation < ASKED or not _repeats(other, asked)):
                    best[other] = min(relation, best.get(other, relation))
                    found[key] = min(relation, found.get(key, relation))
        bests.append(found)
    return best, bests


def _marks(
    values: Sequence[Word | Value],
    same: Set[Hashable],
    stems: Set[str],
    forms: Set[Hashable],
    asked: Set[Hashable],
    rivals: Set[Hashable],
    best: Best,
) -> tuple[Mark, ...]:
    """The values of a text with their relations to the other side."""
    marks = []
    for key, start, end, what in values:
        if key in same:
            relation = SAME
        elif type(what) is Form:
            if what[1] in stems or key in forms:
                relation = VARIANT
            else:
                relation = ASKED if key in asked else OTHER if key in rivals else ALONE
        elif type(what) is Option:
            relation = OTHER if any(type(other) is Option for other in same) else ALONE
        else:
            relation = best.get(key, ALONE)
            if relation > ASKED and _repeats(key, asked):
                relation = ASKED
        marks.append(_new(Mark, (start, end, relation)))
    return tuple(marks)


def _repeats(key: Hashable, asked: Set[Hashable]) -> bool:
    """Whether a number or date is one of the question, if only its number."""
    return key in asked or (type(key) is tuple and key[0] in asked)


def _stems(readings: Sequence[Reading], values: Sequence[Sequence[Word | Value]]) -> Set[str]:
    """The stems of the words of texts, without letters that name options there."""
    found = [
        one.stems if own is one.values else {value.what.stem for value in own if isinstance(value.what, Form)}
        for one, own in zip(readings, values, strict=True)
    ]
    return found[0] if len(found) == 1 else frozenset().union(*found)


def _other_forms(one: Reading, others: Iterable[Reading], same: Set[Hashable]) -> set[Hashable]:
    """The words of a text that the other side writes as one, as two, or as an acronym."""
    found: set[Hashable] = set()
    for other in others:
        missing = other.long_words - one.keys
        if missing:
            found.update(word for key in missing & one.pairs.keys() for word in one.pairs[key])
        alone = one.long_words - other.keys
        if alone:
            found.update(alone & other.pairs.keys())
        found.update([acronym for acronym in one.acronyms - same if other.spells(acronym) >= 0])
        for acronym in other.acronyms - one.keys:
            at = one.spells(acronym)
            found.update(one.words[at : at + len(acronym)] if at >= 0 else ())
    return found


def compare(candidate: Amount | Parts, reference: Amount | Parts) -> Relation | None:
    """What a candidate's number, quantity, date or time is to a reference's; None if they have nothing in common."""
    if type(candidate) is Amount and type(reference) is Amount:
        if not candidate.others and not reference.others:
            return _amounts(candidate, candidate.unit, reference, reference.unit)
        units = product((candidate.unit, *candidate.others), (reference.unit, *reference.others))
        found = [_amounts(candidate, ours, reference, theirs) for ours, theirs in units]
        return min([relation for relation in found if relation], default=None)
    ours, theirs = _as_parts(candidate), _as_parts(reference)
    if ours is None or theirs is None or ours.kind != theirs.kind:
        return None
    return min(
        _parts(one, other, same_notation=ours.notation == theirs.notation)
        for one in (ours.parts, ours.other or ours.parts)
        for other in (theirs.parts, theirs.other or theirs.parts)
    )


def _amounts(ours: Amount, one: Unit, theirs: Amount, other: Unit) -> Relation | None:
    """What a number in a unit is to another number in another unit."""
    if one.notation != other.notation:  # an ordinal, a Roman numeral or a year's era beside a number
        eras = {one.notation, other.notation} & {BEFORE_CHRIST.notation, AFTER_CHRIST.notation}
        if len(eras) == 2 or (eras and ours.number != theirs.number):
            return OTHER
        comparable = not one.dimension and not other.dimension and one.factor == other.factor
        return CONVERTED if comparable and ours.number == theirs.number else None
    if one.dimension == other.dimension:
        here, there = ours.number * one.factor + one.offset, theirs.number * other.factor + other.offset
        if one == other:  # beside an offset, as of degrees Celsius, small numbers would look the same
            here, there = ours.number * one.factor, theirs.number * other.factor
        if max(ours.figures, theirs.figures) <= EXACT and abs(here - there) <= 1e-9 * abs(there):
            return SAME if one == other else CONVERTED
        if _rounded(here, ours.step * one.factor, ours.figures, there, theirs.step * other.factor, theirs.figures):
            return ROUNDED
    if NO_UNIT in (one, other) and one != other:
        if ours.number == theirs.number:
            return VARIANT
        return ROUNDED if _rounded(*ours[:3], *theirs[:3]) else OTHER
    return OTHER if one.dimension == other.dimension or ours.number == theirs.number else None


def _rounded(one: float, step: float, figures: int, other: float, other_step: float, other_figures: int) -> bool:
    """Whether the more exact number is the other when rounded to its last figure; a step is that figure's value."""
    if step < other_step:
        step, other_step, figures = other_step, step, other_figures
    written = figures >= _FEWEST_FIGURES and step > other_step * (1 + 1e-9)
    return written and abs(one - other) <= step * 0.500001


def _as_parts(what: Amount | Parts) -> Parts | None:
    """A date or time; a number may be a year."""
    if isinstance(what, Parts):
        return what
    if what.unit == HOUR and what.figures >= _CLOCK_FIGURES and 0 <= what.number < 24:  # 15h30
        hour, minute = divmod(round(what.number * 60), 60)
        return Parts("time", (1 if hour > 11 else None, hour % 12, minute), "24 hours")
    year = what.unit in (NO_UNIT, AFTER_CHRIST) and what.step == 1 and _FIRST_YEAR <= what.number <= _LAST_YEAR
    return Parts("date", (int(what.number), None, None)) if year else None


def _parts(ours: Sequence[int | None], theirs: Sequence[int | None], *, same_notation: bool) -> Relation:
    """What a date or time is to another, by their parts."""
    more = less = False
    for one, other in zip(ours, theirs, strict=True):
        more |= other is None and one is not None
        less |= one is None and other is not None
        if one != other and one is not None and other is not None:
            return OTHER
    if more or less:
        return OTHER if more and less else MORE if more else LESS
    return SAME if same_notation else CONVERTED


def _letters(candidate: str, references: Sequence[str]) -> Set[str]:
    """The letters that name options where the question lists none: any, if a text is an option or lists several.

    None where a side has no letter: there is nothing to compare.
    """
    if not any(read(text).letters for text in references) or not read(candidate).letters:
        return frozenset()
    texts = [read(text).text for text in (candidate, *references)]
    named = any(named_letter(text) or lists_letters(text) for text in texts)
    return _ANY_LETTER if named else frozenset()


def _is_hollow(one: Reading) -> bool:
    """Whether a text has function words only: "The Who"."""
    return bool(one.values) and all(map(_stops, one.values))


def _with_function_words(
    one: Reading, values: Sequence[Word | Value], others: Sequence[Sequence[Word | Value]]
) -> Sequence[Word | Value]:
    """The values of a text, with those of its function words that count on the other side, which has nothing else."""
    counting = {value.key for found in others for value in found if _stops(value)}
    starts = {value.start for value in values}
    more = [token for token in one.tokens if token.key in counting and _stops(token) and token.start not in starts]
    return sorted([*values, *more], key=attrgetter("start")) if more else values


def _stops(value: Word | Value) -> bool:
    """Whether a value is a function word, which counts in a text that has nothing else."""
    return isinstance(value.what, Form) and bool(value.what.roles & STOP)


def _with_letters(one: Reading, letters: Set[str]) -> Sequence[Word | Value]:
    """The values of a text, with the letters that name options as such."""
    if not letters:
        return one.values
    named = [each for each in one.letters if each.what.letter in letters and not _is_inside(one.values, each.start)]
    if not named:
        return one.values
    starts = {letter.start for letter in named}
    kept = [value for value in one.values if value.start not in starts and not _stops(value)]
    return sorted([*kept, *named], key=attrgetter("start"))


def _is_inside(values: Sequence[Word | Value], at: int) -> bool:
    """Whether a character is one of a value, but not its first: the C of "25 °C"."""
    place = bisect_right(values, at, key=attrgetter("start")) - 1
    return place >= 0 and values[place].start < at < values[place].end
