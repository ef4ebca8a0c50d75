"""Open a file as a stream of UTF-8: unpacked if it is compressed, recoded if it is UTF-16.

Remote files (`s3://…`, `gs://…`, `hf://…`, `https://…`) and pipes are copied once, and read like any other.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, NamedTuple

from bert_judge.errors import InputError, first_line
from bert_judge.wording import public_text

CHUNK: Final = 1 << 20
MAGIC_BYTES: Final = 10
"""Length of the longest signature of a packing."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Packing(NamedTuple):
    """A compression: its name, the suffix and first bytes of its files, and what unpacks a stream."""

    name: str
    suffix: str
    magic: re.Pattern[bytes]
    unpack: Callable[[BinaryIO], Any]


def unpack_zstd(packed: IO[bytes]) -> Any:
    """A stream that unpacks zstd."""
    import pyarrow as pa

    return pa.input_stream(packed, compression="zstd")


PACKINGS: Final = (
    Packing("gzip", ".gz", re.compile(rb"\x1f\x8b"), lambda packed: gzip.GzipFile(fileobj=packed)),
    Packing("zstd", ".zst", re.compile(rb"\x28\xb5\x2f\xfd"), unpack_zstd),
    Packing("bzip2", ".bz2", re.compile(rb"BZh[1-9]1AY&SY"), bz2.BZ2File),
    Packing("xz", ".xz", re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
)


def packing_of(path: Path, start: bytes) -> Packing | None:
    """The packing that a file's first bytes show. Raises InputError if its name claims another one."""
    actual = next((packing for packing in PACKINGS if packing.magic.match(start)), None)
    named = next((packing for packing in PACKINGS if packing.suffix == path.suffix.lower()), None)
    if named and named is not actual:
        raise InputError(f"{path} is not {named.name}, though its name ends so; rename or pack it.")
    return actual


@contextmanager
def opened(name: str, location: Path, packing: Packing | None) -> Iterator[io.BufferedReader]:
    """The content of a file: unpacked, and UTF-16 as UTF-8; bytes of other encodings stay as they are.

    Raises InputError, which calls the file `name`, where it can't be read, also within the context.
    """
    # A buffered reader yields lines much faster than an unpacking stream does.
    with readable(name, packing), ExitStack() as streams:
        stream = streams.enter_context(_buffered(io.FileIO(location)))
        if packing:
            stream = streams.enter_context(_buffered(packing.unpack(stream)))
        if stream.peek(2)[:2] in _UTF16:
            stream = streams.enter_context(_buffered(_Utf16(stream)))
        yield stream


def _buffered(stream: Any) -> io.BufferedReader:
    return io.BufferedReader(stream, CHUNK)


@contextmanager
def readable(name: str, packing: Packing | None = None) -> Iterator[None]:
    """Raise InputError for whatever reading the file `name` raises."""
    kind = packing.name if packing else "compressed"
    try:
        yield
    except EOFError as error:
        raise InputError(f"{name} is a {kind} file that was cut short; copy or pack it again.") from error
    except (zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{name} is a damaged {kind} file ({error}); copy or pack it again.") from error
    except OSError as error:
        if packing and error.errno is None:  # from unpacking, not from the file system
            raise InputError(f"{name} is a damaged or cut {kind} file ({error}); copy or pack it again.") from error
        raise InputError(
            f"{name} cannot be read ({error.strerror or error}); give the path of a readable file."
        ) from error


class _Utf16(io.RawIOBase):
    """A stream of UTF-16 as UTF-8; half a character at its end, or alone, becomes U+FFFD."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._text = io.TextIOWrapper(stream, "utf-16", errors="replace", newline="")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._text.read(len(buffer) // 4).encode()  # a character has at most four bytes
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._text.close()
        super().close()


class TemporaryCopy:
    """A copy, at `path`, of a stream that can be read only once; deleted with this object."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        with readable(name):
            handle, path = tempfile.mkstemp(prefix="bert-judge-")
            self.path = Path(path)
            weakref.finalize(self, self.path.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as copy:
                shutil.copyfileobj(stream, copy, CHUNK)


def addresses_in(address: str, is_known: Callable[[Path], bool]) -> list[str]:
    """The remote files that an address names: itself, those of its pattern, or the known ones in its folder."""
    from fsspec.core import url_to_fs

    with _reached(address):
        files, path = url_to_fs(address)
        if files.isdir(path):
            paths = [inside for inside in files.ls(path, detail=False) if is_known(Path(inside))]
        else:
            paths = files.glob(path) if any(sign in path for sign in "*?[") else [path]
        addresses = [files.unstrip_protocol(path) for path in sorted(paths)]
    if not addresses:
        raise InputError(f"{public_text(address)} names no file; the address of a file with answers was expected.")
    return addresses


@cache
def fetched(address: str) -> TemporaryCopy:
    """A copy of a remote file, made once per process. Raises InputError where it can't be read."""
    from fsspec.core import url_to_fs

    with _reached(address):
        files, path = url_to_fs(address)
        with files.open(path, "rb") as stream:
            copy = TemporaryCopy(public_text(address), stream)
    os.utime(copy.path, (0, 0))  # the same stamp in every process
    return copy


@contextmanager
def _reached(address: str) -> Iterator[None]:
    """Raise InputError for whatever a file system raises, also for a package that it lacks."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # each file system has its own errors
        raise InputError(
            f"{public_text(address)} can't be read ({type(error).__name__}: {first_line(error)}); give the address of "
            "a file that can be read from here, or a copy of it."
        ) from error
