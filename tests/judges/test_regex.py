"""RegexJudge: what is extracted, how it is compared, and what the predecessor's baseline got wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest

from bert_judge import Sample
from bert_judge.errors import MissingExtraError
from bert_judge.judges.regex import FINAL_ANSWER, RegexJudge
from bert_judge.metrics import METRICS
from bert_judge.records import Verdict
from conftest import Refused
from tables import table

HANGS = "$9^{9^{9^{9}}}$"

REPLIES = table("replies")


def verdict_of(candidate: str, *references: str, **arguments: Any) -> Verdict:
    (verdict,) = RegexJudge(**arguments).assess([Sample(candidate, references)])
    return verdict


def test_answers_from_a_text(subtests: pytest.Subtests) -> None:
    for candidate, reference, score, label in REPLIES["from_a_text"]:
        with subtests.test(candidate=candidate, reference=reference, score=score, label=label):
            verdict = verdict_of(candidate, reference, metric="ROUGE")
            assert verdict.score == pytest.approx(score, abs=1e-6)
            assert verdict.label == label


def test_right_and_wrong_replies(subtests: pytest.Subtests) -> None:
    maths = {"metric": "Math-Verify"}
    kinds = {"multiple_choice": {}, "grade_school": maths, "competition": maths | {"pattern": "boxed"}}
    for kind, arguments in kinds.items():
        for candidate, reference, expected in REPLIES[kind]:
            with subtests.test(kind=kind, candidate=candidate, reference=reference):
                verdict = verdict_of(candidate, reference, **arguments)
                assert (verdict.score, verdict.label) == (expected, expected), verdict


def test_defect_5_case_last_match_rest_of_line_and_markup(subtests: pytest.Subtests) -> None:
    for candidate, reference, arguments, others in [
        ("final answer: A", "A", {}, {"case_sensitive": True}),
        ("Final answer: A or so\nFinal answer: B", "B", {}, {"which": "first"}),
        ("Final answer: A) Paris", "A", {}, {"pattern": r"Final answer: \w\) (.+)"}),
        ("**A**.", "A", {"pattern": "(.+)"}, {"pattern": "none"}),
        ("Final answer: A, as it is the capital", "A", {"metric": "choice"}, {"metric": "EM"}),
    ]:
        with subtests.test(candidate=candidate, reference=reference, arguments=arguments, others=others):
            assert verdict_of(candidate, reference, **arguments).label == 1
            assert verdict_of(candidate, reference, **(arguments | others)).label == 0


def test_options_are_compared_by_their_letters_with_every_metric() -> None:
    same = [("D", "D) none of these"), ("**(D)**", "D) none of these"), ("D) None", "(D)"), ("D) x", "D) it is none")]
    for metric in METRICS:
        for answer, reference in same:
            assert verdict_of(f"Final answer: {answer}", reference, metric=metric).label == 1, (metric, answer)
        assert verdict_of("Final answer: A", "D) none of these", metric=metric).score == 0, metric
    for answer, reference in (("NO", "N"), ("N", "NO"), ("D", "DNA) is it"), ("D. Hume", "D) none of these")):
        assert verdict_of(f"Final answer: {answer}", reference, metric="ROUGE").label == 0, answer
    assert verdict_of("Final answer: d", "D) none of these", metric="ROUGE").score == 1
    assert verdict_of("Final answer: none of these", "D) none of these", metric="ROUGE").label == 1
    assert verdict_of("D", "D) none of these", metric="containment", pattern="none").score == 0


def test_defect_6_a_word_is_no_option(subtests: pytest.Subtests) -> None:
    for word, metric in product(["NO", "HI", "DEF"], ["EM", "choice"]):
        with subtests.test(word=word, metric=metric):
            assert verdict_of(f"Final answer: {word}", word, metric=metric).label == 1
            assert verdict_of(f"Final answer: {word[0]}", word, metric=metric).label == 0


def test_what_is_extracted(subtests: pytest.Subtests) -> None:
    for pattern, which, candidate, answer in [
        (FINAL_ANSWER, "last", "So.\nFinal answer:\n\nParis", "Paris"),
        (FINAL_ANSWER, "last", "Final answer: **18**.", "18"),
        (FINAL_ANSWER, "last", "**Final answer: 18**", "18"),
        (FINAL_ANSWER, "last", "Final answer: $18", "$18"),
        (FINAL_ANSWER, "last", "Final answer: $18$", "18"),
        (FINAL_ANSWER, "last", "Final answer: \\(x^2\\).", "x^2"),
        (FINAL_ANSWER, "last", "Final answer: 7\nFinal answer: **", "7"),
        (FINAL_ANSWER, "last", "Final answer: 北京。", "北京"),
        (FINAL_ANSWER, "last", "Final answer: `f(x)`", "f(x)"),
        ("boxed", "last", r"\boxed{1} and \boxed{\frac{a}{\sqrt{b}}}", r"\frac{a}{\sqrt{b}}"),
        ("boxed", "first", r"\boxed{1} and \boxed{2}", "1"),
        ("boxed", "last", r"\boxed{\boxed{\{5\}}}", r"\{5\}"),
        ("boxed", "last", r"\boxed{5} or \boxed{6", "5"),
        (r"(?:Answer|Réponse)\s*:\s*(.+)|####\s*(.+)", "last", "6 * 7\n#### 42", "42"),
        (r"Réponse\s*:\s*(.+)", "last", "RÉPONSE : Zürich.", "Zürich"),
        ("none", "last", "**All** of it. ", "**All** of it."),
        (FINAL_ANSWER, "last", "<think>Final answer: 1</think>Final answer: 2", "2"),
        (FINAL_ANSWER, "first", "<think>Final answer: 1</think>Final answer: 2", "2"),
    ]:
        with subtests.test(pattern=pattern, which=which, candidate=candidate, answer=answer):
            assert verdict_of(candidate, "x", pattern=pattern, which=which).details["answer"] == answer


def test_a_candidate_without_an_answer_is_wrong(subtests: pytest.Subtests) -> None:
    for candidate, reason in [
        (" \n\t", "the candidate is empty"),
        ("It is Paris.", "the pattern does not match"),
        ("Final answer: **.", "the pattern does not match"),
        ("<think>Final answer: Paris", "the candidate's reasoning has no end"),
    ]:
        for metric in ("EM", "token_f1"):
            with subtests.test(candidate=candidate, reason=reason, metric=metric):
                verdict = verdict_of(candidate, "Paris", metric=metric)
                assert (verdict.score, verdict.label, verdict.explanation) == (0.0, 0, reason)


def test_the_best_of_several_references_wins() -> None:
    for references, best in [(("London", "Paris", "paris"), 1), (("Paris", "London"), 0), (("Rome", "Oslo"), 0)]:
        verdict = verdict_of("Final answer: Paris.", *references)
        assert (verdict.label, verdict.matched_reference) == (int("Paris" in references), best)
    graded = verdict_of("Final answer: the city of Paris", "Rome", "Paris", "city of Paris", metric="ROUGE")
    assert graded.matched_reference == 2
    assert graded.score == pytest.approx(6 / 7)


def test_the_threshold_labels_graded_metrics() -> None:
    for threshold, label in ((0.5, 1), (0.6666, 1), (0.7, 0)):
        verdict = verdict_of("Final answer: in 1066", "1066", metric="ROUGE", threshold=threshold)
        assert verdict.label == label
        assert verdict.score == pytest.approx(2 / 3)


def test_what_math_verify_can_not_read_is_undecided() -> None:
    verdict = verdict_of("Final answer: 42", "yes", metric="Math-Verify")
    assert (verdict.score, verdict.label) == (None, None)
    assert "no maths in the reference" in (verdict.explanation or "")
    assert verdict_of("Final answer: 42", "yes", "42", metric="Math-Verify").matched_reference == 1
    assert verdict_of("Final answer: 42", "yes", "43", metric="Math-Verify").label == 0
    assert RegexJudge(metric="Math-Verify").predict(["Final answer: 42"], ["yes"]) == [None]


def test_mathematics_without_end_is_ended_also_off_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bert_judge.judges.regex.MATH_TIMEOUT", 1.0)
    judge = RegexJudge("none", "Math-Verify")
    rows = [Sample(HANGS, ("5",)), Sample("$5$", ("5",))]
    start = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        (late, right) = pool.submit(lambda: list(judge.assess(rows))).result()
    assert time.monotonic() - start < 5
    assert (late.score, late.label, late.explanation) == (0.0, 0, "Math-Verify took more than 1 s")
    assert right.label == 1


QUESTIONS, CANDIDATES, REFERENCES = ["q", "q"], ["Final answer: a", "Final answer: b"], ["a", ["c", "a"]]


def test_predict_takes_the_papers_form_and_every_judges(subtests: pytest.Subtests) -> None:
    for positional, named in [
        ((CANDIDATES, REFERENCES), {}),
        ((QUESTIONS, CANDIDATES, REFERENCES), {}),
        ((None, CANDIDATES, REFERENCES), {}),
        ((), {"references": REFERENCES, "candidates": CANDIDATES}),
        ((), {"references": REFERENCES, "candidates": CANDIDATES, "questions": QUESTIONS}),
        ((CANDIDATES,), {"references": REFERENCES}),
        ((QUESTIONS,), {"candidates": CANDIDATES, "references": REFERENCES}),
        ((CANDIDATES, REFERENCES), {"questions": QUESTIONS}),
    ]:
        with subtests.test(positional=positional, named=named):
            assert RegexJudge().predict(*positional, **named) == [1.0, 0.0]


def test_bad_arguments_are_told_in_a_sentence(refused: Refused) -> None:
    for positional, named in [((CANDIDATES,), {}), ((1, 2, 3, 4), {}), ((CANDIDATES, REFERENCES), {"batch_size": 3})]:
        with refused("predict takes (candidates, references) or (questions,", positional=positional, named=named):
            RegexJudge().predict(*positional, **named)
    for arguments, message in [
        ({"pattern": "Answer: (.+"}, "is not a regular expression (missing ) at position"),
        ({"pattern": "Answer: .+"}, "has no group; put the part that is the answer into parentheses"),
        ({"pattern": None}, "is not a regular expression"),
        ({"metric": "rogue"}, "there is no metric 'rogue'; did you mean ROUGE?"),
        ({"metric": "zzz"}, "choose from EM, ROUGE, Math-Verify"),
        ({"which": "second"}, "which is 'second'; 'last' or 'first'"),
        ({"threshold": 0}, "threshold is 0"),
        ({"threshold": float("nan")}, "threshold is nan"),
    ]:
        with refused(message, arguments=arguments):
            RegexJudge(**arguments)


def test_a_pattern_that_would_take_years_leaves_the_verdict_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bert_judge.judges.regex.PATTERN_TIMEOUT", 0.1)
    judge = RegexJudge(r"((?:a|a)*)$")
    late, fine = judge.assess([Sample("a" * 500 + "b", ("a",)), Sample("aa", ("aa",))])
    assert (late.score, late.label, late.explanation) == (None, None, "the pattern took more than 0.1 s")
    assert fine.label is not None


def test_a_missing_package_is_named_at_once(monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    for metric, package in [("ROUGE", "rouge-score"), ("bleu", "sacrebleu"), ("Math-Verify", "math-verify")]:
        monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
        message = rf"metric.* needs the package {package}; .*`pip install .*\[lexical\]"
        with refused(match=message, error=MissingExtraError, metric=metric):
            RegexJudge(metric=metric)


def test_the_signature_changes_when_a_number_can(subtests: pytest.Subtests) -> None:
    for name, value in [("metric", "ROUGE"), ("pattern", "none"), ("which", "first"), ("think_token", "")]:
        with subtests.test(name=name):
            assert RegexJudge(**{name: value}).info.signature != RegexJudge().info.signature
    for settings, arguments, changes in [
        ({"pattern": "(a|b)"}, {"pattern": "(a|c)"}, True),
        ({}, {"case_sensitive": True}, True),
        ({}, {"threshold": 0.7}, False),
        ({"metric": "ROUGE"}, {"threshold": 0.7}, True),
        ({"pattern": "none"}, {"which": "first"}, False),
        ({"pattern": "boxed"}, {"which": "first"}, True),
        ({"pattern": "boxed"}, {"case_sensitive": True}, False),
    ]:
        with subtests.test(settings=settings, arguments=arguments):
            before, after = (RegexJudge(**options).info.signature for options in (settings, settings | arguments))
            assert (before != after) == changes


@pytest.mark.parametrize("metric", METRICS)
def test_the_signature_holds_the_versions(metric: str) -> None:
    judge = RegexJudge("(a|b)", metric)
    signature = judge.info.signature
    assert signature.name == "RegexJudge"
    assert all(signature.settings.values())
    assert signature.settings["variant"] == judge.info.name
    packages = {"ROUGE": "rouge-score", "bleu": "sacrebleu", "chrf": "sacrebleu", "Math-Verify": "sympy"}
    assert metric not in packages or packages[metric] in signature.settings
    assert judge.info.scale == ("score" if metric in ("ROUGE", "token_f1", "bleu", "chrf") else "decision")


def test_the_variant_is_the_papers_folder() -> None:
    assert RegexJudge().info.name == "EM"
    assert RegexJudge(metric="ROUGE").info.name == "ROUGE"
    assert RegexJudge("boxed", "Math-Verify").info.name == "Math-Verify-boxed"
    assert RegexJudge("/(.+)").info.name != RegexJudge("//(.+)").info.name
    assert RegexJudge("/(.+)").info.name.replace("-", "").isalnum()


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from bert_judge.judges.regex import RegexJudge as Judge\n"
        "assert Judge(metric='choice').predict(['Final answer: (A)'], ['A']) == [1.0]\n"
        "Judge(metric='ROUGE'), Judge(metric='bleu'), Judge(metric='Math-Verify')\n"
        "print({'torch', 'numpy', 'rouge_score', 'nltk', 'sacrebleu', 'math_verify', 'sympy'} & {*sys.modules} or [])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
