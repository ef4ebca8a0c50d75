"""Results that were saved: one row of each line of `verdicts.jsonl`, and what `run.json` says of the whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bert_judge.artifacts import RUN, VERDICTS
from bert_judge.errors import InputError
from bert_judge.questions import question_key
from bert_judge.types import Scale, Signature

_OURS = frozenset(
    "id score label gold explanation matched_reference truncated details failed question references candidate".split()
)


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict with what it was given on; texts are missing in a run with `--no_texts`.

    `score` and `label` are None where the judge could not decide. `meta` holds the input's other columns.
    """

    id: str | None
    score: float | None
    label: int | None
    gold: int | None = None
    question: str | None = None
    references: tuple[str, ...] = ()
    candidate: str | None = None
    explanation: str | None = None
    matched_reference: int | None = None
    truncated: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """What tells whether two runs judged the same answer: the texts, or the id where there are no texts."""
        if self.candidate is None:
            return ("id", str(self.id))
        return (self.question or "", self.candidate, *self.references)

    @property
    def cluster(self) -> str:
        """The question as a cluster of rows: its words, without case and punctuation; else its references or its id."""
        return question_key(self.question, self.references) or f"id {self.id}"

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Row:
        """A row from a line of `verdicts.jsonl` (`artifacts.verdict_record`)."""
        own = {name: record[name] for name in _OURS & record.keys()}
        meta = {name: value for name, value in record.items() if name not in _OURS}
        return cls(**{**own, "references": tuple(own.get("references", ())), "meta": meta})


@dataclass(frozen=True, slots=True)
class Run:
    """A saved result: its folder, its rows in their order, and `run.json`."""

    folder: Path
    rows: Sequence[Row]
    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """A short name: the folder's."""
        return self.folder.resolve().name

    @property
    def signature(self) -> Signature:
        """The signature of the judge that made it."""
        return Signature.of(self.record["identity"]["signature"])

    @property
    def scale(self) -> Scale:
        """What the judge's scores mean; a result that does not say so has a scale of its own."""
        return cast("Scale", self.record.get("scale", "score"))

    @property
    def answers(self) -> tuple[str, str]:
        """What was judged: the digest of the input, and its column of candidates (a file may have one a model)."""
        columns = self.record.get("input", {}).get("columns", {})
        return str(self.record["identity"].get("input_sha256")), str(columns.get("candidate", ""))


def load_run(folder: str | Path) -> Run:
    """Read a result that `score` or `judge` wrote. Raises InputError where there is none, or a damaged one."""
    folder = Path(folder)
    path = folder / RUN
    if not path.exists():
        begun = (folder / (VERDICTS + ".partial")).exists()
        state = "an unfinished run (start the same command again to finish it)" if begun else "no result"
        raise InputError(f"{folder} holds {state}; a folder with {VERDICTS} and {RUN} was expected.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if "signature" not in record["identity"]:
            raise ValueError("it names no judge")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} can't be read as the record of a run ({error}).") from error
    return Run(folder, tuple(_rows(folder / VERDICTS)), record)


def _rows(path: Path) -> Iterable[Row]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield Row.of(json.loads(line))
                except (ValueError, TypeError) as error:
                    raise InputError(f"{path} is damaged in line {number} ({error}).") from error
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}).") from error
