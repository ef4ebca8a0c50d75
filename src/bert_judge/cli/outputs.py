"""The flags of every command that writes a folder of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from bert_judge.cli import note
from bert_judge.errors import InputError, OutputError, first_line
from bert_judge.report import write_report
from bert_judge.results import EXPLANATIONS, PART_ROWS, REPORT, RUN, ResultFolder, is_remote
from bert_judge.results.runs import Run, load_run

PAGE_ROWS = 20_000
NoReport = Annotated[bool, f"write no {REPORT} (it shows a sample of over {PAGE_ROWS:,} rows)"]


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where results go. Without slots, so that it stands beside other options in one class."""

    output_dir: Annotated[str, "folder for the results"] = "bert-judge-out"
    overwrite: Annotated[bool, "redo existing results, and replace those of another judge, input or options"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


@dataclass(frozen=True, kw_only=True)
class VerdictOptions(OutputOptions):
    """What is written of verdicts, where judges run, and whether their verdicts are one file or parts."""

    explain: Annotated[int, "say of the N rows nearest the threshold which words carried their scores"] = 0
    no_texts: Annotated[bool, "leave the texts out of the verdicts"] = False

    engine: Annotated[Literal["local", "ray"], "local: this process; ray: actors of a Ray cluster (writes parquet)"] = (
        "local"
    )
    ray_address: Annotated[str | None, "a running cluster: auto, ray://HOST:10001 (default: one here)"] = None
    actors: Annotated[int | None, "with --engine ray: how many judges, as far as the cluster has room"] = None
    output_format: Annotated[
        Literal["jsonl", "parquet"] | None, "jsonl (the default): verdicts.jsonl; parquet: parts in the folder verdicts"
    ] = None
    part_rows: Annotated[int | None, f"rows of a part, of which a killed run loses one at most ({PART_ROWS:,})"] = None

    def __post_init__(self) -> None:
        if self.explain < 0:
            raise InputError(f"explain is {self.explain}; a number of rows, or 0 for none, was expected.")
        if self.explain and self.no_texts:
            raise InputError("--explain writes words of the candidates, which --no_texts leaves out; give one of them.")
        if self.part_rows is not None and self.part_rows < 1:
            raise InputError(f"part_rows is {self.part_rows}; a number of at least 1 was expected.")
        if "://" in self.output_dir and not self.in_parts:
            raise InputError(
                "--output_dir is an address, where verdicts are written in parts; add --output_format parquet, or name "
                "a folder."
            )
        if self.engine == "ray" and self.output_format == "jsonl":
            raise InputError("--engine ray writes parts, in any order; leave --output_format jsonl out.")
        if self.engine != "ray" and (self.actors is not None or self.ray_address):
            raise InputError("--actors and --ray_address are for --engine ray; add it, or leave them out.")
        if self.part_rows and not self.in_parts:
            raise InputError("--part_rows is for parts; add --output_format parquet, or leave it out.")

    @property
    def in_parts(self) -> bool:
        """Whether verdicts are written in parts."""
        return self.engine == "ray" or self.output_format == "parquet"

    @property
    def settings(self) -> dict[str, Any]:
        """The options that change the files."""
        parts = {"part_rows": self.part_rows or PART_ROWS} if self.in_parts else {}
        return {"no_texts": self.no_texts, **parts}


Load: TypeAlias = Callable[[ResultFolder], Run]
"""Gives the rows of a finished result, which it reads once."""


def loader(results: Sequence[ResultFolder]) -> Load:
    """Reads each of these results once: all of its rows, or a sample where they are too many for one page."""
    share = PAGE_ROWS / max(sum(result.summary.rows for result in results), 1)

    @cache
    def load(result: ResultFolder) -> Run:
        return load_run(result.folder, int(share * result.summary.rows) if share < 1 else None)

    return load


def write_page(results: Sequence[ResultFolder], path: Path, load: Load) -> str:
    """Write the results as a page, unless it is there; its name for the list of files, or nothing.

    Verdicts are written as a stream, but a page holds its rows at once: it shows a sample of many.
    """
    if any(is_remote(result.folder) for result in results):
        note(f"{results[0].folder} is an address, where no page is written; `bert-judge report` makes one of a copy.")
        return ""
    written = [result.folder / name for result in results for name in (RUN, EXPLANATIONS)]
    newest = max(path.stat().st_mtime for path in written if path.exists())
    if not path.exists() or path.stat().st_mtime < newest:
        try:
            write_report([load(result) for result in results], path)
        except OutputError as error:
            cause = first_line(error).partition(";")[0]
            folders = " ".join(str(result.folder) for result in results)
            raise OutputError(
                f"the result in {folders} is whole, and only its page is missing, as {cause}; "
                f"bert-judge report {folders} writes it when that is mended."
            ) from error
    return f", {path.name}"


def checked_sample(rows: int) -> int | None:
    """The rows that are drawn of a result; None where all are wanted (0). Raises InputError for a negative number."""
    if rows < 0:
        raise InputError(f"sample is {rows}; a number of rows, or 0 for all, was expected.")
    return rows or None
