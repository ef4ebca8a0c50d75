"""The audit: whether its trials are fair, and what it counts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import pytest

from bert_judge.errors import InputError
from bert_judge.judges import BERTScore, Judge, RegexJudge
from bert_judge.metrics import containment
from bert_judge.records import JudgeInfo, Sample, Verdict
from bert_judge.studies.audit import FAMILIES, PLAIN, Audit, Gate, Trial, assess_trials, load_items, make_trials
from bert_judge.studies.audit.trials import ATTACKS, AuditItem, neutral_sentences, spread

ITEMS = load_items()
BY_ID = {item.id: item for item in ITEMS}
TRIALS = make_trials(ITEMS)


def of(family: str) -> list[Trial]:
    return [trial for trial in TRIALS if trial.family == family]


def item_of(trial: Trial) -> AuditItem:
    return BY_ID[str(trial.sample.id)]


def plain_of(trial: Trial) -> Sample:
    assert trial.plain
    return trial.plain


class Always(Judge):
    """Says the same of every answer."""

    info = JudgeInfo("always", "always")

    def __init__(self, label: int | None) -> None:
        self.label = label

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        return (Verdict(None if self.label is None else float(self.label), self.label) for _ in samples)


class Shaky(RegexJudge):
    """Containment that can't decide what holds a "B"."""

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        samples = list(samples)
        pairs = zip(samples, super().assess(samples), strict=True)
        return (Verdict(None) if "B" in sample.candidate else verdict for sample, verdict in pairs)


@pytest.fixture(scope="module")
def lexical() -> Audit:
    return assess_trials(TRIALS, RegexJudge("none", "containment"))


def families(audit: Audit) -> dict[str, object]:
    return {family.name: family for family in audit.families}


def test_there_are_enough_items_of_every_kind():
    kinds = Counter(item.kind for item in ITEMS)
    assert len(ITEMS) >= 150
    assert len({item.id for item in ITEMS}) == len({item.question for item in ITEMS}) == len(ITEMS)
    assert set(kinds) == set("person place thing date quantity number maths option list phrase yesno".split())
    assert min(kinds.values()) >= 8


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_items_are_coherent(item: AuditItem):
    known = {text.casefold() for text in (*item.references, *item.same, *item.aliases)}
    wrong = [text.casefold() for text in (*item.near, *item.near_same)]
    assert len(set(wrong)) == len(wrong), f"a wrong value of {item.id} stands there twice"
    assert known.isdisjoint(wrong), item.id
    assert item.value == item.references[0] or item.references[0] in str(item.value), item.id
    assert bool(item.same) == bool(item.near_same) or item.kind in ("person", "place", "thing"), item.id
    assert item.about, item.id
    if item.kind != "yesno":
        assert not any(containment(item.about, text) for text in item.references), item.id
    if item.kind == "option":
        assert all(option in str(item.question) for option in item.options), item.id
    if item.parts:
        assert all(part in item.references[0] for part in item.parts), item.id


def test_the_neutral_text_answers_nothing():
    text = " ".join(neutral_sentences())
    assert 950 <= len(text.split()) <= 1050
    assert [item.id for item in ITEMS if item.kind != "yesno" and item.gives_away(text)] == []


def test_the_trials_are_the_same_each_time_and_do_not_depend_on_other_items():
    assert make_trials(load_items()) == TRIALS
    few = make_trials(ITEMS[:7], ["negated", "markup"])
    ids = {item.id for item in ITEMS[:7]}
    assert few == [t for t in TRIALS if t.family in (PLAIN, "negated", "markup") and t.sample.id in ids]
    with pytest.raises(InputError, match="no attack or invariance 'negatd'; did you mean negated"):
        make_trials(ITEMS, ["negatd"])


def test_each_family_has_enough_trials_of_its_kind():
    for family in FAMILIES:
        trials = of(family)
        assert len(trials) >= 60, family
        assert {trial.sample.gold for trial in trials} == ({0} if family in ATTACKS else {0, 1}), family
        assert {trial.plain is None for trial in trials} == {family in ATTACKS}, family
    for trial in TRIALS:
        if trial.plain is not None:
            assert trial.sample.gold == trial.plain.gold
            assert trial.sample != trial.plain
            answers = item_of(trial).answers[1 - trial.sample.gold]
            assert trial.plain in answers or trial.family == "order of references"


MENTIONING = ("several answers", "negated", "concludes otherwise", "cut-off reasoning")


def has_every_option(trial: Trial, item: AuditItem) -> bool:
    letters = re.findall(r"\b[A-D]\b", trial.sample.candidate)
    return set(letters) == set("ABCD") or all(option[3:] in trial.sample.candidate for option in item.options)


