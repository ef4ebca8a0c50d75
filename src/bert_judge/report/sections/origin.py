"""How the verdicts of each judge were made: commands, inputs, versions, machine and signature."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bert_judge.records import Signature
from bert_judge.report.document import Facts
from bert_judge.report.sections.base import Findings, Section
from bert_judge.studies.pairing import judge_kinds
from bert_judge.studies.table import JudgeColumn


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the verdicts of a judge come from; versions and machine are those of its last run."""

    judge: str
    kind: str
    signature: Signature
    commands: Sequence[str]
    inputs: Sequence[str]
    folders: Sequence[str]
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    started: str

    @classmethod
    def of(cls, judge: JudgeColumn, kind: str) -> Origin:
        """From the records of a judge's runs; each command and each input once."""
        runs, last = judge.runs, judge.runs[-1].record
        commands = (shlex.join(run.record["command"]) for run in runs if run.record.get("command"))
        return cls(
            judge=judge.name,
            kind=kind,
            signature=judge.signature,
            commands=list(dict.fromkeys(commands)),
            inputs=list(dict.fromkeys(str(run.input.get("path", "")) for run in runs)),
            folders=[str(run.folder) for run in runs],
            versions=last.get("versions", {}),
            machine=last.get("machine", {}),
            started=min((run.record["timings"]["started"] for run in runs if "timings" in run.record), default=""),
        )

    @property
    def facts(self) -> list[tuple[str, str]]:
        """When, where and on what the verdicts were made."""
        facts = [
            ("started", self.started),
            ("input", ", ".join(self.inputs)),
            ("result", ", ".join(self.folders)),
            ("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
            ("machine", ", ".join(f"{name} {value}" for name, value in self.machine.items())),
        ]
        return [(name, text) for name, text in facts if text]


@dataclass(frozen=True, slots=True)
class OriginPanel:
    """The origin of one judge's verdicts."""

    origin: Origin
    macro: ClassVar[str] = "origin"

    def text(self) -> str:
        """As lines of a terminal."""
        return self._facts().text()

    def markdown(self) -> str:
        """As a list of Markdown."""
        return self._facts().markdown()

    def _facts(self) -> Facts:
        commands = [("command", command) for command in self.origin.commands]
        return Facts([*commands, *self.origin.facts], f"How {self.origin.judge} was made")


def origin_section(findings: Findings) -> Section:
    """A panel for each judge."""
    judges = findings.table.judges
    kinds = judge_kinds([judge.signature for judge in judges])
    origins = [Origin.of(judge, kind) for judge, kind in zip(judges, kinds, strict=True)]
    return Section("origin", origins, [*map(OriginPanel, origins)], "origin")
