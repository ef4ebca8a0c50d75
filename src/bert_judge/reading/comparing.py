"""How two numbers, quantities, dates or times agree."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import product
from math import isclose

from bert_judge.reading.quantities import HOUR
from bert_judge.reading.tables import NO_UNIT, Unit
from bert_judge.reading.words import AFTER_CHRIST, BEFORE_CHRIST, EXACT, Amount, Moment


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

_LEAST_ROUNDED = 2  # figures of a rounded number
_LEAST_CLOCK = 3  # figures of hours and minutes together
_FIRST_YEAR, _LAST_YEAR = 1_000, 2_100  # that a number alone can be


def compare(candidate: Amount | Moment, reference: Amount | Moment) -> Relation | None:
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
    """The relation of two dates or times, by their parts."""
    more = less = False
    for part, other in zip(parts, others, strict=True):
        more |= other is None and part is not None
        less |= part is None and other is not None
        if part != other and part is not None and other is not None:
            return OTHER
    if more or less:
        return OTHER if more and less else MORE if more else LESS
    return SAME if same_notation else CONVERTED
