"""Kinds of answers that users of evaluation tools reported as judged wrong."""

from __future__ import annotations

import pytest

from bert_judge import Sample
from bert_judge.judges import BERTJudge
from tables import table


@pytest.mark.parametrize("kind", table("reported"))
def test_reported_kinds_of_answers_are_judged_right(
    kind: str, starter_exact: BERTJudge, subtests: pytest.Subtests
) -> None:
    rows = table("reported")[kind]
    verdicts = starter_exact.assess(
        [Sample(candidate, (reference,), question) for question, reference, candidate, _ in rows]
    )
    for row, verdict in zip(rows, verdicts, strict=True):
        with subtests.test(row=row):
            assert verdict.label == row[-1]
