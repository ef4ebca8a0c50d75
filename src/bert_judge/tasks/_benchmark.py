"""A benchmark as a record, its three tasks (free, soft and strict), and the wording of their prompts.

The three forms are those of the paper (arXiv 2604.09497, table 8); the wording is ours.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bert_judge.errors import InputError
from bert_judge.inputs.datasets import load_dataset

if TYPE_CHECKING:
    from datasets import Dataset

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

Row = Mapping[str, Any]
"""A row of a data set, by the data set's own columns."""


class Item(NamedTuple):
    """The question put to a model, and the reference answer."""

    question: str
    reference: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One split of a data set, and the name of its task.

    `dataset` is its id on the Hub; `config` is one configuration, several, or None for the only one; `licence` is that
    of its card, as an SPDX identifier if there is one; `family` is the kind of question.
    """

    name: str
    dataset: str
    config: str | tuple[str, ...] | None
    split: str
    licence: str
    family: str


class RowConversion(NamedTuple):
    """How rows of a data set become questions with references (`read`), and which rows are used (`keep`)."""

    read: Callable[[Row], Item]
    keep: Callable[[Row], bool] | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkTask:
    """A task: calling it returns a dataset with the columns `question` and `reference`.

    `form` is one of `FORMS`; `answer` describes X in "Final answer: X". If the paper's package uses other rows or
    another order of options, `paper` makes its conversion, for one pass over the rows.
    """

    benchmark: Benchmark
    form: str
    answer: str
    conversion: RowConversion = field(repr=False)
    paper: Callable[[], RowConversion] | None = field(repr=False, default=None)

    @property
    def name(self) -> str:
        """The name of the benchmark, with `_soft` or `_strict` if the answer has a format."""
        return self.benchmark.name + self.form

    def __call__(self) -> Dataset:
        """Load the data set, locally or from the Hub. Raises InputError with what is missing."""
        return self._load(self.conversion)

    def as_in_paper(self) -> Dataset:
        """The rows and the order of options that the paper's package uses."""
        return self._load(self.paper() if self.paper else self.conversion)

    def _load(self, conversion: RowConversion) -> Dataset:
        def convert(row: Row) -> dict[str, str]:
            question, reference = conversion.read(row)
            instruction = [FORMS[self.form].format(answer=self.answer)] if self.form else []
            return {"question": "\n\n".join([question.strip(), *instruction]), "reference": reference.strip()}

        source = self.benchmark
        rows = load_dataset(source.dataset, source.config, source.split, filter_fn=conversion.keep, process_fn=convert)
        return rows.select_columns(["question", "reference"])


def make_tasks(
    benchmarks: Iterable[Benchmark],
    read: Callable[[Row], Item],
    answer: str,
    keep: Callable[[Row], bool] | None = None,
    paper: Callable[[], RowConversion] | None = None,
) -> list[BenchmarkTask]:
    """Each benchmark in each of `FORMS`, for the list `TASKS` of a file.

    `read` and `keep` are those of `RowConversion`; `answer` and `paper` those of `BenchmarkTask`.
    """
    conversion = RowConversion(read, keep)
    return [BenchmarkTask(benchmark, form, answer, conversion, paper) for benchmark in benchmarks for form in FORMS]


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
