"""Dates and times of day, any part of which may be absent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bert_judge.reading.evidence import tables
from bert_judge.reading.evidence.values import Found, Parts, Word
from bert_judge.reading.evidence.words import DATE, MONTH, NAMED_TIMES, NUMBER, TIME

_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_PASSED = _ENDINGS | frozenset("the of in de del er".split())  # in a date, between its parts
_GAP = re.compile(r"[ ,./'-]{0,3}")
_ORDERS = ("DMY", "MDY", "YMD", "MY", "YM", "DM", "MD")
_HALVES = {"am": 0, "pm": 1, "morning": 0, "afternoon": 1, "evening": 1, "night": 1, **NAMED_TIMES}
_HALF = re.compile(r" ?(?:o'clock)?,? ?(?:in the (morning|afternoon|evening)|at (night))\b|( ?o'clock)\b")
_SMALL_HOURS = 5  # at night these come after midnight


def date_at(tokens: Sequence[Word], i: int, text: str) -> Found[Parts] | None:
    """The date that begins with token `i`."""
    if tokens[i].what.roles & DATE:
        numeric = _numeric(tokens[i].what.text)
        return numeric and _found(tokens, i, i + 1, numeric)
    if tokens[i].what.roles & NUMBER and _mark(tokens, i):
        return _marked(tokens, i)
    places = _parts_from(tokens, i, text)
    for order in _ORDERS:
        kinds = [kind for kind, _, _ in places[: len(order)]]
        if len(kinds) == len(order) and all(letter in kind for letter, kind in zip(order, kinds, strict=True)):
            if order[0] == "Y" and text[tokens[i].end : tokens[i + 1].start] not in (" ", "-"):
                continue  # "in 1918. November 11"
            found = {letter: places[n][1] for n, letter in enumerate(order)}
            place = places[len(order) - 1][2] + 1
            ending = tokens[place] if place < len(tokens) else None
            place += ending is not None and ending.key in _ENDINGS and ending.start == tokens[place - 1].end
            return _found(tokens, i, place, Parts("date", (found.get("Y"), found.get("M"), found.get("D"))))
    month = _month(tokens[i])
    alone = month and (tokens[i].key in tables.MONTHS_ALONE or tokens[i].key in tables.MONTHS_CAPITALISED)
    if not alone or not tokens[i].what.text[0].isupper():
        return None
    return _found(tokens, i, i + 1, Parts("date", (None, month, None)))


def time_at(tokens: Sequence[Word], i: int, text: str) -> Found[Parts] | None:
    """The time of day that begins with token `i`: "3:30 pm", "15:30", "3 p.m.", "5:30 in the morning", "noon"."""
    token = tokens[i]
    if token.key in NAMED_TIMES:
        return _found(tokens, i, i + 1, Parts("time", (NAMED_TIMES[token.key], 0, 0)))
    after = tokens[i + 1] if i + 1 < len(tokens) and text[token.end : tokens[i + 1].start] in ("", " ") else None
    half = _HALVES.get(after.what.key) if after else None
    place = i + 1 + (half is not None)
    said = _HALF.match(text, token.end) if half is None else None
    if said:
        place = next((n for n in range(i, len(tokens)) if tokens[n].start >= said.end()), len(tokens))
        half = _HALVES.get(said[1] or said[2] or "")
    if token.what.roles & TIME and ":" in token.what.text:
        hour, minute = map(int, token.what.text.split(":")[:2])
    elif (half is not None or said) and token.what.text.isdecimal():
        hour, minute = int(token.what.text[:3]), 0
    else:
        return None
    if hour > 24 or (half is not None and not 1 <= hour <= 12):
        return None
    if half is None:
        # Twelve is noon; midnight is 0 or 24 where nothing else is said.
        known = 1 if 12 <= hour < 24 else 0 if hour in (0, 24) or token.what.text[0] == "0" else None
        notation = "24 hours" if known is not None and hour != 12 else ""
        return _found(tokens, i, place, Parts("time", (known, hour % 12, minute), notation))
    if said and said[2] and (hour <= _SMALL_HOURS or hour == 12):
        half = 0
    return _found(tokens, i, place, Parts("time", (half, hour % 12, minute)))


def _found(tokens: Sequence[Word], i: int, place: int, what: Parts) -> Found[Parts]:
    return Found(place, tokens[i].start, tokens[place - 1].end, what)


def _parts_from(tokens: Sequence[Word], i: int, text: str) -> list[tuple[str, int, int]]:
    """Up to three parts of a date from token `i` on: which they can be (of D, M, Y), the number, and its token."""
    found: list[tuple[str, int, int]] = []
    for place in range(i, min(i + 7, len(tokens))):
        token = tokens[place]
        if place > i and not _GAP.fullmatch(text[tokens[place - 1].end : token.start]):
            break
        month = _month(token)
        if month:
            found.append(("M", month, place))
        elif token.what.roles & NUMBER and token.what.text.isdecimal():
            number = int(token.what.text) if len(token.what.text) < 5 else 0
            kind = "D" if 1 <= number <= 31 else "Y" if 1000 <= number <= 2100 else ""
            if not kind:
                break
            found.append((kind, number, place))
        elif token.key not in _PASSED or place == i:
            break
        if len(found) == 3:
            break
    return found


def _month(token: Word) -> int:
    return tables.MONTHS.get(token.key, 0) if token.what.roles & MONTH else 0


def _numeric(text: str) -> Parts | None:
    """1918-05-03, 3.5.1918, 05/1918, or 05/03/1918, which is in March or in May."""
    numbers = [int(part) for part in re.split(r"\D", text)]
    if len(numbers) == 2:
        month, year = numbers
        return Parts("date", (year, month, None))
    if numbers[0] > 31:
        year, month, day = numbers
        readings = [(year, month, day)]
    else:
        one, two, year = numbers
        readings = [(year, two, one)] if "." in text or one > 12 else [(year, one, two), (year, two, one)]
    readings = [reading for reading in dict.fromkeys(readings) if 1 <= reading[1] <= 12 and 1 <= reading[2] <= 31]
    return Parts("date", readings[0], other=readings[1] if len(readings) > 1 else None) if readings else None


def _mark(tokens: Sequence[Word], i: int) -> str:
    """What the character after a number says that it is in a date: 5月 is a month."""
    if i + 1 >= len(tokens) or tokens[i + 1].start != tokens[i].end or not tokens[i].what.text.isdecimal():
        return ""
    return tables.DATE_MARKS.get(tokens[i + 1].what.text, "")


def _marked(tokens: Sequence[Word], i: int) -> Found[Parts] | None:
    """1918年5月3日."""
    parts: dict[str, int] = {}
    place = i
    while place < len(tokens) and (mark := _mark(tokens, place)) and mark not in parts:
        parts[mark] = int(tokens[place].what.text)
        place += 2
    if len(parts) < 2:
        return None
    return _found(tokens, i, place, Parts("date", (parts.get("year"), parts.get("month"), parts.get("day"))))
