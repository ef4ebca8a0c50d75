"""The wording of prompts: with options, with a context, and with or without a format for the answer.

The three forms are those of the paper (arXiv 2604.09497, table 8); the wording is ours.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import TypeAlias

from bert_judge.errors import InputError

FORMS: Mapping[str, str] = {
    "": "",
    "_soft": 'Work out the answer, and conclude with a last line "Final answer: X", where X is {answer}.',
    "_strict": 'Respond only with the line "Final answer: X", where X is {answer}; write nothing else.',
}
"""The instruction on the answer's format, by the ending of the task's name; `{answer}` describes X."""

OPTION = "the letter of the right option"
SPAN = "the shortest answer to the question, in the words of the context where it has them"
RESULT = "the result, a number or an expression"

Order: TypeAlias = "Callable[[Sequence[str], str], list[str]]"
"""A function from the options of a question, and the question, to the options in the order of the prompt."""


def ask_choice(question: str, options: Sequence[str]) -> str:
    """The text of a multiple-choice question; the options are lettered from A."""
    listed = "\n".join(lettered(options))
    return f"Which of the options answers this question?\n\nQuestion: {question.strip()}\n\nOptions:\n{listed}"


def ask_context(question: str, context: str) -> str:
    """The text of a question about a context."""
    return (
        "Read the context and answer the question from it.\n\n"
        f"Context:\n{context.strip()}\n\nQuestion: {question.strip()}"
    )


def add_form(question: str, form: str, answer: str) -> str:
    """A question with the instruction of one of `FORMS`."""
    return f"{question}\n\n{FORMS[form].format(answer=answer)}" if FORMS[form] else question


def lettered(options: Sequence[str]) -> list[str]:
    """Options with letters, as in "A) Paris", "B) London"; at most 26."""
    if len(options) > len(ascii_uppercase):
        raise InputError(f"a question has {len(options)} options; at most {len(ascii_uppercase)} were expected.")
    letters = ascii_uppercase[: len(options)]
    return [f"{letter}) {option.strip()}" for letter, option in zip(letters, options, strict=True)]


def shuffled(options: Sequence[str], question: str, seed: int = 0) -> list[str]:
    """Options in an order that depends only on their texts, the question and the seed.

    For data sets that put the correct option first.
    """
    # By a hash, since `random.shuffle` may change between versions of Python.
    return sorted(options, key=lambda text: hashlib.sha256(f"{seed}\0{question}\0{text}".encode()).digest())


def paper_order() -> Order:
    """The order of options in the paper's package, to be called for one row after the other.

    Its tasks seed Python's random generator with 0 and then shuffle the options of each row in turn.
    """
    chance = random.Random(0)

    def order(options: Sequence[str], _: str) -> list[str]:
        mixed = list(options)
        chance.shuffle(mixed)
        return mixed

    return order
