"""Find and open an input, and recognise its format: files, pipes, standard input, folders of files and datasets."""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from bert_judge.errors import InputError
from bert_judge.inputs.limits import FILES, Limits
from bert_judge.inputs.remote import Spool, addresses_in, fetched, is_remote
from bert_judge.inputs.saved import ARCHIVE, Reader, SavedFile, files_below, recognised
from bert_judge.inputs.streams import CHUNK, MAGIC_BYTES, PACKINGS, Packing, opened, packing_of, readable
from bert_judge.inputs.tables import dataset_folder, is_dataset, read_datasets, read_parquet
from bert_judge.inputs.texts import read_csv, read_json_list, read_jsonl
from bert_judge.inputs.values import BadRow, RawRow
from bert_judge.results import RUN
from bert_judge.wording import public_text

FORMATS: Final = ("jsonl", "json", "csv", "tsv", "parquet", "datasets")
"""The names of the formats that can be read."""

_SUFFIXES: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_WITH_LINES = ("jsonl", "csv", "tsv", "lm-eval", "every_eval_ever")
_PARQUET_MAGIC = b"PAR1"
_BLANK = b"\xef\xbb\xbf \t\r\n"

Stamp = tuple[tuple[int, int], ...]
"""Sizes and times of change of the files of an input, which show whether it was changed."""


@dataclass(frozen=True)
class InputFile:
    """One file, or one saved dataset: `name` is for messages, `location` is where its bytes are.

    `address` is that of a file elsewhere, of which each process has a copy. `label` is what its rows have as their
    file; empty where there is only one. `reader` is that of the tool which wrote it, in a saved run; `format` is then
    the tool.
    """

    name: str
    location: Path
    format: str
    packing: Packing | None = None
    label: str = ""
    # Keeps the temporary copy of a pipe while the input is in use.
    spool: Spool | None = None
    reader: Reader | None = None
    address: str = ""
    limits: Limits = FILES
    # Filled when the file is first read to its end.
    _sha256: list[str] = field(default_factory=list)

    @property
    def here(self) -> Path:
        """Where its bytes are in this process."""
        return fetched(self.address).path if self.address else self.location

    def stamp(self) -> Stamp:
        """The sizes and times of change of the files as they are now."""
        with readable(self.name):
            return tuple((state.st_size, state.st_mtime_ns) for state in (file.stat() for file in self.paths()))

    def sha256(self) -> str:
        """The digest of the bytes of the file, or of the names and bytes of a dataset's data files."""
        if not self._sha256:
            digest = hashlib.sha256()
            with readable(self.name):
                for file in self.paths():
                    if self.format == "datasets":
                        digest.update(file.name.encode() + b"\0")
                    with file.open("rb") as stream:
                        while chunk := stream.read(CHUNK):
                            digest.update(chunk)
            self._sha256.append(digest.hexdigest())
        return self._sha256[0]

    def rows(self, skip: int = 0) -> Iterator[RawRow]:
        """The rows after the first `skip`. A file of text is hashed when it is read for the first time."""
        if self.reader:
            yield from islice(self.reader.read(self._saved()), skip, None)
        elif self.format == "parquet":
            yield from read_parquet(self.here, self.name, skip)
        elif self.format == "datasets":
            yield from islice(read_datasets(self.here, self.name), skip, None)
        else:
            on_end = None if self._sha256 else self._sha256.append
            with readable(self.name, self.packing), opened(self.here, self.packing, on_end) as stream:
                yield from self._in_text(stream, skip)

    def _in_text(self, stream: BinaryIO, skip: int) -> Iterator[RawRow]:
        if self.format == "jsonl":
            return read_jsonl(stream, self.name, skip, self.limits)
        if self.format == "json":
            return islice(read_json_list(stream, self.name, self.limits), skip, None)
        delimiter = "\t" if self.format == "tsv" else None
        return islice(read_csv(stream, self.name, delimiter, self.limits), skip, None)

    def _saved(self) -> SavedFile:
        return SavedFile(self.name, Path(self.name), self.here, self.packing, self.limits)

    def paths(self) -> list[Path]:
        """All files whose bytes are read."""
        if self.format == "datasets":
            return sorted(self.here.glob("*.arrow"))
        saved = self._saved()
        return [self.here, *(saved.beside(self.reader.beside(saved)) if self.reader else [])]


