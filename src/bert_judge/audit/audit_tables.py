"""The result of an audit for readers: as lines of a terminal, and as Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bert_judge.analysis.tables import Table, escaped
from bert_judge.audit.trials import Audit, FamilyResult, Outcome
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
    """What the terminal shows."""
    parts = [_headline(audit), *(table.text() for table in _tables(audit))]
    parts += ["\n".join(["what failed most", *_most_failed(audit)])] if audit.failures else []
    return "\n\n".join([*parts, f"judge  {signature.short}"])


def to_markdown(audit: Audit, signature: Signature, misses: Sequence[str]) -> str:
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
        f"{audit.items} questions; plain answers judged correctly: {_share(plain.accuracy)} of {plain.trials} "
        f"{_interval(plain.interval)} (correct ones {_share(plain.right_accepted)}, incorrect ones "
        f"{_share(plain.wrong_rejected)}{undecided})"
    )


def _tables(audit: Audit) -> Iterable[Table]:
    for kind, (title, head, below) in _HEADS.items():
        body = [_row(family) for family in audit.families if family.kind == kind]
        if body:
            yield Table(title, head, body, below)


def _row(family: FamilyResult) -> list[str]:
    by_label = [_share(family.kept_right), _share(family.kept_wrong)] if family.kind == "invariance" else []
    counts = [str(family.undecided or ""), str(family.truncated or "")]
    return [family.name, str(family.trials), _share(family.rate), _interval(family.interval), *by_label, *counts]


def _most_failed(audit: Audit) -> Iterable[str]:
    """The pattern that failed most in each family with failures."""
    for family in audit.families:
        for pattern, failed in list(family.failed_patterns.items())[:1]:
            text = _clipped(_visible(pattern), 76) or "nothing"
            yield f"  {family.name:22} {failed:3} of {family.patterns[pattern]:3}  {text}"


def _examples(failures: Sequence[Outcome]) -> Iterable[str]:
    """A few failed trials of each family, spread over all of them."""
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
        f"  - labelled {'correct' if sample.gold else 'incorrect'}; score {_score(verdict.score)}",
    ]
    if outcome.trial.plain is not None and outcome.plain is not None:
        plain = outcome.trial.plain
        parts[-1] += f", of the plain answer {_score(outcome.plain.score)}"
        if plain.candidate != sample.candidate:
            parts[-1] += f": {_quoted(plain.candidate)}"
    return "\n".join(parts)


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


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _interval(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:.1%}, {interval[1]:.1%}]"
