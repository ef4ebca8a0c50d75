"""An audit as a document, and as the files of its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from bert_judge.records import Row, Signature
from bert_judge.report.document import Block, Content, Document, Facts, Table
from bert_judge.studies.audit import Audit, FamilyResult, Outcome
from bert_judge.wording import clipped, interval, percent, visible

_WILSON = "in brackets: 95 % Wilson intervals"
_KEPT = "kept: the same verdict as on the plain answer; correct, incorrect: the rate among such answers alone"


def audit_document(audit: Audit, signature: Signature, misses: Sequence[str] = ()) -> Document:
    """The tables, what failed most, and the limits that are missed."""
    attacks = [family for family in audit.families if family.kind == "attack"]
    invariances = [family for family in audit.families if family.kind == "invariance"]
    parts: list[Block] = [_headline(audit)]
    if attacks:
        head = ["attack", "trials", "accepted", "undecided", "truncated"]
        parts.append(Table("Attacks", head, [*map(_line, attacks)], _WILSON))
    if invariances:
        head = ["change", "trials", "kept", "correct", "incorrect", "undecided", "truncated"]
        parts.append(Table("Invariances", head, [*map(_line, invariances)], f"{_KEPT}; {_WILSON}"))
    if failed := list(_most_failed(audit)):
        parts.append(Facts(failed, "What failed most"))
    gate = [f"The gate is missed: {miss}" for miss in misses]
    return Document(f"Audit of {signature.short}", parts, gate, [("", signature)])


def audit_record(audit: Audit, run: Mapping[str, Any]) -> dict[str, Any]:
    """An audit as JSON; `run` holds what is in it besides the counts."""
    counts = asdict(replace(audit, failures=()))
    del counts["failures"]  # they have a file of their own
    return {**run, **counts}


def to_files(audit: Audit, record: Mapping[str, Any], document: Document) -> dict[str, str]:
    """The files of an audit by their names."""
    failures = (json.dumps(_failure(outcome), ensure_ascii=False) + "\n" for outcome in audit.failures)
    return {
        "audit.json": json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        "audit.md": document.markdown(),
        "audit_failures.jsonl": "".join(failures),
    }


def _failure(outcome: Outcome) -> dict[str, Any]:
    """A trial that failed, as a line of `audit_failures.jsonl`."""
    trial = outcome.trial
    record = {"family": trial.family, "pattern": trial.pattern, **Row.of(trial.sample, outcome.verdict).record()}
    if trial.plain is not None and outcome.plain is not None:
        record["plain"] = Row.of(trial.plain, outcome.plain).record()
    return record


def _headline(audit: Audit) -> str:
    plain = audit.plain
    undecided = f", {plain.undecided} undecided" if plain.undecided else ""
    return (
        f"{audit.items} questions; plain answers judged correctly: {interval(plain.accuracy)} of "
        f"{plain.accuracy.n} (correct ones {percent(plain.right_accepted)}, incorrect ones "
        f"{percent(plain.wrong_rejected)}{undecided})"
    )


def _line(family: FamilyResult) -> list[Content]:
    by_label = [percent(family.kept_right), percent(family.kept_wrong)] if family.kind == "invariance" else []
    return [
        family.name,
        family.rate.n,
        interval(family.rate),
        *by_label,
        family.undecided or "",
        family.truncated or "",
    ]


def _most_failed(audit: Audit) -> Iterable[tuple[str, str]]:
    """The pattern that failed most in each family with failures."""
    for family in audit.families:
        for pattern, failed in list(family.failed_patterns.items())[:1]:
            yield (
                family.name,
                f"{failed:3} of {family.patterns[pattern]:3}  {clipped(visible(pattern), 76) or 'nothing'}",
            )
