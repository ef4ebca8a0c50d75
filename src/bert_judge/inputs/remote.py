"""Files elsewhere (`s3://…`, `gs://…`, `hf://…`, `https://…`): each is copied once, and read like any other."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from bert_judge.errors import InputError, first_line
from bert_judge.inputs.streams import CHUNK, readable
from bert_judge.wording import public_text

T = TypeVar("T")


class Spool:
    """A temporary copy of a stream that can be read only once; deleted with this object."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        with readable(name):
            handle, path = tempfile.mkstemp(prefix="bert-judge-")
            self.path = Path(path)
            weakref.finalize(self, self.path.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as copy:
                shutil.copyfileobj(stream, copy, CHUNK)


def is_remote(given: str) -> bool:
    """Whether this is the address of a file elsewhere."""
    return "://" in given


def addresses_in(given: str, is_known: Callable[[Path], bool]) -> list[str]:
    """The addresses that one names: a file, those that a pattern fits, or those of known formats in a folder."""
    files, path = _file_system(given)

    def found() -> list[str]:
        if files.isdir(path):
            paths = [each for each in files.ls(path, detail=False) if is_known(Path(each))]
        else:
            paths = files.glob(path) if any(sign in path for sign in "*?[") else [path]
        return [files.unstrip_protocol(each) for each in sorted(paths)]

    addresses = _said(given, found)
    if not addresses:
        raise InputError(f"{public_text(given)} names no file; the address of a file with answers was expected.")
    return addresses


@cache
def fetched(address: str) -> Spool:
    """A copy of the file, once a process. Raises InputError where it can't be read."""
    files, path = _file_system(address)

    def copied() -> Spool:
        with files.open(path, "rb") as stream:
            return Spool(public_text(address), stream)

    copy = _said(address, copied)
    os.utime(copy.path, (0, 0))  # every process has the same file
    return copy


def _file_system(address: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    found: tuple[Any, str] = _said(address, lambda: url_to_fs(address))
    return found


def _said(address: str, action: Callable[[], T]) -> T:
    """What an action returns; what a file system raises as a sentence (also which package it needs)."""
    try:
        return action()
    except InputError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise InputError(
            f"{public_text(address)} can't be read ({type(error).__name__}: {first_line(error)}); give the address of "
            "a file that can be read from here, or a copy of it."
        ) from error
