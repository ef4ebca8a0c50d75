"""Rows about questions with options, and about yes and no."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from made import frames
from made.bank import LETTERS, Bank, Item, Made, Rows, option
from made.choosing import beside
from made.files import pick, table

_LISTED = re.compile(r"^\(([A-J])\) (.*)", re.MULTILINE)


def letters(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """The letter alone."""
    frame = pick(chance, "options", "letters")
    tail = f" {chance.choice(table('options')['because'])}" if chance.random() < 0.2 and len(frame) > 6 else ""
    for label, place in _two_places(item, chance):
        text = frames.fill(frame, x=LETTERS[place])
        yield Made(label, frames.sentence(text) + tail if tail else text)


def option_words(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """The text of an option without its letter."""
    for label, place in _two_places(item, chance):
        yield Made(label, frames.plain(option(item, place), item.question.split("\n")[0], chance))


def letter_and_text(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Letter and text of one option are as correct as the option; a letter with the text of another is incorrect."""
    frame, form = pick(chance, "options", "around both"), pick(chance, "options", "letter with text")
    right, other = item.place, item.other_place(chance)
    mixed = chance.choice(((right, other), (other, right), (other, other)))
    for label, (letter, text) in ((1, (right, right)), (0, mixed)):
        chosen = frames.fill(form, l=LETTERS[letter], t=option(item, text))
        yield Made(label, frames.fill(frame, x=chosen))


def written(item: Item, chance: Random) -> tuple[str, tuple[str, ...]]:
    """Question and references as different data sets write them: "(A) iron", "A) iron", "A. iron", "A" or "iron"."""
    if not item.choices:
        return item.question, item.references
    style, roll = pick(chance, "options", "styles"), chance.random()
    question = _LISTED.sub(lambda found: frames.fill(style, l=found[1], t=found[2]), item.question)
    style = "{l}" if roll < 0.2 else "({l})" if roll < 0.25 else "{t}" if roll < 0.4 else style
    return question, (option(item, item.place, style),)


