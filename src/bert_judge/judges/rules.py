"""A judge without a model: named rules on the form and words of a candidate, all of which it has to keep."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from bert_judge.errors import InputError
from bert_judge.generators import split_trace
from bert_judge.judges.base import PATTERN_TIMEOUT, Judge, read_yaml
from bert_judge.types import Sample, Scale, Signature, Verdict
from bert_judge.version import __version__

Check = Callable[[str], str | None]
"""From a text to what is wrong with it, None where the rule holds. Raises TimeoutError where it can't tell in time."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it is called, its kind (a name in `KINDS`), its value, and whether case counts.

    Raises InputError where the kind is unknown or the value is not what it takes.
    """

    name: str
    kind: str
    value: Any
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"the rule {self.name!r} is of unknown kind {self.kind!r}; there is {', '.join(KINDS)}.")
        if not KINDS[self.kind].fits(self.value):
            expected = KINDS[self.kind].expected
            raise InputError(f"the rule {self.name!r} has {self.kind} of {self.value!r}; {expected} was expected.")

    def check(self, timeout: float) -> Check:
        """What tests a text. Raises InputError where a pattern is none."""
        return KINDS[self.kind].make(self, timeout)


class Kind(NamedTuple):
    """A kind of rule: how its test is made, and which values it takes."""

    make: Callable[[Rule, float], Check]
    fits: Callable[[Any], bool]
    expected: str


class RuleJudge(Judge):
    """Right where a candidate keeps every rule: patterns, words, length, JSON; for safety, format and style.

    The score is 1.0 or 0.0, as the label; `explanation` names the rules that are broken, `details` says of each whether
    it holds. Neither question nor references are read. Flags are a rule each; `rules` is a YAML file with any number,
    each a mapping of one kind to its value, with a `name` and `case_sensitive` if wanted:

        - name: no refusal
          must_not_match: I (cannot|can't) help
        - max_words: 50

    Upper and lower case do not count otherwise. Of a reasoning trace only what comes after it is read; one without an
    end is wrong, and so is an empty candidate. A pattern that takes longer than `timeout` on a candidate leaves it
    undecided, unless another rule is broken.

    Raises InputError where a rule is wrong, or where there is none.
    """

    scale: Scale = "decision"

    def __init__(
        self,
        rules: Annotated[str | None, "YAML file of rules"] = None,
        must_match: Annotated[str | None, "regular expression that is found in the candidate"] = None,
        must_not_match: Annotated[str | None, "regular expression that is not"] = None,
        must_contain: Annotated[str | None, "text that stands in the candidate"] = None,
        must_not_contain: Annotated[str | None, "text that does not"] = None,
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
        think_token: Annotated[str, "what closes a reasoning trace"] = "</think>",
    ) -> None:
        if not 0 < timeout <= 3600:
            raise InputError(f"timeout is {timeout}; a number of seconds over 0, up to 3600, was expected.")
        flags = {
            "must_match": must_match,
            "must_not_match": must_not_match,
            "must_contain": must_contain,
            "must_not_contain": must_not_contain,
            "starts_with": starts_with,
            "ends_with": ends_with,
            "min_words": min_words,
            "max_words": max_words,
            "min_characters": min_characters,
            "max_characters": max_characters,
            "valid_json": valid_json or None,
            "json_keys": json_keys or None,
        }
        given = [Rule(kind, kind, value, case_sensitive) for kind, value in flags.items() if value is not None]
        self._rules = (*given, *(read_rules(Path(rules)) if rules else ()))
        if not self._rules:
            raise InputError("RuleJudge was given no rule; give one as a flag, like --max_words 50, or --rules FILE.")
        _check_names([rule.name for rule in self._rules])
        self._checks = [(rule.name, rule.check(timeout)) for rule in self._rules]
        self._file, self._timeout, self._think_token = rules, timeout, think_token

    @property
    def variant(self) -> str:
        """The name of the file of rules, if there is one, and a hash of all rules."""
        return "-".join([Path(self._file).stem if self._file else "rules", self._digest()[:8]])

    @property
    def signature(self) -> Signature:
        """Judge, a hash of the rules, the limit of time, and the version of what matches patterns."""
        return Signature.make(
            "RuleJudge",
            variant=self.variant,
            rules=self._digest(),
            think_token=self._think_token,
            timeout=self._timeout,
            regex=importlib.metadata.version("regex"),
            version=__version__,
        )

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict a sample, in order, each as soon as its sample is there; candidates alone are read."""
        return map(self._verdict, samples)

    def _verdict(self, sample: Sample) -> Verdict:
        if not sample.candidate.strip():
            return Verdict(0.0, 0, "the candidate is empty")
        _, text = split_trace(sample.candidate, self._think_token)
        if text is None:
            return Verdict(0.0, 0, "the candidate's reasoning has no end")
        broken, late, holds = list[str](), list[str](), dict[str, bool | None]()
        for name, check in self._checks:
            try:
                wrong = check(text)
            except TimeoutError:
                holds[name] = None
                late.append(f"{name} took more than {self._timeout:g} s")
                continue
            holds[name] = wrong is None
            if wrong is not None:
                broken.append(f"{name}: {wrong}")
        details = {"rules": holds}
        if broken:
            return Verdict(0.0, 0, "; ".join(["breaks " + broken[0], *broken[1:], *late]), details=details)
        if late:
            return Verdict(None, None, "; ".join(late), details=details)
        return Verdict(1.0, 1, details=details)

    def _digest(self) -> str:
        values = [[rule.name, rule.kind, rule.value, rule.case_sensitive] for rule in self._rules]
        return hashlib.sha256(json.dumps(values, default=list).encode()).hexdigest()[:16]


def read_rules(path: Path) -> list[Rule]:
    """The rules of a YAML file. Raises InputError with what is wrong, and where."""
    entries = read_yaml(path, "rules")
    if not isinstance(entries, list) or not entries:
        held = "nothing" if not entries else f"a {type(entries).__name__}"
        raise InputError(f"{path} holds {held}; a list of rules was expected, such as `- max_words: 50`.")
    return [_rule(entry, f"rule {number} of {path}") for number, entry in enumerate(entries, 1)]


def _rule(entry: Any, where: str) -> Rule:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} is {entry!r}; a kind with its value was expected, such as `max_words: 50`.")
    kinds = [str(key) for key in entry if key not in ("name", "case_sensitive")]
    if len(kinds) != 1:
        said = " and ".join(kinds) or "no kind"
        raise InputError(f"{where} has {said}; one kind was expected, of {', '.join(KINDS)}.")
    value, case = entry[kinds[0]], entry.get("case_sensitive", False)
    if not isinstance(case, bool):
        raise InputError(f"{where} sets case_sensitive to {case!r}; true or false was expected.")
    return Rule(str(entry.get("name") or f"{kinds[0]} {value}"), kinds[0], value, case)


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two rules are called {name!r}; give each its own name.")