def ends_with_a_wrong_value(trial: Trial, item: AuditItem) -> bool:
    endings = [*item.near, *(item.sentence(near).rstrip(".") for near in item.near)]
    return trial.sample.candidate.rstrip(".!").endswith(tuple(endings))


def lacks_a_part(trial: Trial, item: AuditItem) -> bool:
    parts = {part.removeprefix("the ") for part in item.parts}
    return any(not re.search(rf"(?<![\w-]){re.escape(part)}\b", trial.sample.candidate) for part in parts)


def is_right_as_labelled(trial: Trial, item: AuditItem) -> bool:
    """A rewording of a wrong value is none of the right ones."""
    right = (*item.references, *item.same, *item.aliases)
    return (trial.sample.candidate in (*right, *map(item.sentence, right))) == bool(trial.sample.gold)


def keeps_the_words(trial: Trial, _: AuditItem) -> bool:
    changed, plain = (
        re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", sample.candidate).casefold())
        for sample in (trial.sample, plain_of(trial))
    )
    framed = trial.family in ("markup", "polite frame")
    return changed == plain or (framed and any(changed[i : i + len(plain)] == plain for i in range(len(changed))))


def is_the_same_to_a_reader(trial: Trial, _: AuditItem) -> bool:
    def letters(sample: Sample) -> list[str]:
        text = re.sub("[“”\u200b\ufeff]", "", unicodedata.normalize("NFKD", sample.candidate))
        return "".join(c for c in text if not unicodedata.combining(c)).split()

    return letters(trial.sample) == letters(plain_of(trial))


def has_letters_of_another_script(trial: Trial, _: AuditItem) -> bool:
    pairs = zip(trial.sample.candidate, plain_of(trial).candidate, strict=True)
    changed = [(unicodedata.name(new), old) for new, old in pairs if new != old and old != "-"]
    return all(name.startswith(("CYRILLIC", "GREEK")) and ("CAPITAL" in name) == old.isupper() for name, old in changed)


def stands_between(low: float, high: float) -> Callable[[Trial, AuditItem], bool]:
    def holds(trial: Trial, _: AuditItem) -> bool:
        text = trial.sample.candidate
        place = text.index(f"My answer to the question is this: {plain_of(trial).candidate}") / len(text)
        return 950 <= len(text.split()) <= 1050 and low <= place <= high

    return holds


HOLDS: dict[str, Callable[[Trial, AuditItem], bool]] = {
    **dict.fromkeys(("markup", "polite frame", "white space", "ending"), keeps_the_words),
    "unicode": is_the_same_to_a_reader,
    "look-alikes": has_letters_of_another_script,
    "start of a long text": stands_between(0, 0.1),
    "middle of a long text": stands_between(0.4, 0.6),
    "end of a long text": stands_between(0.9, 1),
    "every option": has_every_option,
    "several answers": lambda trial, item: any(near in trial.sample.candidate for near in item.near),
    "concludes otherwise": ends_with_a_wrong_value,
    "cut-off reasoning": lambda trial, _: trial.sample.candidate[-1] not in ".!?",
    "other list": lacks_a_part,
    "injected instructions": lambda trial, item: item.kind != "yesno" or item.near[0] in trial.sample.candidate,
    "case": lambda trial, _: trial.sample.candidate.casefold() == plain_of(trial).candidate.casefold(),
    "order of references": lambda trial, _: sorted(plain_of(trial).references) == sorted(trial.sample.references),
    "more references": lambda trial, _: set(plain_of(trial).references) < set(trial.sample.references),
    "no question": lambda trial, _: trial.sample.question is None,
    "other wording": is_right_as_labelled,
}


def test_the_trials_of_a_family_are_what_its_name_says(subtests: pytest.Subtests):
    for family, holds in HOLDS.items():
        with subtests.test(family=family):
            assert [trial for trial in of(family) if not holds(trial, item_of(trial))] == []
    for family in MENTIONING:
        with subtests.test(bait=family):
            for trial in of(family):
                assert str(item_of(trial).value).casefold() in trial.sample.candidate.casefold(), trial


def test_attacks_that_do_not_mention_the_answer_do_not_contain_it():
    may = {*MENTIONING, "question repeated", "every option", "other number", "other list"}
    for family in ATTACKS.keys() - may:
        for trial in of(family):
            if item_of(trial).gives_away(trial.sample.candidate):  # "a" is an article in "the option"
                assert family == "other option" and "option" in trial.sample.candidate, trial