def all_options(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Listing or discussing every option is incorrect; a choice at the end counts."""
    style = chance.choice(("{t}", "{t}", "{l}", *table("options")["styles"]))
    places = [*range(len(item.choices))]
    if chance.random() < 0.4:
        chance.shuffle(places)
    listed = [option(item, place, style) for place in places]
    joint, start = pick(chance, "options", "between all"), pick(chance, "options", "before all")
    text = start + joint.join(listed)
    if chance.random() < 0.3:
        text = " ".join(f"{part[:1].upper()}{part[1:]} {pick(chance, 'options', 'notes')}." for part in listed)
    rest = pick(chance, "options", "after all")
    named = chance.choice(("({l}) {t}", "{t}", "({l})"))
    other = chance.choice([place for place in places if place != item.place])
    choice = frames.draw("concluded", chance)

    def chosen(answer: str) -> str:
        return f"{frames.sentence(text)} {frames.fill(choice, b=answer)}"

    pair = option(item, item.place, named), option(item, other, named)
    yield from beside(f"{text} {rest}".strip(), chosen, pair, chance)


def several_parts(bank: Bank, chance: Random) -> Rows:
    """Options of several parts, which may have letters of their own: what counts is the letter chosen at the end."""
    for item in bank.draw("options", chance):
        asked, draws = _parts(item, chance)
        style, joint = pick(chance, "options", "styles of parts"), chance.choice((", ", ", ", "; ", " "))
        options = {}
        for _ in range(chance.randint(4, 8)):
            parts = [told.format(chance.choice(values)) for told, values in draws]
            options[joint.join(map(_part(style), range(len(parts)), parts))] = parts
        if len(options) < 2:  # the same values were drawn each time
            continue
        place = chance.randrange(len(options))
        choices = tuple(options)
        listed = "\n".join(f"({letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=False))
        whole = Item("made", f"{asked}\n{listed}", (f"({LETTERS[place]}) {choices[place]}",), choices)
        # The work shown does not lead to an option: only its first part is that of the correct one.
        work = [options[choices[place]][0], *(told.format(chance.choice(values)) for told, values in draws[1:])]
        shown = " ".join(frames.sentence(_part(style)(n, part)) for n, part in enumerate(work))
        start = frames.sentence(chance.choice(frames.wordings("neutral")))
        before = "" if chance.random() < 0.2 else f"{start} {shown} "
        frame = "The answer is ({x})." if chance.random() < 0.5 else pick(chance, "options", "letters")
        for label, chosen in _two_places(whole, chance):
            yield whole, Made(label, before + frames.fill(frame, x=LETTERS[chosen]))


def _parts(item: Item, chance: Random) -> tuple[str, list[tuple[str, list[str]]]]:
    """A question of several parts, and for each part its wording and its possible values."""
    count = chance.randint(2, 4)
    if chance.random() < 0.4 and all(len(choice) < 40 for choice in item.choices):
        stem = item.question.split("\n")[0]
        return f"{stem} Answer for each of the {count} cases.", [("{}", [*item.choices])] * count
    named = chance.sample(table("options")["quantities"], count)
    form = chance.choice(("{n} = {{}} {u}", "{n}, {s} = {{}} {u}", "{s} = {{}} {u}", "{{}} {u}"))
    size = chance.choice((1, 10, 100, 1000))
    draws = [
        (
            form.format(n=name.capitalize(), s=symbol, u=unit).strip(),
            [f"{chance.uniform(0.1, 1) * size:.{chance.randint(0, 3)}f}" for _ in range(4)],
        )
        for name, symbol, unit in named
    ]
    asked = ", ".join(f"({letter}) the {name}" for letter, (name, *_) in zip("abcd", named, strict=False))
    return f"From what is given, calculate {asked}.", draws


def _part(style: str) -> Callable[[int, str], str]:
    return lambda n, text: frames.fill(style, a="abcd"[n], A="ABCD"[n], i=("i", "ii", "iii", "iv")[n], t=text)


def eliminated(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """All options are discussed and one is kept; in the incorrect twin another one."""
    kept = _two_places(item, chance)
    seed = chance.random()
    for label, chosen in kept:
        draw = Random(seed)
        lines = []
        for place in range(len(item.choices)):
            name = option(item, place, "({l})" if draw.random() < 0.5 else "({l}) {t}")
            verdict = pick(draw, "options", "kept" if place == chosen else "ruled out")
            lines.append(f"{name} {verdict}.")
        if draw.random() < 0.5:
            draw.shuffle(lines)
        end = pick(draw, "options", "after elimination")
        joint = draw.choice((" ", "\n"))
        yield Made(label, joint.join([*lines, frames.fill(end, x=f"({LETTERS[chosen]})")]).strip())


def said_yes_no(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Yes or no in some wording."""
    yes, no = pick(chance, "options", "yes and no")
    references = ()
    if chance.random() < 0.1:
        references = (chance.choice(("True", "true")) if _is_yes(item) else "False",)
    for label in (1, 0):
        yield Made(label, yes if _is_yes(item) == bool(label) else no, references)


def explained_yes_no(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Yes or no with the reasons before or after it; the incorrect twin has the same reasons and the other verdict."""
    reasons = re.sub(r"^(Yes|No)[.,;:]?\s*", "", item.solution)
    if not reasons:
        reasons = " ".join(chance.sample(frames.wordings("neutral"), chance.randint(1, 3)))
    before = chance.random() < 0.4
    verdicts = pick(chance, "options", "explained")
    for label in (1, 0):
        verdict = verdicts[_is_yes(item) == bool(label)]
        joint = chance.choice(("So: ", "Therefore: ", "In conclusion: ", ""))
        yield Made(label, f"{reasons} {joint}{verdict}." if before else f"{verdict}. {reasons}")


def turned_yes_no(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Yes and no are both named, and one is chosen."""
    right, wrong = ("yes", "no") if _is_yes(item) else ("no", "yes")
    frame = pick(chance, "options", "turned")
    one, two = (right, wrong) if chance.random() < 0.5 else (wrong, right)
    for label, b, a in ((1, right, wrong), (0, wrong, right)):
        text = frame.replace("{A}", a.capitalize()).replace("{B}", b.capitalize())
        yield Made(label, frames.fill(text, a=a, b=b, **{"1": one, "2": two}))
    if chance.random() < 0.15:
        yield Made(0, pick(chance, "options", "undecided"))


def _is_yes(item: Item) -> bool:
    return item.right.casefold().startswith("yes")


def _two_places(item: Item, chance: Random) -> tuple[tuple[int, int], tuple[int, int]]:
    return (1, item.place), (0, item.other_place(chance))
