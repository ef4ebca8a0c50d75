"""Dates and times of day, with any of their parts missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bert_judge.reading import tables
from bert_judge.reading.values import Moment, Recognised, Word
from bert_judge.reading.words import DATE, MONTH, NAMED_TIMES, NUMBER, TIME, gap_before

_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_FILLERS = _ENDINGS | frozenset("the of in de del er".split())  # between the parts of a date
_GAP = re.compile(r"[ ,./'-]{0,3}")
_ORDERS = ("DMY", "MDY", "YMD", "MY", "YM", "DM", "MD")
_DAY_HALVES = {"am": 0, "pm": 1, "morning": 0, "afternoon": 1, "evening": 1, "night": 1, **NAMED_TIMES}
_HALF_AFTER = re.compile(r" ?(?:o'clock)?,? ?(?:in the (morning|afternoon|evening)|at (night))\b|( ?o'clock)\b")
_SMALL_HOURS = 5  # at night these come after midnight


def date_at(tokens: Sequence[Word], i: int, text: str) -> Recognised[Moment] | None:
    """The date that begins with token `i`."""
    if tokens[i].content.roles & DATE:
        numeric = _numeric(tokens[i].content.text)
        return numeric and _recognised(tokens, i, i + 1, numeric)
    if tokens[i].content.roles & NUMBER and _part_after(tokens, i):
        return _in_han(tokens, i)
    parts = _parts_from(tokens, i, text)
    for order in _ORDERS:
        kinds = [kind for kind, _, _ in parts[: len(order)]]
        if len(kinds) == len(order) and all(letter in kind for letter, kind in zip(order, kinds, strict=True)):
            if order[0] == "Y" and gap_before(tokens, i + 1, text) not in (" ", "-"):
                continue  # "in 1918. November 11"
            by_letter = {letter: parts[n][1] for n, letter in enumerate(order)}
            end = parts[len(order) - 1][2] + 1
            ending = tokens[end] if end < len(tokens) else None
            end += ending is not None and ending.key in _ENDINGS and ending.start == tokens[end - 1].end
            return _recognised(
                tokens, i, end, Moment("date", (by_letter.get("Y"), by_letter.get("M"), by_letter.get("D")))
            )
    month = _month(tokens[i])
    alone = month and (tokens[i].key in tables.MONTHS_ALONE or tokens[i].key in tables.MONTHS_CAPITALISED)
    if not alone or not tokens[i].content.text[0].isupper():
        return None
    return _recognised(tokens, i, i + 1, Moment("date", (None, month, None)))


def time_at(tokens: Sequence[Word], i: int, text: str) -> Recognised[Moment] | None:
    """The time of day that begins with token `i`: "3:30 pm", "15:30", "3 p.m.", "5:30 in the morning", "noon"."""
    token = tokens[i]
    if token.key in NAMED_TIMES:
        return _recognised(tokens, i, i + 1, Moment("time", (NAMED_TIMES[token.key], 0, 0)))
    after = tokens[i + 1] if i + 1 < len(tokens) and gap_before(tokens, i + 1, text) in ("", " ") else None
    half = _DAY_HALVES.get(after.content.key) if after else None
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
        # Of a 24-hour clock: 12:00 is noon, 0:00 and 24:00 are midnight, 03:30 is in the morning, 3:30 in either half.
        half = 1 if 12 <= hour < 24 else 0 if hour in (0, 24) or token.content.text[0] == "0" else None
        notation = "24 hours" if half is not None and hour != 12 else ""
        return _recognised(tokens, i, end, Moment("time", (half, hour % 12, minute), notation))
    if in_words and in_words[2] and (hour <= _SMALL_HOURS or hour == 12):
        half = 0
    return _recognised(tokens, i, end, Moment("time", (half, hour % 12, minute)))


def _recognised(tokens: Sequence[Word], i: int, end: int, moment: Moment) -> Recognised[Moment]:
    return Recognised(end, tokens[i].start, tokens[end - 1].end, moment)


def _parts_from(tokens: Sequence[Word], i: int, text: str) -> list[tuple[str, int, int]]:
    """Up to three parts of a date from token `i` on: each one's kind (D, M or Y), its number, and its token."""
    parts: list[tuple[str, int, int]] = []
    for place in range(i, min(i + 7, len(tokens))):
        token = tokens[place]
        if place > i and not _GAP.fullmatch(text[tokens[place - 1].end : token.start]):
            break
        month = _month(token)
        if month:
            parts.append(("M", month, place))
        elif token.content.roles & NUMBER and token.content.text.isdecimal():
            number = int(token.content.text) if len(token.content.text) < 5 else 0
            kind = "D" if 1 <= number <= 31 else "Y" if 1000 <= number <= 2100 else ""
            if not kind:
                break
            parts.append((kind, number, place))
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
        month, year = numbers
        return Moment("date", (year, month, None))
    if numbers[0] > 31:
        year, month, day = numbers
        dates = [(year, month, day)]
    else:
        first, second, year = numbers
        day_first = "." in text or first > 12
        dates = [(year, second, first)] if day_first else [(year, first, second), (year, second, first)]
    dates = [date for date in dict.fromkeys(dates) if 1 <= date[1] <= 12 and 1 <= date[2] <= 31]
    return Moment("date", dates[0], other=dates[1] if len(dates) > 1 else None) if dates else None


def _part_after(tokens: Sequence[Word], i: int) -> str:
    """The part of a date that the character after a number names: "month" for 5月."""
    if i + 1 >= len(tokens) or tokens[i + 1].start != tokens[i].end or not tokens[i].content.text.isdecimal():
        return ""
    return tables.DATE_MARKS.get(tokens[i + 1].content.text, "")


def _in_han(tokens: Sequence[Word], i: int) -> Recognised[Moment] | None:
    """A date like 1918年5月3日."""
    parts: dict[str, int] = {}
    end = i
    while end < len(tokens) and (part := _part_after(tokens, end)) and part not in parts:
        parts[part] = int(tokens[end].content.text)
        end += 2
    if len(parts) < 2:
        return None
    return _recognised(tokens, i, end, Moment("date", (parts.get("year"), parts.get("month"), parts.get("day"))))
