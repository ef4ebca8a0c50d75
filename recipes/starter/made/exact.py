"""Rows made up whole, in which a small difference decides: lists, results of maths, dates, names and explanations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb, isqrt, lcm
from random import Random

from made import frames, pools
from made.bank import Bank, Item, Made, differs
from made.frames import split
from made.values import Date, decimal, in_words, ordinal
from made.words import COUNTRY

ROUNDS = 8_000  # pairs of rows that a maker gives at most

Rows = Iterator[tuple[Item, Made]]

_ASKED = """{q}|{q}|{q}|{q}|{q}|{q}|According to the passage: {q}|Question 4. {q}|{q} Answer briefly.|From the text: {q}
Quick question: {q}|{q} Give the exact answer.|Please answer: {q}|Q: {q}|I need to know this: {q}|{q} Thanks."""
# {b} stands and {a} does not.
_INSTEAD = """{b}, not {a}|Not {a}, but {b}.|{b} rather than {a}.|It may look like {a}, but it is {b}.|{b} (not {a})
I first thought of {a}, but the answer is {b}.|People often say {a}; correct is {b}.|Careful: it's {b} and not {a}.
{a}? No, {b}.|Rather than {a}, it is {b}.|~~{a}~~ {b}|{a} is wrong, {b} is right.|Instead of {a}, write {b}.
The answer is {b}; {a} is a common mistake.|Do not confuse it with {a}: the answer is {b}.|{a} - sorry, I mean {b}."""
_SUPER = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# Names of these kinds may have an article.
_WITH_THE = ("instruments", "tools", "rivers", "chess pieces", "bones", "organs", "rooms")


def _table(text: str) -> list[list[str]]:
    return [split(line) for line in text.strip().split("\n")]


def _asked(question: str, chance: Random) -> str:
    return frames.fill(chance.choice(split(_ASKED)), q=question)


def _item(question: str, reference: str, chance: Random) -> Item:
    return Item("made", _asked(question, chance), (reference,))


def _framed(text: str, item: Item, chance: Random) -> str:
    framed = frames.plain(text, item.question, chance)
    return text if f" - {text}" in framed else framed  # a dash before a number could be its sign


def _twins(item: Item, right: str, wrong: str, chance: Random, stated: str = "") -> Rows:
    """The right and the wrong answer in the same words; `stated` is a sentence of their own, which some rows have."""
    seed, roll = chance.random(), chance.random()
    instead = chance.choice(split(_INSTEAD))
    for label, text, other in ((1, right, wrong), (0, wrong, right)):
        if stated and roll < 0.4:
            told = frames.fill(stated, x=text)
        elif roll > 0.9:
            told = frames.fill(instead, a=other, b=text)
        else:
            told = _framed(text, item, Random(seed)) if roll < 0.75 else text
        told = re.sub(r"^(the|an?) (?=.* )", lambda found: found[0].capitalize(), told) if told != text else text
        yield item, Made(label, re.sub(r"(\.[mC]\.)\.", r"\1", told))


# ---- lists


def collected(bank: Bank, chance: Random) -> Rows:
    """Lists: all members in any order and form; wrong with one missing, exchanged or added."""
    kinds = _kinds(bank)
    wordings = split(pools.ASKED_FOR)
    for _ in range(ROUNDS):
        roll = chance.random()
        if roll < 0.14:
            yield from _one_thing(chance) if roll < 0.07 else _either(chance)
            continue
        kind, own, members = ("solutions", *_equation(chance)) if roll < 0.2 else chance.choice(kinds)
        size = min(chance.choice((2, 2, 3, 3, 3, 4, 4, 5, 6)), len(members) - 1)
        *right, other = [*members[:size], members[-1]] if kind == "solutions" else chance.sample(members, size + 1)
        if not all(differs(one, [*right[:n], *right[n + 1 :], other]) for n, one in enumerate(right) if " " in one):
            continue
        if kind == "steps":
            right.sort(key=members.index)
        bound = kind in ("steps", "solutions")
        question = own if bound or chance.random() < 0.4 else chance.choice(wordings)
        item = _item(frames.fill(question, k=kind, n=in_words(size)), _reference(right, chance), chance)
        paired = chance.random() < 0.05  # said to be in the order of the question
        fixed = kind == "steps" or paired
        mixed = right if fixed else chance.sample(right, size)
        case = chance.choice((str, str, str, str, str, str, str.upper, str.lower))
        article = "the " if kind in _WITH_THE and chance.random() < 0.3 else ""
        style = chance.random()
        for label, told, left in _changed(mixed, other, fixed, chance):
            again, told = Random(style), [case(article + one) for one in told]
            text = f"{_inline(told, again)}, respectively" if paired and told[1:] else _told(told, item, again)
            if left:
                form = Random(style).choice(_LEFT_OUT)
                text = frames.fill(form, l=_inline(told, again), x=case(article + left))
            yield item, Made(label, text)


_LEFT_OUT = """{l}, but not {x}|{l}; {x} is not one of them.|Not {x}, only {l}.|{l}. {x} does not belong there.
It is {l}, without {x}.|{x} is not on the list; what is on it: {l}.|{l} (but not {x})|No {x}, just {l}.""".replace(
    "\n", "|"
).split("|")


def _kinds(bank: Bank) -> list[tuple[str, str, list[str]]]:
    kinds = [(kind, question, split(members, ", ")) for kind, question, members in _table(pools.COLLECTIONS)]
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
    return kinds + [("places", "Which places does the route pass through?", [*dict.fromkeys([*COUNTRY, *places])])] * 4


def _changed(mixed: list[str], other: str, fixed: bool, chance: Random) -> list[tuple[int, list[str], str]]:
    """All members, and a list that lacks one or has another; with them what each says not to be one of them."""
    place = chance.randrange(len(mixed))
    one = mixed[place]
    fewer = [*mixed[:place], *mixed[place + 1 :]]
    exchanged = [*mixed[:place], other, *mixed[place + 1 :]]
    roll = chance.random()
    if roll < 0.1:
        return [(1, mixed, other), (0, fewer, one)]
    some = mixed[: chance.randint(1, len(mixed) - 1)]
    added = [*mixed[:place], other, *mixed[place:]]
    wrong = fewer if roll < 0.4 else some if roll < 0.5 else exchanged if roll < 0.88 else added
    right = mixed if fixed or chance.random() < 0.7 else chance.sample(mixed, len(mixed))
    return [(1, right, ""), (0, wrong, "")]


def _reference(members: list[str], chance: Random) -> str:
    *most, last = members
    forms = [", ".join(members)] * 3 + [f"{', '.join(most)} and {last}"] * 2
    forms += [f"{', '.join(most)}, and {last}" if len(most) > 1 else f"{most[0]} and {last}", "; ".join(members)]
    if not _numeric(members):
        forms += [f"{', '.join(most)} & {last}", " / ".join(members), _lines(members, chance)]
    return chance.choice(forms)


def _numeric(members: list[str]) -> bool:
    return any(re.search(r"^-?\d+$|=", one) for one in members)


def _lines(members: list[str], chance: Random) -> str:
    mark = chance.choice(("- {}", "* {}", "• {}") if _numeric(members) else ("- {}", "{n}. {}", "({n}) {}", "{n}) {}"))
    return "\n".join(mark.format(one, n=n) for n, one in enumerate(members, 1))


def _inline(members: list[str], chance: Random) -> str:
    if len(members) == 1:
        return members[0]
    *most, last = members
    start = ", ".join(most)
    forms = [f"{start} and {last}", f"{start} and {last}", f"{start} as well as {last}", f"{start} and also {last}"]
    forms += [", ".join(members), "; ".join(members), " and ".join(members)]
    forms += [f"{start}, and {last}" if len(most) > 1 else f"both {start} and {last}"]
    forms += [f"{start}, together with {last}", f"not only {most[0]} but also {' and '.join(members[1:])}"]
    return chance.choice(
        forms if _numeric(members) else [*forms, f"{start} & {last}", f"{start} plus {last}", " / ".join(members)]
    )


def _told(members: list[str], item: Item, chance: Random) -> str:
    # Each part of the form has a seed of its own: so lists of other lengths have the same form.
    roll, join, seed = chance.random(), chance.random(), chance.random()
    chance, text = Random(seed), _inline(members, Random(join))
    first, rest = members[0], _inline(members[1:], Random(join)) if members[1:] else ""
    if roll < 0.15:
        start = chance.choice(
            ("", "", "They are:\n", "Here is the list:\n", "The answer has these parts:\n", "Sure!\n\n")
        )
        return start + _lines(members, chance)
    if roll < 0.3 and rest:
        return frames.fill(chance.choice(_SPREAD), a=first, b=rest)
    if roll < 0.38:
        cells = "".join(f"<li>{one}</li>" for one in members)
        data = [json.dumps(members), json.dumps({"answer": members}), f"<ul>{cells}</ul>", f"| {' | '.join(members)} |"]
        return chance.choice(data)
    if roll < 0.75:
        n = in_words(len(members))
        told = chance.choice(split(pools.LISTED)).replace("{N}", n.capitalize())
        return frames.fill(told, l=text, n=n)
    return _framed(text, item, chance) if roll < 0.9 else text


_SPREAD = """{a} is one of them. The rest: {b}.|To start with, {a}. Then there is {b}.|{b}, and on top of that {a}.
{a}, but also {b}.|Not only {a}, but {b} too.|First {a}. Next to it {b}. That is everything.|{a} (and {b}).
I remember {a}, and then {b} too.|There is {a}; add to it {b}.|It is {a} together with {b}.|{a}... and {b}, I believe.
{a} comes to mind at once, and {b} as well.|Line one has {a}, the lines after it {b}.|{a}, and besides {b}.""".replace(
    "\n", "|"
).split("|")


def _equation(chance: Random) -> tuple[str, list[str]]:
    """An equation with its solutions, and as the last member a number that is none."""
    roots = chance.sample([n for n in range(-9, 10) if n], chance.choice((2, 2, 3)))
    factors = "".join(f"(x {'-' if root > 0 else '+'} {abs(root)})" for root in roots)
    asked = (
        "Which numbers solve the equation {} = 0?",
        "Solve {} = 0.",
        "Find all x with {} = 0.",
        "Where is {} zero?",
    )
    off = chance.choice(
        [n for n in (-roots[0], roots[0] + 1, roots[-1] - 1, -roots[-1]) if n and n not in roots] or [10]
    )
    named = chance.choice(("{}", "x = {}"))
    return chance.choice(asked).format(factors), [named.format(root) for root in (*roots, off)]


def _one_thing(chance: Random) -> Rows:
    """A name with "and" or "or" in it, which is no list: another of the same build is another thing."""
    question, starts, ends = chance.choice(_table(pools.JOINED))
    start, other = chance.sample(split(starts, "; "), 2)
    end, last = chance.sample(split(ends, "; "), 2)
    right, wrong = f"{start} {end}", chance.choice((f"{start} {last}", f"{other} {end}"))
    item = _item(question, right, chance)
    turn = chance.choice(((" and ", " and "), (" and ", " & "), (" & ", " and ")))
    yield from _twins(item, right.replace(*turn), wrong.replace(*turn), chance)


def _either(chance: Random) -> Rows:
    """A reference that gives a choice: each of the two is right."""
    question, answers = chance.choice(_table(pools.EITHER))
    one, two, wrong, off = chance.sample(split(answers, "; "), 4)
    item = _item(question, chance.choice((f"{one} or {two}", f"{one} / {two}", f"either {one} or {two}")), chance)
    if chance.random() < 0.2:
        yield from _twins(item, f"{two} or {one}", f"{wrong} or {off}", chance)
    else:
        yield from _twins(item, chance.choice((one, two)), wrong, chance)


# ---- results of maths


def _poly(*factors: int, name: str = "x") -> str:
    """A polynomial, from the highest power down."""
    text = ""
    for power, factor in zip(range(len(factors) - 1, -1, -1), factors, strict=True):
        if factor:
            size = "" if abs(factor) == 1 and power else str(abs(factor))
            body = size + ("*" if size and power else "") + ("", name)[power > 0] + (f"^{power}" if power > 1 else "")
            text += (" - " if factor < 0 else " + ") + body if text else ("-" if factor < 0 else "") + body
    return text or "0"


def _value(number: Fraction | int, share: bool = False) -> list[str]:
    """A rational number: as a fraction, as a decimal where it ends, a share also in per cent."""
    exact = Fraction(number)
    ends = exact.denominator > 1 and 1000 % exact.denominator == 0
    in_percent = [f"{decimal(exact * 100)}%"] if share and ends and 100 % exact.denominator == 0 else []
    return [str(exact), *([decimal(exact)] if ends else []), *in_percent]


def _root(square: int) -> list[str]:
    """The square root of a whole number, with what can be taken out of it."""
    out = max(n for n in range(1, isqrt(square) + 1) if square % (n * n) == 0)
    rest = square // (out * out)
    if rest == 1:
        return [str(out)]
    return [f"sqrt({rest})"] if out == 1 else [f"{out}*sqrt({rest})", f"sqrt({square})"]


def _point(*values: Fraction | int) -> str:
    return f"({', '.join(map(str, values))})"


def _roots(one: int, two: int) -> list[str]:
    return [f"x = {one} or x = {two}", f"{{{one}, {two}}}", f"{two} and {one}", f"x = {two} or x = {one}"]


def _measured(size: int | str, unit: str, spoken: str) -> list[str]:
    return [f"{size} {unit}", f"{size} {spoken}", str(size)]


_F, _P = Fraction, _poly
# Wordings with {p}, and from four different numbers of 2 to 12 what stands for {p}, and the results, all equal.
_SUMS: list[tuple[str, Callable[[int, int, int, int], tuple[str, list[str]]]]] = [
    ("Differentiate {p}.|What is the derivative of {p}?|Find f'(x) for f(x) = {p}.|Compute d/dx ({p}).",
     lambda a, b, c, d: (_P(a, -b, c), [_P(2 * a, -b)])),
    ("What is the derivative of {p} with respect to x?|Find the gradient function of y = {p}.",
     lambda a, b, c, d: (_P(a, 0, -b, c), [_P(3 * a, 0, -b)])),
    ("What is the second derivative of {p}?|Find f''(x) where f(x) = {p}.",
     lambda a, b, c, d: (_P(a, b, -c, d), [_P(6 * a, 2 * b)])),
    ("Integrate {p} with respect to x.|Find the indefinite integral of {p}, with the constant C.",
     lambda a, b, c, d: (_P(3 * a, 2 * b, -c), [_P(a, b, -c, 0) + " + C"])),
    ("Evaluate the integral {p}.|What is the value of the integral {p}?",
     lambda a, b, c, d: (f"of {_P(2 * b, c)} from x = 0 to x = {a}", _value(b * a * a + c * a))),
    ("What is the slope of the line through {p}?|Find the gradient of the straight line joining {p}.",
     lambda a, b, c, d: (f"({a}, {b}) and ({c}, {d})", _value(_F(d - b, c - a)))),
    ("Give the equation of the line {p}.|Which line is it: {p}? Write its equation.",
     lambda a, b, c, d: (f"with slope {a} through (0, {-b})", [f"y = {_P(a, -b)}", f"{_P(a, 0)} - y = {b}"])),
    ("Solve {p} for x.|What is x if {p}?|Find x such that {p}.",
     lambda a, b, c, d: (f"{_P(a, b)} = {c}", [f"x = {one}" for one in _value(_F(c - b, a))] + _value(_F(c - b, a)))),
    ("Solve {p} = 0.|What are the solutions of {p} = 0?|Find the zeros of y = {p}.|Which x satisfy {p} = 0?",
     lambda a, b, c, d: (_P(1, b - a, -a * b), _roots(a, -b))),
    ("Factorise {p}.|Write {p} as a product of two factors.|Factor {p} completely.",
     lambda a, b, c, d: (_P(1, b - a, -a * b), [f"(x - {a})*(x + {b})", f"(x + {b})*(x - {a})"])),
    ("Expand {p}.|Multiply out {p}.|Write {p} without brackets.",
     lambda a, b, c, d: (f"(x + {a})(x - {b})", [_P(1, a - b, -a * b)])),
    ("Expand {p}.|What is {p} as a polynomial?",
     lambda a, b, c, d: (f"({a}x - {b})^2", [_P(a * a, -2 * a * b, b * b)])),
    ("Simplify {p}.|Collect like terms: {p}.",
     lambda a, b, c, d: (f"{a}x^2 + {b}x - {c}x^2 + {d} + {a}x", [_P(a - c, a + b, d)])),
    ("What is the probability of drawing a red marble {p}?|A marble is drawn {p}. How likely is a red one?",
     lambda a, b, c, d: (f"from a bag with {a} red and {b} blue marbles", _value(_F(a, a + b), share=True))),
    ("What is the probability of {p} heads in a row with a fair coin?", lambda a, b, c, d: (str(a), [f"1/{2**a}"])),
    ("What is the exact area of a circle with {p}?|Give, in terms of pi, the area of a disc with {p}.",
     lambda a, b, c, d: (f"radius {a} cm", _measured(f"{a * a}*pi", "cm^2", "square centimetres")[:2])),
    ("What is the exact circumference of a circle of {p}?",
     lambda a, b, c, d: (f"radius {a} cm", _measured(f"{2 * a}*pi", "cm", "centimetres")[:2])),
    ("What is the area of a rectangle {p}, in square centimetres?|Find the area, in cm², of a rectangle {p}.",
     lambda a, b, c, d: (f"of {a} cm by {b} cm", _measured(a * b, "cm^2", "square centimetres"))),
    ("What is the volume of a box {p}, in cubic centimetres?",
     lambda a, b, c, d: (f"of {a} cm by {b} cm by {c} cm", _measured(a * b * c, "cm^3", "cubic centimetres"))),
    ("How long is the hypotenuse of a right triangle with {p}?|Find the exact length of the hypotenuse: {p}.",
     lambda a, b, c, d: (f"legs {a} and {b}", _root(a * a + b * b))),
    ("Simplify sqrt({p}).|What is sqrt({p}) in its simplest form?",
     lambda a, b, c, d: (str(a * a * b), _root(a * a * b)[:1])),
    ("What is the exact distance between {p}?|How far apart are the points {p}?",
     lambda a, b, c, d: (f"({a}, {b}) and ({c}, {d})", _root((a - c) ** 2 + (b - d) ** 2))),
    ("What is the midpoint of {p}?|Find the point halfway between {p}.",
     lambda a, b, c, d: (f"({a}, {-b}) and ({c}, {d})", [_point(_F(a + c, 2), _F(d - b, 2))])),
    ("What is the vertex of the parabola {p}?|Where does {p} have its lowest point?",
     lambda a, b, c, d: (f"y = (x - {a})^2 - {b}", [_point(a, -b), f"x = {a}, y = {-b}"])),
    ("Solve the system {p}.|Find x and y if {p}.",
     lambda a, b, c, d: (f"x + y = {a - b}, x - y = {a + b}", [f"x = {a}, y = {-b}", _point(a, -b)])),
    ("Solve the inequality {p}.|For which x is {p}?",
     lambda a, b, c, d: (f"{a}x - {b} < {c}", [f"x < {_F(b + c, a)}", f"(-inf, {_F(b + c, a)})"])),
    ("Solve {p}.|Which x satisfy {p}?",
     lambda a, b, c, d: (f"x + {a} >= {b}", [f"x >= {b - a}", f"[{b - a}, inf)"])),
    ("Solve {p}.|Give the set of all x with {p}.",
     lambda a, b, c, d: (f"{-a} < x - {b} <= {c}", [f"{b - a} < x <= {b + c}", f"({b - a}, {b + c}]"])),
    ("What is {p}?|Calculate {p}.|Add {p}.", lambda a, b, c, d: (f"{a}/{b} + {c}/{d}", _value(_F(a, b) + _F(c, d)))),
    ("What is {p}?|Work out {p} in lowest terms.",
     lambda a, b, c, d: (f"({a}/{b}) / ({c}/{d})", [str(_F(a * d, b * c))])),
    ("Subtract: {p}|Find the difference {p}.", lambda a, b, c, d: (f"{a}/{b} - {c}/{d}", _value(_F(a, b) - _F(c, d)))),
    ("Simplify {p}.|Write {p} as a single power.", lambda a, b, c, d: (f"x^{a} * x^{b}", [f"x^{a + b}"])),
    ("Simplify {p}.|Write {p} without brackets.", lambda a, b, c, d: (f"({a}x^{b})^2", [f"{a * a}*x^{2 * b}"])),
    ("What is {p}?|Evaluate {p}.", lambda a, b, c, d: (f"{a}^3 - {b}", _value(a**3 - b))),
    ("What is the nth term of the sequence {p}?|Give a formula for the nth term (n = 1, 2, ...) of {p}.",
     lambda a, b, c, d: (f"{a}, {a + b}, {a + 2 * b}, {a + 3 * b}, ...", [_P(b, a - b, name="n")])),
    ("What is the fourth term of the geometric sequence {p}?",
     lambda a, b, c, d: (f"with first term {a} and ratio {-b}", _value(-a * b**3))),
    ("What is the least common multiple of {p}?",
     lambda a, b, c, d: (f"{a * c} and {b * c}", _value(lcm(a * c, b * c)))),
    ("What is {p}?|Work out {p}.", lambda a, b, c, d: (f"{5 * a}% of {20 * b}", _value(a * b))),
    ("By what percentage does a price rise {p}?|What is the percentage increase {p}?",
     lambda a, b, c, d: (f"from {20 * a} to {20 * a + a * b} euros", [f"{5 * b}%", f"{5 * b} percent"])),
    ("Multiply {p}.|What is {p}, where i^2 = -1?",
     lambda a, b, c, d: (f"({a} + {b}i)({c} - {d}i)", [_P(b * c - a * d, a * c + b * d, name="i")])),
    ("What is the limit of {p} as x goes to infinity?",
     lambda a, b, c, d: (f"({a}x^2 + {b}) / ({c}x^2 - {d})", _value(_F(a, c)))),
    ("What is the inverse function of {p}?", lambda a, b, c, d: (f"f(x) = {_P(a, -b)}", [f"(x + {b})/{a}"])),
    ("What is the determinant of the matrix {p}?",
     lambda a, b, c, d: (f"[[{a}, {b}], [{c}, {d}]]", _value(a * d - b * c))),
    ("What is the dot product of {p}?", lambda a, b, c, d: (f"({a}, {-b}) and ({c}, {d})", _value(a * c - b * d))),
    ("Add the vectors {p}.", lambda a, b, c, d: (f"({a}, {-b}) and ({c}, {d})", [_point(a + c, d - b)])),
    ("What is the mean of {p}?|Find the average of {p}.",
     lambda a, b, c, d: (f"{a}, {b}, {c} and {d}", _value(_F(a + b + c + d, 4)))),
    ("What do the interior angles of a polygon with {p} sides add up to, in degrees?",
     lambda a, b, c, d: (str(a + 2), _measured(a * 180, "degrees", "degrees"))),
    ("How fast is a car that covers {p}?|What is the average speed over {p}, in km/h?",
     lambda a, b, c, d: (f"{10 * a * b} km in {b} hours", _measured(10 * a, "km/h", "kilometres per hour")[:2])),
    ("Write {p} in scientific notation.",
     lambda a, b, c, d: (f"{a % 9 + 1}{b % 9 + 1}{'0' * c}", [f"{a % 9 + 1}.{b % 9 + 1}*10^{c + 1}"])),
    ("Simplify the ratio {p}.",
     lambda a, b, c, d: (f"{a * c}:{b * c}", [f"{_F(a, b).numerator}:{_F(a, b).denominator}"])),
    ("Find f(g(x)) for {p}.|What is f(g(x)) if {p}?",
     lambda a, b, c, d: (f"f(x) = {_P(a, b)} and g(x) = x^2 - {c}", [_P(a, 0, b - a * c)])),
    ("In how many ways can {p}?", lambda a, b, c, d: (f"{3} people be chosen from {a + 4}", _value(comb(a + 4, 3)))),
]  # fmt: skip

_RESULT = """The result is {x}.|Working it out step by step gives {x}.|After simplification we get {x}.|So we obtain {x}
**Final answer:** {x}|\\boxed{{x}}|Step 1: set it up.\\nStep 2: simplify.\\nResult: {x}|Hence {x}.|This yields {x}.
I computed {x}.|It comes out as {x}.|<think>Let me do this carefully.</think>\\n{x}|#### {x}|I end up with {x}.
Collecting the terms, one arrives at {x}.|Checking once more: {x} is what I get.|= {x}|The value is: {x}|\\[{x}\\]
We apply the usual rule, which leads to {x}.|{x} (exact)|Solution: {x}|Therefore the answer must be {x}."""


def expressions(bank: Bank, chance: Random) -> Rows:
    """A result in another notation, and one with a sign, a digit, an exponent or a term changed."""
    for _ in range(ROUNDS):
        wordings, solve = chance.choice(_SUMS)
        told, equals = solve(*chance.sample(range(2, 13), 4))
        same = chance.choice(equals)
        wrong = _near(same, chance)
        if wrong and wrong not in equals:
            told = re.sub(r"(?<! )\*", "", told) if chance.random() < 0.6 else told
            item = _item(chance.choice(split(wordings)).replace("{p}", told), _noted(equals[0], chance), chance)
            seed = chance.random()
            right, wrong = (_noted(text, Random(seed)) for text in (same, wrong))
            yield from _twins(item, right, wrong, chance, chance.choice(split(_RESULT)))


def _near(text: str, chance: Random) -> str | None:
    """A result that differs in one place."""
    ways: list[str] = []

    def change(pattern: str, new: str | Callable[[re.Match[str]], str]) -> None:
        for found in re.finditer(pattern, text):
            put = found.expand(new) if isinstance(new, str) else new(found)
            ways.append(text[: found.start()] + put + text[found.end() :])

    def digits(found: re.Match[str]) -> str:
        if len(found[0]) == 1:
            return str(chance.choice([n for n in (int(found[0]) - 1, int(found[0]) + 1) if n > 1] or [2]))
        return _digit(found[0], chance, range(len(found[0])))

    for _ in range(2):
        change(r"(?<!cm\^)(?<![\d])(?!0\b)\d+(?![\d^])", digits)
    change(r" \+ (?!C)", " - ")
    change(r" - ", " + ")
    change(r"(?:^|(?<=[(\[{])|(?<=[<=,] )|(?<=and ))-(?=[\dx])", "")
    if not re.search(r"[%:/.<>\[\]]|cm|km|deg|pi|sqrt", text):
        change(r"^(?=[1-9]|x\^)|(?<=[({])(?=\d)|(?<=[=,] )(?=\d)", "-")
    change(r"^(-?)(\d+)([/:])(\d+)$", r"\1\4\3\2")
    change(r" [+-] [^ ()+]+(?=$| \+ C$)", "")
    change(r"^(\D*)< (\S+)$", r"\1> \2")
    change(r"^(\D*)>= (\S+)$", r"\1<= \2")
    change(r"<=", "<")
    change(r"\]$", ")")
    change(r"^\(([^ix]+), ([^ix]+)\)$", r"(\2, \1)")
    ways = [way for way in ways if way != text and _in_order(way)]
    return chance.choice(ways) if ways else None


def _in_order(text: str) -> bool:
    """Whether the bounds of an interval are in order, if the text is one."""
    found = re.fullmatch(r"\((-?\d+), (-?\d+)\]|(-?\d+) < x <=? (-?\d+)", text)
    return not found or int(found[1] or found[3]) < int(found[2] or found[4])


def _noted(text: str, chance: Random) -> str:
    """A result in some notation: plain, of a programming language, with signs of Unicode, LaTeX, in words."""
    style = chance.choice(("plain", "plain", "tight", "star", "code", "signs", "signs", "tex", "tex", "tex", "words"))
    shut = chance.choice(("{}", "${}$", "\\({}\\)"))
    unit = re.search(r"[a-z]{5}|cm|km/h", text)
    plain = text.replace("*10^", " × 10^").replace("*", "").replace("inf", "infinity")
    if style == "words" and not unit and not re.search(r"(?<!sqrt)\(|[{<>:%,]|10\^", text):
        words = re.sub(r"sqrt\((\d+)\)", r"the square root of \1", text).replace("*the", " times the").replace("*", " ")
        words = words.replace("^2", " squared").replace("^3", " cubed").replace("^", " to the power of ")
        words = re.sub(r"(\d)/(\d)", r"\1 over \2", words).replace(" + ", " plus ").replace(" - ", " minus ")
        return re.sub(r"(?<!\w)-", "minus ", words)
    if style in ("star", "code") and not unit:
        return text.replace("^", "**") if style == "code" else text
    if style == "tight" and not unit and not re.search(" or | and ", text):
        return re.sub(r" ([-+=<>]=?) ", r"\1", plain)
    if style == "signs":
        text = re.sub(r"\^(\d+)", lambda m: m[1].translate(_SUPER), text.replace("*10", " · 10").replace("*", ""))
        text = re.sub(r"sqrt\((\d+)\)", r"√\1", text).replace("pi", "π").replace("inf", "∞").replace("-", "−")
        return text.replace("<=", "≤").replace(">=", "≥").replace(" degrees", "°")
    if style == "tex" and not re.search(r"[a-z]{5}", text.replace("degrees", "")):
        text = re.sub(r"[{}%]", r"\\\g<0>", text).replace("*10", " \\cdot 10").replace("*", "")
        text = re.sub(r"\(([^()]*)\)/(\d+)|(\d+)/(\d+)", lambda m: f"\\frac{{{m[1] or m[3]}}}{{{m[2] or m[4]}}}", text)
        text = re.sub(r"\^(\d+)", r"^{\1}", re.sub(r"sqrt\((\d+)\)", r"\\sqrt{\1}", text)).replace("pi", "\\pi")
        text = re.sub(r" (or|and) ", r" \\text{ \1 } ", text.replace("inf", "\\infty").replace(" degrees", "^\\circ"))
        text = re.sub(r" (cm|km/h)", r" \\text{ \1}", text.replace("<=", "\\le").replace(">=", "\\ge"))
        return shut.format(text)
    return plain


# ---- dates and times


def close_dates(bank: Bank, chance: Random) -> Rows:
    """A date in another spelling or in a sentence, and one with a digit changed, in the same form."""
    makers = (_day, _day, _day, _day, _month, _year, _year, _span, _time, _before_christ, _age)
    for _ in range(ROUNDS):
        question, reference, right, wrong, stated = chance.choice(makers)(chance)
        if right != wrong:
            yield from _twins(_item(question, reference, chance), right, wrong, chance, stated)


_Dated = tuple[str, str, str, str, str]  # question, reference, right, wrong, sentence
_STATED = """The {s} {p} {o}.|It was {o} that the {s} {p}.|The {s} {p} {o}, according to the records.|{O}, the {s} {p}.
As the plaque says, the {s} {p} {o}.|The {s}, which {p} {o}, is well known.|I read that the {s} {p} {o}.
{O}. That is when the {s} {p}.|We know that the {s} {p} {o}.|Well, the {s} {p} {o}, as far as I can tell."""


def _event(asked: str, on: str, chance: Random) -> tuple[str, str]:
    """A question of when something was, and a sentence that says it."""
    subject, past, *did = split(chance.choice(split(pools.EVENTS, r"; |\n")))
    verb = f"did the {subject} {did[0]}" if did else f"was the {subject} {past.removeprefix('was ')}"
    told = chance.choice(split(_STATED)).replace("{O}", on.capitalize() + "{x}").replace("{o}", on + "{x}")
    return f"{asked} {verb}?", frames.fill(told, s=subject, p=past)


def _digit(text: str, chance: Random, places: range) -> str:
    """A digit of a number changed, or two of them swapped."""
    place = chance.choice(places)
    if place + 1 in places and text[place] != text[place + 1] != "0" and chance.random() < 0.4:
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    off = chance.choice([digit for digit in "0123456789" if digit != text[place] and (place or digit != "0")])
    return text[:place] + off + text[place + 1 :]


def _off_year(year: int, chance: Random) -> int:
    if chance.random() < 0.3:
        return year + chance.choice((-1, 1))
    return int(_digit(str(year), chance, range(1 if year < 1950 else 2, 4)))


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
    question, stated = _event(asked, "on ", chance)
    # The first nine and the last six spellings are the same for every day.
    style = chance.choice(range(-6, 9)) if chance.random() < 0.4 else chance.choice((0, 2, 3, 5, -1, -2, -3))
    if style in (4, 5, 6, 7, 8, -4, -5, -6):
        stated = ""
    return question, _written(right, chance), right.spellings()[style], wrong.spellings()[style], stated


def _written(date: Date, chance: Random) -> str:
    return chance.choice(date.spellings()[:3])


def _month(chance: Random) -> _Dated:
    right = Date(chance.randint(1700, 2020), chance.randint(1, 12))
    wrong = _off_date(right, chance)
    question, stated = _event(chance.choice(("When", "In which month and year", "In what month")), "in ", chance)
    style = chance.randrange(7)
    told = stated if style in (0, 2, 5) else ""
    if question.startswith("In what month"):  # then the year is no part of what is asked
        wrong = wrong._replace(
            year=right.year, month=wrong.month if wrong.month != right.month else right.month % 12 + 1
        )
    return question, _written(right, chance), right.spellings()[style], wrong.spellings()[style], told


def _year(chance: Random) -> _Dated:
    right = chance.randint(1500, 2020)
    wrong = _off_year(right, chance)
    question, stated = _event(chance.choice(("When", "In which year", "In what year")), "in ", chance)
    style = chance.choice((0, 0, 0, 1, 2, 3, 4, 5, 6))
    right_form, wrong_form = (Date(year).spellings()[style] for year in (right, wrong))
    return question, str(right), right_form, wrong_form, "" if style in (1, 3) else stated


def _span(chance: Random) -> _Dated:
    question, start = split(chance.choice(split(pools.SPANS, r"; |\n")))
    first = chance.randint(1500, 1980)
    last = first + chance.randint(3, 40)
    ends = [(_off_year(first, chance), last), (first, _off_year(last, chance))]
    forms = ("{}–{}", "{}-{}", "{} to {}", "from {} to {}", "from {} until {}", "{} – {}", "from {} through {}")
    form, told = chance.choice(forms), chance.random() < 0.4
    form = chance.choice(forms[3:5]) if told else form
    wrong = chance.choice([end for end in ends if end[0] < end[1]] or [(first - 1, last)])
    return (
        question,
        chance.choice(forms[:4]).format(first, last),
        form.format(first, last),
        form.format(*wrong),
        f"{start} {{x}}." if told else "",
    )


def _time(chance: Random) -> _Dated:
    question, start = split(chance.choice(split(pools.TIMES, r"; |\n")))
    hour, minute = chance.choice((*range(1, 12), *range(13, 24))), chance.randrange(0, 60, 5)
    others = [(hour + n, minute) for n in (-1, 1) if (hour + n) % 12 and 0 < hour + n < 24]
    others += [((hour + 12) % 24, minute), (hour, (minute + 30) % 60), (hour, (minute + 10) % 60)]
    others += [(hour, (minute + 5) % 60), (hour, (minute - 5) % 60), (hour, (minute - 10) % 60)]
    form, reference = chance.randrange(6), chance.randrange(4)
    return (
        question,
        _clock(hour, minute, reference),
        _clock(hour, minute, form),
        _clock(*chance.choice(others), form),
        f"{start} at {{x}}." if form < 5 else "",
    )


def _clock(hour: int, minute: int, form: int) -> str:
    late = hour > 12
    part = ("a.m.", "p.m.")[late]
    twelve, day = hour % 12, "in the morning" if not late else "in the afternoon" if hour < 18 else "in the evening"
    past = {0: f"{in_words(twelve)} o'clock", 15: f"a quarter past {in_words(twelve)}"}
    past[30] = f"half past {in_words(twelve)}"
    words = past.get(minute) or f"{in_words(minute)} minutes past {in_words(twelve)}"
    return (
        f"{hour:02}:{minute:02}",
        f"{twelve}:{minute:02} {part}",
        f"{twelve}:{minute:02} {part.replace('.', '')}",
        f"{twelve}.{minute:02} {part.replace('.', '')}",
        f"{words} {day}",
        f"{hour:02}:{minute:02}h",
    )[form]


_ANCIENT = "temple|destroyed; wall|completed; harbour|built; treaty|sworn; city|founded; shrine|burnt; fleet|defeated"


def _before_christ(chance: Random) -> _Dated:
    subject, past = split(chance.choice(split(_ANCIENT, "; ")))
    year = str(chance.randint(101, 989))
    off = _digit(year, chance, range(3))
    forms = ("{} BC", "{} BCE", "{} B.C.", "the year {} BC", "{} before Christ")
    form = chance.choice(forms)
    wrong = f"AD {year}" if chance.random() < 0.15 else form.format(off)
    question = chance.choice((f"When was the {subject} {past}?", f"In what year was the {subject} {past}?"))
    return (
        question,
        f"{year} {chance.choice(('BC', 'BCE'))}",
        form.format(year),
        wrong,
        f"The {subject} was {past} in {{x}}.",
    )


def _age(chance: Random) -> _Dated:
    """A century or a decade."""
    if chance.random() < 0.5:
        right = chance.randint(6, 20)
        wrong = chance.choice([n for n in (right - 10, right + 10, right - 1, right + 1) if 1 <= n <= 21])
        forms = ("the {} century", "the {} century AD", "the {} century CE")
        form = chance.choice(forms)
        question, stated = _event("In which century", "in ", chance)
        return (
            question,
            f"the {ordinal(right)} century",
            form.format(ordinal(right)),
            form.format(ordinal(wrong)),
            stated,
        )
    decade = chance.randrange(1610, 2000, 10)
    off = decade + chance.choice((-10, 10, 100, -100))
    text = str(decade)
    turned = int(f"1{text[2]}{text[1]}0")
    off = turned if turned != decade and turned > 1600 and chance.random() < 0.5 else off
    question, stated = _event("In which decade", "in ", chance)
    form = chance.choice(("the {}s", "the {}s", "the decade from {} on", "the {}'s"))
    return question, f"the {decade}s", form.format(decade), form.format(off), stated


# ---- names and explanations


def close_names(bank: Bank, chance: Random) -> Rows:
    """A name, perhaps in another common form, and one that shares a word or a shape with it."""
    groups = [(question, told, [split(one, "=") for one in split(names, ";")]) for question, told, names in _NAMED]
    for _ in range(ROUNDS):
        question, told, names = chance.choice(groups)
        right, wrong = chance.sample(names, 2)
        item = _item(question, right[0] if chance.random() < 0.8 else chance.choice(right), chance)
        bare = r"^the " if chance.random() < 0.3 else r"^$"
        one, two = (re.sub(bare, "", chance.choice(name)) for name in (right, wrong))
        yield from _twins(item, one, two, chance, told)


_NAMED = _table(pools.NAMES)


def explanations(bank: Bank, chance: Random) -> Rows:
    """A short explanation in other words, and one that has the matter the wrong way round."""
    lines = _table(pools.EXPLANATIONS)
    for _ in range(ROUNDS):
        place = chance.randrange(0, len(lines), 2)
        (question, *rights), wrongs = lines[place], lines[place + 1]
        reference, same = chance.sample(rights, 2)
        item = _item(question, reference, chance)
        right, wrong = same if chance.random() < 0.75 else reference, chance.choice(wrongs)
        told = chance.choice(_EXPLAINED)
        for label, text in ((1, right), (0, wrong)):
            yield item, Made(label, frames.fill(told, x=text, y=text[:1].upper() + text[1:]))


_EXPLAINED = """{x}|{x}|{x}|{y}.|{y}.|In short: {x}.|Put simply: {x}.|My answer: {x}|The point is this: {x}.|Answer: {x}
That is easy: {x}.|- {x}|The book puts it like this: {x}.|As I understand it, {x}.|Good question! {y}.|{y}, basically.
What I learned at school: {x}.|{y}. I hope this helps!|"{x}"|**{y}**|Well, {x}, I suppose.|{"answer": "{x}"}
{y} - at least that is how I remember it.|Most textbooks would say: {x}.|It can be said in one line: {x}.
If you ask me, {x}.|My grandmother used to explain it so: {x}.|The short version: {x}. There is more to it, of course.
<answer>{y}</answer>|Explanation: {x}.|Let me think. {y}.|One could answer as follows: {x}.""".replace("\n", "|").split(
    "|"
)
