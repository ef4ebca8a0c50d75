"""The questions that rows are made from, in pools, and plausible incorrect answers to each of them."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bert_judge.metrics import containment, normalise
from bert_judge.reading import read
from made.files import lines
from made.frames import fill
from made.values import Date, Number, parse_date, parse_number

LETTERS = "ABCDEFGHIJ"
PASSES = 6  # how often a pool may be gone through; each pass makes other rows
TEST_SHARE = 0.06  # of the questions: they measure the judge, and nothing else
DEV_SHARE = 0.12  # of the questions, with the test questions: they calibrate it

_OR = re.compile(r"[,:;]\s*(?P<one>[^,:;?]{2,50}?),? or (?:the )?(?P<two>[^,:;?]{2,50})\?$")
_NOT_PLAIN = re.compile(r"[\\${}^]")
_NO_VALUE = re.compile(r"[\n:\\]|\.$|answer|unknown|sorry|know|passage|context|\bnot?\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class Item:
    """A question of a task or a made-up one; `same` are correct answers in other words than the references."""

    task: str
    question: str
    references: tuple[str, ...]
    choices: tuple[str, ...] = ()
    context: str = ""
    solution: str = ""
    wrong: str = ""
    same: tuple[str, ...] = ()

    @property
    def right(self) -> str:
        """The first correct answer; with choices the text of the correct one, without its letter."""
        return self.choices[self.place] if self.choices else self.references[0]

    @property
    def place(self) -> int:
        """Which choice is correct."""
        return LETTERS.index(self.references[0][1])

    def other_place(self, chance: Random) -> int:
        """An incorrect choice."""
        return chance.choice([n for n in range(len(self.choices)) if n != self.place])

    @property
    def answers(self) -> tuple[str, ...]:
        """All that an incorrect answer must differ from."""
        return (self.right, *self.references)


class Made(NamedTuple):
    """An answer made for an item. `references`, where given, replace those of the item."""

    label: int
    candidate: str
    references: tuple[str, ...] = ()


Maker = Callable[["Bank", Item, Random], Iterable[Made]]
Rows = Iterator[tuple[Item, Made]]


@dataclass(frozen=True)
class Bank:
    """All items of a folder: by pool and task, and their answers by kind."""

    pools: dict[str, dict[str, list[Item]]]
    alike: dict[tuple[str, ...], list[str]]
    candidates: dict[str, list[str]]
    contexts: list[str] = field(default_factory=list)

    def add(self, items: Iterable[Item]) -> None:
        """Put items into the pools that can hold them."""
        for item in items:
            for pool, holds in POOLS.items():
                if holds(item):
                    self.pools.setdefault(pool, {}).setdefault(item.task, []).append(item)

    def draw(self, pool: str, chance: Random) -> Iterator[Item]:
        """The items of a pool in random order, `PASSES` times; small tasks more often than their size suggests."""
        for _ in range(PASSES):
            queues = [chance.sample(items, len(items)) for items in self.pools.get(pool, {}).values()]
            while queues := [queue for queue in queues if queue]:
                queue = chance.choices(queues, [len(queue) ** 0.5 for queue in queues])[0]
                yield queue.pop()

    def pair(self, item: Item, chance: Random) -> tuple[str, str] | None:
        """A correct answer and a plausible incorrect one of the same form; None where none was found."""
        if item.choices:
            other = item.other_place(chance)
            style = chance.choice(("{t}", "{t}", "({l}) {t}", "({l})"))
            return option(item, item.place, style), option(item, other, style)
        rights = (*item.references, *item.same)
        right = chance.choice(rights) if chance.random() < (0.6 if item.same else 0.3) else rights[0]
        wrong = self.wrong(item, chance)
        return (right, wrong) if wrong else None

    def wrong(self, item: Item, chance: Random) -> str | None:
        """A plausible incorrect answer: close in meaning, in spelling or in kind."""
        if item.wrong:
            return item.wrong
        if item.choices:
            return chance.choice([choice for choice in item.choices if choice != item.right])
        if _is_yes_no(item):
            return "No" if normalise(item.right) == "yes" else "Yes"
        words = item.right.split() or [""]
        ends = ("first", words[0]), ("last", words[-1])
        ways: list[tuple[float, Callable[[], Sequence[str | None]]]] = [
            (0.5, lambda: [other_option(item)]),
            (0.3, lambda: self.candidates.get(normalise(item.question), [])),
            (0.3, lambda: self.alike.get((item.context[:200], shape(item.right)), []) if item.context else []),
            (0.4, lambda: [near_value(item.right, chance)]),
            (0.25, lambda: self.alike.get(("part", *chance.choice(ends)), [])),
            (1.0, lambda: self.alike.get((item.task, first_word(item.question), shape(item.right)), [])),
            (0.9, lambda: self.alike.get((item.task, first_word(item.question)[:5], shape(item.right)), [])),
            (1.0, lambda: self.alike.get((item.task, shape(item.right)), [])),
        ]
        for _ in range(3):
            for odds, find in ways:
                texts = [text for text in find() if text] if chance.random() < odds else []
                wrong = chance.choice(texts) if texts else None
                if wrong and differs(wrong, item.answers) and len(wrong) < 3 * len(item.right) + 15:
                    return wrong
        return None


def with_pair(maker: Callable[[Bank, Item, tuple[str, str], Random], Iterable[Made]]) -> Maker:
    """A maker that is also given a correct and an incorrect answer; it skips items without an incorrect one."""

    def make(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
        if pair := bank.pair(item, chance):
            yield from maker(bank, item, pair, chance)

    return make


def over(pool: str, maker: Maker) -> Callable[[Bank, Random], Rows]:
    """A kind of rows: what `maker` makes of the items of a pool."""

    def make(bank: Bank, chance: Random) -> Rows:
        for item in bank.draw(pool, chance):
            yield from ((item, made) for made in maker(bank, item, chance))

    return make


def read_bank(folder: Path) -> Bank:
    """Read all files of `folder/tasks`, and short incorrect answers to their questions from `folder/labelled`."""
    items: list[Item] = []
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    contexts: dict[str, None] = {}
    questions = set()
    for task, rows in read_folder(folder / "tasks"):
        for item in (_item(task, row) for row in rows):
            questions.add(normalise(item.question))
            items.append(item)
            if item.context:
                contexts[item.context] = None
            if not item.choices and item.right.casefold() not in ("yes", "no", "unanswerable"):
                _file_answer(alike, item)
    candidates: dict[str, list[str]] = defaultdict(list)
    for _, rows in read_folder(folder / "labelled"):
        for row in rows:
            if row["label"] == 0 and row.get("question") and 1 < len(row["candidate"]) <= 50:
                key = normalise(row["question"])
                if key in questions and not _NO_VALUE.search(row["candidate"]):
                    candidates[key].append(row["candidate"])
    bank = Bank({}, alike, candidates, list(contexts))
    bank.add(items)
    return bank


def differs(text: str, answers: Iterable[str]) -> bool:
    """Whether a text differs from every answer: neither has all words of the other, and their numbers are not equal."""
    keys = _keys(text)
    return bool(keys) and not any(
        keys <= _keys(answer)
        or keys >= _keys(answer)
        or containment(text, answer)
        or containment(answer, text)
        or (_value(text) is not None and _value(text) == _value(answer))
        for answer in answers
    )


def near_value(text: str, chance: Random) -> str | None:
    """A number off by a digit, a date off by a year, month or day, in the form of the text."""
    read = parse_date(text) or parse_number(text)
    return read.other(chance).like(text) if read else None


def other_option(item: Item) -> str | None:
    """The incorrect one of "A or B?" at the end of a question."""
    match = _OR.search(item.question)
    if not match:
        return None
    one, two = re.sub(r"^(the|an|a) ", "", match["one"].strip()), match["two"].strip()
    rights = {normalise(answer) for answer in item.references}
    return next((b for a, b in ((one, two), (two, one)) if normalise(a) in rights and len(b) < 50), None)


def option(item: Item, place: int, style: str = "{t}") -> str:
    """A choice in some style: {l} is its letter, {t} its text."""
    return fill(style, l=LETTERS[place], t=item.choices[place].rstrip("."))


@lru_cache(maxsize=100_000)
def shape(text: str) -> str:
    """Answers of one shape can stand for each other: numbers, years, dates, names, phrases of a length."""
    if date := parse_date(text):
        return "date " + date.shape
    if number := parse_number(text):
        return f"number {number.unit} {len(str(abs(int(number.value))))}"
    if re.search(r"\d", text):
        return f"text with a number {min(len(text.split()), 4)}"
    words = text.split()
    names = sum(word[:1].isupper() for word in words)
    return ("Name" if names * 2 > len(words) else "phrase") + str(min(len(words), 5))


def first_word(question: str) -> str:
    """The word that says what is asked for: who, when, where, how many, which city …"""
    match = re.search(r"\b(how \w+|(?:what|which) \w+|who|whose|when|where|why)\b", question.casefold())
    return match[0] if match else ""


def _file_answer(alike: dict[tuple[str, ...], list[str]], item: Item) -> None:
    if len(item.right) > 60 or _NOT_PLAIN.search(item.right.replace("$", "", 1)):
        return
    for answer in item.references[:2]:
        alike[item.task, shape(answer)].append(answer)
        for word in {first_word(item.question), first_word(item.question)[:5]}:
            alike[item.task, word, shape(answer)].append(answer)
        if item.context:
            alike[item.context[:200], shape(answer)].append(answer)
            alike[item.context[:200], "all"].append(answer)
    words = item.right.split()
    if _is_person(item):
        alike[("people",)].append(item.right)
    if shape(item.right) in ("Name2", "Name3"):
        alike["part", "first", words[0]].append(item.right)
        alike["part", "last", words[-1]].append(item.right)


@lru_cache(maxsize=100_000)
def _keys(text: str) -> frozenset[Hashable]:
    return read(text).keys


@lru_cache(maxsize=100_000)
def _value(text: str) -> tuple[object, ...] | None:
    read: Date | Number | None = parse_date(text) or parse_number(text)
    return tuple(read)[:3] if isinstance(read, Date) else (read.value,) if read else None


def read_folder(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The files of JSON lines in a folder, packed or not: their names without the ending, and their rows."""
    for path in sorted(folder.glob("*.jsonl*")):
        if path.name.endswith((".jsonl", ".jsonl.gz")):
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as rows:
                yield path.name.split(".")[0], [json.loads(row) for row in rows]


