"""A benchmark as a record, and the three tasks that are made from it: free, soft and strict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from bert_judge.inputs.datasets import find_dataset, load_dataset
from bert_judge.tasks._prompts import FORMS, add_form

if TYPE_CHECKING:
    from datasets import Dataset

Row = Mapping[str, Any]
"""A row of a data set, in the data set's own columns."""


class Item(NamedTuple):
    """What a model is asked, and the reference answer."""

    question: str
    reference: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One split of a data set under the name of its task.

    `dataset` is its id on the Hub; `config` is one configuration, several, or None for the only one; `licence` is that
    of its card, as an SPDX identifier where there is one; `family` is the kind of question.
    """

    name: str
    dataset: str
    config: str | tuple[str, ...] | None
    split: str
    licence: str
    family: str

    def local_rows(self) -> int | None:
        """How many rows the split has, before a task leaves some out; None if the data set is not on the disk.

        Raises InputError if it can't be read.
        """
        there = find_dataset(self.dataset) is not None
        return len(load_dataset(self.dataset, self.config, self.split)) if there else None


class Reading(NamedTuple):
    """How rows of a data set become questions with references (`read`), and which rows are used (`keep`)."""

    read: Callable[[Row], Item]
    keep: Callable[[Row], bool] | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkTask:
    """A task: call it for a dataset with the columns `question` and `reference`.

    `form` is one of `FORMS`, and `answer` says what X is in "Final answer: X". Where the paper's package uses other
    rows, or another order of options, `paper` makes its reading of the data set, from the first row on.
    """

    benchmark: Benchmark
    form: str
    answer: str
    reading: Reading = field(repr=False)
    paper: Callable[[], Reading] | None = field(repr=False, default=None)

    @property
    def name(self) -> str:
        """The name of the benchmark, with `_soft` or `_strict` where the answer has a format."""
        return self.benchmark.name + self.form

    def __call__(self) -> Dataset:
        """Load the data set, locally or from the Hub. Raises InputError with what is missing."""
        return self._load(self.reading)

    def as_in_paper(self) -> Dataset:
        """The rows and the order of options of candidates that were made with the paper's package."""
        return self._load(self.paper() if self.paper else self.reading)

    def _load(self, reading: Reading) -> Dataset:
        def ask(row: Row) -> dict[str, str]:
            question, reference = reading.read(row)
            asked = add_form(question.strip(), self.form, self.answer)
            return {"question": asked, "reference": reference.strip()}

        source = self.benchmark
        rows = load_dataset(source.dataset, source.config, source.split, filter_fn=reading.keep, process_fn=ask)
        return rows.select_columns(["question", "reference"])


def make_tasks(
    benchmarks: Iterable[Benchmark],
    read: Callable[[Row], Item],
    answer: str,
    keep: Callable[[Row], bool] | None = None,
    paper: Callable[[], Reading] | None = None,
) -> list[BenchmarkTask]:
    """Each benchmark in each of `FORMS`; a file offers them in a list called `TASKS`.

    `read` makes a question and its reference from a row, `keep` says which rows are used; `answer` and `paper` are as
    in `BenchmarkTask`.
    """
    reading = Reading(read, keep)
    return [BenchmarkTask(each, form, answer, reading, paper) for each in benchmarks for form in FORMS]
