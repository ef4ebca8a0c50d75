"""RuleJudge: what each kind of rule holds for, what is said of broken ones, and that no pattern can hang it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bert_judge.judges.rules import KINDS, RuleJudge
from bert_judge.records import Sample, Verdict
from conftest import Refused


def verdict(candidate: str, judge: RuleJudge) -> Verdict:
    (found,) = judge.assess([Sample(candidate, ("unread",), "unread")])
    return found


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


CASES = [
    ("must_match", r"\d{2,3}", "there are 42", "there are 4", r"'\\d{2,3}' does not match"),
    ("must_not_match", "as an? ai", "I am", "Well, As an AI, I", "matches at 'As an AI'"),
    ("must_contain", "Paris", "in PARIS.", "in Rome", "'Paris' is not in it"),
    ("must_not_contain", "STRASSE", "Weg", "die Straße", "'STRASSE' is in it"),
    ("starts_with", "answer:", "  Answer: 4", "The answer: 4", "'answer:' is not at its start"),
    ("ends_with", ".", "Done. \n", "Done", "'.' is not at its end"),
    ("min_words", 2, "two words", "one-word", "has 1 words, not at least 2"),
    ("max_words", 2, "two words", "now three words", "has 3 words, not at most 2"),
    ("min_characters", 3, "abc", " ab  ", "has 2 characters, not at least 3"),
    ("max_characters", 3, " abc ", "abcd", "has 4 characters, not at most 3"),
    ("valid_json", True, '{"a": [1, null]}', "{'a': 1}", "is not JSON (Expecting property name"),
    ("valid_json", True, "1" * 6000, "NaN", "NaN is not a JSON number"),
    ("valid_json", True, "true", "[" * 100_000, "nested too deeply"),
    ("json_keys", ["a", "b"], '{"b": 0, "a": 1, "c": 2}', '{"a": 1}', "lacks b"),
    ("json_keys", ["a"], '{"a": 1}', '["a"]', "is JSON, but not an object"),
]


def test_each_kind_of_rule(subtests: pytest.Subtests) -> None:
    assert {case[0] for case in CASES} == set(KINDS)
    for kind, value, good, bad, said in CASES:
        with subtests.test(kind=kind, value=value, good=good, bad=bad, said=said):
            judge = RuleJudge(**{kind: value})
            assert verdict(good, judge) == Verdict(1.0, 1, details={"rules": {kind: True}})
            found = verdict(bad, judge)
            assert (found.score, found.label) == (0.0, 0)
            assert found.explanation is not None
            assert found.explanation.startswith(f"breaks {kind}: ")
            assert said in found.explanation
            assert found.details == {"rules": {kind: False}}


def test_all_rules_must_hold_and_each_is_told() -> None:
    judge = RuleJudge(max_words=3, must_contain="yes", must_not_contain="no")
    found = verdict("no, not at all", judge)
    assert found.label == 0
    assert found.explanation == (
        "breaks must_contain: 'yes' is not in it; must_not_contain: 'no' is in it; "
        "max_words: has 4 words, not at most 3"
    )
    found = verdict("yes: one two three", judge)
    assert json.loads(json.dumps(dict(found.details))) == {
        "rules": {"must_contain": True, "must_not_contain": True, "max_words": False}
    }


def test_case_counts_where_it_was_asked_for() -> None:
    assert verdict("PARIS", RuleJudge(must_contain="Paris", case_sensitive=True)).label == 0
    assert verdict("PARIS", RuleJudge(must_match="P[a-z]+", case_sensitive=True)).label == 0
    assert verdict("Paris", RuleJudge(must_match="P[a-z]+", case_sensitive=True)).label == 1


def test_a_file_of_rules(tmp_path: Path) -> None:
    path = write(
        tmp_path / "safety.yaml",
        """
        - name: no refusal
          must_not_match: I (cannot|can't) help
        - max_words: 4
        - name: name of the town
          must_contain: Paris
          case_sensitive: true
        """,
    )
    judge = RuleJudge(path, ends_with=".")
    assert judge.info.name.startswith("safety-")
    assert verdict("It is Paris.", judge).label == 1
    found = verdict("I can't help you with paris", judge)
    assert list(found.details["rules"]) == ["ends_with", "no refusal", "max_words 4", "name of the town"]
    assert not any(found.details["rules"].values())
    assert 'no refusal: matches at "I can\'t help"' in (found.explanation or "")


def test_a_catastrophic_pattern_ends_in_time_and_undecided(subtests: pytest.Subtests) -> None:
    for pattern, text in [("(a|a)*$", "a" * 500 + "b"), ("(x+x+)+y", "x" * 5000)]:
        with subtests.test(pattern=pattern, text=text):
            start = time.monotonic()
            found = verdict(text, RuleJudge(must_not_match=pattern, timeout=0.1))
            assert time.monotonic() - start < 5
            assert (found.score, found.label) == (None, None)
            assert found.explanation == "must_not_match took more than 0.1 s"
            assert found.details == {"rules": {"must_not_match": None}}
            found = verdict(text, RuleJudge(must_not_match=pattern, max_words=0, timeout=0.1))
            assert found.label == 0  # broken whatever the pattern finds
            assert "max_words: has 1 words, not at most 0; must_not_match took more than" in (found.explanation or "")


def test_a_reasoning_trace_is_not_judged() -> None:
    judge = RuleJudge(must_not_contain="maybe")
    assert verdict("<think>maybe?</think>Yes", judge).label == 1
    assert verdict("<think>certainly", judge).explanation == "the candidate's reasoning has no end"
    assert verdict("<think>maybe?</think>Yes", RuleJudge(must_not_contain="maybe", think_token="")).label == 0


def test_the_signature_changes_with_the_rules_alone(tmp_path: Path) -> None:
    first = write(tmp_path / "a.yaml", "- max_words: 4\n")
    same = write(tmp_path / "sub-a.yaml", "# a comment\n- {max_words: 4}\n")
    base = RuleJudge(first).info.signature
    assert RuleJudge(first).info.signature == base
    assert RuleJudge(same).info.signature.settings["rules"] == base.settings["rules"]
    others = [{"max_words": 5}, {"min_words": 4}, {"max_words": 4, "case_sensitive": True}, {"max_words": 4}]
    signatures = {RuleJudge(**each).info.signature for each in others}
    assert len(signatures) == len(others)
    assert RuleJudge(first, timeout=2).info.signature != base


def test_wrong_arguments_are_told_in_a_sentence(refused: Refused) -> None:
    for arguments, said in [
        ({}, "given no rule"),
        ({"must_match": "("}, "the pattern '(' is not a regular expression"),
        ({"must_contain": ""}, "must_contain of ''; a text that is not empty"),
        ({"max_words": -1}, "max_words of -1; a whole number"),
        ({"json_keys": "a"}, "json_keys of 'a'; a list of keys"),
        ({"max_words": 1, "timeout": 0}, "timeout is 0"),
        ({"rules": "nowhere.yaml"}, "nowhere.yaml can't be read"),
    ]:
        with refused(said, arguments=arguments):
            RuleJudge(**arguments)


def test_a_wrong_file_of_rules_is_told_in_a_sentence(tmp_path: Path, refused: Refused) -> None:
    for text, said in [
        ("", "holds nothing; a list of rules was expected"),
        ("max_words: 4", "holds a dict"),
        ("- [", "not valid YAML"),
        ("- 4", "rule 1 of"),
        ("- name: x", "has no kind"),
        ("- {max_words: 4, min_words: 2}", "has max_words and min_words; one kind was expected"),
        ("- most_words: 4", "unknown kind 'most_words'"),
        ("- max_words: four", "max_words of 'four'"),
        ("- max_words: true", "max_words of true"),
        ("- {max_words: 4, case_sensitive: 1}", "case_sensitive to 1"),
        ("- {name: x, max_words: 4}\n- {name: x, min_words: 4}", "two rules are called 'x'"),
        ("- valid_json: false", "valid_json of false; true was expected"),
    ]:
        with refused(said, text=text):
            RuleJudge(write(tmp_path / "rules.yaml", text))
