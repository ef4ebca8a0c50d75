"""Rows of answers in formats, as systems give them or as the question asks: JSON, tables, tags, LaTeX, function calls …

`formats.jsonl` has the forms, each of a family, so that a whole family can be left out of a training. {x} is the
answer and {v} the answer as a JSON value, {a} another answer, {w} some reasoning, {q} the question, {k} a name; of
options {l} and {t} are letter and text, {m} is the letter of another. `ask` is what the question then asks for.
"""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from random import Random
from typing import NamedTuple

from bert_judge.metrics import normalise
from bert_judge.records import Sample
from bert_judge.training.rows import is_held_out
from made import frames
from made.bank import DEV_SHARE, LETTERS, TEST_SHARE, Bank, Item, Made, Rows, option
from made.choosing import filled
from made.files import HERE, pick
from made.frames import draw, fill

_Said = tuple[dict[str, str], dict[str, str]]  # the slots for a correct and for an incorrect answer


class Form(NamedTuple):
    """A form of an answer; `options` marks those that need a question with options."""

    family: str
    form: str
    ask: str = ""
    options: bool = False


FORMS: dict[str, list[Form]] = defaultdict(list)
for _line in (HERE / "formats.jsonl").read_text(encoding="utf-8").splitlines():
    FORMS[json.loads(_line)["family"]].append(Form(**json.loads(_line)))
_PLACES = ("{q}\n{i}", "{i} {q}", "{i}\n\n{q}", "{q}\n\nInstructions: {i}", "Question: {q}\n\n{i}", "{q}\n{i}\nAnswer:")
_LIKE_NOTHING = re.compile(r"0|no|zero|none|nothing|nobody|null", re.IGNORECASE)  # which a placeholder could say
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")

# How a text is written inside a format: what it must not hold there is escaped.
_ESCAPES: dict[str, Callable[[str], str]] = {
    "json": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "code": lambda text: text.replace("\n", " ").replace('"', '\\"'),
    "tables": lambda text: text.replace("\n", " ").replace("|", "/"),
    "tags": lambda text: html.escape(text, quote=False),
    "latex": lambda text: text if re.search(r"[\\^$]", text[1:]) else re.sub(r"[%$&#_]", r"\\\g<0>", text),
}


def formatted(family: str) -> Callable[[Bank, Random], Rows]:
    """A kind of rows: answers in the forms of a family. What the form gives counts, whatever the reasoning says."""

    def make(bank: Bank, chance: Random) -> Rows:
        pools = zip_longest(bank.draw("any", chance), bank.draw("chains", chance))
        for item in (item for both in pools for item in both if item):
            if item.choices and len({*item.choices}) < len(item.choices):
                continue
            forms = [form for form in FORMS[family] if item.choices or not form.options]
            if forms and (fields := _said(bank, item, chance)):
                form, name = chance.choice(forms), pick(chance, "formats", "keys")
                asked = _asked(item, fill(form.ask, k=name), chance) if form.ask else item
                yield from ((asked, made) for made in _told(form, fields, name, item, chance))

    return make


def _told(form: Form, fields: _Said, name: str, item: Item, chance: Random) -> Iterator[Made]:
    """Twins in one form: with an answer, and sometimes with a placeholder instead of it."""
    place = "inside" if "{w}" in form.form or form.ask else chance.choice(("before", "before", "after", "no", "no"))

    def write(slots: dict[str, str], reasoning: str) -> str:
        escape = _ESCAPES.get(form.family, str)
        values = {key: escape(text) for key, text in (slots | {"q": item.question, "w": reasoning}).items()}
        bare = _PLAIN_NUMBER.fullmatch(slots["x"]) or slots["x"] in ("null", "")
        values |= {"k": name, "v": (slots["x"] or "null") if bare else json.dumps(slots["x"], ensure_ascii=False)}
        text = fill(form.form, **values)
        return {"before": f"{reasoning}\n\n{text}", "after": f"{text}\n\n{reasoning}"}.get(place, text)

    ahead = place == "after" or re.search(r"\{[xvlt]\}.*\{w\}", form.form, re.DOTALL)
    seed = chance.random()
    for label, slots in zip((1, 0), fields, strict=True):
        yield Made(label, write(slots, _reasoning(item, label, slots, bool(ahead), Random(seed))))
    blank = pick(chance, "formats", "placeholders")
    fits = re.search(r"\{[xv]\}", form.form) and not _LIKE_NOTHING.fullmatch(item.right)
    if chance.random() < 0.2 and fits and normalise(blank) not in map(normalise, item.answers):
        nothing = " ".join(frames.prose(chance.choice((10, 40)), chance, []))
        yield Made(0, write(fields[1] | {"x": blank}, nothing))
        yield Made(1, write(fields[0], nothing))


def _said(bank: Bank, item: Item, chance: Random) -> _Said | None:
    """The slots of the forms for a correct and for an incorrect answer; None where there is no incorrect one."""
    if not item.choices:
        pair = bank.pair(item, chance)
        return ({"x": pair[0], "a": pair[1]}, {"x": pair[1], "a": pair[0]}) if pair else None
    other = item.choices.index(item.wrong) if item.wrong else item.other_place(chance)
    style = chance.choice(("{l}", "{l}", "({l})", "{t}", "({l}) {t}", "{l}. {t}"))

    def slots(place: int, not_it: int) -> dict[str, str]:
        named = {"x": option(item, place, style), "a": option(item, not_it, style)}
        return named | {"l": LETTERS[place], "m": LETTERS[not_it], "t": option(item, place)}

    return slots(item.place, other), slots(other, item.place)


def _reasoning(item: Item, label: int, fields: dict[str, str], ahead: bool, chance: Random) -> str:
    """What a system wrote on the way to its answer, or sentences that weigh both answers, up to some hundred words.

    Reasoning that comes after its answer (`ahead`) leads to it: else it would take it back.
    """
    leads_to_it = label == (not item.wrong)
    if item.solution and (leads_to_it or not ahead) and chance.random() < 0.9:
        return re.sub(r"\\boxed\{([^{}]*)\}|^(?:Yes|No)[.,;:]\s*", r"\1", item.solution).strip()
    parts = [draw("considered", chance), draw("rejected", chance), draw("supported", chance)]
    rest = frames.prose(chance.choice((0, 0, 30, 80, 200, 350)), chance, [])
    place = chance.randint(0, len(rest))
    text = " ".join([draw("starts", chance), *rest[:place], *parts, *rest[place:]])
    b, a = (fields["x"], fields["a"]) if ahead or chance.random() < 0.7 else (fields["a"], fields["x"])
    return filled(text, item, chance, a=a, b=b)


def _asked(item: Item, ask: str, chance: Random) -> Item:
    """The item whose question asks for a format, too, on the same side of the splits; as it is where there is none."""
    ways = [fill(place, q=item.question, i=ask) for place in chance.sample(_PLACES, len(_PLACES))]
    return replace(item, question=next((way for way in ways if _side(way) == _side(item.question)), item.question))


def _side(question: str) -> list[bool]:
    """On which side of the splits by question a question is."""
    return [is_held_out(Sample("", (question,), question), share) for share in (TEST_SHARE, DEV_SHARE)]
