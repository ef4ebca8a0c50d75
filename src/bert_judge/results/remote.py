"""Results at an address (`s3://…`, `gs://…`, `file://…`), wherever fsspec can write."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bert_judge.errors import first_line
from bert_judge.wording import public_text

_WHOLE = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory"))
"""File systems on which a file appears whole or not at all, by the names of their protocols."""


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file or folder at an address, with those methods of `pathlib.Path` with which results are written and read.

    Whatever its file system raises is an OSError.
    """

    address: str

    def __str__(self) -> str:
        return public_text(self.address)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.address.rstrip('/')}/{name}")

    def joinpath(self, *names: str) -> RemotePath:
        """The address of what lies there under these names."""
        return RemotePath("/".join([self.address.rstrip("/"), *names]))

    @property
    def name(self) -> str:
        """The last part."""
        return self.address.rstrip("/").rpartition("/")[2]

    def absolute(self) -> RemotePath:
        """Itself: an address is the same from every folder."""
        return self

    def exists(self) -> bool:
        """Whether there is such a file or folder."""
        with self._files() as (files, path):
            return bool(files.exists(path))

    def is_dir(self) -> bool:
        """Whether there is such a folder; in an object store, files below it."""
        with self._files() as (files, path):
            return bool(files.isdir(path))

    def mkdir(self, parents: bool = True, exist_ok: bool = True) -> None:
        """Make the folder and those above, where the file system has folders."""
        with self._files() as (files, path):
            files.makedirs(path, exist_ok=exist_ok)

    def glob(self, pattern: str) -> list[RemotePath]:
        """The files in this folder that fit the pattern."""
        with self._files() as (files, path):
            return [self / name.rstrip("/").rpartition("/")[2] for name in files.glob(f"{path}/{pattern}")]

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The file, to read it."""
        with self._files() as (files, path):
            content: IO[bytes] = files.open(path, mode)
            return content

    def upload(self, local: Path) -> None:
        """Write the content of a file of this machine there, in one step."""
        with self._files() as (files, path):
            protocols = {files.protocol} if isinstance(files.protocol, str) else {*files.protocol}
            if protocols & _WHOLE:
                files.put_file(str(local), path)
                return
            begun = f"{path}.{secrets.token_hex(4)}"
            files.put_file(str(local), begun)
            files.mv(begun, path)

    def read_bytes(self) -> bytes:
        """All bytes of the file."""
        with self._files() as (files, path):
            content: bytes = files.cat_file(path)
            return content

    def read_text(self, encoding: str = "utf-8") -> str:
        """The text of the file."""
        return self.read_bytes().decode(encoding)

    def replace(self, target: RemotePath) -> None:
        """Give the file another name, also that of a file that is there."""
        with self._files() as (files, path):
            files.mv(path, target._files_and_path()[1])

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file."""
        with self._files() as (files, path):
            if not missing_ok or files.exists(path):
                files.rm_file(path)

    @contextmanager
    def _files(self) -> Iterator[tuple[Any, str]]:
        try:
            yield self._files_and_path()
        except OSError:
            raise
        except Exception as error:  # each file system has errors of its own
            raise OSError(f"{type(error).__name__}: {first_line(error)}") from error

    def _files_and_path(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        files_and_path: tuple[Any, str] = url_to_fs(
            self.address, use_listings_cache=False
        )  # other processes write, too
        return files_and_path