@dataclass(frozen=True)
class Input:
    """One file, or several that are read one after the other. `unread` are others in the folders of a saved run."""

    files: tuple[InputFile, ...]
    unread: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name for messages."""
        first, *others = self.files
        return first.name + (f" (and {len(others)} more)" if others else "")

    @property
    def format(self) -> str:
        """The formats of the files, each once."""
        return ", ".join(dict.fromkeys(file.format for file in self.files))

    def stamp(self) -> Stamp:
        """The sizes and times of change of all files as they are now."""
        return tuple(each for file in self.files for each in file.stamp())

    def sha256(self) -> str:
        """The digest of the one file, or of the labels and digests of several."""
        if len(self.files) == 1:
            return self.files[0].sha256()
        parts = [f"{file.label}\0{file.sha256()}\n" for file in self.files]
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def rows(self, label: str | None = None, skip: int = 0) -> Iterator[RawRow]:
        """The rows of all files, from the start; of several, each row says which file it is from.

        With `label` those from this file on, without its first `skip` rows.
        """
        first = 0 if label is None else self.files.index(self.file(label))
        for file in self.files[first:]:
            for row in file.rows(skip):
                yield row._replace(file=file.label) if file.label else row
            skip = 0

    def file(self, label: str) -> InputFile:
        """The file that a row says it is from."""
        return next(each for each in self.files if each.label == label)

    def where(self, bad: BadRow) -> str:
        """Which row is bad, and why: `answers.csv line 3 has no reference`."""
        file = self.file(bad.file)
        unit = "line" if file.format in _WITH_LINES else "row"
        return f"{file.name} {unit} {bad.line} {bad.reason}"


def find_input(path: str | Path | Sequence[str | Path], input_format: str | None, limits: Limits = FILES) -> Input:
    """Find what `path` names: a file, a folder, or several of these. A stream is copied to a temporary file."""
    if input_format is not None and input_format not in FORMATS:
        raise InputError(f"{input_format!r} is not a format that can be read; expected one of {', '.join(FORMATS)}.")
    paths = [path] if isinstance(path, str | Path) else path
    files = [replace(file, limits=limits) for each in paths for file in _found(str(each), input_format)]
    if not files:
        raise InputError("no file was given; the path of a file with answers was expected.")
    if len(files) > 1:
        names = Counter(Path(file.name).name for file in files)
        files = [
            replace(file, label=short if names[short := Path(file.name).name] == 1 else file.name) for file in files
        ]
    return Input(tuple(files), _unread(paths, files))


def _unread(paths: Sequence[str | Path], files: Sequence[InputFile]) -> tuple[str, ...]:
    """The data files in folders of saved runs which hold none of their rows."""
    read = {path.resolve() for file in files if file.reader for path in file.paths()}
    return tuple(
        str(path)
        for folder in map(Path, paths)
        if read and folder.is_dir()
        for path in files_below(folder)
        if path.resolve() not in read
    )


def _found(given: str, input_format: str | None) -> list[InputFile]:
    """What one path names: a file, a saved dataset, or the files in a folder."""
    if is_remote(given):
        formats = [input_format] if input_format else FORMATS
        addresses = addresses_in(given, lambda path: _format_by_name(path) in formats)
        return [_found_elsewhere(address, input_format) for address in addresses]
    place = Path(given)
    if given == "-":
        return [_found_file("standard input", place, input_format, Spool("standard input", sys.stdin.buffer))]
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        return _found_in_folder(place, given, input_format)
    spool = None
    if not stat.S_ISREG(mode):
        with readable(given), place.open("rb") as stream:
            spool = Spool(given, stream)
    return [_found_file(given, place, input_format, spool)]


def _found_elsewhere(address: str, input_format: str | None) -> InputFile:
    name, copy = public_text(address), fetched(address)
    return replace(_found_file(name, Path(address.partition("?")[0]), input_format, copy), address=address)


def _found_file(name: str, place: Path, input_format: str | None, spool: Spool | None = None) -> InputFile:
    if input_format == "datasets":
        raise InputError(f"{name} is a file, and a saved dataset is a folder; give the folder or another format.")
    location = spool.path if spool else place
    with readable(name), location.open("rb") as stream:
        start = stream.read(MAGIC_BYTES)
    if not start:
        raise InputError(f"{name} is empty; rows were expected.")
    packing = packing_of(place, start)
    if input_format is None and (saved := _saved_file(name, location, packing, spool)):
        return saved
    known = input_format or _format_by_name(place)
    if packing and known == "parquet":
        raise InputError(
            f"{name} is a parquet file inside {packing.name}, which cannot be read row by row; unpack it first."
        )
    if known is None and start.startswith(_PARQUET_MAGIC):
        known = "parquet"
    elif known is None or known == "json":
        known = _sniffed(name, location, packing, otherwise="jsonl" if str(place) == "-" else None)
    return InputFile(name, location, known, packing, spool=spool)


def _saved_file(name: str, location: Path, packing: Packing | None, spool: Spool | None = None) -> InputFile | None:
    """The file as one of a saved run; None where it is none."""
    reader = recognised(SavedFile(name, Path(name), location, packing))
    return reader and InputFile(name, location, reader.tool, packing, spool=spool, reader=reader)


def _found_in_folder(place: Path, name: str, input_format: str | None) -> list[InputFile]:
    """The dataset that was saved in a folder, or the files of known formats in it, by name."""
    if input_format == "datasets" or (input_format is None and is_dataset(place)):
        return [InputFile(name, dataset_folder(place, name), "datasets")]
    if (place / RUN).exists():
        raise InputError(
            f"{name} is a folder with a result, which holds no answers to judge; give the file that was judged."
        )
    with readable(name):
        files = _known_files(place, input_format)
    run = _saved_run(place) if input_format is None else []
    damaged = _damaged_archives(place) if input_format is None else []
    if damaged and not run and not files:
        raise damaged[0]
    for error in damaged:
        warnings.warn(f"{error} It is left out; the other files there are read.", stacklevel=2)
    if run:
        return run
    if not files:
        endings = [suffix for suffix, kind in _SUFFIXES.items() if input_format in (None, kind)]
        raise InputError(
            f"{name} is a folder without answers: no file in it ends in {', '.join(endings)} (or in one of these and "
            f"{', '.join(each.suffix for each in PACKINGS)}), and it was not saved by datasets; give a file."
        )
    return [_found_file(str(path), path, input_format) for path in files]


def _saved_run(folder: Path) -> list[InputFile]:
    """The files of saved runs in a folder and below it; none where there are none."""
    found = []
    for path in files_below(folder):
        with readable(str(path)), path.open("rb") as stream:
            start = stream.read(MAGIC_BYTES)
        with suppress(InputError):  # a name that does not fit its packing: no file of a run
            found.append(_saved_file(str(path), path, packing_of(path, start)))
    return [file for file in found if file]


def _damaged_archives(folder: Path) -> list[InputError]:
    """Why logs in a folder and below it that should be archives can't be read."""
    errors = []
    for path in files_below(folder):
        if path.suffix == ARCHIVE:
            try:
                _found_file(str(path), path, None)
            except InputError as error:
                errors.append(error)
    return errors


