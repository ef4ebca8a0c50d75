"""The result of an audit: as lines of a terminal, and as the files of its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from bert_judge.analysis.tables import Table, escaped
from bert_judge.artifacts import verdict_record
from bert_judge.audit.trials import Audit, Outcome
from bert_judge.types import Signature

_EXAMPLES, _CLIPPED = 3, 300
_HEADS = {
    "attack": ("Attacks", ["attack", "trials", "accepted", "95 % interval", "undecided", "truncated"], ""),
    "invariance": (
        "Invariances",
        ["change", "trials", "kept", "95 % interval", "correct", "incorrect", "undecided", "truncated"],
        "kept: the same verdict as on the plain answer; correct, incorrect: kept among such answers alone",
    ),
}


def to_text(audit: Audit, signature: Signature) -> str:
    """What the terminal shows: the tables, and of each family with failures the pattern that failed most."""
    parts = [_headline(audit), *(table.text() for table in _tables(audit))]
    worst = []
    for family in audit.families:
        for pattern, failed in list(family.failed_patterns.items())[:1]:
            text = _clipped(_visible(pattern), 76) or "nothing"
            worst.append(f"  {family.name:22} {failed:3} of {family.patterns[pattern]:3}  {text}")
    parts += ["\n".join(["what failed most", *worst])] if audit.failures else []
    return "\n\n".join([*parts, f"judge  {signature.short}"])


def to_files(audit: Audit, run: Mapping[str, Any]) -> dict[str, str]:
    """The files of an audit by their names; `run` holds what `audit.json` says besides what was found."""
    counts = asdict(replace(audit, failures=()))
    del counts["failures"]  # they have a file of their own
    failures = (json.dumps(_failure(outcome), ensure_ascii=False) + "\n" for outcome in audit.failures)
    return {
        "audit.json": json.dumps({**run, **counts}, ensure_ascii=False, indent=1) + "\n",
        "audit.md": _page(audit, Signature.of(run["signature"]), run["gate"]["misses"]),
        "audit_failures.jsonl": "".join(failures),
    }


def _failure(outcome: Outcome) -> dict[str, Any]:
    """A trial that failed, as a line of `audit_failures.jsonl`."""
    trial = outcome.trial
    record = {"family": trial.family, "pattern": trial.pattern, **verdict_record(trial.sample, outcome.verdict)}
    if trial.plain is not None and outcome.plain is not None:
        record["plain"] = verdict_record(trial.plain, outcome.plain)
    return record


def _page(audit: Audit, signature: Signature, misses: Sequence[str]) -> str:
    """As Markdown: the tables, the gate, and a few failed trials of each family with their texts."""
    parts = [f"# Audit of `{signature}`", _headline(audit)]
    parts += ["\n".join(["**The gate is missed:**", "", *(f"- {escaped(miss)}" for miss in misses)])] if misses else []
    parts += [table.markdown() for table in _tables(audit)]
    parts += ["## Trials that failed"] if audit.failures else []
    for name, group in groupby(audit.failures, key=lambda outcome: outcome.trial.family):
        failures = list(group)
        spread = failures[:: max(1, len(failures) // _EXAMPLES)][:_EXAMPLES]
        parts += [f"### {name} ({len(failures)})", "\n".join(map(_example, spread))]
    return "\n\n".join(parts) + "\n"


def _headline(audit: Audit) -> str:
    plain = audit.plain
    undecided = f", {plain.undecided} undecided" if plain.undecided else ""
    return (
        f"{audit.items} questions; plain answers judged correctly: {_rate(plain.accuracy)} of {plain.trials} "
        f"{_interval(plain.interval)} (correct ones {_rate(plain.right_accepted)}, incorrect ones "
        f"{_rate(plain.wrong_rejected)}{undecided})"
    )


def _tables(audit: Audit) -> Iterable[Table]:
    for kind, (title, head, below) in _HEADS.items():
        body = []
        for family in (family for family in audit.families if family.kind == kind):
            by_label = [_rate(family.kept_right), _rate(family.kept_wrong)] if kind == "invariance" else []
            counts = [str(family.undecided or ""), str(family.truncated or "")]
            figures = [str(family.trials), _rate(family.rate), _interval(family.interval), *by_label, *counts]
            body.append([family.name, *figures])
        if body:
            yield Table(title, head, body, below)


def _example(failure: Outcome) -> str:
    sample, plain = failure.trial.sample, failure.trial.plain
    said = f"  - labelled {'correct' if sample.gold else 'incorrect'}; score {_score(failure.verdict.score)}"
    if plain is not None and failure.plain is not None:
        said += f", of the plain answer {_score(failure.plain.score)}"
        said += f": {_quoted(plain.candidate)}" if plain.candidate != sample.candidate else ""
    texts = (("references", " | ".join(sample.references)), ("candidate", sample.candidate))
    lines = [f"- question: {_quoted(sample.question)}", *(f"  - {name}: {_quoted(text)}" for name, text in texts), said]
    return "\n".join(lines)


def _quoted(text: str | None) -> str:
    """A text as code that shows its odd spaces and line breaks."""
    if text is None:
        return "none"
    shown = _visible(_clipped(text, _CLIPPED))
    fence = "```` " if "``" in shown else "`` "
    return f"{fence}{shown}{fence[::-1]}" if shown.strip() else f"`{text!r}`"


def _visible(text: str) -> str:
    """A text on one line, with white space and what can't be printed as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def _score(score: float | None) -> str:
    return "undecided" if score is None else f"{score:.3f}"


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"


def _interval(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:.1%}, {interval[1]:.1%}]"
