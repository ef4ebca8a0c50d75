"""BERTScore as a judge: what it says besides the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from bert_judge import BERTScorer, Sample
from bert_judge.errors import InputError
from bert_judge.judges import BERTScore
from conftest import Refused

SAMPLES = [
    Sample("A cat was sitting.", ("Dogs bark.", "The cat sat.")),
    Sample("London is big.", ("Paris is big.",), "Which city is big?"),
    Sample("word " * 600, ("a word",)),
    Sample("x", ("",)),
]


def test_f1_is_the_score_and_precision_and_recall_are_details() -> None:
    verdicts = list(BERTScore(dtype="float32").assess(SAMPLES))
    precision, recall, f1 = BERTScorer(dtype="float32").score(
        [sample.candidate for sample in SAMPLES[:2]], [sample.references for sample in SAMPLES[:2]]
    )
    for i, verdict in enumerate(verdicts[:2]):
        numbers = verdict.details["precision"], verdict.details["recall"], verdict.score
        assert numbers == pytest.approx((float(precision[i]), float(recall[i]), float(f1[i])), abs=1e-5)
        assert verdict.label is None
    assert [verdict.matched_reference for verdict in verdicts] == [1, 0, 0, 0]
    assert verdicts[2].truncated["candidate"] > 400
    assert (verdicts[3].score, verdicts[3].explanation) == (0.0, "the reference is empty")


def test_a_threshold_makes_labels() -> None:
    judge = BERTScore(threshold=0.6)
    scores = judge.predict(None, ["The cat sat.", "Taxes rise."], ["The cat sat.", "The cat sat."])
    labels = [verdict.label for verdict in judge.assess([Sample("The cat sat.", ("The cat sat.",)), SAMPLES[3]])]
    assert scores[0] == pytest.approx(1, abs=1e-3)
    assert labels == [1, 0]
    assert judge.info.signature.settings["threshold"] == "0.6"
    assert judge.info.signature != BERTScore().info.signature


def test_idf_reads_the_whole_input_first_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "idf.json"
    judge = BERTScore(idf_path=str(path), dtype="float32")
    with pytest.raises(InputError, match=r"call fitted\(samples\) first"):
        next(judge.assess(SAMPLES))
    fitted = judge.fitted(SAMPLES)
    expected = [verdict.score for verdict in fitted.assess(SAMPLES)]
    again = BERTScore(idf_path=str(path), dtype="float32")  # the file is there now
    assert [verdict.score for verdict in again.fitted(SAMPLES[:1]).assess(SAMPLES)] == expected
    assert again.info.signature == fitted.info.signature
    assert fitted.info.signature.settings["idf"] != "none"
    texts = [sample.candidate for sample in SAMPLES], [sample.references for sample in SAMPLES]
    assert BERTScore(idf=True, dtype="float32").predict(None, *texts) == pytest.approx(expected, abs=1e-6)
    plain = [verdict.score for verdict in BERTScore(dtype="float32").assess(SAMPLES)]
    assert plain[0] != pytest.approx(expected[0], abs=1e-4)


def test_bad_options_are_told_in_a_sentence(refused: Refused) -> None:
    for options, message in [({"threshold": float("nan")}, "threshold is nan"), ({"lang": "tlh"}, "language 'tlh'")]:
        with refused(message, options=options):
            BERTScore(**options)


def test_a_pair_that_the_model_does_not_know_says_so() -> None:
    rows = [Sample("😢", ("😂",)), Sample("Paris", ("Rome",)), Sample("", ("😂",))]
    unknown = "the model knows no token of either text, and reads both as the same"
    explanations = [verdict.explanation for verdict in BERTScore(dtype="float32").assess(rows)]
    assert explanations == [unknown, None, "the candidate is empty"]
