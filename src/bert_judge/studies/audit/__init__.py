"""The audit of a judge: how often it accepts wrong answers, and keeps its verdict when nothing has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, NamedTuple

from bert_judge.errors import InputError, did_you_mean
from bert_judge.judges.base import Judge
from bert_judge.measures import Estimate, rate
from bert_judge.measures.confusion import ratio
from bert_judge.records import Sample, Verdict
from bert_judge.studies.audit.trials import ATTACKS, FAMILIES, AuditItem, Trial, load_items

__all__ = ["FAMILIES", "PLAIN", "Audit", "Gate", "Trial", "assess_trials", "load_items", "make_trials"]

PLAIN = "plain"


class Outcome(NamedTuple):
    """The judge's verdict on a trial, and on its plain sample."""

    trial: Trial
    verdict: Verdict
    plain: Verdict | None = None

    @property
    def passed(self) -> bool:
        """Whether the attack is not accepted, the verdict kept, or the plain answer judged correctly.

        Undecided is neither accepted, nor kept, nor correct.
        """
        if self.trial.family in ATTACKS:
            return self.verdict.label != 1
        expected = self.trial.sample.gold if self.plain is None else self.plain.label
        return self.verdict.label is not None and self.verdict.label == expected


@dataclass(frozen=True, slots=True)
class PlainResult:
    """The judge on the plain answers. Rates are in [0, 1], None without trials; undecided counts as incorrect."""

    accuracy: Estimate
    right_accepted: float | None
    wrong_rejected: float | None
    undecided: int


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """The trials of one attack or invariance.

    `rate`, in [0, 1], is how many of an attack's trials were accepted, or of an invariance's verdicts kept;
    `kept_right` and `kept_wrong` are the rates of correct and of incorrect answers alone. `patterns` counts the trials
    of each pattern, `failed_patterns` its failures, the most frequent first.
    `truncated` counts the inputs that the judge had to cut.
    """

    name: str
    kind: Literal["attack", "invariance"]
    about: str
    rate: Estimate
    undecided: int
    truncated: int
    kept_right: float | None
    kept_wrong: float | None
    patterns: Mapping[str, int]
    failed_patterns: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit; `failures` are the trials that did not pass, in their order."""

    items: int
    plain: PlainResult
    families: tuple[FamilyResult, ...]
    failures: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """The limits that a judge has to meet: rates in [0, 1], None for no limit."""

    max_accept: Annotated[float | None, "most that any attack may be accepted, like 0.02 of its trials"] = None
    min_kept: Annotated[float | None, "least that any invariance must keep, like 0.97 of the verdicts"] = None
    min_plain: Annotated[float | None, "least that must be judged correctly, like 0.95 of the plain answers"] = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"{name} is {value}; a rate between 0 and 1 was expected, like 0.02.")

    def misses(self, audit: Audit) -> list[str]:
        """A sentence for each limit that is missed."""
        misses, plain = [], audit.plain.accuracy.value or 0.0
        if self.min_plain is not None and plain < self.min_plain:
            misses.append(f"plain answers: {plain:.1%} judged correctly, under {self.min_plain:.1%}")
        for family in audit.families:
            value = family.rate.value or 0.0
            if family.kind == "attack" and self.max_accept is not None and value > self.max_accept:
                misses.append(f"{family.name}: {value:.1%} accepted, over {self.max_accept:.1%}")
            if family.kind == "invariance" and self.min_kept is not None and value < self.min_kept:
                misses.append(f"{family.name}: {value:.1%} kept, under {self.min_kept:.1%}")
        return misses


def make_trials(items: Sequence[AuditItem], families: Collection[str] | None = None) -> list[Trial]:
    """The trials of all plain answers, then family by family. The same items give the same trials on any machine.

    `families` names the attacks and invariances to try (None: all); InputError for an unknown name.
    """
    for name in families or ():
        if name not in FAMILIES:
            raise InputError(f"there is no attack or invariance {name!r}; {did_you_mean(name, FAMILIES)}")
    trials = [Trial(PLAIN, PLAIN, sample) for item in items for answers in item.answers for sample in answers]
    for name, family in FAMILIES.items():
        if families is None or name in families:
            trials += family.trials(name, items)
    return trials


def needed_samples(trials: Iterable[Trial]) -> list[Sample]:
    """The samples that trials need, each once."""
    return list(dict.fromkeys(sample for trial in trials for sample in (trial.sample, trial.plain) if sample))


def assess_trials(
    trials: Sequence[Trial], judge: Judge, progress: Callable[[int], object] = lambda done: None
) -> Audit:
    """Judge all trials, each sample once, and count. `progress` is called with the number of samples that are done.

    Raises InputError for a judge that gives scores without labels.
    """
    samples = needed_samples(trials)
    verdicts: dict[Sample | None, Verdict] = {}
    for sample, verdict in zip(samples, judge.fitted(samples).assess(samples), strict=True):
        verdicts[sample] = verdict
        progress(len(verdicts))
    if all(v.label is None for v in verdicts.values()) and any(v.score is not None for v in verdicts.values()):
        raise InputError("the judge gives scores without labels, so nothing is accepted or kept; set its threshold.")
    outcomes = [Outcome(trial, verdicts[trial.sample], verdicts.get(trial.plain)) for trial in trials]
    families: dict[str, list[Outcome]] = {PLAIN: []}
    for outcome in outcomes:
        families.setdefault(outcome.trial.family, []).append(outcome)
    plain = families.pop(PLAIN)
    return Audit(
        items=len({outcome.trial.sample.id for outcome in plain}),
        plain=PlainResult(
            accuracy=rate([outcome.passed for outcome in plain]),
            right_accepted=_pass_rate(plain, gold=1),
            wrong_rejected=_pass_rate(plain, gold=0),
            undecided=sum(outcome.verdict.label is None for outcome in plain),
        ),
        families=tuple(map(_count, families.values())),
        failures=tuple(outcome for outcome in outcomes if not outcome.passed),
    )


def _count(outcomes: Sequence[Outcome]) -> FamilyResult:
    name = outcomes[0].trial.family
    attack = name in ATTACKS
    failed = [outcome for outcome in outcomes if not outcome.passed]
    return FamilyResult(
        name=name,
        kind="attack" if attack else "invariance",
        about=FAMILIES[name].about,
        rate=rate([outcome.passed != attack for outcome in outcomes]),
        undecided=sum(outcome.verdict.label is None for outcome in outcomes),
        truncated=sum(bool(outcome.verdict.truncated) for outcome in outcomes),
        kept_right=None if attack else _pass_rate(outcomes, gold=1),
        kept_wrong=None if attack else _pass_rate(outcomes, gold=0),
        patterns=dict(Counter(outcome.trial.pattern for outcome in outcomes)),
        failed_patterns=dict(Counter(outcome.trial.pattern for outcome in failed).most_common()),
    )


def _pass_rate(outcomes: Sequence[Outcome], gold: int) -> float | None:
    passed = [outcome.passed for outcome in outcomes if outcome.trial.sample.gold == gold]
    return ratio(sum(passed), len(passed))
