"""Lexical metrics: tables of the rules, what holds for any two texts, and the numbers of the original packages."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bert_judge.metrics import (
    METRICS,
    bleu,
    choice,
    chrf,
    containment,
    exact_match,
    find_boxed,
    find_choice,
    find_metric,
    math_verify,
    normalise,
    raw_match,
    rouge_l,
    strip_markup,
    token_f1,
    verify_math,
)
from conftest import Refused
from tables import table
from waiting import wait_until

MEASURES = [raw_match, exact_match, containment, token_f1, choice, rouge_l, bleu, chrf]
PAIRS = [
    ("The cat sat on the mat.", "the cat is on the mat"),
    ("In 1066, William of Normandy conquered England.", "William the Conqueror invaded England in 1066"),
    ("Mitochondria", "the mitochondria"),
    ("one two three four", "four three two one"),
    ("a_b don't re-read it", "a b don t re read it"),
    ("word " * 300, "word other " * 20),
    ("", "Paris"),
    ("Paris", ""),
    ("", ""),
    ("...", "!?"),
]
UNICODE_PAIRS = [("北京市", "北京"), ("Ünïcode café", "unicode café"), ("हिन्दी भाषा", "हिन्दी"), ("🚀 é", "🚀 e")]
HANGS = "$9^{9^{9^{9}}}$"
# fmt: off
OPTION_A = [
    "A", "a", "(A)", "A.", "**A**.", "**A)** Paris", "A) Paris", "(A) Paris", "A. Paris", "A: Paris",
    "A, as it is the capital.", "A because the others are not in France", "The answer is (A)", "The answer is A.",
    "the correct answer is: **A**", "Answer: A", "Answer:\nA) Paris",
    "The correct option is A because Paris is the capital.", "The best choice would be A - Paris",
    "The answer to this question is therefore A.", "A is correct, B is not.",
    "It could be B. No: B) is Lyon. The answer is A.",
    "(B) is in the south and (C) in the east, so the answer is (A).", "I would go for (A) here.", "$\\boxed{A}$",
    r"The answer is $\boxed{\text{(A)}}$.", "（Ａ）", "“A”", "Paris", "paris.",
]
# fmt: on
texts = st.one_of(st.text(), st.text(alphabet="aAthe nP.,'é北京 \n"))
ascii_texts = st.text(st.characters(max_codepoint=0x7F))

# tests/tables/metrics.yaml has what each gives
OF_TEXTS: list[Callable[..., object]] = [exact_match, containment, token_f1, raw_match, choice]
OF_TEXTS += [normalise, find_boxed, strip_markup, rouge_l, math_verify]


def test_what_each_function_gives() -> None:
    rows = table("metrics")
    assert rows.keys() == {function.__name__ for function in OF_TEXTS}
    for function in OF_TEXTS:
        for *passed, expected in rows[function.__name__]:
            result = function(*passed)
            assert result == (pytest.approx(expected) if isinstance(expected, float) else expected), (function, passed)


@given(candidate=texts, reference=texts)
def test_measures_lie_between_0_and_1(candidate: str, reference: str) -> None:
    for measure in MEASURES:
        assert 0 <= measure(candidate, reference) <= 1


@given(candidate=texts, reference=texts)
def test_f1_is_symmetric_and_1_where_texts_match(candidate: str, reference: str) -> None:
    assert token_f1(candidate, reference) == token_f1(reference, candidate)
    if exact_match(candidate, reference):
        assert token_f1(candidate, reference) == 1


@given(before=texts, reference=texts, after=texts)
def test_a_reference_between_other_words_is_contained(before: str, reference: str, after: str) -> None:
    inner = normalise(reference)
    if {"a", "an", "the"}.isdisjoint(inner.split()):
        assert containment(f"{normalise(before)} {inner} {normalise(after)}", inner) == bool(inner)


@given(text=st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_normalise_is_stable_and_single_spaced(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert normalise(f" {text}\n") == once
    assert once == " ".join(once.split())


@given(text=ascii_texts)
def test_normalise_ignores_case(text: str) -> None:
    assert normalise(text.upper()) == normalise(text.lower())


def test_choice_finds_the_option() -> None:
    for candidate in OPTION_A:
        assert choice(candidate, "A) Paris") == 1
        assert choice(candidate, "B) Lyon") == 0


@example(pairs=PAIRS)
@given(pairs=st.lists(st.tuples(ascii_texts, ascii_texts), max_size=1))
def test_rouge_is_that_of_rouge_score_for_any_ascii(pairs: list[tuple[str, str]]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    for candidate, reference in pairs:
        assert rouge_l(candidate, reference) == RougeScorer(["rougeL"]).score(reference, candidate)["rougeL"].fmeasure


def test_bleu_and_chrf_are_those_of_sacrebleu() -> None:
    import sacrebleu

    for candidate, reference in PAIRS + UNICODE_PAIRS:
        assert bleu(candidate, reference) == pytest.approx(sacrebleu.sentence_bleu(candidate, [reference]).score / 100)
        assert chrf(candidate, reference) == pytest.approx(sacrebleu.sentence_chrf(candidate, [reference]).score / 100)


def test_math_verify_says_why_not() -> None:
    assert (verify_math("42", "yes").score, math_verify("42", "yes")) == (None, 0)  # a reference without maths
    for candidate, reference, reason in [
        ("41", "42", "different"),
        ("2:30", "2:45", "different"),
        ("(1, 2)", "(2, 1)", "different"),
        ("[1, 2]", "[2, 2]", "different"),
        (r"\frac{9}", r"\frac{9}{7}", "different|no maths in the answer"),
        ("forty-two", "42", "no maths in the answer"),
        ("", "42", "no maths in the answer"),
        ("\ud800", "42", "different|no maths"),
    ]:
        finding = verify_math(candidate, reference)
        assert finding.score == 0
        assert re.search(reason, finding.reason or "")
        assert math_verify(candidate, reference) == 0


def test_math_verify_is_that_of_its_package() -> None:
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    for answer, expected in [(r"\sqrt{8}", 1.0), (r"\pi", 0.0), (r"2.828427", 1.0), ("2.8", 0.0)]:
        gold, parsed = (parse(f"${text}$", parsing_timeout=None) for text in (r"2\sqrt{2}", answer))
        assert verify(gold, parsed, timeout_seconds=None) == bool(expected)
        assert math_verify(f"${answer}$", r"$2\sqrt{2}$") == expected


@pytest.mark.parametrize("candidate", [HANGS, "$100000000!$", r"$\sum_{k=1}^{10^{9}} \frac{1}{k^3}$"])
def test_mathematics_without_end_is_ended(candidate: str) -> None:
    verify_math("1", "2")  # so that no time goes into the start
    start = time.monotonic()
    finding = verify_math(candidate, "5", timeout=0.5)
    assert time.monotonic() - start < 3
    assert finding == (0.0, "Math-Verify took more than 0.5 s", False)
    assert verify_math("4/2", "2") == (1.0, None, True)


def test_threads_share_the_worker_and_get_their_own_answers() -> None:
    rows = [(f"{i}/2", f"{i / 2 + i % 2}") for i in range(40)] + [(HANGS, "5")]
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda row: verify_math(*row, timeout=1).score, rows))
    assert scores == [float(i % 2 == 0) for i in range(40)] + [0.0]


def workers(parent: int) -> list[int]:
    """Process ids of the workers of a process that still run."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end while we look
            is_child = int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent
            if is_child and runs(int(folder.name)):
                processes.append(int(folder.name))
    return processes


