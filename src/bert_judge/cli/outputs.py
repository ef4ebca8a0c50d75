"""The flags of every command that writes a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from bert_judge.errors import InputError


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where results go. Without slots, so that it stands beside other options in one class."""

    output_dir: Annotated[str, "folder for the results"] = "bert-judge-out"
    overwrite: Annotated[bool, "redo existing results, and replace those of another judge, input or options"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


@dataclass(frozen=True, kw_only=True)
class VerdictOptions(OutputOptions):
    """What is written of verdicts."""

    explain: Annotated[int, "say of the N rows nearest the threshold which words carried their scores"] = 0
    no_texts: Annotated[bool, "leave the texts out of verdicts.jsonl"] = False

    def __post_init__(self) -> None:
        if self.explain < 0:
            raise InputError(f"explain is {self.explain}; a number of rows, or 0 for none, was expected.")
        if self.explain and self.no_texts:
            raise InputError("--explain writes words of the candidates, which --no_texts leaves out; give one of them.")
