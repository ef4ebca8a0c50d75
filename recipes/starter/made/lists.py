"""Rows of lists that are made up: all members in any order and form, or one missing, exchanged or added."""

from __future__ import annotations

import json
import re
from random import Random

from made import frames
from made.bank import Bank, Item, Made, Rows, differs
from made.files import pick, table
from made.forms import COUNTRY, joined
from made.twins import ROUNDS, framed, item_of, twins
from made.values import in_words

# Names of these kinds may have an article.
_WITH_THE = ("instruments", "tools", "rivers", "chess pieces", "bones", "organs", "rooms")


def collected(bank: Bank, chance: Random) -> Rows:
    """Lists: all members in any order and form; incorrect with one missing, exchanged or added."""
    kinds = kinds_of(bank)
    for _ in range(ROUNDS):
        roll = chance.random()
        if roll < 0.14:
            yield from _one_thing(chance) if roll < 0.07 else _either(chance)
            continue
        kind, asked, members = ("solutions", *_equation(chance)) if roll < 0.2 else chance.choice(kinds)
        size = min(chance.choice((2, 2, 3, 3, 3, 4, 4, 5, 6)), len(members) - 1)
        *right, other = [*members[:size], members[-1]] if kind == "solutions" else chance.sample(members, size + 1)
        if not all(differs(one, [*right[:n], *right[n + 1 :], other]) for n, one in enumerate(right) if " " in one):
            continue
        if kind == "steps":
            right.sort(key=members.index)
        bound = kind in ("steps", "solutions")
        question = asked if bound or chance.random() < 0.4 else pick(chance, "lists", "questions")
        paired = chance.random() < 0.05  # said to be in the order of the question
        fixed = kind == "steps" or paired
        mixed = right if fixed else chance.sample(right, size)
        lists, form = _changed(mixed, other, fixed, chance), chance.random()
        reference, wrong = (_reference(members, Random(form)) for members in (right, lists[-1][1]))
        item = item_of(frames.fill(question, k=kind, n=in_words(size)), reference, chance, wrong)
        case = chance.choice((str, str, str, str, str, str, str.upper, str.lower))
        article = "the " if kind in _WITH_THE and chance.random() < 0.3 else ""
        style = chance.random()
        for label, told, left in lists:
            again, told = Random(style), [case(article + one) for one in told]
            text = f"{in_a_sentence(told, again)}, respectively" if paired and told[1:] else _told(told, item, again)
            if left:
                form = pick(Random(style), "lists", "one left out")
                text = frames.fill(form, l=in_a_sentence(told, again), x=case(article + left))
            yield item, Made(label, text)


def kinds_of(bank: Bank) -> list[tuple[str, str, list[str]]]:
    kinds = [*table("lists")["collections"]]
    people = [*dict.fromkeys(name for name in bank.alike.get(("people",), []) if len(name) < 30)]
    places = [
        name
        for key, names in sorted(bank.alike.items())
        if key[1:] in (("where", "Name1"), ("which city", "Name1"), ("which country", "Name1"), ("what city", "Name1"))
        for name in names
        if name.isalpha()
    ]
    if len(people) > 20:
        kinds += [("people", "Who took part in the meeting?", people)] * 4
    kinds += [one for one in kinds if one[0] == "letters"] * 3
    return kinds + [("places", "Which places does the route pass through?", [*dict.fromkeys([*COUNTRY, *places])])] * 4


def _changed(mixed: list[str], other: str, fixed: bool, chance: Random) -> list[tuple[int, list[str], str]]:
    """All members, and a list that lacks one or has another; and the member that each says does not belong to it."""
    place = chance.randrange(len(mixed))
    one = mixed[place]
    before, after = mixed[:place], mixed[place + 1 :]
    fewer, exchanged, added = [*before, *after], [*before, other, *after], [*before, other, one, *after]
    roll = chance.random()
    if roll < 0.1:
        return [(1, mixed, other), (0, fewer, one)]
    some = mixed[: chance.randint(1, len(mixed) - 1)]
    wrong = fewer if roll < 0.4 else some if roll < 0.5 else exchanged if roll < 0.88 else added
    right = mixed if fixed or chance.random() < 0.7 else chance.sample(mixed, len(mixed))
    return [(1, right, ""), (0, wrong, "")]


