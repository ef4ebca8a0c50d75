"""Interfaces of evaluate and torchmetrics: the numbers are those of the judge and of the scorer."""

from __future__ import annotations

import pytest

from bert_judge import BERTScorer
from bert_judge.errors import InputError
from bert_judge.integrations.hf_evaluate import CorrectnessMetric
from bert_judge.integrations.torchmetrics import BERTScoreMetric
from conftest import Refused

ANSWERS = ["It is Paris.", "Lyon", "eight legs"]
REFERENCES = ["Paris", ["Paris", "Lutetia"], ["8", "eight"]]


def test_evaluate_counts_what_is_correct() -> None:
    metric = CorrectnessMetric("containment")
    expected = {
        "accuracy": pytest.approx(2 / 3),
        "mean_score": pytest.approx(2 / 3),
        "undecided": 0,
        "scores": [1.0, 0.0, 1.0],
        "labels": [1, 0, 1],
    }
    assert metric.compute(predictions=ANSWERS, references=REFERENCES, questions=["a", "b", "c"]) == expected
    metric.add(prediction=ANSWERS[0], reference=REFERENCES[0], question="a")
    metric.add_batch(predictions=ANSWERS[1:], references=REFERENCES[1:])
    assert metric.compute() == expected


def test_what_evaluate_s_interface_refuses(refused: Refused) -> None:
    metric = CorrectnessMetric("containment")
    for call, sentence in [
        (lambda: metric.compute(), "there are no predictions to judge"),
        (lambda: metric.compute(predictions=["a"]), "1 candidates but 0 references"),
        (lambda: metric.add(prediction="a", reference=[]), "references[0] is empty"),
        (lambda: CorrectnessMetric("containmnt"), "did you mean containment?"),
    ]:
        with refused(sentence, error=InputError):
            call()
    with pytest.raises(InputError, match="no predictions"):  # nothing of a failed call is left
        metric.compute()


def test_torchmetrics_gives_the_scores_of_the_scorer() -> None:
    options = {"dtype": "float32"}
    expected = dict(
        zip(("precision", "recall", "f1"), BERTScorer("starter", **options).score(ANSWERS, REFERENCES), strict=True)
    )
    metric = BERTScoreMetric("starter", **options)
    metric.update(ANSWERS[0], REFERENCES[0])
    assert metric(ANSWERS[1:], REFERENCES[1:])["f1"].tolist() == pytest.approx(expected["f1"][1:].tolist(), abs=1e-5)
    for name, scores in metric.compute().items():
        assert scores.tolist() == pytest.approx(expected[name].tolist(), abs=1e-5)
    metric.reset()
    assert metric.compute()["f1"].shape == (0,)
    with pytest.raises(InputError, match="2 candidates but 1 references"):
        metric.update(["a", "b"], ["a"])