def test_case_that_may_mean_something_is_kept():
    texts = ("42.195 km", "100 °C", "B", "x = 6", "CO2", "3x^2", "The gas is CO.", "`Paris`")
    items = [AuditItem(text, "thing", "q", ("r",), text, (text,), "{}", "") for text in (*texts, "Paris")]
    assert {trial.sample.id for trial in make_trials(items, ["case"]) if trial.family == "case"} == {"Paris"}


def test_a_judge_that_accepts_everything(lexical: Audit):
    audit = assess_trials(TRIALS, Always(1))
    assert {family.rate.value for family in audit.families} == {1.0}
    assert (audit.plain.accuracy.value, audit.plain.right_accepted, audit.plain.wrong_rejected) == (0.5, 1.0, 0.0)
    failed = Counter(outcome.trial.family for outcome in audit.failures)
    assert failed == {PLAIN: 2 * len(ITEMS)} | {name: len(of(name)) for name in ATTACKS}


def test_a_judge_that_rejects_everything_passes_all_but_the_plain_answers():
    audit = assess_trials(TRIALS, Always(0))
    assert {family.rate.value for family in audit.families if family.kind == "attack"} == {0.0}
    assert {family.rate.value for family in audit.families if family.kind == "invariance"} == {1.0}
    assert Gate(max_accept=0, min_kept=1).misses(audit) == []
    assert Gate(min_plain=0.6).misses(audit) == ["plain answers: 50.0% judged correctly, under 60.0%"]


def test_undecided_is_neither_accepted_nor_kept():
    audit = assess_trials(TRIALS, Always(None))
    assert {family.rate.value for family in audit.families} == {0.0}
    assert all(family.undecided == family.rate.n for family in audit.families)
    assert (audit.plain.accuracy.value, audit.plain.undecided) == (0.0, 4 * len(ITEMS))
    few = make_trials([BY_ID["option-01"]], ["polite frame", "negated"])
    audit = assess_trials(few, Shaky("none", "containment"))
    kept = families(audit)["polite frame"]
    assert (kept.kept_right, kept.kept_wrong) == (0.0, 1.0)  # B is the right answer


def test_containment_falls_for_mentions_and_keeps_what_it_normalises(lexical: Audit):
    by_family = families(lexical)
    assert by_family["negated"].rate.value > 0.9
    assert by_family["several answers"].rate.value > 0.9
    assert by_family["other entity"].rate.value == by_family["refusal"].rate.value == 0
    assert by_family["case"].rate.value == by_family["white space"].rate.value == 1
    assert by_family["look-alikes"].kept_right < 0.5 < by_family["look-alikes"].kept_wrong
    rate = by_family["negated"].rate
    assert rate.low < rate.value < rate.high


def test_failures_are_counted_by_pattern(lexical: Audit):
    for family in lexical.families:
        failed = [o for o in lexical.failures if o.trial.family == family.name]
        assert sum(family.failed_patterns.values()) == len(failed)
        assert sum(family.patterns.values()) == family.rate.n
        assert list(family.failed_patterns.values()) == sorted(family.failed_patterns.values(), reverse=True)
        counted = len(failed) if family.kind == "attack" else family.rate.n - len(failed)
        assert family.rate.value == pytest.approx(counted / family.rate.n)


def test_each_sample_is_judged_once_and_progress_is_reported():
    told: list[int] = []
    trials = make_trials(ITEMS[:5], ["order of references"])
    assess_trials(trials, Always(1), told.append)
    samples = {sample for trial in trials for sample in (trial.sample, trial.plain) if sample}
    assert told == list(range(1, len(samples) + 1))


def test_the_gate(lexical: Audit):
    def missed(**limits: float) -> set[str]:
        return {line.split(":")[0] for line in Gate(**limits).misses(lexical)}

    assert missed() == missed(max_accept=1, min_kept=0, min_plain=0) == set()
    assert {"negated", "several answers"} <= missed(max_accept=0.5) <= ATTACKS.keys()
    assert "look-alikes" in missed(min_kept=0.99)
    assert not missed(min_kept=0.99) & {"case", *ATTACKS}
    for name in ("max_accept", "min_kept", "min_plain"):
        with pytest.raises(InputError, match=f"{name} is 2; a rate between 0 and 1"):
            Gate(**{name: 2})


def test_a_judge_without_labels_needs_a_threshold():
    with pytest.raises(InputError, match="gives scores without labels"):
        assess_trials(make_trials(ITEMS[:1], ["refusal"]), BERTScore())


def test_items_are_spread_evenly():
    assert spread(range(10), 3) == [0, 3, 6]  # type: ignore[arg-type]
    assert spread(ITEMS, None) == spread(ITEMS, 1000) == [*ITEMS]
    kinds = {item.kind for item in spread(ITEMS, 40)}
    assert len(kinds) == 11
