"""Read a file of answers: any format becomes a stream of samples, checked as a whole before the first one is judged.

    source = open_source("answers.jsonl")
    print(len(source), source.columns)
    for sample in source:
        ...

It reads JSON lines, a JSON list, CSV and TSV (all of them also compressed), parquet, folders written by `save_to_disk`
of datasets, saved runs of other tools (`inputs.saved`), and several of these, or a folder of them, one after the other.
The check reads a file once; each iteration reads it again, a row at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bert_judge.errors import InputError
from bert_judge.inputs.columns import (
    COLUMN_NAMES,
    REQUIRED,
    ColumnMap,
    asked_columns,
    choose_columns,
    columns_in,
    recognised_columns,
)
from bert_judge.inputs.files import FORMATS, Input
from bert_judge.inputs.finding import find_input
from bert_judge.inputs.limits import FILES, Limits
from bert_judge.inputs.saved import HARNESS, SavedRun
from bert_judge.inputs.values import RawRow, RowReader, note_separators, separators_in
from bert_judge.records import Sample
from bert_judge.results import PART_ROWS
from bert_judge.wording import public_text

__all__ = ["COLUMN_NAMES", "FORMATS", "HARNESS", "ColumnMap", "RawRow", "SavedRun", "Source", "open_source"]


class _PartStart(NamedTuple):
    """Where a part begins: its file, how many rows of that come before, and how many rows to judge in all."""

    file: str
    rows: int
    number: int


class Source:
    """A checked file of answers, made by `open_source`; iterate over it, as often as needed, for its samples.

    - `path`: as it was given, without secrets
    - `format`: one of `FORMATS`, or the tool of a saved run; of several files all, with commas
    - `sha256`: of the file's bytes (of a dataset, of the names and bytes of its data files in sorted order; of several
      files, of their names and digests)
    - `rows`: the number of samples
    - `columns`: the column of the question, reference, candidate, id and gold (the label), as far as there is one;
      several of the reference are joined by a plus
    - `bad_rows`: the rows that were set aside
    - `saved_runs`: what a saved run holds by task and model; `unread`: the data files in its folder that are not read
    """

    def __init__(
        self,
        path: str,
        files: Input,
        columns: Mapping[str, Sequence[str]],
        reader: RowReader,
        limit: int | None,
        skip_bad_rows: bool,
        part_rows: int,
    ) -> None:
        self._input, self._reader, self._limit, self._skip_bad_rows = files, reader, limit, skip_bad_rows
        self.path, self.format, self.part_rows, self.unread = path, files.format, part_rows, files.unread
        self._part_starts: list[_PartStart] = []
        self._counts: dict[tuple[str, str | None, str | None], Counter[str]] = {}
        self._stamp = files.stamp()
        self.rows, self.bad_rows = self._check()
        self.saved_runs = tuple(self._saved_run(*key) for key in self._counts)
        self.columns = MappingProxyType({role: " + ".join(names) for role, names in columns.items()})
        self.sha256 = files.sha256()
        self._check_unchanged()

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[Sample]:
        return self._samples(self._part_starts[0], self.rows)

    def part(self, number: int) -> Iterator[Sample]:
        """The samples of a part, counted from 0: `part_rows` of them, or fewer in the last part."""
        rows = min(self.part_rows, self.rows - number * self.part_rows)
        return self._samples(self._part_starts[number], rows)

    @property
    def description(self) -> dict[str, Any]:
        """The input as `run.json` records it."""
        runs = [{**run._asdict(), "aside": dict(run.aside)} for run in self.saved_runs]
        record = {"path": self.path, "format": self.format, "columns": dict(self.columns)}
        return {**record, "found": runs} if runs else record

    def _samples(self, start: _PartStart, rows: int) -> Iterator[Sample]:
        """The next `rows` samples from a place on."""
        self._check_unchanged()
        number = start.number
        for raw in self._input.rows(start.file, start.rows):
            if raw.aside:
                continue
            number += 1
            sample = self._reader.read(raw, number)
            if isinstance(sample, Sample):
                yield sample
                rows -= 1
                if not rows:
                    self._check_unchanged()
                    return
            elif not self._skip_bad_rows:
                break
        raise self._changed()

    def _check(self) -> tuple[int, tuple[RawRow, ...]]:
        """Read everything once; returns the number of samples, and the bad rows."""
        good, bad, bad_rows = 0, 0, list[RawRow]()
        rows_of_file, separators = Counter[str](), Counter[str]()
        for raw in self._input.rows():
            rows_of_file[raw.file] += 1
            self._count(raw)
            if raw.aside:
                continue
            number = good + bad + 1
            sample = self._reader.read(raw, number)
            if isinstance(sample, RawRow):
                bad += 1
                if self._skip_bad_rows or not bad_rows:
                    bad_rows.append(sample)
            else:
                if good % self.part_rows == 0:
                    self._part_starts.append(_PartStart(raw.file, rows_of_file[raw.file] - 1, number - 1))
                good += 1
                if self._reader.notices_separators and not self._counts:  # in saved runs, texts are known
                    separators.update(separators_in(sample.references))
            if number == self._limit:
                break
        self._check_rows(good, bad, bad_rows)
        note_separators(self._input.name, separators, good)
        return good, tuple(bad_rows)

    def _check_rows(self, good: int, bad: int, bad_rows: Sequence[RawRow]) -> None:
        """Raise InputError where there is no row, or no good one, or no bad one may be set aside."""
        name, where = self._input.name, self._input.where
        if not good and not bad and self._counts:
            reasons: Counter[str] = sum(self._counts.values(), Counter())
            aside = ", ".join(f"{count:,} row{'s' * (count > 1)} {reason}" for reason, count in reasons.items())
            raise InputError(
                f"{name} holds nothing to judge, only {aside}; give a run with generated answers to judge."
            )
        if not good and not bad:
            expected = " and a ".join(self._reader.required or ["label"])
            raise InputError(f"{name} has no rows; rows with a {expected} were expected.")
        if bad and not self._skip_bad_rows:
            more = f" (and {bad - 1} more)" if bad > 1 else ""
            aside = ", or set such rows aside with skip_bad_rows=True" if self._reader.advises else ""
            raise InputError(f"{where(bad_rows[0])}{more}; fix it{aside}.")
        if not good:
            raise InputError(
                f"{name} has no good row: all {bad} were set aside, the first because {where(bad_rows[0])}; fix them."
            )

    def _count(self, raw: RawRow) -> None:
        """Count a row of a saved run, by its task, model and the reason why it is not judged."""
        if raw.values is not None and self._input.file(raw.file).log:
            task, model = (str(value) if (value := raw.values.get(name)) else None for name in ("task", "model"))
            self._counts.setdefault((raw.file, task, model), Counter())[raw.reason] += 1

    def _saved_run(self, label: str, task: str | None, model: str | None) -> SavedRun:
        file, counts = self._input.file(label), self._counts[label, task, model]
        aside = {reason: count for reason, count in counts.items() if reason}
        return SavedRun(file.format, task, model, file.name, counts[""], aside)

    def _check_unchanged(self) -> None:
        if self._input.stamp() != self._stamp:
            raise self._changed()

    def _changed(self) -> InputError:
        return InputError(f"{self._input.name} was changed while it was being read; start again when it is complete.")


def open_source(
    path: str | Path | Sequence[str | Path],
    *,
    columns: ColumnMap | None = None,
    input_format: str | None = None,
    skip_bad_rows: bool = False,
    numbers_as_text: bool = False,
    reference_separator: str | None = None,
    limit: int | None = None,
    model: str | None = None,
    without: Collection[str] = (),
    required: Sequence[str] = REQUIRED,
    soft_labels: bool = False,
    part_rows: int = PART_ROWS,
    limits: Limits = FILES,
) -> Source:
    """Check a whole file of answers, and return it as a stream of samples that can be read again and again.

    `path` is a file, a folder saved by datasets, "-" for standard input, a folder with files of known formats (read by
    name), or several of these. `input_format` is one of `FORMATS`; by default the file's name or beginning shows it. A
    saved run of another tool is recognised by its content, in a folder also in those below it; `input_format` reads it
    as a plain file. Its task and model are in `meta`, and the tool's own scores as `meta["harness:METRIC"]`. Of several
    files, each row has its own as `meta["file"]`.

    `columns` maps roles ("question", "reference", "candidate", "id", "label") to columns, or to dotted paths into them
    such as "doc.answer" or "resps.0"; the other roles are recognised by `COLUMN_NAMES`. An empty name leaves a
    question, id or label unread, or the references for a judge that reads none: then each sample has an empty one. The
    reference may have several columns (a list of names), of which blank ones are skipped; those named `reference2`,
    `answer_2` and so on are recognised.

    How values are read:

    - a null candidate is an empty answer; a null or blank question is absent
    - half a character ("\\ud83d" alone) becomes U+FFFD; true and false are texts
    - a reference is a text, a list of texts (without its nulls), an object with such a list as "text" (SQuAD), or in
      CSV a cell with a list of texts as JSON, Python or pandas write it; `reference_separator`, such as "; ", splits
      several references in one text
    - a question may be a list of chat messages: the last one of the user counts
    - labels are 0/1, true/false, correct/incorrect, yes/no or nothing; with `soft_labels` also probabilities
    - a sample without an id has the number of its row, from 1
    - `meta` keeps the numbers, truth values and texts of up to 200 characters in all other columns

    The first row that can't be a sample raises an InputError; with `skip_bad_rows` such rows are the `bad_rows`.
    `numbers_as_text` accepts numbers where text is needed, spelled as in the file. `limit` stops after that row.
    `model` is added to every row as the column `model`: whose candidates these are. Columns in `without` are not kept.
    `part_rows` is the size of `source.part(0)`, `source.part(1)` …; each is read without those before it.

    `required` are the roles that each row must have. With `("question", "reference")`, for questions that are still to
    be answered, samples may have an empty candidate. With none, for labels, a file has references and candidates in all
    rows or in none (`"candidate" not in source.columns`); in none, the samples have empty ones.

    Raises InputError for a file beyond the `limits`.
    """
    if limit is not None and limit < 1:
        raise InputError(f"the limit is {limit}; the number of rows to read, at least 1, was expected.")
    is_judged = tuple(required) == REQUIRED
    if is_judged and columns and not columns.get("reference", True):
        required = ("candidate",)
    asked = asked_columns(columns, required)
    files = find_input(path, input_format, limits)
    names, unseen = columns_in(files.first_rows(limit), asked)
    if not required:  # whether a file of labels has texts
        if names is None or recognised_columns(names, asked).keys() >= set(REQUIRED):
            required = REQUIRED
        else:
            asked |= dict.fromkeys(REQUIRED, ())
    chosen = choose_columns(names, unseen, asked, required, files.name) if names is not None else {}
    reader = RowReader(
        chosen,
        numbers_as_text=numbers_as_text,
        reference_separator=reference_separator,
        model=model,
        without=without,
        required=required,
        soft_labels=soft_labels,
        advises=is_judged and not soft_labels,
    )
    shown = public_text(str(path) if isinstance(path, str | Path) else ", ".join(map(str, path)))
    return Source(shown, files, chosen, reader, limit, skip_bad_rows, part_rows)