def _item(task: str, row: dict[str, Any]) -> Item:
    references = row["reference"] if isinstance(row["reference"], list) else [row["reference"]]
    choices = tuple(row.get("choices") or ())
    if choices and not re.match(r"\([A-J]\) ", references[0]):
        references = [f"({LETTERS[choices.index(references[0])]}) {references[0]}"]
    solution = row.get("solution") or row.get("explanation") or ""
    return Item(task, row["question"], tuple(references), choices, row.get("context") or "", solution)


def _is_plain(item: Item) -> bool:
    right = item.references[0]
    return (
        not item.choices
        and 0 < len(right) <= 60
        and not _NOT_PLAIN.search(right.replace("$", "", 1))
        and normalise(right) not in ("yes", "no", "unanswerable", "true", "false", "")
    )


def _is_person(item: Item) -> bool:
    name = item.right.split()
    return (
        _is_plain(item)
        and len(name) in (2, 3)
        and all(re.fullmatch(r"[A-Z][\w'’-]+|[A-Z]\.", word) for word in name)
        and name[0] in lines("first_names")
    )


def _is_yes_no(item: Item) -> bool:
    return not item.choices and normalise(item.right) in ("yes", "no")


def _is_list(item: Item) -> bool:
    if not _is_plain(item) or item.wrong:
        return False
    items = split_list(item.right)
    plural = re.search(r"\b(two|three|four|both|are|were|languages|names|types)\b", item.question)
    return len(items) >= 3 or (
        len(items) == 2 and bool(plural) and not re.match(r"who\b", item.question, re.IGNORECASE)
    )


