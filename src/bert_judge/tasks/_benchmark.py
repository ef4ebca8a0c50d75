"""A benchmark as a record, and its three tasks: free, soft and strict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from bert_judge.inputs.datasets import find_dataset, load_dataset
from bert_judge.tasks._prompts import FORMS, add_form

if TYPE_CHECKING:
    from datasets import Dataset

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

    def local_rows(self) -> int | None:
        """The number of rows before a task leaves some out; None if the data set is not on this machine.

        Raises InputError if it can't be read.
        """
        if find_dataset(self.dataset) is None:
            return None
        return len(load_dataset(self.dataset, self.config, self.split))


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
            prompt = add_form(question.strip(), self.form, self.answer)
            return {"question": prompt, "reference": reference.strip()}

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
