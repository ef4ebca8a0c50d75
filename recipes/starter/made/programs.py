"""Rows about what a program returns: the value as a literal, and one that differs in one place, type or order."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from made import frames
from made.bank import Bank, Made, Rows
from made.files import lines
from made.twins import ROUNDS, item_of

_ASKED = (
    "What does the function return for the given input?\n{c}\nassert f({a}) == ??",
    "What does this print?\n{c}\nprint(f({a}))",
    "{c}\n\nWhat is the value of f({a})?",
    "Here is a Python function:\n```python\n{c}\n```\nWhat is f({a})?",
)
_TOLD = (
    "{x}",
    "{x}",
    "{x}",
    "`{x}`",
    "The function returns {x}.",
    "The function returns `{x}`.",
    "f({a}) == {x}",
    "```python\n{x}\n```",
    "It goes through the input one by one, so the result is {x}.",
    "Let's run it step by step. The loop ends after the last element. The returned value is {x}.",
    "The output is: {x}",
    "Answer: {x}",
)
_WORDS = tuple("apple river stone cloud tiger lamp basket violin harbour meadow rocket candle".split())
_Program = tuple[str, Any, Callable[[Any], Any]]


def returned(bank: Bank, chance: Random) -> Rows:
    """What a short program returns, and a value that is nearly the same."""
    for _ in range(ROUNDS):
        code, argument, function = chance.choice(_PROGRAMS)(chance)
        value = function(argument)
        wrong = _near(value, chance)
        if wrong is None or (wrong == value and type(wrong) is type(value)):
            continue
        question = frames.fill(chance.choice(_ASKED), c=code, a=repr(argument))
        item = item_of(question, repr(value), chance, repr(wrong))
        told, style = chance.choice(_TOLD), chance.random()
        for label, result in ((1, value), (0, wrong)):
            text = frames.fill(told, x=_literal(result, style), a=repr(argument))
            as_json = json.dumps({"reasoning": "The code is run line by line.", "answer": repr(result)})
            yield item, Made(label, as_json if 0.3 < style < 0.36 else text)


def _literal(value: Any, style: float) -> str:
    """A value as people write it: strings in double quotes, too."""
    text = repr(value)
    return (
        json.dumps(value) if style < 0.3 and isinstance(value, str) and '"' not in value and "\\" not in text else text
    )


def _near(value: Any, chance: Random) -> Any:
    """A value that differs in one place, in its type or in its order; None where there is none."""
    if isinstance(value, bool):
        return chance.choice((not value, str(value), int(value) + 2))
    if isinstance(value, int):
        return chance.choice((value + chance.choice((-2, -1, 1, 2, 10)), -value or 1, str(value)))
    if isinstance(value, str):
        return _near_text(value, chance)
    if isinstance(value, dict):
        key = chance.choice([*value]) if value else None
        changed = _near(value[key], chance) if value else None
        return chance.choice(({**value, key: changed}, {k: v for k, v in value.items() if k != key})) if value else [0]
    if not value:
        return chance.choice(([None], "", [[]], (0,)))
    items = [*value]
    place = chance.randrange(len(items))
    ways = [
        [*items[:place], _near(items[place], chance), *items[place + 1 :]],
        [*items[:place], *items[place + 1 :]],
        [*items[: place + 1], items[place], *items[place + 1 :]],
        items[::-1],
    ]
    if isinstance(value, tuple):
        return chance.choice([*map(tuple, ways), items])
    return chance.choice([*ways, *ways, tuple(items)])


def _near_text(text: str, chance: Random) -> str:
    if not text:
        return chance.choice((" ", "''", "None"))
    place = chance.randrange(len(text))
    letter = chance.choice("abcdeikmnorstuxyz")
    return chance.choice(
        (
            text[:place] + letter + text[place + 1 :],
            text[:place] + text[place + 1 :],
            text[: place + 1] + text[place] + text[place + 1 :],
            text[::-1],
            text + chance.choice((" ", letter, "!", text[-1])),
        )
    )


def _words(chance: Random) -> list[str]:
    return chance.sample(_WORDS, chance.randint(2, 5))


def _numbers(chance: Random) -> list[int]:
    return [chance.randint(-9, 30) for _ in range(chance.randint(3, 7))]


def _sentence(chance: Random) -> str:
    name = chance.choice(lines("first_names"))
    return chance.choice((" ".join(_words(chance)), f"{name} has {chance.randint(2, 99)} {chance.choice(_WORDS)}s"))


def _even(chance: Random) -> _Program:
    by = chance.choice((2, 3, 4))
    code = f"def f(numbers):\n    return [n for n in numbers if n % {by} == 0]"
    return code, _numbers(chance), lambda numbers: [n for n in numbers if n % by == 0]


def _sums(chance: Random) -> _Program:
    code = (
        "def f(numbers):\n    total, sums = 0, []\n    for n in numbers:\n        total += n\n"
        "        sums.append(total)\n    return sums"
    )
    return code, _numbers(chance), lambda numbers: [sum(numbers[: n + 1]) for n in range(len(numbers))]


def _ends(chance: Random) -> _Program:
    code = "def f(numbers):\n    return min(numbers), max(numbers)"
    return code, _numbers(chance), lambda numbers: (min(numbers), max(numbers))


def _scaled(chance: Random) -> _Program:
    by, more = chance.randint(2, 5), chance.randint(1, 9)
    code = f"def f(numbers):\n    return [n * {by} + {more} for n in numbers]"
    return code, _numbers(chance), lambda numbers: [n * by + more for n in numbers]


def _pairs(chance: Random) -> _Program:
    code = "def f(words):\n    return [(i, w) for i, w in enumerate(words) if len(w) > 4]"
    return code, _words(chance), lambda words: [(i, w) for i, w in enumerate(words) if len(w) > 4]


def _lengths(chance: Random) -> _Program:
    code = "def f(words):\n    return {w: len(w) for w in words}"
    return code, _words(chance), lambda words: {w: len(w) for w in words}


def _first_letters(chance: Random) -> _Program:
    code = "def f(text):\n    return ''.join(w[0].upper() for w in text.split())"
    return code, _sentence(chance), lambda text: "".join(w[0].upper() for w in text.split())


def _joined(chance: Random) -> _Program:
    mark = chance.choice(("-", "_", ", ", "|", ""))
    code = f"def f(words):\n    return {mark!r}.join(sorted(words))"
    return code, _words(chance), lambda words: mark.join(sorted(words))


def _counted(chance: Random) -> _Program:
    letter = chance.choice("aeiorst")
    code = (
        "def f(text):\n    count = 0\n    for c in text:\n"
        f"        if c == '{letter}':\n            count += 1\n    return count"
    )
    return code, _sentence(chance), lambda text: text.count(letter)


def _replaced(chance: Random) -> _Program:
    one, two = chance.sample("aeiorstlnc", 2)
    code = f"def f(text):\n    return text.replace('{one}', '{two}').strip()"
    return code, _sentence(chance), lambda text: text.replace(one, two).strip()


def _sliced(chance: Random) -> _Program:
    start, step = chance.randint(0, 2), chance.choice((2, 3, -1))
    cut = f"[{start}::{step}]" if step > 0 else "[::-1]"
    code = f"def f(text):\n    return text{cut}"
    return code, _sentence(chance), lambda text: text[start::step] if step > 0 else text[::-1]


def _holds(chance: Random) -> _Program:
    limit = chance.randint(5, 25)
    code = f"def f(numbers):\n    return all(n < {limit} for n in numbers)"
    return code, _numbers(chance), lambda numbers: all(n < limit for n in numbers)


def _split(chance: Random) -> _Program:
    code = "def f(text):\n    return [w.title() for w in text.split(' ')]"
    return code, _sentence(chance), lambda text: [w.title() for w in text.split(" ")]


def _grouped(chance: Random) -> _Program:
    code = (
        "def f(numbers):\n    groups = {'low': [], 'high': []}\n    for n in numbers:\n"
        "        groups['low' if n < 10 else 'high'].append(n)\n    return groups"
    )
    return code, _numbers(chance), lambda ns: {"low": [n for n in ns if n < 10], "high": [n for n in ns if n >= 10]}


def _unique(chance: Random) -> _Program:
    code = "def f(numbers):\n    return sorted(set(numbers), reverse=True)"
    return code, _numbers(chance), lambda numbers: sorted(set(numbers), reverse=True)


_PROGRAMS: tuple[Callable[[Random], _Program], ...] = (
    *(_even, _sums, _ends, _scaled, _pairs, _lengths, _first_letters, _joined, _counted, _replaced, _sliced, _holds),
    *(_split, _grouped, _unique),
)