def split_list(text: str) -> list[str]:
    """The items of an enumeration; an empty list where a text is not clearly one."""
    if re.search(r"\d,\d|\bto\b|\bbetween\b|[()\"]", text) or not re.search(r"\band\b|,.*,|;", text):
        return []
    items = [item.strip() for item in re.split(r"\s*(?:,\s*and\b|,|;|\band\b)\s*", text)]
    return items if all(0 < len(item.split()) <= 4 for item in items) and len(set(items)) == len(items) else []


POOLS: dict[str, Callable[[Item], bool]] = {
    "open": lambda item: _is_plain(item) or bool(item.choices or item.wrong),
    "any": lambda item: _is_plain(item) or bool(item.choices or item.wrong) or _is_yes_no(item),
    "plain": _is_plain,
    "words": lambda item: _is_plain(item) and not parse_number(item.right),
    "options": lambda item: bool(item.choices) and len(set(item.choices)) == len(item.choices),
    "yes or no": _is_yes_no,
    "unanswerable": lambda item: item.right == "Unanswerable",
    "numbers": lambda item: (
        not item.choices
        and parse_number(item.right) is not None
        and not (parse_date(item.right) and not re.search(r"\bhow (many|much)\b", item.question, re.IGNORECASE))
    ),
    "dates": lambda item: (
        not item.choices
        and parse_date(item.right) is not None
        and bool(re.search(r"\b(when|year|date|day|born)\b", item.question, re.IGNORECASE))
        and not re.search(r"\bhow\b", item.question, re.IGNORECASE)
    ),
    "lists": _is_list,
    "people": _is_person,
}