def holds_answers(folder: Path) -> bool:
    """Whether a folder is a saved dataset, or has files of known formats in it but no result of ours."""
    return is_dataset(folder) or (not (folder / RUN).exists() and bool(_known_files(folder, None)))


def _known_files(folder: Path, input_format: str | None) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return [path for path in files if (known := _format_by_name(path)) and input_format in (None, known)]


def _format_by_name(path: Path) -> str | None:
    packed = path.suffix.lower() in {each.suffix for each in PACKINGS}
    return _SUFFIXES.get(Path(path.stem if packed else path.name).suffix.lower())


def _mode(place: Path) -> int:
    try:
        return place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        folder = place.parent
        if not folder.is_dir():
            raise InputError(f"{place} does not exist, nor does its folder; give the path of a file.") from error
        names = [file.name for file in folder.iterdir()] if os.access(folder, os.R_OK) else []
        close = [str(place.with_name(name)) for name in difflib.get_close_matches(place.name, names)]
        hint = f"did you mean {' or '.join(close)}?" if close else "give the path of a file, or - for standard input."
        raise InputError(f"{place} does not exist; {hint}") from error
    except OSError as error:
        raise InputError(f"{place} cannot be read ({error.strerror}); give the path of a readable file.") from error


def _sniffed(name: str, location: Path, packing: Packing | None, *, otherwise: str | None) -> str:
    with readable(name, packing), opened(location, packing) as stream:
        while chunk := stream.read(CHUNK):
            start = chunk.lstrip(_BLANK)[:1]
            if start:
                break
        else:
            raise InputError(f"{name} is empty; rows were expected.")
    if start == b"{":
        return "jsonl"
    if start == b"[":
        return "json"
    if otherwise is not None:
        return otherwise
    if name.lower().endswith((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")):
        raise InputError(f"{name} is a workbook of a spreadsheet program; save its sheet there as CSV (UTF-8).")
    if name.lower().endswith(ARCHIVE):
        raise InputError(f"{name} is not a log of inspect, though its name ends so; copy it again.")
    raise InputError(
        f"{name} is neither JSON lines nor a JSON list; give a file of another format a name that ends with .csv, .tsv "
        f"or .parquet, or name its format, as in input_format='csv' ({', '.join(FORMATS[:-1])})."
    )
