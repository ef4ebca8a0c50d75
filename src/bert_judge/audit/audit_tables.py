"""What an audit found, for people: as lines of a terminal, and as Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bert_judge.audit.trials import Audit, FamilyResult, Outcome
from bert_judge.evaluation.tables import Table, escaped

_EXAMPLES, _CLIPPED = 3, 300


def to_text(audit: Audit, signature: str) -> str:
    """What the terminal shows."""
    parts = [_headline(audit), *(table.text() for table in _tables(audit))]
    parts += ["\n".join(["what failed most", *_most_failed(audit)])] if audit.failures else []
    return "\n\n".join([*parts, f"judge  {signature}"])


def to_markdown(audit: Audit, signature: str, misses: Sequence[str]) -> str:
    """A page: the tables, the gate, and some of the trials that failed with their texts."""
    parts = [f"# Audit of `{signature}`", _headline(audit)]
    if misses:
        parts.append("\n".join(["**The gate is missed:**", "", *(f"- {escaped(miss)}" for miss in misses)]))
    parts += [table.markdown() for table in _tables(audit)]
    parts += ["\n\n".join(["## Trials that failed", *_examples(audit.failures)])] if audit.failures else []
    return "\n\n".join(parts) + "\n"


def _headline(audit: Audit) -> str:
    plain = audit.plain
    undecided = f", {plain.undecided} undecided" if plain.undecided else ""
    return (
        f"{audit.items} questions; plain answers judged well: {_share(plain.accuracy)} of {plain.trials} "
        f"{_interval(plain.interval)} (right ones {_share(plain.right_accepted)}, wrong ones "
        f"{_share(plain.wrong_rejected)}{undecided})"
    )


def _tables(audit: Audit) -> list[Table]:
    attacks = [family for family in audit.families if family.kind == "attack"]
    others = [family for family in audit.families if family.kind == "invariance"]
    tables = []
    if attacks:
        head = ["attack", "trials", "accepted", "95 % interval", "undecided", "truncated"]
        tables.append(Table("Attacks", head, [[*_cells(family), *_counts(family)] for family in attacks]))
    if others:
        head = ["change", "trials", "kept", "95 % interval", "right", "wrong", "undecided", "truncated"]
        body = [
            [*_cells(family), _share(family.kept_right), _share(family.kept_wrong), *_counts(family)]
            for family in others
        ]
        below = "kept: the verdict is that on the plain answer; right, wrong: the same for right and for wrong answers"
        tables.append(Table("Invariances", head, body, below))
    return tables


def _cells(family: FamilyResult) -> list[str]:
    return [family.name, str(family.trials), _share(family.rate), _interval(family.interval)]


def _counts(family: FamilyResult) -> list[str]:
    return [str(family.undecided or ""), str(family.truncated or "")]


def _most_failed(audit: Audit) -> Iterable[str]:
    """The pattern that failed most, of each family with failures."""
    for family in audit.families:
        for pattern, failed in list(family.failed_patterns.items())[:1]:
            text = _clipped(_visible(pattern), 76) or "nothing"
            yield f"  {family.name:22} {failed:3} of {family.patterns[pattern]:3}  {text}"


def _examples(failures: Sequence[Outcome]) -> Iterable[str]:
    """A few trials of each family that has failures, spread over them."""
    families: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in failures:
        families[outcome.trial.family].append(outcome)
    for name, outcomes in families.items():
        yield f"### {name} ({len(outcomes)})"
        yield "\n".join(_example(outcome) for outcome in outcomes[:: max(1, len(outcomes) // _EXAMPLES)][:_EXAMPLES])


def _example(outcome: Outcome) -> str:
    sample, verdict = outcome.trial.sample, outcome.verdict
    parts = [
        f"- question: {_quoted(sample.question)}",
        f"  - references: {_quoted(' | '.join(sample.references))}",
        f"  - candidate: {_quoted(sample.candidate)}",
        f"  - {'right' if sample.gold else 'wrong'} to a person; score {_score(verdict.score)}",
    ]
    if outcome.trial.plain is not None and outcome.plain is not None:
        plain = outcome.trial.plain
        parts[-1] += f", of the plain answer {_score(outcome.plain.score)}"
        if plain.candidate != sample.candidate:
            parts[-1] += f": {_quoted(plain.candidate)}"
    return "\n".join(parts)


def _quoted(text: str | None) -> str:
    """A text as code, in which its odd spaces and line breaks can be seen."""
    if text is None:
        return "none"
    shown = _visible(_clipped(text, _CLIPPED))
    fence = "```` " if "``" in shown else "`` "
    return f"{fence}{shown}{fence[::-1]}" if shown.strip() else f"`{text!r}`"


def _visible(text: str) -> str:
    """A text on one line, in which white space and what can't be printed are written as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def _score(score: float | None) -> str:
    return "undecided" if score is None else f"{score:.3f}"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _interval(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:.1%}, {interval[1]:.1%}]"
