"""`bert-judge try`, as its user meets it: one answer, its verdict, and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conftest import Command
from scripted_endpoint import Answer, endpoint

pytestmark = pytest.mark.usefixtures("folder")
ASKED = ("try", "Who wrote Frankenstein?")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_the_verdict_the_matched_reference_what_was_read_and_why(printed: Callable[..., str]) -> None:
    candidate = "<think>Percy?</think>It was Mary Shelley, I think."
    out = printed(*ASKED, "Bram Stoker", "Mary Shelley", candidate, "--judge", "starter,containment")
    first, second = out.split("\n\ncontainment  ")
    assert first.startswith("starter  correct  P(correct) 0.")
    assert second.startswith("correct  score 1.000\n")
    for block in (first, second):
        lines = dict(line.strip().split(maxsplit=1) for line in block.splitlines()[1:] if line.startswith("  "))
        assert lines["question"] == "Who wrote Frankenstein?"
        assert (lines["reference"], lines["matched"]) == ("Bram Stoker", "Mary Shelley")
        assert lines["answer"] == "It was Mary Shelley, I think."
        assert lines["left"] == "out    reasoning (21 characters)"
        assert "speaks most for the candidate" in lines["why"]
    assert "[Mary +1.00] [Shelley +1.00]" in second
    assert second.endswith("speak against it: 0.38 higher.\n")


def test_a_wrong_answer_one_without_a_question_and_numbers(printed: Callable[..., str]) -> None:
    for words, verdict in [
        (["", "Lima", "Cusco"], "incorrect"),
        (["What is -2 - 3?", "-5", "-5"], "correct"),
        (["", "Lima", ""], "incorrect"),
    ]:
        out = printed("try", *words, "--judge", "containment")
        assert out.startswith(f"containment  {verdict}  score ")
        assert ("question" in out) == bool(words[0])
        assert "  why" not in out  # nothing can be left out of a single word
    assert "  candidate   (empty)\n  says        the candidate is empty" in out
    assert "why" not in printed(*ASKED, "Mary", "It was Mary.", "--judge", "containment", "--no-explain")
    assert printed(*ASKED, "Mary", "Shelley", "--judge", "BERTScore").startswith("BERTScore  no label  score ")


def test_a_verdict_that_costs_money_is_explained_only_if_asked_for(command: Command) -> None:
    for flags, requests in [((), 1), (("--explain",), 4)]:  # without each of three words
        with endpoint(Answer("Final answer: True")) as server:
            judge = ("--judge", "LLMJudge", "--model_path", "m", "--backend", "openai", "--base_url", server.base_url)
            status, out, err = command(*ASKED, "Mary", "It was Mary", *judge, "--store", "off", *flags)
            assert (status, len(server.bodies)) == (0, requests), err
        assert ("  why" in out) == bool(flags)
    with endpoint(Answer(status=400)) as server:
        judge = ("--judge", "LLMJudge", "--model_path", "m", "--backend", "openai", "--base_url", server.base_url)
        status, out, _ = command(*ASKED, "Mary", "It was Mary.", *judge, "--store", "off")
    assert status == 5
    assert out.startswith("LLMJudge  undecided\n")
    assert "  says  " in out


def test_what_is_missing_is_a_sentence(complaint: Callable[..., str]) -> None:
    assert "arguments are required: CANDIDATE; see bert-judge try --help" in complaint(*ASKED, "Mary", status=2)
    assert complaint("try", "q", "Mary", " ", "c") == (
        "bert-judge try: a reference is empty; the text of a correct answer was expected."
    )
    assert "there is no flag --judges, did you mean --judge?" in complaint("try", "q", "r", "c", "--judges", status=2)
