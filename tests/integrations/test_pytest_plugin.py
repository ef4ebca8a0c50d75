"""The plug-in of pytest, in runs of pytest of its own."""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
PLUGIN = "bert_judge.integrations.pytest_plugin"
TESTS = """
def test_right(assert_correct):
    verdict = assert_correct("What is the capital of France?", "It is Paris.", ["Paris", "Lutetia"])
    assert verdict.matched_reference == 0

def test_wrong(assert_correct):
    assert_correct("What is the capital of France?", "It is Lyon.", "Paris")

def test_bad(assert_correct):
    assert_correct("What is the capital of France?", "It is Paris.", [])

def test_one_judge(judge, assert_correct):
    judge.mine = True

def test_the_same_judge(judge):
    assert judge.mine
"""


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Runs pytest with the plug-in, which is loaded by itself where the package is installed."""
    plugin = [] if entry_points(group="pytest11", name="bert_judge") else ["-p", PLUGIN]
    return lambda *arguments: pytester.runpytest_inprocess(*plugin, *arguments)


def test_answers_are_judged_and_failures_say_why(pytester: pytest.Pytester, run) -> None:
    pytester.makepyfile(TESTS)
    result = run("--bert_judge", "containment")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: RegexJudge containment-none gives the answer 0.000; 0.5 or more is correct",
            "E*question   What is the capital of France?",
            "E*answer     It is Lyon.",
            "E*reference  Paris",
            "E*InputError: references?0? is empty; at least one correct answer was expected.",
        ]
    )


def test_the_judge_is_named_in_the_configuration(pytester: pytest.Pytester, run) -> None:
    pytester.makeini("[pytest]\nbert_judge = exact_match")
    pytester.makepyfile("def test_it(assert_correct): assert_correct(None, 'It is Paris.', 'Paris')")
    run().assert_outcomes(failed=1)
    run("--bert-judge", "containment").assert_outcomes(passed=1)


def test_a_threshold_of_its_own(pytester: pytest.Pytester, run) -> None:
    pytester.makepyfile(
        "def test_it(assert_correct): assert_correct(None, 'It is Paris now.', 'Paris', threshold=0.3)\n"
        "def test_too_high(assert_correct): assert_correct(None, 'It is Paris now.', 'Paris', threshold=0.9)\n"
    )
    run("--bert_judge", "token_f1").assert_outcomes(passed=1, failed=1)


def test_an_unknown_judge_is_an_error_in_one_sentence(pytester: pytest.Pytester, run) -> None:
    pytester.makepyfile("def test_it(assert_correct): pass")
    result = run("--bert_judge", "containmnt")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["there is no judge 'containmnt'; did you mean containment?*"])


def test_pytest_finds_it_where_the_package_is_installed() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"bert_judge": PLUGIN}
