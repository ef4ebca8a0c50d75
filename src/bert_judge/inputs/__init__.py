"""Read a file of answers: any format becomes a stream of samples, checked as a whole before the first one is judged.

    source = open_source("answers.jsonl")
    print(len(source), source.columns)
    for sample in source:
        ...

Read are JSON lines, a JSON list, CSV and TSV (all of them also compressed), parquet, and folders that `save_to_disk` of
datasets wrote; saved runs of other tools (`sources.saved`); several of these, and folders of them, are read one after
the other. A file is read once, by the check;
one that is too large to be held in memory is read again by each iteration, a row at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from sys import getsizeof
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from bert_judge.errors import InputError
from bert_judge.inputs.columns import (
    COLUMN_NAMES,
    REQUIRED,
    ColumnMap,
    Columns,
    MissingColumnError,
    asked_columns,
)
from bert_judge.inputs.files import FORMATS, Input, find_input
from bert_judge.inputs.limits import FILES, Limits, check
from bert_judge.inputs.saved import HARNESS, FoundRun
from bert_judge.inputs.separators import SeparatorCount
from bert_judge.inputs.values import BadRow, RawRow, RowReader, as_json
from bert_judge.records import Sample
from bert_judge.results import PART_ROWS
from bert_judge.wording import public_text

__all__ = [
    "COLUMN_NAMES",
    "FORMATS",
    "HARNESS",
    "HELD_BYTES",
    "BadRow",
    "ColumnMap",
    "FoundRun",
    "MissingColumnError",
    "Source",
    "open_source",
]

HELD_BYTES: Final = 16 << 20
"""About how much memory the samples of a source may take so that they stay there after the check."""

_SAMPLE_BYTES = 200  # without what it holds


class _Mark(NamedTuple):
    """Where a part begins: its file, how many rows of that come before, and how many rows to judge in all."""

    file: str
    rows: int
    number: int


class Source:
    """A checked file of answers; iterate over it, as often as needed, for its samples. Made by `open_source`.

    `path` is as given, and `format` one of `FORMATS`; those of several files are joined by commas. `sha256` is the
    digest of the bytes of the file (of a dataset, of the names and bytes of its data files in sorted order; of several
    files, of their names and digests). `rows` counts the samples. `columns` has the column that was chosen for the
    question, reference, candidate, id and gold (the label), as far as there is one; several of the reference are joined
    by a plus. `bad_rows` are the rows that were set aside.
    """

    def __init__(
        self,
        path: str,
        found: Input,
        columns: Columns,
        reader: RowReader,
        limit: int | None,
        skip_bad_rows: bool,
        held_bytes: int,
        remedy: str,
        part_rows: int,
        notices_separators: bool,
        limits: Limits,
    ) -> None:
        self._input, self._reader, self._limit, self._skip_bad_rows = found, reader, limit, skip_bad_rows
        self._remedy, self.part_rows = remedy, part_rows
        self._notices_separators, self._limits = notices_separators, limits
        self._read, self._marks = Counter[str](), list[_Mark]()
        self._stamp = found.stamp()
        self.path, self.format = path, found.format
        self._found: dict[tuple[str, str | None, str | None], Counter[str]] = {}
        self.rows, self.bad_rows, self._held = self._check(columns, held_bytes)
        self.found, self.unread = self._runs(), found.unread
        self.columns = MappingProxyType({role: " + ".join(own) for role, own in columns.chosen.items()})
        self.sha256 = found.sha256()
        self._check_unchanged()

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[Sample]:
        self._check_unchanged()
        if self._held is not None:
            yield from self._held
        else:
            yield from self._samples(_Mark(self._input.files[0].label, 0, 0), self.rows)

    def part(self, number: int) -> Iterator[Sample]:
        """The samples of a part, from 0: `part_rows` of them, or what is left of them at the end."""
        self._check_unchanged()
        start = number * self.part_rows
        rows = min(self.part_rows, self.rows - start)
        if self._held is not None:
            yield from self._held[start : start + rows]
        else:
            yield from self._samples(self._marks[number], rows)

    def _samples(self, mark: _Mark, rows: int) -> Iterator[Sample]:
        """So many samples from there on."""
        count = 0
        for result in self._results(mark=mark):
            if isinstance(result, Sample):
                count += 1
                yield result
                if count == rows:
                    self._check_unchanged()
                    return
            elif not self._skip_bad_rows:
                raise self._changed()
        raise self._changed()

    def originals(self) -> Iterator[Mapping[str, object]]:
        """The row that each sample was read from, with all of its columns."""
        self._check_unchanged()
        for number, raw in enumerate(islice(self._to_judge(counted=False), self._limit), 1):
            if raw.values is not None and isinstance(self._reader.read(raw, number), Sample):
                yield raw.values

    @property
    def description(self) -> dict[str, Any]:
        """What `run.json` says of it."""
        found = {"found": [{**run._asdict(), "aside": dict(run.aside)} for run in self.found]} if self.found else {}
        return {"path": self.path, "format": self.format, "columns": dict(self.columns), **found}

    def release(self) -> None:
        """Free the samples in memory; the next iteration reads the file again."""
        self._held = None

    def _check(self, columns: Columns, held_bytes: int) -> tuple[int, tuple[BadRow, ...], list[Sample] | None]:
        """Read everything once; returns the number of samples, the bad rows, and the samples if small enough."""
        name, where = self._input.name, self._input.where
        good, bad, characters, kept = 0, 0, 0, list[BadRow]()
        # What is larger on the disk is larger in memory, too.
        held: list[Sample] | None = [] if sum(size for size, _ in self._stamp) <= held_bytes else None
        separators = SeparatorCount()
        for result in self._results(columns):
            if isinstance(result, BadRow):
                bad += 1
                if self._skip_bad_rows or not kept:
                    kept.append(result)
                continue
            if good % self.part_rows == 0:
                label = next(reversed(self._read))
                self._marks.append(_Mark(label, self._read[label] - 1, good + bad))
            good += 1
            characters += self._checked_characters(result)
            check(characters, self._limits.characters, "characters", name, "characters in its texts so far")
            if self._notices_separators:
                separators.add(result.references)
            if held is not None:
                held.append(result)
                held_bytes -= _bytes(result)
                if held_bytes < 0:
                    held = None
        if not good and not bad and self._found:
            raise InputError(
                f"{name} holds nothing to judge, only {self._aside()}; give a run with generated answers to judge."
            )
        if not good and not bad:
            expected = " and a ".join(columns.required or ["label"])
            raise InputError(f"{name} has no rows; rows with a {expected} were expected.")
        if missing := columns.missing(name):
            raise missing
        if kept and not self._skip_bad_rows:
            more = f" (and {bad - 1} more)" if bad > 1 else ""
            raise InputError(f"{where(kept[0])}{more}; {self._remedy}.")
        if not good:
            raise InputError(
                f"{name} has no good row: all {bad} were set aside, the first because {where(kept[0])}; fix them."
            )
        separators.warn(name)
        return good, tuple(kept), self._reader.settled(held) if held else None

    def _checked_characters(self, sample: Sample) -> int:
        """How many characters the texts of a sample have. Raises LimitError for a text that is too long."""
        sizes = [len(text) for text in (sample.candidate, sample.question or "", *sample.references)]
        check(max(sizes), self._limits.text, "text", f"{self._input.name} row {sample.id}", "characters in a text")
        return sum(sizes)

    def _results(self, columns: Columns | None = None, mark: _Mark | None = None) -> Iterator[Sample | BadRow]:
        """Each row, from `mark` on, as a sample or a bad row; `columns`, if given, learn from it first."""
        before = mark.number if mark else 0
        rows = islice(
            self._to_judge(counted=columns is not None, mark=mark),
            None if self._limit is None else self._limit - before,
        )
        for number, raw in enumerate(rows, before + 1):
            yield self._reader.read(self._learnt(raw, columns) if columns else raw, number)

    def _to_judge(self, *, counted: bool, mark: _Mark | None = None) -> Iterator[RawRow]:
        """All rows but those of saved runs that no judge can judge."""
        saved = {file.label for file in self._input.files if file.reader}
        for raw in self._input.rows(mark.file, mark.rows) if mark else self._input.rows():
            self._read[raw.file] += counted
            if counted and raw.values is not None and raw.file in saved:
                task, model = (str(value) if (value := raw.values.get(name)) else None for name in ("task", "model"))
                self._found.setdefault((raw.file, task, model), Counter())[raw.reason] += 1
            if not raw.aside:
                yield raw

    def _runs(self) -> tuple[FoundRun, ...]:
        runs = []
        for (label, task, model), counts in self._found.items():
            file = self._input.file(label)
            aside = {reason: count for reason, count in counts.items() if reason}
            runs.append(FoundRun(file.format, task, model, file.name, counts[""], aside))
        return tuple(runs)

    def _aside(self) -> str:
        """How many rows can't be judged, by the reason."""
        total: Counter[str] = sum(self._found.values(), Counter())
        return ", ".join(f"{count:,} row{'s' * (count > 1)} {reason}" for reason, count in total.items())

    def _learnt(self, raw: RawRow, columns: Columns) -> RawRow:
        if raw.values is None or columns.learn(raw.values):
            return raw
        missing = columns.missing(self._input.file(raw.file).name)
        if missing and not self._skip_bad_rows:
            raise missing
        reason = f"lacks the column of the {' or of the '.join(columns.required)}"
        return raw._replace(values=None, reason=reason, text=raw.text or as_json(raw.values))

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
    held_bytes: int = HELD_BYTES,
    part_rows: int = PART_ROWS,
    limits: Limits = FILES,
) -> Source:
    """Check a whole file of answers, and return it as a stream of samples that can be read again and again.

    `path` is a file, a folder saved by datasets, or "-" for standard input; or a folder with files of known formats,
    which are read in the order of their names; or several of all these. `input_format` is one of `FORMATS`; left out,
    it is known from the file's name or beginning. Rows of several files have theirs in `meta["file"]`. A saved run of
    another tool is known by its content, in a folder also in those below it; `input_format` reads it as a plain file.
    Its task and model are in `meta`, and the tool's own scores as `meta["harness:METRIC"]`.

    `columns` maps roles ("question", "reference", "candidate", "id", "label") to the names of columns, or to dotted
    paths into them such as "doc.answer" or "resps.0"; other roles are recognised by `COLUMN_NAMES`. An empty name
    leaves a question, id or label unread, and the references of answers for a judge that reads none: their samples have
    an empty one. A reference may have several columns (a list of names), of which blank ones
    are passed over; those named `reference2`, `answer_2` and so on are recognised.

    A candidate that is null is an empty answer; a question that is null or blank is absent; half a character
    ("\\ud83d" alone) becomes U+FFFD; true and false are texts. A reference may be a text, a list of texts (of which
    null is no entry), an object with such a list as "text" (SQuAD), or in CSV a cell with a list of texts as JSON,
    Python or pandas write it; `reference_separator`, such as "; ", is what stands between several references in one
    text, and a warning names it where many references hold one that was not given. A question may be a list of chat
    messages, of which the last one of the user is taken. Labels are 0/1, true/false, correct/incorrect, yes/no, or
    nothing. A sample without an id has the number of its row, from 1, as its id. `meta` keeps all other columns that
    hold only numbers, truth values and texts of up to 200 characters.

    The first row that can't be a sample raises an `InputError`; with `skip_bad_rows` such rows are the `bad_rows`.
    `numbers_as_text` takes numbers as text where text is needed, spelled as in the file. `limit` stops after that row.
    `model` is kept as the column `model` of every row: whose candidates these are. Columns in `without` are not kept.
    With `soft_labels` a label may also be a probability between 0 and 1. Samples that take less than `held_bytes` of
    memory are held from the check on; otherwise each iteration reads the file again.

    `required` are the roles that each row must have. With `("question", "reference")`, for questions that are still to
    be answered, samples may have an empty candidate. With none, for labels, a file has references and candidates either
    in all rows or not at all (`"candidate" not in source.columns`): then its first row lacks their columns, and its
    samples have an empty candidate and an empty reference.

    `part_rows` are the samples of `source.part(0)`, `source.part(1)` …, which are read without those before them.
    Raises LimitError, which is an InputError, for a file beyond the `limits`.
    """
    if limit is not None and limit < 1:
        raise InputError(f"the limit is {limit}; the number of rows to read, at least 1, was expected.")
    is_judged = tuple(required) == REQUIRED
    if is_judged and columns and not columns.get("reference", True):
        required = ("candidate",)
    asked = asked_columns(columns, required)
    found = find_input(path, input_format, limits)
    advises = is_judged and not soft_labels
    remedy = "fix it" + (", or set such rows aside with skip_bad_rows=True" if advises else "")
    if not required:
        # The first row says whether a file of labels has texts.
        first = next((raw.values for raw in found.rows() if raw.values is not None), None)
        if first is None or Columns(asked).learn(first):
            required = REQUIRED
        else:
            asked |= dict.fromkeys(REQUIRED, ())
    chosen = Columns(asked, required)
    reader = RowReader(
        chosen.chosen,
        numbers_as_text=numbers_as_text,
        reference_separator=reference_separator,
        model=model,
        without=without,
        required=required,
        soft_labels=soft_labels,
        advises=advises,
    )
    # Saved runs say by themselves which texts are references.
    notices = is_judged and reference_separator is None and not any(file.reader for file in found.files)
    given = public_text(str(path) if isinstance(path, str | Path) else ", ".join(map(str, path)))
    return Source(given, found, chosen, reader, limit, skip_bad_rows, held_bytes, remedy, part_rows, notices, limits)


def _bytes(sample: Sample) -> int:
    """About how much memory a sample takes."""
    texts = (sample.candidate, sample.question, *sample.references)
    return _SAMPLE_BYTES + sum(map(getsizeof, (*texts, sample.meta, *sample.meta.values())))
