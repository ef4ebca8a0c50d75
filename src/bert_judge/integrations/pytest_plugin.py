"""A plug-in of pytest: `assert_correct(question, candidate, references)`, for tests of a language model's answers.

def test_capital(assert_correct):
    assert_correct("What is the capital of France?", ask_my_bot("What is the capital of France?"), "Paris")

The judge, by default the starter, is loaded once per session; `pytest --bert_judge NAME`, or `bert_judge = NAME` in
pytest's configuration, names another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bert_judge.judges import Judge
    from bert_judge.records import Sample, Verdict

_OPTION = "bert_judge"
_MOST = 500  # characters of a text in a failure message


def pytest_addoption(parser: pytest.Parser) -> None:
    """The judge of the session."""
    text = "the judge of assert_correct: starter, a folder, a name on the Hub, a metric, a YAML file"
    parser.getgroup("bert-judge").addoption("--bert_judge", "--bert-judge", dest=_OPTION, metavar="NAME", help=text)
    parser.addini(_OPTION, text, default="starter")


@pytest.fixture(scope="session")
def judge(pytestconfig: pytest.Config) -> Judge:
    """The judge of the session, loaded once."""
    from bert_judge.errors import BertJudgeError
    from bert_judge.judges.naming import shared_judge

    try:
        return shared_judge(pytestconfig.getoption(_OPTION) or pytestconfig.getini(_OPTION)).judge
    except BertJudgeError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def assert_correct(judge: Judge) -> AssertCorrect:
    """A function that fails the test unless the judge finds an answer correct."""
    return AssertCorrect(judge)


class AssertCorrect:
    """The fixture `assert_correct`."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self._name = judge, judge.info.signature.short

    def __call__(
        self, question: str | None, candidate: str, references: str | Sequence[str], threshold: float | None = None
    ) -> Verdict:
        """Return the verdict, or fail the test unless the score is at least `threshold`, by default the judge's.

        An undecided judge fails the test, too. Raises InputError for values that are no texts, and without a threshold.
        """
        from bert_judge.errors import InputError
        from bert_judge.judges.base import make_samples

        __tracebackhide__ = True
        least = self._judge.info.threshold if threshold is None else threshold
        if least is None:
            raise InputError(f"{self._name} gives scores without labels; give assert_correct a threshold=.")
        samples = make_samples([question], [candidate], [references])
        (verdict,) = self._judge.fitted(samples).assess(samples)
        if verdict.score is None or verdict.score < least:
            raise AssertionError(_failure(samples[0], verdict, least, self._name))
        return verdict


def _failure(sample: Sample, verdict: Verdict, least: float, name: str) -> str:
    """The message of a failed test: the verdict first, then the texts."""
    from bert_judge.wording import clipped

    head = f"{name} can't decide whether the answer is correct"
    if verdict.score is not None:
        head = f"{name} gives the answer {verdict.score:.3f}; {least:g} or more is correct"
    lines = {
        "question": [sample.question or "(none)"],
        "answer": [sample.candidate or "(empty)"],
        "reference": sample.references,
        "because": [verdict.explanation] if verdict.explanation else [],
        "out_of_scope": [verdict.out_of_scope] if verdict.out_of_scope else [],
    }
    shown = [f"  {title:10} {clipped(text, _MOST)}" for title, texts in lines.items() for text in texts]
    return "\n".join([head, *shown])