def _matching(rule: Rule, timeout: float) -> Check:
    found = _finder(rule, timeout)
    return lambda text: f"{_short(rule.value)} does not match" if found(text) is None else None


def _not_matching(rule: Rule, timeout: float) -> Check:
    found = _finder(rule, timeout)

    def check(text: str) -> str | None:
        match = found(text)
        return None if match is None else f"matches at {_short(match)}"

    return check


def _finder(rule: Rule, timeout: float) -> Callable[[str], str | None]:
    """What finds the first match. The package regex can stop in time, which `re` can't."""
    import regex

    try:
        compiled = regex.compile(rule.value, 0 if rule.case_sensitive else regex.IGNORECASE)
    except regex.error as error:
        raise InputError(
            f"the rule {rule.name!r} has {rule.value!r}, which is no regular expression ({error})."
        ) from error

    def find(text: str) -> str | None:
        match = compiled.search(text, timeout=timeout)
        return None if match is None else str(match.group())

    return find


def _holding(test: Callable[[str, str], bool], wrong: str) -> Callable[[Rule, float], Check]:
    """Rules on a text in the text: `test(text, value)`, both without case unless it counts."""

    def make(rule: Rule, timeout: float) -> Check:
        def key(text: str) -> str:
            return text if rule.case_sensitive else text.casefold()

        value = key(rule.value)
        return lambda text: None if test(key(text.strip()), value) else f"{_short(rule.value)} {wrong}"

    return make


def _counting(count: Callable[[str], int], most: bool, unit: str) -> Callable[[Rule, float], Check]:
    def make(rule: Rule, timeout: float) -> Check:
        def check(text: str) -> str | None:
            found = count(text)
            good = found <= rule.value if most else found >= rule.value
            return None if good else f"has {found} {unit}, not at {'most' if most else 'least'} {rule.value}"

        return check

    return make


def _json(rule: Rule, timeout: float) -> Check:
    keys = () if rule.kind == "valid_json" else tuple(rule.value)

    def check(text: str) -> str | None:
        try:
            # Numbers as floats: Python refuses to read very long whole ones.
            value = json.loads(text, parse_int=float, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return f"is no JSON ({error if isinstance(error, ValueError) else 'it is nested too deeply'})"
        if keys and not isinstance(value, dict):
            return f"is a JSON {_JSON_NAMES.get(type(value), 'number')}, not an object"
        missing = [key for key in keys if key not in value]
        return f"lacks {', '.join(missing)}" if missing else None

    return check


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _short(text: str, most: int = 60) -> str:
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_keys(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_text, value))


_JSON_NAMES = {list: "list", str: "text", bool: "true or false", type(None): "null"}
_TEXT, _COUNT = "a text that is not empty", "a whole number, 0 or more,"

KINDS: dict[str, Kind] = {
    "must_match": Kind(_matching, _is_text, "a regular expression"),
    "must_not_match": Kind(_not_matching, _is_text, "a regular expression"),
    "must_contain": Kind(_holding(lambda text, value: value in text, "is not in it"), _is_text, _TEXT),
    "must_not_contain": Kind(_holding(lambda text, value: value not in text, "is in it"), _is_text, _TEXT),
    "starts_with": Kind(_holding(str.startswith, "is not at its start"), _is_text, _TEXT),
    "ends_with": Kind(_holding(str.endswith, "is not at its end"), _is_text, _TEXT),
    "min_words": Kind(_counting(lambda text: len(text.split()), False, "words"), _is_count, _COUNT),
    "max_words": Kind(_counting(lambda text: len(text.split()), True, "words"), _is_count, _COUNT),
    "min_characters": Kind(_counting(lambda text: len(text.strip()), False, "characters"), _is_count, _COUNT),
    "max_characters": Kind(_counting(lambda text: len(text.strip()), True, "characters"), _is_count, _COUNT),
    "valid_json": Kind(_json, lambda value: value is True, "true"),
    "json_keys": Kind(_json, _are_keys, "a list of keys"),
}
"""The kinds of rules, as they are called in files and flags."""
