"""Find an input, learn its format, and open it: files, gzip, pipes, standard input and folders of datasets."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from bert_judge.errors import InputError
from bert_judge.sources.tables import data_files, dataset_folder, read_datasets, read_parquet
from bert_judge.sources.texts import read_csv, read_json_list, read_jsonl
from bert_judge.sources.values import RawRow

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
_CHUNK = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_BLANK = b"\xef\xbb\xbf \t\r\n"

Stamp = tuple[tuple[int, int], ...]
"""Size and time of change of all files of an input, by which it is known again."""


@dataclass(frozen=True)
class Input:
    """An input that was found: `name` is for messages, `location` is where its bytes are."""

    name: str
    location: Path
    format: str
    compressed: bool
    # Keeps the temporary copy of a pipe on disk for as long as the input is in use.
    spool: _Spool | None = None

    @property
    def by_line(self) -> bool:
        """Whether a row is found by its line in the file, and not by its number."""
        return self.format in ("jsonl", "csv", "tsv")

    def stamp(self) -> Stamp:
        """Return the sizes and times of change of the files as they are now."""
        with _readable(self.name):
            return tuple((state.st_size, state.st_mtime_ns) for state in (file.stat() for file in self._files()))

    def sha256(self) -> str:
        """Return the digest of the bytes of the file, or of the names and bytes of a dataset's data files."""
        digest = hashlib.sha256()
        with _readable(self.name):
            for file in self._files():
                if self.format == "datasets":
                    digest.update(file.name.encode() + b"\0")
                with file.open("rb") as stream:
                    while chunk := stream.read(_CHUNK):
                        digest.update(chunk)
        return digest.hexdigest()

    def rows(self) -> Iterator[RawRow]:
        """Yield the rows, from the start."""
        if self.format == "parquet":
            yield from read_parquet(self.location, self.name)
        elif self.format == "datasets":
            yield from read_datasets(self.location, self.name)
        else:
            with _readable(self.name), _opened(self.location, self.compressed) as stream:
                if self.format == "jsonl":
                    yield from read_jsonl(stream)
                elif self.format == "json":
                    yield from read_json_list(stream, self.name)
                else:
                    yield from read_csv(stream, self.name, "," if self.format == "csv" else "\t")

    def _files(self) -> list[Path]:
        return data_files(self.location) if self.format == "datasets" else [self.location]


def find_input(path: str | Path, input_format: str | None) -> Input:
    """Find what `path` names, copying it to a temporary file where it can be read only once."""
    if input_format is not None and input_format not in FORMATS:
        raise InputError(f"{input_format!r} is no format of answers; expected one of {', '.join(FORMATS)}.")
    given, place = str(path), Path(path)
    if given == "-":
        name, spool = "standard input", _Spool("standard input", sys.stdin.buffer)
    else:
        name, mode = given, _mode(place)
        if stat.S_ISDIR(mode):
            return _found_folder(place, name, input_format)
        spool = None
        if not stat.S_ISREG(mode):
            with _readable(name), place.open("rb") as stream:
                spool = _Spool(name, stream)
    if input_format == "datasets":
        raise InputError(f"{name} is no folder, but a saved dataset is one; give the folder or another format.")
    location = spool.path if spool else place
    with _readable(name), location.open("rb") as stream:
        magic = stream.read(len(_PARQUET_MAGIC))
    if not magic:
        raise InputError(f"{name} is empty; rows with a candidate and a reference were expected.")
    compressed = magic.startswith(_GZIP_MAGIC) if spool else place.suffix.lower() == ".gz"
    known = input_format or _SUFFIXES.get(Path(place.stem if compressed else place.name).suffix.lower())
    if compressed and known == "parquet":
        raise InputError(f"{name} is a parquet file inside gzip, which cannot be read row by row; unpack it first.")
    if known is None and magic == _PARQUET_MAGIC:
        known = "parquet"
    elif known is None or known == "json":
        known = _sniffed(name, location, compressed, otherwise="jsonl" if given == "-" else None)
    return Input(name, location, known, compressed, spool)


def _found_folder(place: Path, name: str, input_format: str | None) -> Input:
    if input_format not in (None, "datasets"):
        raise InputError(f"{name} is a folder, but a file was expected for the format {input_format}; give the file.")
    return Input(name, dataset_folder(place, name), "datasets", compressed=False)


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


def _sniffed(name: str, location: Path, compressed: bool, *, otherwise: str | None) -> str:
    with _readable(name), _opened(location, compressed) as stream:
        while chunk := stream.read(_CHUNK):
            start = chunk.lstrip(_BLANK)[:1]
            if start:
                break
        else:
            raise InputError(f"{name} is empty; rows with a candidate and a reference were expected.")
    if start == b"{":
        return "jsonl"
    if start == b"[":
        return "json"
    if otherwise is not None:
        return otherwise
    raise InputError(
        f"{name} is neither JSON lines nor a JSON list; give a file of another format a name that ends with .csv, .tsv "
        f"or .parquet (or say it to bert-judge score with --input_format: {', '.join(FORMATS[:-1])})."
    )


def _opened(location: Path, compressed: bool) -> BinaryIO:
    # The lines of a buffered reader come much faster than those of a gzip file itself.
    return io.BufferedReader(gzip.GzipFile(location), _CHUNK) if compressed else location.open("rb")


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn what can go wrong while reading into a sentence."""
    try:
        yield
    except gzip.BadGzipFile as error:
        raise InputError(f"{name} is not gzip, though its name ends so ({error}); rename or pack it.") from error
    except EOFError as error:
        raise InputError(f"{name} is a gzip file that was cut short; copy or pack it again.") from error
    except zlib.error as error:
        raise InputError(f"{name} is a damaged gzip file ({error}); copy or pack it again.") from error
    except OSError as error:
        raise InputError(
            f"{name} cannot be read ({error.strerror or error}); give the path of a readable file."
        ) from error


class _Spool:
    """A temporary copy on disk of a stream that can be read only once; it goes when this object goes."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        with _readable(name):
            handle, path = tempfile.mkstemp(prefix="bert-judge-")
            self.path = Path(path)
            weakref.finalize(self, self.path.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as copy:
                shutil.copyfileobj(stream, copy, _CHUNK)
