"""The flags of every command that writes a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where results go. Without slots, so that it stands beside other options in one class."""

    output_dir: Annotated[str, "folder for the results"] = "bert-judge-out"
    overwrite: Annotated[bool, "redo existing results, and replace those of another judge, input or options"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False
