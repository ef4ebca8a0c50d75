"""A judge that adds evidence to what its encoder says."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.errors import ModelError
from bert_judge.evidence import Combiner, find_signals
from bert_judge.prompt import InputForm, JudgeConfig
from conftest import Refused

SAMPLE = Sample("So the answer is 43.", ("42",), "What is six times seven?")


@pytest.fixture
def folder(make_judge: Callable[..., Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(make_judge("bert"), tmp_path / "judge"))


def judge(folder: Path, config: JudgeConfig) -> BERTJudge:
    config.save(folder)
    return BERTJudge(str(folder), dtype="float32", runtime="torch")


def test_the_score_is_the_logistic_of_the_combination(folder: Path) -> None:
    plain = next(judge(folder, JudgeConfig()).assess([SAMPLE]))
    combiner = Combiner(bias=-0.5, logit=0.8, weights={"number": 3.0, "recall": 1.0})
    verdict = next(judge(folder, JudgeConfig(temperature=2.0, combiner=combiner)).assess([SAMPLE]))
    logit = plain.details["logit"]
    odds = combiner.combine(logit, find_signals(SAMPLE.candidate, SAMPLE.references))
    assert verdict.score == pytest.approx(1 / (1 + math.exp(-odds / 2)), abs=1e-6)
    assert odds < logit * 0.8  # the number speaks against it
    encoder = 1 / (1 + math.exp(-logit))
    assert verdict.explanation == f"last number 43, not 42, 0% of the reference's words, encoder {encoder:.2f}"
    assert verdict.details["logit"] == pytest.approx(logit, abs=1e-6)
    assert verdict.details["evidence"]["number"] == -1.0
    assert "equal" not in verdict.details["evidence"]  # what says nothing is left out


def test_a_judge_without_a_combiner_says_nothing_of_the_evidence(folder: Path) -> None:
    """What the texts share is no reason for its verdict."""
    verdict = next(judge(folder, JudgeConfig()).assess([SAMPLE]))
    assert verdict.explanation is None
    assert set(verdict.details) == {"logit"}


def test_marks_that_the_encoder_does_not_know_are_refused(folder: Path, refused: Refused) -> None:
    with refused(
        "asks for match marks of evidence 3, which need 10 token types, but the model has 2", error=ModelError
    ):
        judge(folder, JudgeConfig(form=InputForm(marks=True)))


def test_the_combiner_is_in_the_signature(folder: Path) -> None:
    names = [
        judge(folder, JudgeConfig(combiner=combiner)).signature
        for combiner in (None, Combiner(bias=0.5), Combiner(bias=0.25))
    ]
    assert len(set(names)) == 3
    assert ["combiner" in name.settings for name in names] == [False, True, True]


def test_the_threshold_of_the_judge_is_its_default(folder: Path) -> None:
    score = next(judge(folder, JudgeConfig()).assess([SAMPLE])).score
    assert score is not None
    for threshold in (score - 0.01, score + 0.01):
        stored = judge(folder, JudgeConfig(threshold=threshold))
        assert next(stored.assess([SAMPLE])).label == int(score >= threshold)
        assert stored.signature.settings["threshold"] == f"{threshold:g}"
        given = BERTJudge(str(folder), dtype="float32", runtime="torch", threshold=0.0)
        assert next(given.assess([SAMPLE])).label == 1


def test_a_combiner_of_unknown_signals_is_told(folder: Path) -> None:
    JudgeConfig(combiner=Combiner()).save(folder)
    content = json.loads((folder / "judge.json").read_text())
    content["combiner"]["weights"] = {"luck": 1}
    (folder / "judge.json").write_text(json.dumps(content))
    with pytest.raises(Exception, match=r"judge\.json can't be read \(there is no signal 'luck'"):
        BERTJudge(str(folder))
