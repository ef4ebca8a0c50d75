"""`bert-judge show`: rows of a saved result on the terminal, with question, references, candidate and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

from bert_judge.cli import run, say
from bert_judge.cli.flags import Parser, options_from
from bert_judge.cli.rows import CLIPPED, LEGEND, row_lines
from bert_judge.errors import InputError
from bert_judge.records import Row
from bert_judge.results.runs import find_folders, open_run
from bert_judge.studies.harness import differences_of, harness_scores
from bert_judge.studies.pairing import read_labels, relabelled

_EXAMPLES = """examples:
  bert-judge show out --wrong                              # candidates judged incorrect, and why
  bert-judge show out --disagree                           # rows where the judge's label is not the human one
  bert-judge show out --wrong --disagree                   # both: correct answers that the judge calls incorrect
  bert-judge show out --labels human.jsonl --disagree
  bert-judge show out --theirs                             # where the tool that made a saved run scores otherwise
  bert-judge show out --explained                          # what `score --explain N` found: which words matter
  bert-judge show out --id 17 --full
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows are shown: those for which all that is asked for holds."""

    wrong: Annotated[bool, "candidates judged incorrect"] = False
    right: Annotated[bool, "candidates judged correct"] = False
    undecided: Annotated[bool, "rows without a verdict"] = False
    disagree: Annotated[bool, "rows where the judge's label and the human label differ"] = False
    theirs: Annotated[bool, "rows where the judge's label and a score of the tool that made the run differ"] = False
    truncated: Annotated[bool, "rows that were longer than the judge reads"] = False
    left_out: Annotated[bool, "rows of which a part is not the answer: reasoning, run-on text, remarks"] = False
    out_of_scope: Annotated[bool, "rows out of the judge's scope: in another language, say"] = False
    explained: Annotated[bool, "rows of which it is known which words carried the score"] = False
    id: Annotated[str | None, "the row with this id"] = None


_HOLDS: Mapping[str, Callable[[Row], bool]] = {
    "wrong": lambda row: row.label == 0,
    "right": lambda row: row.label == 1,
    "undecided": lambda row: row.score is None,
    "disagree": lambda row: None not in (row.label, row.gold) and row.label != row.gold,
    "theirs": lambda row: bool(differences_of(row)),
    "truncated": lambda row: bool(row.verdict.truncated),
    "left_out": lambda row: bool(row.verdict.left_out),
    "out_of_scope": lambda row: row.verdict.out_of_scope is not None,
    "explained": lambda row: row.why is not None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What `show` takes besides the results and which of their rows."""

    labels: Annotated[str | None, "file with human labels, of the same texts or the same ids"] = None
    map: Annotated[Mapping[str, str] | None, "columns of that file by name: label=human,id=number"] = None
    limit: Annotated[int, "the most rows that are shown of a result; 0: all"] = 20
    full: Annotated[bool, f"whole texts; otherwise those of over {CLIPPED} characters lose their middle"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, read the results, and print the rows of each."""
    parser = Parser("bert-judge show", "RESULT … [flags]", "Show rows of saved results, and why.", _EXAMPLES)
    parser.add_argument("results", metavar="RESULT", nargs="+", help="folders that score or judge wrote")
    parser.flags("which rows", Wanted)
    parser.flags("flags", ShowOptions)
    values = parser.parse(arguments)
    filters, options = options_from(Wanted, values), options_from(ShowOptions, values)
    if options.limit < 0:
        raise InputError(f"limit is {options.limit}; a number of rows, or 0 for all, was expected.")
    labels = read_labels(options.labels, options.map) if options.labels else None
    for number, folder in enumerate(find_folders(values["results"])):
        rows = open_run(folder).rows
        seen = _Seen.of(relabelled(rows, labels) if labels else rows, filters, options.limit)
        _check_answerable(folder, seen, filters)
        say(("\n" if number else "") + _headline(folder, seen, filters))
        for row in seen.first:
            say("\n" + "\n".join(row_lines(row, None if options.full else CLIPPED)))
        if len(seen.first) < seen.chosen:
            say(f"\n{len(seen.first)} of {seen.chosen} rows are shown; --limit 0 shows all.")
        if any(row.why for row in seen.first):
            say(f"\n{LEGEND}")
    return 0


@dataclass(slots=True)
class _Seen:
    """What one look at the rows of a result found: how many there are, how many are wanted and the first of these, and
    whether any row has a label, a human label, an explanation, a score of another tool, or the id that is asked for.
    """

    rows: int = 0
    chosen: int = 0
    first: list[Row] = field(default_factory=list)
    labelled: bool = False
    gold: bool = False
    explained: bool = False
    theirs: bool = False
    named: bool = False

    @classmethod
    def of(cls, rows: Iterable[Row], filters: Wanted, limit: int) -> _Seen:
        """Look at rows, and keep the first `limit` wanted ones; 0: all."""
        seen = cls()
        for row in rows:
            seen.rows += 1
            seen.labelled |= row.label is not None
            seen.gold |= row.gold is not None
            seen.explained |= row.why is not None
            seen.theirs |= bool(harness_scores(row))
            seen.named |= row.id == filters.id
            if _fits(row, filters):
                seen.chosen += 1
                if not limit or seen.chosen <= limit:
                    seen.first.append(row)
        return seen


def _fits(row: Row, filters: Wanted) -> bool:
    if filters.id is not None and row.id != filters.id:
        return False
    return all(holds(row) for name, holds in _HOLDS.items() if getattr(filters, name))


def _check_answerable(folder: Path, seen: _Seen, filters: Wanted) -> None:
    """Raise InputError where no row could be shown, whatever it says."""
    if (filters.wrong or filters.right or filters.disagree or filters.theirs) and not seen.labelled:
        raise InputError(
            f"{folder} has scores without labels, so no candidate is judged correct or incorrect; run score with "
            "--threshold X."
        )
    if filters.disagree and not seen.gold:
        raise InputError(f"{folder} has no human labels to disagree with; give them with --labels FILE.")
    if filters.theirs and not seen.theirs:
        raise InputError(f"{folder} has no scores of another tool to differ from; give the result of a saved run.")
    if filters.explained and not seen.explained:
        raise InputError(f"{folder} has no row that was explained; run the command that made it with --explain N.")
    if filters.id is not None and not seen.named:
        raise InputError(f"{folder} has no row with the id {filters.id!r}.")


def _headline(folder: Path, seen: _Seen, filters: Wanted) -> str:
    asked = [flag.name.replace("_", " ") for flag in fields(filters) if getattr(filters, flag.name)]
    return f"{folder}: {seen.chosen} of {seen.rows} rows" + (f" ({', '.join(asked)})" if asked else "")


if __name__ == "__main__":
    run("show")
