"""Dates and times of day, with any of their parts missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bert_judge.reading import tables
from bert_judge.reading.words import DATE, MONTH, NAMED_TIMES, NUMBER, TIME, Moment, Recognised, Word, gap_before

_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_FILLERS = _ENDINGS | frozenset("the of in de del er".split())  # between the parts of a date
_GAP = re.compile(r"[ ,./'-]{0,3}")
_ORDERS = ("DMY", "MDY", "YMD", "MY", "YM", "DM", "MD")
_DAY_HALVES = {"am": 0, "pm": 1, "morning": 0, "afternoon": 1, "evening": 1, "night": 1, **NAMED_TIMES}
_HALF_AFTER = re.compile(r" ?(?:o'clock)?,? ?(?:in the (morning|afternoon|evening)|at (night))\b|( ?o'clock)\b")
_SMALL_HOURS = 5  # at night these come after midnight


def date_at(tokens: Sequence[Word], i: int, text: str) -> Recognised[Moment] | None:
    """The date that begins with token `i`."""
    form = tokens[i].content
    if form.roles & DATE:
        numeric = _numeric(form.text)
        return numeric and _recognised(tokens, i, i + 1, numeric)
    if form.roles & NUMBER and _part_after(tokens, i, text):
        return _in_han(tokens, i, text)
    parts = _parts_from(tokens, i, text)
    for order in _ORDERS:
        kinds = [kind for kind, _, _ in parts[: len(order)]]
        if len(kinds) < len(order) or any(letter not in kind for letter, kind in zip(order, kinds, strict=True)):
            continue
        if order[0] == "Y" and gap_before(tokens, i + 1, text) not in (" ", "-"):
            continue  # "in 1918. November 11"
        number = {letter: parts[n][1] for n, letter in enumerate(order)}
        end = parts[len(order) - 1][2] + 1
        end += gap_before(tokens, end, text) == "" and tokens[end].key in _ENDINGS
        return _recognised(tokens, i, end, _date(number.get("Y"), number.get("M"), number.get("D")))
    is_name = form.key in tables.MONTHS_ALONE or form.key in tables.MONTHS_CAPITALISED
    month = _month(tokens[i]) if is_name and form.text[0].isupper() else 0
    return _recognised(tokens, i, i + 1, _date(None, month, None)) if month else None


def time_at(tokens: Sequence[Word], i: int, text: str) -> Recognised[Moment] | None:
    """The time of day that begins with token `i`: "3:30 pm", "15:30", "3 p.m.", "5:30 in the morning", "noon"."""
    token = tokens[i]
    if token.key in NAMED_TIMES:
        return _recognised(tokens, i, i + 1, Moment("time", (NAMED_TIMES[token.key], 0, 0)))
    half = _DAY_HALVES.get(tokens[i + 1].key) if gap_before(tokens, i + 1, text) in ("", " ") else None
    end = i + 1 + (half is not None)
    in_words = _HALF_AFTER.match(text, token.end) if half is None else None
    if in_words:
        end = next((n for n in range(i, len(tokens)) if tokens[n].start >= in_words.end()), len(tokens))
        half = _DAY_HALVES.get(in_words[1] or in_words[2] or "")
    if token.content.roles & TIME and ":" in token.content.text:
        hour, minute = map(int, token.content.text.split(":")[:2])
    elif (half is not None or in_words) and token.content.text.isdecimal():
        hour, minute = int(token.content.text[:3]), 0
    else:
        return None
    if hour > 24 or (half is not None and not 1 <= hour <= 12):
        return None
    if half is None:
        # On a 24-hour clock 12:00 is noon, 0:00 and 24:00 are midnight, 03:30 is in the morning, 3:30 in either half.
        half = 1 if 12 <= hour < 24 else 0 if hour in (0, 24) or token.content.text[0] == "0" else None
        notation = "24 hours" if half is not None and hour != 12 else ""
        return _recognised(tokens, i, end, Moment("time", (half, hour % 12, minute), notation))
    if in_words and in_words[2] and (hour <= _SMALL_HOURS or hour == 12):
        half = 0
    return _recognised(tokens, i, end, Moment("time", (half, hour % 12, minute)))


def _date(year: int | None, month: int | None, day: int | None) -> Moment:
    return Moment("date", (year, month, day))


def _recognised(tokens: Sequence[Word], i: int, end: int, moment: Moment) -> Recognised[Moment]:
    return Recognised(end, tokens[i].start, tokens[end - 1].end, moment)


def _parts_from(tokens: Sequence[Word], i: int, text: str) -> list[tuple[str, int, int]]:
    """Up to three parts of a date from token `i` on: the kind of each (D, M or Y), its number, and its token."""
    parts: list[tuple[str, int, int]] = []
    for place in range(i, min(i + 7, len(tokens))):
        token = tokens[place]
        if place > i and not _GAP.fullmatch(gap_before(tokens, place, text)):
            break
        digits = token.content.text
        if month := _month(token):
            parts.append(("M", month, place))
        elif token.content.roles & NUMBER and digits.isdecimal() and len(digits) < 5:
            number = int(digits)
            if not 1 <= number <= 31 and not 1000 <= number <= 2100:
                break
            parts.append(("D" if number <= 31 else "Y", number, place))
        elif token.key not in _FILLERS or place == i:
            break
        if len(parts) == 3:
            break
    return parts


def _month(token: Word) -> int:
    return tables.MONTHS.get(token.key, 0) if token.content.roles & MONTH else 0


def _numeric(text: str) -> Moment | None:
    """A date in numbers: 1918-05-03, 3.5.1918, 05/1918, or 05/03/1918, which is in March or in May."""
    numbers = [int(part) for part in re.split(r"\D", text)]
    if len(numbers) == 2:
        return _date(numbers[1], numbers[0], None)
    if numbers[0] > 31:
        year, month, day = numbers
        dates = [(year, month, day)]
    else:
        first, second, year = numbers
        day_first = "." in text or first > 12
        dates = [(year, second, first)] if day_first else [(year, first, second), (year, second, first)]
    dates = [date for date in dict.fromkeys(dates) if 1 <= date[1] <= 12 and 1 <= date[2] <= 31]
    return Moment("date", dates[0], other=dates[1] if len(dates) > 1 else None) if dates else None


def _part_after(tokens: Sequence[Word], i: int, text: str) -> str:
    """The part of a date that the character after a number names: "month" for 5月."""
    is_number = gap_before(tokens, i + 1, text) == "" and tokens[i].content.text.isdecimal()
    return tables.DATE_MARKS.get(tokens[i + 1].content.text, "") if is_number else ""


def _in_han(tokens: Sequence[Word], i: int, text: str) -> Recognised[Moment] | None:
    """A date like 1918年5月3日."""
    parts: dict[str, int] = {}
    end = i
    while end < len(tokens) and (part := _part_after(tokens, end, text)) and part not in parts:
        parts[part] = int(tokens[end].content.text)
        end += 2
    date = _date(parts.get("year"), parts.get("month"), parts.get("day"))
    return _recognised(tokens, i, end, date) if len(parts) > 1 else None
