"""Rows about how precise an answer has to be: vague dates and numbers, and dates that are told from another date."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from made.bank import Bank, Rows
from made.close import event
from made.twins import ROUNDS, item_of, twins
from made.values import Date, in_words, ordinal

_SEASONS = ("winter", "spring", "summer", "autumn")
_THIRDS = ("early", "mid-", "late")


def less_precise(bank: Bank, chance: Random) -> Rows:
    """A value that is less precise than the question asks for is incorrect; the value itself, in such words, counts."""
    for _ in range(ROUNDS):
        yield from chance.choice((_vague_date, _vague_date, _vague_number, _vague_year, _wider_question))(chance)


def _vague_date(chance: Random) -> Rows:
    day = Date(chance.randint(1900, 2024), chance.randint(1, 12), chance.randint(1, 28))
    asked = chance.choice(("When exactly", "On what date", "On which day", "On which day, month and year"))
    question, stated = event(asked, "", chance)
    season = _SEASONS[day.month % 12 // 3]
    part = _THIRDS[(day.month % 3 + 1) % 3]
    month = day.spellings()[0].split()[1] if day.spellings()[0].split()[1].isalpha() else ""
    vague = [
        *(f"some time in {season}", f"in the {season}", f"in the {season} of {day.year}", f"in {part} {season}"),
        *(f"at some point in {day.year}", f"around {day.year}", f"in the {day.year // 10 * 10}s", "a long time ago"),
        *(
            f"in the {'first' if day.month < 7 else 'second'} half of {day.year}",
            "some years ago",
            "one day in the past",
        ),
        *([f"one day in {month}", f"some day in {month} {day.year}"] if month else []),
    ]
    right, wrong = chance.choice(day.spellings()[:4]), chance.choice(vague).replace("mid- ", "mid-")
    item = item_of(question, chance.choice(day.spellings()[:3]), chance, wrong)
    yield from twins(item, f"on {right}", wrong, chance, stated)


def _vague_year(chance: Random) -> Rows:
    year = chance.randint(1750, 2020)
    question, stated = event(chance.choice(("In which year", "In what year", "In exactly which year")), "", chance)
    vague = [
        *(f"in the {year // 10 * 10}s", f"in the {ordinal(year // 100 + 1)} century", f"around {year // 10 * 10}"),
        *(f"between {year - 6} and {year + 7}", f"before {year + 9}", f"after {year - 8}", "many years ago"),
        *("a while back", f"some time after {year // 100 * 100}"),
    ]
    right = chance.choice((f"in {year}", f"in {year}", f"in the {chance.choice(_SEASONS[1:])} of {year}"))
    wrong = chance.choice(vague)
    yield from twins(item_of(question, str(year), chance, wrong), right, wrong, chance, stated)


def _wider_question(chance: Random) -> Rows:
    """Where the question asks for a decade or a century, a year or a date within it is correct."""
    year = chance.randint(1510, 1999)
    asked, reference, off = chance.choice(
        (
            ("In which decade", f"the {year // 10 * 10}s", 10),
            ("In which century", f"the {ordinal(year // 100 + 1)} century", 100),
            ("Roughly when", f"around {year}", 60),
        )
    )
    question, stated = event(asked, "", chance)
    wrong = year + chance.choice((-2, -1, 1, 2)) * off
    season = chance.choice(_SEASONS)
    form = chance.choice(("in {}", f"in the {season} of {{}}", "in May {}", "in the year {}"))
    if asked == "Roughly when" and form != "in {}":
        form = "about {}"
    item = item_of(question, reference, chance, form.format(wrong))
    yield from twins(item, form.format(year), form.format(wrong), chance, stated)


def _vague_number(chance: Random) -> Rows:
    number = chance.choice((chance.randint(13, 99), chance.randint(101, 999), chance.randint(1_100, 90_000)))
    thing = chance.choice(("visitors", "pages", "sheep", "letters", "members", "steps", "coins", "houses", "seats"))
    verb = chance.choice(("were counted", "were there", "did the report mention"))
    power = 10 ** (len(str(number)) - 1)
    low = number // power * power
    vague = [
        *(f"more than {low - power // 2}", f"fewer than {low + 2 * power}", f"between {low} and {low + power}"),
        *("a lot", "quite a few", "several", "not very many", "plenty", "a number of them", "dozens"),
        *({2: ["tens of them"], 3: ["hundreds"], 4: ["thousands"], 5: ["tens of thousands"]}[len(str(number))]),
    ]
    if chance.random() < 0.3:  # about how many
        near, far = round(number / power * 20) * power // 20, number * chance.choice((3, 4)) // 2
        asked, right, wrong = f"About how many {thing} {verb}?", f"about {near}", f"about {far}"
        if abs(near - number) * 20 > number:
            return
    else:
        words = in_words(number) if number < 1000 else f"{number:,}"
        asked = f"{chance.choice(('How many', 'Exactly how many'))} {thing} {verb}?"
        right, wrong = chance.choice((f"exactly {number}", str(number), words)), chance.choice(vague)
    yield from twins(item_of(asked, f"{number:,}", chance, wrong), right, wrong, chance)


def relative_dates(bank: Bank, chance: Random) -> Rows:
    """A day told from another day, and one that is another day; the reference or the candidate is the relative one."""
    for _ in range(ROUNDS):
        day = date(chance.randint(1990, 2025), chance.randint(1, 12), chance.randint(1, 28))
        question, stated = event("When", "", chance)
        off = day + timedelta(days=chance.choice((-14, -7, -2, -1, 1, 2, 7, 14, 30)))
        seed = chance.random()  # the same distance for both
        if chance.random() < 0.5:  # the day of speaking is part of the question
            today = day + timedelta(days=chance.choice((-7, -2, -1, 1, 2, 3, 7)))
            question = f"(Written on {_written(today)}.) {question}"
            right, wrong = (_from_today(one, today) for one in (day, off))
        else:
            right, wrong = (_told(one, Random(seed)) for one in (day, off))
        if not right or not wrong:
            continue
        reference = _written(day)
        if chance.random() < 0.35:
            reference, right, wrong = right, f"on {_written(day)}", f"on {_written(off)}"
        yield from twins(item_of(question, reference, chance, wrong), right, wrong, chance, stated)


def _written(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _told(day: date, chance: Random) -> str:
    """A day by its distance from another one."""
    distance = chance.choice((1, 1, 2, 3, 7, 14))
    other = day + timedelta(days=chance.choice((-1, 1)) * distance)
    side = "before" if other > day else "after"
    words = {1: "the day", 7: "a week", 14: "two weeks"}.get(distance) or f"{in_words(distance)} days"
    if distance < 7 and chance.random() < 0.3:  # the nearest one, which is less than a week away
        return f"on the {day:%A} {side} {_written(other)}"
    return f"{words} {side} {_written(other)}"


def _from_today(day: date, today: date) -> str:
    """A day as somebody tells it who speaks on another day; empty where there is no usual word for it."""
    days = (day - today).days
    near = {0: "today", 1: "tomorrow", -1: "yesterday", 2: "the day after tomorrow", -2: "the day before yesterday"}
    if days in near:
        return near[days]
    if days in (7, -7):
        return f"{'in one week' if days > 0 else 'one week ago'}"
    return f"in {in_words(days)} days" if 0 < days < 30 else f"{in_words(-days)} days ago" if -30 < days < 0 else ""
