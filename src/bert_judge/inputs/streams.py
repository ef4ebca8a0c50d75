"""Open a file as a stream of UTF-8: unpacked where it is compressed, decoded where it is UTF-16."""

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
"""How many bytes at the start of a file show its packing."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Packing(NamedTuple):
    """A compression: its name, the ending of its files, how they begin, and how a stream of one is unpacked."""

    name: str
    suffix: str
    magic: re.Pattern[bytes]
    unpack: Callable[[BinaryIO], Any]


def unpack_zstd(packed: IO[bytes]) -> Any:
    """The unpacked stream of a packed one."""
    import pyarrow as pa

    return pa.input_stream(packed, compression="zstd")


PACKINGS: Final = (
    Packing("gzip", ".gz", re.compile(rb"\x1f\x8b"), lambda packed: gzip.GzipFile(fileobj=packed)),
    Packing("zstd", ".zst", re.compile(rb"\x28\xb5\x2f\xfd"), unpack_zstd),
    Packing("bzip2", ".bz2", re.compile(rb"BZh[1-9]1AY&SY"), bz2.BZ2File),
    Packing("xz", ".xz", re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
)


def packing_of(path: Path, start: bytes) -> Packing | None:
    """The packing that a file's first bytes show. Raises InputError where its name ends as for another one."""
    found = next((each for each in PACKINGS if each.magic.match(start)), None)
    named = next((each for each in PACKINGS if each.suffix == path.suffix.lower()), None)
    if named and named is not found:
        raise InputError(f"{path} is not {named.name}, though its name ends so; rename or pack it.")
    return found


@contextmanager
def opened(location: Path, packing: Packing | None, on_end: Callable[[str], None] | None = None) -> Iterator[BinaryIO]:
    """The content of a file: bytes of UTF-8 (or of another encoding without a byte-order mark).

    Where lines end in a carriage return alone, as on old Macs, they end in a line feed here.

    `on_end` is called with the digest of the file's own bytes once all of them are read.
    """
    # A buffered reader yields lines much faster than an unpacking stream does.
    with ExitStack() as streams:
        stream = streams.enter_context(_buffered(_HashedFile(location, on_end) if on_end else io.FileIO(location)))
        if packing:
            stream = streams.enter_context(_buffered(packing.unpack(stream)))
        if stream.peek(2)[:2] in _UTF16:
            stream = streams.enter_context(_buffered(_Utf16(stream)))
        if _has_lone_returns(stream.peek()):
            stream = streams.enter_context(_buffered(_LineFeeds(stream)))
        yield stream


@contextmanager
def readable(name: str, packing: Packing | None = None) -> Iterator[None]:
    """Raise InputError, in a sentence, for what can go wrong while reading."""
    kind = packing.name if packing else "compressed"
    try:
        yield
    except EOFError as error:
        raise InputError(f"{name} is a {kind} file that was cut short; copy or pack it again.") from error
    except (zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{name} is a damaged {kind} file ({error}); copy or pack it again.") from error
    except OSError as error:
        if packing and error.errno is None:  # of the unpacking, not of the file system
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


class _Utf16(io.RawIOBase):
    """The UTF-8 of a stream of UTF-16; half a character at its end, or alone, becomes U+FFFD."""

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


def _has_lone_returns(start: bytes) -> bool:
    return b"\r" in start and b"\n" not in start


class _LineFeeds(io.RawIOBase):
    """A stream with each carriage return as a line feed."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _buffered(stream: Any) -> io.BufferedReader:
    return io.BufferedReader(stream, CHUNK)