def _reference(members: list[str], chance: Random) -> str:
    if len(members) == 1:
        return members[0]
    forms = joined(members, "in a reference", "two in a reference" if len(members) == 2 else "more in a reference")
    if not _numeric(members):
        forms += [*joined(members, "words in a reference"), _lines(members, chance)]
    return chance.choice(forms)


def _numeric(members: list[str]) -> bool:
    return any(re.search(r"^-?\d+$|=", one) for one in members)


def _lines(members: list[str], chance: Random) -> str:
    mark = chance.choice(("- {}", "* {}", "• {}") if _numeric(members) else ("- {}", "{n}. {}", "({n}) {}", "{n}) {}"))
    return "\n".join(mark.format(one, n=n) for n, one in enumerate(members, 1))


def in_a_sentence(members: list[str], chance: Random) -> str:
    if len(members) == 1:
        return members[0]
    kinds = ["in a sentence", "of two" if len(members) == 2 else "more in a sentence", "in a sentence, too"]
    return chance.choice(joined(members, *kinds, *([] if _numeric(members) else ["of words"])))


def _told(members: list[str], item: Item, chance: Random) -> str:
    # Each part of the form has a seed of its own, so that lists of different lengths have the same form.
    roll, join, seed = chance.random(), chance.random(), chance.random()
    chance, text = Random(seed), in_a_sentence(members, Random(join))
    first, rest = members[0], in_a_sentence(members[1:], Random(join)) if members[1:] else ""
    if roll < 0.15:
        return pick(chance, "lists", "before lines") + _lines(members, chance)
    if roll < 0.3 and rest:
        return frames.fill(pick(chance, "lists", "first and rest"), a=first, b=rest)
    if roll < 0.38:
        cells = "".join(f"<li>{one}</li>" for one in members)
        data = [json.dumps(members), json.dumps({"answer": members}), f"<ul>{cells}</ul>", f"| {' | '.join(members)} |"]
        return chance.choice(data)
    if roll < 0.75:
        n = in_words(len(members))
        told = pick(chance, "lists", "answers").replace("{N}", n.capitalize())
        return frames.fill(told, l=text, n=n)
    return framed(text, item, chance) if roll < 0.9 else text


def _equation(chance: Random) -> tuple[str, list[str]]:
    """An equation with its solutions, and as the last member a number that does not solve it."""
    roots = chance.sample([n for n in range(-9, 10) if n], chance.choice((2, 2, 3)))
    factors = "".join(f"(x {'-' if root > 0 else '+'} {abs(root)})" for root in roots)
    near = [n for n in (-roots[0], roots[0] + 1, roots[-1] - 1, -roots[-1]) if n and n not in roots]
    off = chance.choice(near or [10])
    named = chance.choice(("{}", "x = {}"))
    return pick(chance, "lists", "equations").format(factors), [named.format(root) for root in (*roots, off)]


def _one_thing(chance: Random) -> Rows:
    """A name with "and" or "or" in it, which is not a list; incorrect is a name of the same form."""
    question, starts, ends = pick(chance, "lists", "names with and")
    start, other = chance.sample(starts, 2)
    end, last = chance.sample(ends, 2)
    right, wrong = f"{start} {end}", chance.choice((f"{start} {last}", f"{other} {end}"))
    item = item_of(question, right, chance, wrong)
    turn = chance.choice(((" and ", " and "), (" and ", " & "), (" & ", " and ")))
    yield from twins(item, right.replace(*turn), wrong.replace(*turn), chance)


def _either(chance: Random) -> Rows:
    """A reference with alternatives: each of the two is correct."""
    question, answers = pick(chance, "lists", "either is right")
    one, two, wrong, off = chance.sample(answers, 4)
    reference = chance.choice((f"{one} or {two}", f"{one} / {two}", f"either {one} or {two}"))
    item = item_of(question, reference, chance, wrong)
    if chance.random() < 0.2:
        yield from twins(item, f"{two} or {one}", f"{wrong} or {off}", chance)
    else:
        yield from twins(item, chance.choice((one, two)), wrong, chance)
