"""Saved runs of other tools: what was found, and their own scores beside a judge's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bert_judge.inputs import SavedRun
from bert_judge.report.document import Block, Content, Document, Example, Examples, Table
from bert_judge.studies.harness import Difference, HarnessFound
from bert_judge.studies.references import DoubtedReference
from bert_judge.studies.several import SeveralLine
from bert_judge.wording import SAID, bracketed, clipped, percent, points

MOST_RUNS = 40
"""The most tasks and models of a run that a terminal shows; `run.json` has all."""

_MOST_NAMES = 3
_LONGEST_FILE = 40
_MOST_DOUBTED = 3


def found_table(found: Sequence[SavedRun], unread: Sequence[str]) -> Table:
    """What was read of saved runs: a line for each file, task and model."""
    files = len({(run.task, run.model) for run in found}) < len(found)
    body: list[list[Content]] = [
        [
            run.tool,
            run.task,
            run.model,
            *([clipped(Path(run.file).name, _LONGEST_FILE)] * files),
            run.rows,
            ", ".join(f"{count:,} {reason}" for reason, count in run.aside.items()),
        ]
        for run in found[:MOST_RUNS]
    ]
    below = []
    if left := found[MOST_RUNS:]:
        below.append(f"and {len(left):,} more, with {sum(run.rows for run in left):,} rows (run.json has all)")
    if unread:
        names = ", ".join(unread[:_MOST_NAMES]) + (", …" if len(unread) > _MOST_NAMES else "")
        below.append(f"not read: {len(unread):,} other file{'s' * (len(unread) > 1)} there ({names})")
    head = ["tool", "task", "model", *(["file"] * files), "rows", "not judged"]
    return Table("", head, body, "\n".join(below), left={*range(3 + files), 4 + files})


def harness_document(
    found: HarnessFound,
    several: Sequence[SeveralLine],
    doubted: Sequence[DoubtedReference],
    disagreements: tuple[Sequence[Sequence[Difference]], int],
    more: str,
) -> Document:
    """The tool's scores and the judge's labels, side by side, where they differ, and references that may be wrong.

    `disagreements` are those of `first_disagreements`; `more` says where the others are, with a placeholder for their
    number.
    """
    files = any(line.metric.file for line in found.lines)
    partial = any(line.partial for line in found.lines)
    head = ["model", "task", *(["file"] * files), "metric", "rows", "theirs", "ours", "ours minus theirs"]
    head += ["only ours right", "only theirs right", *(["partial"] * partial)]
    body: list[list[Content]] = [
        [
            line.metric.model or None,
            line.metric.task or None,
            *([clipped(line.metric.file, _LONGEST_FILE) if line.metric.file else None] * files),
            line.metric.name,
            line.rows,
            percent(line.theirs),
            percent(line.ours),
            bracketed(line.ours - line.theirs, line.interval, points),
            line.only_ours,
            line.only_theirs,
            *([line.partial] * partial),
        ]
        for line in found.lines
    ]
    below = "theirs: the mean of the tool's own scores; ours: the rate that the judge calls correct; in brackets: 95 % "
    below += "intervals, in points, by question"
    parts: list[Block] = []
    parts += [Table("The tool's own scores and the judge's", head, body, below, left=range(3 + files))] if body else []
    parts += [_disagreements(*disagreements, more)] if disagreements[1] else []
    parts += [_several_table(several)] if several else []
    parts += [_doubted(doubted)] if doubted else []
    return Document("The tool's own scores and the judge's", parts, _notes(found))


def _disagreements(first: Sequence[Sequence[Difference]], total: int, more: str) -> Examples:
    """Answers on which the tool and the judge differ."""
    examples = []
    for differences in first:
        row = differences[0].row
        theirs = ", ".join(f"{each.metric.name} {each.theirs:g}" for each in differences)
        said = (
            f"{row.id}: judged {SAID[row.label]}{'' if row.score is None else f' ({row.score:.3f})'}; theirs: {theirs}"
        )
        texts: list[tuple[str, str | None]] = [("question", row.question)] if row.question else []
        texts += [("reference", " | ".join(row.references)), ("candidate", row.candidate)]
        examples.append(Example(said, texts))
    title = f"The tool and the judge differ on {total:,} answer{'s' * (total > 1)}"
    return Examples(title, examples, total, len(examples), more)


def _several_table(lines: Sequence[SeveralLine]) -> Table:
    files = any(line.file for line in lines)
    head = ["model", "task", *(["file"] * files), "questions", "k", "accuracy", "pass@k", "majority@k", "all k"]
    body: list[list[Content]] = [
        [
            line.model or None,
            line.task or None,
            *([clipped(line.file, _LONGEST_FILE) if line.file else None] * files),
            line.questions,
            line.answers,
            bracketed(line.accuracy, line.interval),
            *map(percent, (line.any_correct, line.majority, line.all_correct)),
        ]
        for line in lines
    ]
    below = "by the judge, over questions with k answers each; in brackets: 95 % intervals by question; "
    below += "pass@k: one answer is correct, majority@k: more than half are, all k: all are"
    return Table("Several answers to a question", head, body, below, left=range(2 + files))


def _doubted(doubted: Sequence[DoubtedReference]) -> Examples:
    """The references that may be wrong, with how many there are and what is said instead of them."""
    several = sum(len(each.models) > 1 for each in doubted)
    title = f"The reference may be wrong: {len(doubted):,} question{'s' * (len(doubted) > 1)} ("
    title += f"several models agree against it: {several:,}, several answers of one model: {len(doubted) - several:,})"
    examples = [
        Example(
            f"{len(each.rows):,} answers of {len(each.models):,} model{'s' * (len(each.models) > 1)} say the same; "
            f"{each.correct:,} of {each.correct + each.incorrect:,} answers are judged correct",
            [("question", each.question), ("reference", " | ".join(each.references)), ("answer", each.answer)],
        )
        for each in doubted
    ]
    more = "{:,} more in doubted_references.jsonl"
    return Examples(title, examples, len(doubted), _MOST_DOUBTED, more)


def _notes(found: HarnessFound) -> list[str]:
    notes = []
    if undecided := sum(line.undecided for line in found.lines):
        notes.append(f"{undecided:,} scores are of rows that the judge left undecided; they are in no figure.")
    if found.unscaled:
        notes.append(f"{', '.join(found.unscaled)}: values outside of 0 to 1, so no rate of correct answers.")
    if found.repeats:
        notes.append(
            f"{found.repeats:,} rows are answers of which several have one score together; they are judged, and "
            "compared with nothing."
        )
    return notes
