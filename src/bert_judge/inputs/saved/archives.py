"""Read the JSON members of a zip file, one in memory at a time, none unpacked to the disk and none beyond a limit."""

from __future__ import annotations

import copy
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from bert_judge.errors import first_line
from bert_judge.inputs.limits import FILES, Limits
from bert_judge.inputs.streams import CHUNK, unpack_zstd
from bert_judge.inputs.texts import parsed

_ZSTD = 93  # which zipfile reads only from Python 3.14 on


def members(location: Path, wanted: Callable[[str], bool], limits: Limits = FILES) -> Iterator[tuple[str, object, str]]:
    """The name and the JSON value of each wanted member, in the order of the file; of members of one name the last.

    One that can't be read has no value, and a third element that says why. Raises zipfile.BadZipFile where the file
    itself is damaged.
    """
    with zipfile.ZipFile(location) as archive:
        for info in {info.filename: info for info in archive.infolist() if wanted(info.filename)}.values():
            try:
                data = unpacked(archive, info, limits)
                if len(data) > (largest := _most(info, limits)):
                    yield (
                        info.filename,
                        None,
                        f"has over {largest >> 20:,} MiB when it is unpacked, too much to be read",
                    )
                else:
                    yield info.filename, parsed(data.decode("utf-8")), ""
            except (ValueError, RecursionError) as error:
                cause = error.msg if isinstance(error, json.JSONDecodeError) else "not UTF-8, or nested too deeply"
                yield info.filename, None, f"is not valid JSON ({cause})"
            # The last two are of another compression, and of a password.
            except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
                yield info.filename, None, f"can't be unpacked ({first_line(error)})"


def _most(info: zipfile.ZipInfo, limits: Limits) -> int:
    """The most bytes that a member may have when it is unpacked."""
    return min(limits.whole, max(limits.small, limits.ratio * info.compress_size))


def unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: Limits = FILES) -> bytes:
    """The content of a member; a larger one is cut, as what the archive says of its size is not trusted."""
    largest = _most(info, limits)
    if info.compress_type != _ZSTD:
        with archive.open(info) as stream:
            return _read(stream, largest)
    packed = copy.copy(info)  # read as it is, to be unpacked here
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, info.compress_size
    packed.CRC = None  # type: ignore[assignment]  # that of the unpacked bytes
    with archive.open(packed) as raw, unpack_zstd(raw) as stream:
        data = _read(stream, largest)
    if len(data) <= largest and zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile("its checksum is wrong")
    return data


def _read(stream: IO[bytes], largest: int) -> bytes:
    """All of a stream; of one that is larger a little more than the largest."""
    parts, size = [], 0
    while size <= largest and (part := stream.read(CHUNK)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
