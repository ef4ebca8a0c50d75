"""Rows of dates, times, names and explanations that are made up, with a similar incorrect answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from made import frames
from made.bank import Bank, Item, Made, Maker, Rows
from made.choosing import beside, filled, upper
from made.files import asked_lines, lines, pick, table
from made.frames import draw
from made.twins import ROUNDS, item_of, other_digit, twins
from made.values import Date, in_words, ordinal


def close_dates(bank: Bank, chance: Random) -> Rows:
    """A date in another spelling or in a sentence, and one with a digit changed, in the same form."""
    makers = (_day, _day, _day, _day, _month, _year, _year, _span, _time, _before_christ, _age)
    for _ in range(ROUNDS):
        question, reference, right, wrong, stated = chance.choice(makers)(chance)
        if right != wrong:
            yield from twins(item_of(question, reference, chance, wrong), right, wrong, chance, stated)


_Dated = tuple[str, str, str, str, str]  # question, reference, right, wrong, sentence


def neighbours(bank: Bank, chance: Random) -> Rows:
    """A fact of `neighbours.txt`, and what is easily taken for it: another city of the country, an artist of the time.

    A line that begins with "? " has two questions and a statement about each `THING = ANSWER = WRONG, WRONG` below.
    """
    for _ in range(ROUNDS):
        (*questions, statement), line = chance.choice(asked_lines("neighbours"))
        thing, right, wrongs = line.split(" = ")
        wrong = chance.choice(wrongs.split(", "))
        stated = frames.fill(statement, q=thing, x="{x}")
        item = item_of(frames.fill(chance.choice(questions), q=thing), right, chance, wrong)
        yield from twins(item, right, wrong, chance, stated[:1].upper() + stated[1:])


def event(asked: str, on: str, chance: Random) -> tuple[str, str]:
    """A question about when something happened, and a sentence that answers it."""
    subject, past, *did = pick(chance, "close", "events")
    verb = f"did the {subject} {did[0]}" if did else f"was the {subject} {past.removeprefix('was ')}"
    statement = frames.fill(pick(chance, "close", "event statements"), o=on + "{x}", O=on.capitalize() + "{x}")
    return f"{asked} {verb}?", frames.fill(statement, s=subject, p=past)


def _off_year(year: int, chance: Random) -> int:
    if chance.random() < 0.3:
        return year + chance.choice((-1, 1))
    return int(other_digit(str(year), chance, range(1 if year < 1950 else 2, 4)))


def _off_date(date: Date, chance: Random) -> Date:
    part = chance.choice([part for part in ("year", "month", "day") if getattr(date, part)])
    if part == "year":
        return date._replace(year=_off_year(date.year, chance))
    if part == "month":
        return date._replace(month=(date.month - 1 + chance.choice((-1, 1, 1, 5, -5, 6))) % 12 + 1)
    days = [day for day in (date.day + n for n in (-10, 10, -1, 1, 20)) if 1 <= day <= 28]
    return date._replace(day=chance.choice(days))


def _day(chance: Random) -> _Dated:
    right = Date(chance.randint(1700, 2020), chance.randint(1, 12), chance.randint(1, 28))
    wrong = _off_date(right, chance)
    asked = chance.choice(("When", "When", "On what date", "On which day, month and year", "On which exact date"))
    question, stated = event(asked, "on ", chance)
    if chance.random() < 0.35:
        style = chance.randrange(len(right.abroad()))
        return question, chance.choice(right.spellings()[:3]), right.abroad()[style], wrong.abroad()[style], ""
    # The first nine and the last six spellings are the same for every day.
    style = chance.choice(range(-6, 9)) if chance.random() < 0.4 else chance.choice((0, 2, 3, 5, -1, -2, -3))
    if style in (4, 5, 6, 7, 8, -4, -5, -6):
        stated = ""
    return question, chance.choice(right.spellings()[:3]), right.spellings()[style], wrong.spellings()[style], stated


def _month(chance: Random) -> _Dated:
    right = Date(chance.randint(1700, 2020), chance.randint(1, 12))
    wrong = _off_date(right, chance)
    question, stated = event(chance.choice(("When", "In which month and year", "In what month")), "in ", chance)
    style = chance.randrange(7)
    told = stated if style in (0, 2, 5) else ""
    if question.startswith("In what month"):  # the question does not ask for the year
        wrong = Date(right.year, wrong.month if wrong.month != right.month else right.month % 12 + 1)
    return question, chance.choice(right.spellings()[:3]), right.spellings()[style], wrong.spellings()[style], told


def _year(chance: Random) -> _Dated:
    right = chance.randint(1500, 2020)
    wrong = _off_year(right, chance)
    question, stated = event(chance.choice(("When", "In which year", "In what year")), "in ", chance)
    style = chance.choice((0, 0, 0, 1, 2, 3, 4, 5, 6))
    right_form, wrong_form = (Date(year).spellings()[style] for year in (right, wrong))
    return question, str(right), right_form, wrong_form, "" if style in (1, 3) else stated


def _span(chance: Random) -> _Dated:
    question, start = pick(chance, "close", "spans of years")
    first = chance.randint(1500, 1980)
    last = first + chance.randint(3, 40)
    ends = [(_off_year(first, chance), last), (first, _off_year(last, chance))]
    forms = table("close")["spans"]
    form, told = chance.choice(forms), chance.random() < 0.4
    form = chance.choice(forms[3:5]) if told else form
    wrong = chance.choice([end for end in ends if end[0] < end[1]] or [(first - 1, last)])
    reference, right = chance.choice(forms[:4]).format(first, last), form.format(first, last)
    return question, reference, right, form.format(*wrong), f"{start} {{x}}." if told else ""


def _time(chance: Random) -> _Dated:
    question, start = pick(chance, "close", "times of day")
    hour, minute = chance.choice((*range(1, 12), *range(13, 24))), chance.randrange(0, 60, 5)
    others = [(hour + n, minute) for n in (-1, 1) if (hour + n) % 12 and 0 < hour + n < 24]
    others += [((hour + 12) % 24, minute), (hour, (minute + 30) % 60), (hour, (minute + 10) % 60)]
    others += [(hour, (minute + 5) % 60), (hour, (minute - 5) % 60), (hour, (minute - 10) % 60)]
    form, reference = chance.randrange(6), chance.randrange(4)
    right, wrong = _clock(hour, minute, form), _clock(*chance.choice(others), form)
    return question, _clock(hour, minute, reference), right, wrong, f"{start} at {{x}}." if form < 5 else ""


def _clock(hour: int, minute: int, form: int) -> str:
    late, twelve = hour > 12, hour % 12
    part = "p.m." if late else "a.m."
    day = "in the morning" if not late else "in the afternoon" if hour < 18 else "in the evening"
    spoken = in_words(twelve)
    past = {0: f"{spoken} o'clock", 15: f"a quarter past {spoken}", 30: f"half past {spoken}"}
    words = past.get(minute) or f"{in_words(minute)} minutes past {spoken}"
    slots = {"p": part, "bare": part.replace(".", ""), "words": words, "day": day}
    return table("close")["clock"][form].format(h=hour, t=twelve, m=minute, **slots)


def _before_christ(chance: Random) -> _Dated:
    subject, past = pick(chance, "close", "ancient events")
    year = str(chance.randint(101, 989))
    off = other_digit(year, chance, range(3))
    form = pick(chance, "close", "before Christ")
    wrong = f"AD {year}" if chance.random() < 0.15 else form.format(off)
    question = f"{chance.choice(('When', 'In what year'))} was the {subject} {past}?"
    reference = f"{year} {chance.choice(('BC', 'BCE'))}"
    return question, reference, form.format(year), wrong, f"The {subject} was {past} in {{x}}."


def _age(chance: Random) -> _Dated:
    """A century or a decade."""
    if chance.random() < 0.5:
        right = chance.randint(6, 20)
        wrong = chance.choice([n for n in (right - 10, right + 10, right - 1, right + 1) if 1 <= n <= 21])
        form = pick(chance, "close", "centuries")
        question, stated = event("In which century", "in ", chance)
        reference, right, wrong = (f"the {ordinal(right)} century", *(form.format(ordinal(n)) for n in (right, wrong)))
        return question, reference, right, wrong, stated
    decade = chance.randrange(1610, 2000, 10)
    off = decade + chance.choice((-10, 10, 100, -100))
    text = str(decade)
    turned = int(f"1{text[2]}{text[1]}0")
    off = turned if turned != decade and turned > 1600 and chance.random() < 0.5 else off
    question, stated = event("In which decade", "in ", chance)
    form = pick(chance, "close", "decades")
    return question, f"the {decade}s", form.format(decade), form.format(off), stated


def close_names(bank: Bank, chance: Random) -> Rows:
    """A name, perhaps in another common form, and one that shares a word or a shape with it."""
    for _ in range(ROUNDS):
        question, told, names = pick(chance, "close", "names")
        right, wrong = (name.split("=") for name in chance.sample(names, 2))
        reference = right[0] if chance.random() < 0.8 else chance.choice(right)
        bare = r"^the " if chance.random() < 0.3 else r"^$"
        one, two = (re.sub(bare, "", chance.choice(name)) for name in (right, wrong))
        item = item_of(question, reference, chance, two)
        yield from twins(item, one, two, chance, told)


def explanations(bank: Bank, chance: Random) -> Rows:
    """A short explanation in other words, and one that gets it the wrong way round."""
    for item, right, _ in explained(chance):
        opening = pick(chance, "close", "explained")
        for label, text in ((1, right), (0, item.wrong)):
            yield item, Made(label, _say(opening, text))


def beside_the_point(bank: Bank, chance: Random) -> Rows:
    """Text on the topic of a question that explains nothing; with an explanation in it, the explanation counts."""
    for item, right, points in explained(chance):
        opening, first = pick(chance, "close", "explained"), chance.random() < 0.5
        texts = chance.sample(points, chance.choice((1, 1, 1, 2)))
        if chance.random() < 0.2:
            texts.insert(0, filled(draw("vague", chance), item, chance))
        whole = " ".join(upper(frames.sentence(text)) for text in texts)
        alone = whole if len(texts) > 1 else chance.choice((texts[0], _say(opening, texts[0].rstrip("."))))

        def answered(answer: str, whole: str = whole, opening: str = opening, first: bool = first) -> str:
            statement = frames.sentence(_say(opening, answer))
            return f"{statement} {whole}" if first else f"{whole} {statement}"

        yield from ((item, made) for made in beside(alone, answered, (right, item.wrong), chance))


def of_explanations(maker: Maker) -> Callable[[Bank, Random], Rows]:
    """A kind of rows: what `maker` makes of questions that ask for an explanation."""

    def make(bank: Bank, chance: Random) -> Rows:
        for item, *_ in explained(chance):
            yield from ((item, made) for made in maker(bank, item, chance))

    return make


def explained(chance: Random) -> Iterator[tuple[Item, str, list[str]]]:
    """Questions that ask for an explanation, with a correct one in other words, and texts that are beside the point.

    `explanations.txt` has three lines for each question: itself and correct answers in several wordings;
    incorrect ones; texts on its topic that do not answer it.
    """
    rows = [line.split(" | ") for line in lines("explanations")]
    for _ in range(ROUNDS):
        place = chance.randrange(0, len(rows), 3)
        (question, *rights), wrongs, points = rows[place : place + 3]
        reference, same = chance.sample(rights, 2)
        right, wrong = same if chance.random() < 0.9 else reference, chance.choice(wrongs)
        item = item_of(question, reference, chance, wrong)
        yield replace(item, same=tuple(other for other in rights if other != reference)), right, points


def _say(frame: str, text: str) -> str:
    return frames.fill(frame, x=text, y=text[:1].upper() + text[1:])
