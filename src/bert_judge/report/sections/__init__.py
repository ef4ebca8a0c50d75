"""The sections of a report, one module each: its data, its text and its figure.

A new section is a function from `Findings` to a `Section` in a module here, and a line in `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bert_judge.measures import Estimate
from bert_judge.records import Signature
from bert_judge.report.document import Block, Document
from bert_judge.report.sections.agreement import agreement_section
from bert_judge.report.sections.base import Findings, Section, correct_rate
from bert_judge.report.sections.crosses import crosses_section
from bert_judge.report.sections.judges import judges_section
from bert_judge.report.sections.kinds import kinds_section
from bert_judge.report.sections.origin import origin_section
from bert_judge.report.sections.pairs import pairs_section
from bert_judge.report.sections.scores import scores_section
from bert_judge.studies.table import VerdictTable
from bert_judge.wording import percent

SECTIONS: Sequence[Callable[[Findings], Section | None]] = (
    judges_section,
    scores_section,
    agreement_section,
    pairs_section,
    kinds_section,
    crosses_section,
    origin_section,
)
"""The sections in their order; one that has nothing to show is None."""


@dataclass(frozen=True, slots=True)
class VerdictReport:
    """A report: what stands at its top, and its sections. `gold` is the rate correct by human labels, if there are
    any; `labels` says where these are from.
    """

    title: str
    rows: int
    labels: str | None
    gold: Estimate | None
    notes: Sequence[str]
    judges: Sequence[tuple[str, Signature]]
    sections: Sequence[Section]

    @property
    def headline(self) -> str:
        """How many answers, judges and labels there are."""
        several = f", {len(self.judges)} judges" if len(self.judges) > 1 else ""
        line = f"{self.rows:,} answers{several}"
        if self.gold and self.gold.value is not None:
            line += f"; {self.gold.n:,} with human labels, {percent(self.gold.value)} of these correct"
        return line

    def blocks(self, place: str) -> list[Block]:
        """The blocks that stand in a place of the page: "overview", "figures" or "origin"."""
        return [block for section in self.sections if section.place == place for block in section.blocks]

    def data(self, name: str) -> Any:
        """The data of a section; nothing where the report does not have it."""
        return next((section.data for section in self.sections if section.name == name), ())

    def document(self) -> Document:
        """The report without its rows, for Markdown and the terminal."""
        parts: list[Block] = [self.headline, *(block for section in self.sections for block in section.blocks)]
        return Document(f"Report: {self.title}", parts, self.notes, self.judges)

    def record(self) -> dict[str, Any]:
        """The report without its rows, for JSON: the data of each section by its name."""
        top = {
            "title": self.title,
            "rows": self.rows,
            "labels": self.labels,
            "gold": self.gold and asdict(self.gold),
            "notes": list(self.notes),
        }
        return top | {section.name: [asdict(item) for item in section.data] for section in self.sections}


def make_report(table: VerdictTable, title: str = "", notes: Iterable[str] = ()) -> VerdictReport:
    """Count everything; `notes` stand before those of the table."""
    findings = Findings.of(table)
    rows = len(table.rows)
    judged = [(judge.name, int(judge.judged.sum())) for judge in table.judges]
    more = [f"{name} judged {count:,} of the {rows:,} answers." for name, count in judged if count < rows]
    if any(row.candidate is None for row in table.rows):
        more.append("The runs were made without texts: there is nothing to read beside the scores.")
    return VerdictReport(
        title=title,
        rows=rows,
        labels=table.labels,
        gold=correct_rate(table.golds, table.clusters) if table.labels else None,
        notes=[*notes, *table.notes, *more],
        judges=[(judge.name, judge.signature) for judge in table.judges],
        sections=[section for make in SECTIONS if (section := make(findings))],
    )