def most_memory(process: int) -> str:
    return Path(f"/proc/{process}/limits").read_text().partition("Max address space")[2].splitlines()[0]


def runs(process: int) -> bool:
    with suppress(OSError):
        return b"math_worker" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")


@needs_proc
def test_one_worker_serves_all_and_is_replaced_when_it_dies() -> None:
    assert verify_math("4/2", "2").score == 1
    processes = workers(os.getpid())
    assert len(processes) <= 2  # one may wait in the place of another that ended before
    assert verify_math("8/2", "4").score == 1
    assert workers(os.getpid()) == processes
    for process in processes:
        wait_until(lambda process=process: "4294967296" in most_memory(process), "its memory is limited")
        os.kill(process, signal.SIGKILL)
    assert verify_math("6/2", "3").score == 1
    assert not set(workers(os.getpid())) & set(processes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_a_worker_of_its_own() -> None:
    assert verify_math("4/2", "2").score == 1
    with multiprocessing.get_context("fork").Pool(2) as pool:
        in_forks = pool.starmap_async(verify_math, [(f"{i}/2", f"{i / 2}") for i in range(1, 20)])
        here = [verify_math(f"{i}/2", f"{i / 2 + 1}").score for i in range(20)]
        assert [result.score for result in in_forks.get(60)] == [1.0] * 19
    assert here == [0.0] * 20


@needs_proc
@pytest.mark.parametrize("busy", [False, True])
def test_the_worker_ends_with_its_parent(busy: bool) -> None:
    code = (
        "import sys; from bert_judge.metrics import verify_math; verify_math('4/2', '2'); print('ready', flush=True)\n"
        f"sys.stdin.readline(); {busy} and verify_math('{HANGS}', '5', 1.0)"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        (worker,) = workers(parent.pid)
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        if busy:
            time.sleep(0.3)
            parent.kill()
        assert not parent.stderr.read()
    wait_until(lambda: not runs(worker), "the worker has ended")


def test_the_table_gives_what_the_functions_do() -> None:
    assert list(METRICS)[:3] == ["EM", "ROUGE", "Math-Verify"]
    for name in METRICS:
        metric = find_metric(name)
        assert metric("Paris", "Paris") == metric.find("Paris", "Paris", 5).score == pytest.approx(1)
        assert metric("12", "13") < 0.5
        assert metric.graded == (0 < metric("the red car here", "the red car") < 1)


def test_an_unknown_metric_is_answered_with_the_nearest(refused: Refused) -> None:
    for name, hint in [
        ("em", "did you mean EM?"),
        ("math_verify", "did you mean Math-Verify?"),
        ("tokenf1", "token_f1"),
        ("qq", "choose from EM"),
    ]:
        with refused(hint, name=name):
            find_metric(name)


def test_a_missing_package_is_told_by_the_function_too() -> None:
    code = (
        "import sys; sys.modules |= dict.fromkeys(['rouge_score', 'sacrebleu', 'math_verify'])\n"
        "from bert_judge import metrics\nfrom bert_judge.errors import MissingExtraError\n"
        "for name in ('rouge_l', 'bleu', 'chrf', 'math_verify'):\n"
        "    try:\n        getattr(metrics, name)('a', 'b')\n"
        "    except MissingExtraError as error:\n        print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = ["rouge-score", "sacrebleu", "sacrebleu", "'math-verify[antlr4_13_2]'"]
    for package, line in zip(packages, done.stdout.splitlines(), strict=True):
        assert f"`pip install {package}` (of the extra [lexical])" in line


def test_long_texts_take_no_long_time() -> None:
    for text in [
        "answer " * 15_000,
        "answer:" + " " * 100_000,
        "*_ " * 30_000,
        "(" * 100_000,
        "\n " * 50_000,
        r"\boxed{" * 15_000,
        r"\boxed{" * 15_000 + "}" * 15_000,
        "$" * 100_000,
        "A. x\n" * 20_000,
        "é́" * 50_000,
    ]:
        start = time.monotonic()
        find_choice(text)
        find_boxed(text)
        strip_markup(text)
        raw_match(text, "A")
        rouge_l(text, "Paris")
        assert time.monotonic() - start < 3
