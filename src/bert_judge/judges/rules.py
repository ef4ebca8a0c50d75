"""A judge without a model: named rules on the form and words of a candidate, all of which it must keep."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from bert_judge.errors import InputError
from bert_judge.inputs.settings import read_yaml, shown
from bert_judge.judges.base import Judge
from bert_judge.judges.patterns import PATTERN_TIMEOUT, check_seconds, compile_pattern
from bert_judge.metrics.timing import limited
from bert_judge.reading import THINK_TOKEN, after_trace
from bert_judge.records import JudgeInfo, Sample, Signature, Verdict, __version__


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `kind` is a name in `KINDS`. Raises InputError where the kind is unknown or does not take the value."""

    name: str
    kind: str
    value: Any
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        kind = KINDS.get(self.kind)
        if kind is None:
            raise InputError(
                f"the rule {shown(self.name)} is of unknown kind {shown(self.kind)}; there is {', '.join(KINDS)}."
            )
        if not kind.fits(self.value):
            raise InputError(
                f"the rule {shown(self.name)} has {self.kind} of {shown(self.value)}; {kind.expected} was expected."
            )

    def broken_by(self, text: str, timeout: float) -> str | None:
        """How a text breaks the rule; None where it keeps it. Raises TimeoutError, and InputError for a bad pattern."""
        return KINDS[self.kind].broken_by(self, text, timeout)


class RuleKind(NamedTuple):
    """A kind of rule: how a text breaks one, within a timeout, and which values it takes."""

    broken_by: Callable[[Rule, str, float], str | None]
    fits: Callable[[Any], bool]
    expected: str


