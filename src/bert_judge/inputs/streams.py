"""Open a file as a stream of UTF-8: unpacked if it is compressed, recoded if it is UTF-16."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, NamedTuple

from bert_judge.errors import InputError

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
def opened(
    location: Path, packing: Packing | None, on_end: Callable[[str], None] | None = None
) -> Iterator[io.BufferedReader]:
    """The content of a file, as `decoded` gives it.

    `on_end` is called with the SHA-256 of the file's own bytes once all of them have been read.
    """
    raw = _HashedFile(location, on_end) if on_end else io.FileIO(location)
    with raw, decoded(raw, packing) as stream:
        yield stream


@contextmanager
def decoded(raw: io.RawIOBase, packing: Packing | None) -> Iterator[io.BufferedReader]:
    """The content of an open file: unpacked, UTF-16 as UTF-8, lone carriage returns (old Macs) as line feeds.

    Bytes of other encodings stay as they are.
    """
    # A buffered reader yields lines much faster than an unpacking stream does.
    with ExitStack() as streams:
        stream = streams.enter_context(_buffered(raw))
        if packing:
            stream = streams.enter_context(_buffered(packing.unpack(stream)))
        if stream.peek(2)[:2] in _UTF16:
            stream = streams.enter_context(_buffered(_utf16(stream)))
        if _has_lone_returns(stream.peek()):
            stream = streams.enter_context(_buffered(_line_feeds(stream)))
        yield stream


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


class _HashedFile(io.FileIO):
    """A file that is hashed while it is read from start to end."""

    def __init__(self, location: Path, on_end: Callable[[str], None]) -> None:
        super().__init__(location)
        self._digest = hashlib.sha256()
        self._on_end = on_end

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._digest.update(memoryview(buffer)[:count])
        if not count:
            self._on_end(self._digest.hexdigest())
        return count


class _Recoded(io.RawIOBase):
    """A stream over another one, whose chunks `read(size)` returns in another encoding."""

    def __init__(self, source: IO[Any], read: Callable[[int], bytes]) -> None:
        self._source, self._read = source, read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._source.close()
        super().close()


def _utf16(stream: io.BufferedReader) -> _Recoded:
    """UTF-16 as UTF-8; half a character at its end, or alone, becomes U+FFFD."""
    text = io.TextIOWrapper(stream, "utf-16", errors="replace", newline="")
    return _Recoded(text, lambda size: text.read(size // 4).encode())  # a character has at most four bytes


def _line_feeds(stream: io.BufferedReader) -> _Recoded:
    """Each carriage return as a line feed."""
    return _Recoded(stream, lambda size: stream.read(size).replace(b"\r", b"\n"))


def _has_lone_returns(start: bytes) -> bool:
    return b"\r" in start and b"\n" not in start


def _buffered(stream: Any) -> io.BufferedReader:
    return io.BufferedReader(stream, CHUNK)
