"""`bert-judge show`: rows of a saved result on the terminal, with question, references, candidate and the reason."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Annotated

from bert_judge.analysis.labels import read_labels, relabelled
from bert_judge.analysis.results import Row, Run, find_runs
from bert_judge.cli import run, say
from bert_judge.cli.flags import Parser, made
from bert_judge.errors import InputError
from bert_judge.wording import SAID

_EXAMPLES = """examples:
  bert-judge show out --wrong                              # candidates judged incorrect, and why
  bert-judge show out --disagree                           # rows where the judge's label is not the human one
  bert-judge show out --wrong --disagree                   # both: correct answers that the judge calls incorrect
  bert-judge show out --labels human.jsonl --disagree
  bert-judge show out --id 17 --full
"""
_CLIPPED = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows are shown: those for which all that is asked for holds."""

    wrong: Annotated[bool, "candidates judged incorrect"] = False
    right: Annotated[bool, "candidates judged correct"] = False
    undecided: Annotated[bool, "rows without a verdict"] = False
    disagree: Annotated[bool, "rows where the judge's label and the human label differ"] = False
    truncated: Annotated[bool, "rows that were longer than the judge reads"] = False
    id: Annotated[str | None, "the row with this id"] = None


_HOLDS: Mapping[str, Callable[[Row], bool]] = {
    "wrong": lambda row: row.label == 0,
    "right": lambda row: row.label == 1,
    "undecided": lambda row: row.score is None,
    "disagree": lambda row: None not in (row.label, row.gold) and row.label != row.gold,
    "truncated": lambda row: bool(row.truncated),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What `show` takes besides the results and which of their rows."""

    labels: Annotated[str | None, "file with human labels, of the same texts or the same ids"] = None
    map: Annotated[Mapping[str, str] | None, "columns of that file by name: label=human,id=number"] = None
    limit: Annotated[int, "the most rows that are shown of a result; 0: all"] = 20
    full: Annotated[bool, f"whole texts; otherwise those of over {_CLIPPED} characters lose their middle"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the results, and print the rows of each."""
    parser = Parser("bert-judge show", "RESULT … [flags]", "Show rows of saved results, and why.", _EXAMPLES)
    parser.add_argument("results", metavar="RESULT", nargs="+", help="folders that score or judge wrote")
    parser.flags("which rows", Wanted)
    parser.flags("flags", ShowOptions)
    values = parser.parse(arguments)
    wanted, options = made(Wanted, values), made(ShowOptions, values)
    if options.limit < 0:
        raise InputError(f"limit is {options.limit}; a number of rows, or 0 for all, was expected.")
    labels = read_labels(options.labels, options.map) if options.labels else None
    for number, found in enumerate(find_runs(values["results"])):
        rows = relabelled(found.rows, labels) if labels else found.rows
        _check_answerable(found, rows, wanted)
        chosen = [row for row in rows if _fits(row, wanted)]
        say(("\n" if number else "") + _headline(found, len(chosen), len(rows), wanted))
        for row in islice(chosen, options.limit or None):
            say("\n" + "\n".join(_lines(row, None if options.full else _CLIPPED)))
        if 0 < options.limit < len(chosen):
            say(f"\n{options.limit} of {len(chosen)} rows are shown; --limit 0 shows all.")
    return 0


def _fits(row: Row, wanted: Wanted) -> bool:
    if wanted.id is not None and row.id != wanted.id:
        return False
    return all(holds(row) for name, holds in _HOLDS.items() if getattr(wanted, name))


def _check_answerable(found: Run, rows: Sequence[Row], wanted: Wanted) -> None:
    """Raise InputError where no row could be shown, whatever it says."""
    if (wanted.wrong or wanted.right or wanted.disagree) and all(row.label is None for row in rows):
        raise InputError(
            f"{found.folder} has scores without labels, so no candidate is judged correct or incorrect; run score with "
            "--threshold X."
        )
    if wanted.disagree and all(row.gold is None for row in rows):
        raise InputError(f"{found.folder} has no human labels to disagree with; give them with --labels FILE.")
    if wanted.id is not None and all(row.id != wanted.id for row in rows):
        raise InputError(f"{found.folder} has no row with the id {wanted.id!r}.")


def _headline(found: Run, chosen: int, rows: int, wanted: Wanted) -> str:
    asked = [field.name for field in fields(wanted) if getattr(wanted, field.name)]
    return f"{found.folder}: {chosen} of {rows} rows" + (f" ({', '.join(asked)})" if asked else "")


def _lines(row: Row, clipped: int | None) -> Iterator[str]:
    """A row as lines: the verdict, then each text under its name."""
    score = "" if row.score is None else f"  {row.score:.3f}"
    gold = "" if row.gold is None else f"  (human label: {SAID[row.gold]})"
    yield f"{row.id}  {SAID[row.label] if row.label is not None or row.score is None else 'no label'}{score}{gold}"
    texts = [("question", row.question), *(("reference", text) for text in row.references)]
    texts += [("candidate", row.candidate), ("why", row.explanation)]
    if row.truncated:
        texts.append(("cut", ", ".join(f"{count} characters of the {part}" for part, count in row.truncated.items())))
    width = max(40, min(120, shutil.get_terminal_size().columns))
    for name, text in texts:
        if text is None:
            continue
        paragraphs = _clip(text, clipped).splitlines() or ["(empty)"]
        wrapped = [line for each in paragraphs for line in textwrap.wrap(each, width - 14) or [""]]
        for number, line in enumerate(wrapped):
            yield f"  {name if number == 0 else '':12}{line}".rstrip()


def _clip(text: str, most: int | None) -> str:
    """The text without its middle, if it is long: answers stand at an end."""
    if most is None or len(text) <= most:
        return text
    return f"{text[: most // 2].rstrip()} [… {len(text) - most} characters …] {text[-most // 2 :].lstrip()}"


if __name__ == "__main__":
    run("show")