class RuleJudge(Judge):
    """Correct where a candidate keeps every rule: patterns, words, length, JSON; for safety, format and style.

    The score is 1.0 or 0.0, as the label; `explanation` names the broken rules, `details` says of each rule whether it
    holds. Question and references are not read. Each flag is a rule; `rules` is a YAML file with a list of rules, each
    a mapping of a kind to its value, with a `name` and `case_sensitive` if wanted:

        - name: no refusal
          must_not_match: I (cannot|can't) help
        - max_words: 50

    Case does not count otherwise. Only what follows a reasoning trace is read; a trace without an end is incorrect, and
    so is an empty candidate. A candidate on which a pattern takes longer than `timeout` is undecided, unless it breaks
    another rule.

    Raises InputError where a rule is wrong, or where there is none.
    """

    def __init__(
        self,
        rules: Annotated[str | None, "YAML file of rules"] = None,
        must_match: Annotated[str | None, "regular expression that is found in the candidate"] = None,
        must_not_match: Annotated[str | None, "regular expression that is not found in it"] = None,
        must_contain: Annotated[str | None, "text that the candidate contains"] = None,
        must_not_contain: Annotated[str | None, "text that it does not contain"] = None,
        starts_with: Annotated[str | None, "text that the candidate starts with"] = None,
        ends_with: Annotated[str | None, "text that it ends with"] = None,
        min_words: Annotated[int | None, "the fewest words, between white space"] = None,
        max_words: Annotated[int | None, "the most words"] = None,
        min_characters: Annotated[int | None, "the fewest characters, without white space around"] = None,
        max_characters: Annotated[int | None, "the most characters"] = None,
        valid_json: Annotated[bool, "the candidate is JSON as a whole"] = False,
        json_keys: Annotated[tuple[str, ...], "it is a JSON object with these keys"] = (),
        *,
        case_sensitive: Annotated[bool, "upper and lower case count, in the rules of flags"] = False,
        timeout: Annotated[float, "seconds that a pattern may take on a candidate"] = PATTERN_TIMEOUT,
        think_token: Annotated[str, "what closes a reasoning trace"] = THINK_TOKEN,
    ) -> None:
        arguments = locals()
        check_seconds(timeout=timeout)
        flags = {
            kind: arguments[kind]
            for kind in KINDS
            if arguments[kind] is not False and arguments[kind] not in (None, ())
        }
        self._rules = [Rule(kind, kind, value, case_sensitive) for kind, value in flags.items()]
        self._rules += read_rules(Path(rules)) if rules else []
        if not self._rules:
            raise InputError("RuleJudge was given no rule; give one, like max_words=50, or a file of rules.")
        names = [rule.name for rule in self._rules]
        for rule in self._rules:
            if names.count(rule.name) > 1:
                raise InputError(f"two rules are called {rule.name!r}; give each its own name.")
            rule.broken_by("", timeout)  # a bad pattern fails here
        values = [[rule.name, rule.kind, rule.value, rule.case_sensitive] for rule in self._rules]
        self._digest = hashlib.sha256(json.dumps(values, default=list).encode()).hexdigest()[:16]
        self._file, self._timeout, self._think_token = rules, timeout, think_token

    @cached_property
    def info(self) -> JudgeInfo:
        """Its signature has a hash of the rules, the timeout, and the version of what matches patterns."""
        name = "-".join([Path(self._file).stem if self._file else "rules", self._digest[:8]])
        signature = Signature.make(
            "RuleJudge",
            variant=name,
            rules=self._digest,
            think_token=self._think_token,
            timeout=self._timeout,
            regex=importlib.metadata.version("regex"),
            version=__version__,
        )
        return JudgeInfo(name, signature, "decision", reads_references=False)

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order, as soon as the sample is read; only candidates are used."""
        return map(self._verdict, samples)

    def _verdict(self, sample: Sample) -> Verdict:
        text, nothing = after_trace(sample.candidate, self._think_token)
        if nothing:
            return Verdict(0.0, 0, nothing)
        broken, late, holds = list[str](), list[str](), dict[str, bool | None]()
        for rule in self._rules:
            try:
                wrong = rule.broken_by(text, self._timeout)
                holds[rule.name] = wrong is None
                broken += [f"{rule.name}: {wrong}"] if wrong is not None else []
            except TimeoutError:
                holds[rule.name] = None
                late.append(f"{rule.name} took more than {self._timeout:g} s")
        details = {"rules": holds}
        if broken:
            return Verdict(0.0, 0, "breaks " + "; ".join([*broken, *late]), details=details)
        if late:
            return Verdict(None, None, "; ".join(late), details=details)
        return Verdict(1.0, 1, details=details)


def read_rules(path: Path) -> list[Rule]:
    """The rules of a YAML file. Raises InputError, which says what is wrong and where."""
    entries = read_yaml(path, "the rules")
    if not isinstance(entries, list) or not entries:
        held = "nothing" if not entries else f"a {type(entries).__name__}"
        raise InputError(f"{path} holds {held}; a list of rules was expected, such as `- max_words: 50`.")
    return [_rule(entry, f"rule {number} of {path}") for number, entry in enumerate(entries, 1)]


def _rule(entry: Any, where: str) -> Rule:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} is {shown(entry)}; a kind with its value was expected, such as `max_words: 50`.")
    kinds = [str(key) for key in entry if key not in ("name", "case_sensitive")]
    if len(kinds) != 1:
        kinds_named = " and ".join(kinds) or "no kind"
        raise InputError(f"{where} has {kinds_named}; one kind was expected, of {', '.join(KINDS)}.")
    value, case = entry[kinds[0]], entry.get("case_sensitive", False)
    if not isinstance(case, bool):
        raise InputError(f"{where} sets case_sensitive to {shown(case)}; true or false was expected.")
    name = entry.get("name") or f"{kinds[0]} {shown(value) if isinstance(value, list | Mapping) else value}"
    return Rule(str(name), kinds[0], value, case)


def _pattern_kind(say: Callable[[Rule, Any], str | None]) -> RuleKind:
    """A rule on the first match of a pattern, which may be None."""

    def broken_by(rule: Rule, text: str, timeout: float) -> str | None:
        pattern = compile_pattern(rule.value, rule.case_sensitive, f"the rule {rule.name!r}: the pattern")
        with limited(timeout) as seconds:
            return say(rule, pattern.search(text, timeout=seconds))

    return RuleKind(broken_by, _is_text, "a regular expression")


def _text_kind(holds: Callable[[str, str], bool], wrong: str) -> RuleKind:
    """A rule on where a text contains a value, both without case unless it counts."""

    def broken_by(rule: Rule, text: str, timeout: float) -> str | None:
        fold = str if rule.case_sensitive else str.casefold
        return None if holds(fold(text.strip()), fold(rule.value)) else f"{_short(rule.value)} {wrong}"

    return RuleKind(broken_by, _is_text, "a text that is not empty")


def _length_kind(count: Callable[[str], int], most: bool, unit: str) -> RuleKind:
    def broken_by(rule: Rule, text: str, timeout: float) -> str | None:
        length = count(text)
        good = length <= rule.value if most else length >= rule.value
        return None if good else f"has {length} {unit}, not at {'most' if most else 'least'} {rule.value}"

    return RuleKind(
        broken_by,
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
        "a whole number, 0 or more,",
    )


def _not_json(rule: Rule, text: str, timeout: float) -> str | None:
    keys = [] if rule.value is True else rule.value
    try:
        # Numbers as floats: Python refuses to read very long whole ones.
        value = json.loads(text, parse_int=float, parse_constant=_refuse)
    except RecursionError:
        return "is not JSON (it is nested too deeply)"
    except ValueError as error:
        return f"is not JSON ({error})"
    if keys and not isinstance(value, dict):
        return "is JSON, but not an object"
    missing = [key for key in keys if key not in value]
    return f"lacks {', '.join(missing)}" if missing else None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _short(text: str, most: int = 60) -> str:
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _are_keys(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_text, value))


KINDS: dict[str, RuleKind] = {
    "must_match": _pattern_kind(lambda rule, match: None if match else f"{_short(rule.value)} does not match"),
    "must_not_match": _pattern_kind(lambda rule, match: f"matches at {_short(match.group())}" if match else None),
    "must_contain": _text_kind(lambda text, value: value in text, "is not in it"),
    "must_not_contain": _text_kind(lambda text, value: value not in text, "is in it"),
    "starts_with": _text_kind(str.startswith, "is not at its start"),
    "ends_with": _text_kind(str.endswith, "is not at its end"),
    "min_words": _length_kind(lambda text: len(text.split()), False, "words"),
    "max_words": _length_kind(lambda text: len(text.split()), True, "words"),
    "min_characters": _length_kind(lambda text: len(text.strip()), False, "characters"),
    "max_characters": _length_kind(lambda text: len(text.strip()), True, "characters"),
    "valid_json": RuleKind(_not_json, lambda value: value is True, "true"),
    "json_keys": RuleKind(_not_json, _are_keys, "a list of keys"),
}
"""The kinds of rules by their names in files and flags."""
