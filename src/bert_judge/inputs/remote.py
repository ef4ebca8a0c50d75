"""Remote files (`s3://…`, `gs://…`, `hf://…`, `https://…`): each is copied once, and read like any other."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

from bert_judge.errors import InputError, first_line
from bert_judge.inputs.streams import CHUNK, readable
from bert_judge.wording import public_text


class TemporaryCopy:
    """A copy, at `path`, of a stream that can be read only once; deleted with this object."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        with readable(name):
            handle, path = tempfile.mkstemp(prefix="bert-judge-")
            self.path = Path(path)
            weakref.finalize(self, self.path.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as copy:
                shutil.copyfileobj(stream, copy, CHUNK)


def is_remote(path: str) -> bool:
    """Whether a path is the address of a remote file."""
    return "://" in path


def addresses_in(address: str, is_known: Callable[[Path], bool]) -> list[str]:
    """The files that an address names: itself, those that match its pattern, or the known ones in its folder."""
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
    """A copy of the file, made once per process. Raises InputError where it can't be read."""
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
