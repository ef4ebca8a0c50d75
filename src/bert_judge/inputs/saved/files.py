"""A file of a saved run, and what lies beside it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from bert_judge.errors import InputError
from bert_judge.inputs.limits import FILES, Limits
from bert_judge.inputs.streams import Packing, opened, readable

LARGEST_BESIDE: Final = 256 << 20
"""The most bytes of a file beside a log that is read as a whole."""


@dataclass(frozen=True)
class SavedFile:
    """A file of a saved run: `place` is the path as given, `location` where its bytes are (a pipe is copied)."""

    name: str
    place: Path
    location: Path
    packing: Packing | None = None
    limits: Limits = FILES

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Its content, unpacked. Raises InputError where it can't be read."""
        with readable(self.name, self.packing), opened(self.location, self.packing) as stream:
            yield stream

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Raise InputError where the file, an archive, is damaged or can't be read."""
        try:
            with readable(self.name):
                yield
        except zipfile.BadZipFile as error:
            raise InputError(f"{self.name} is a damaged zip file ({error}); copy it again.") from error

    def beside(self, names: Sequence[str]) -> list[Path]:
        """Those of some files that are there; names are relative to the folder of the file."""
        if self.place != self.location:
            return []
        paths = [self.place.parent / name for name in names]
        return [path for path in paths if path.is_file()]

    def read_beside(self, *names: str) -> object:
        """The JSON value of the first of these files that is there; None without one. Raises InputError."""
        for path in self.beside(names):
            with readable(str(path)):
                if path.stat().st_size > LARGEST_BESIDE:
                    raise InputError(f"{path} has over {LARGEST_BESIDE >> 20} MB, more than can be read beside a log.")
                data = path.read_bytes()
            try:
                value: object = json.loads(data)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path} is not valid JSON ({error}); it belongs to {self.name}.") from error
            return value
        return None
