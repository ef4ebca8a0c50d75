"""A checkpoint of the paper scores exactly as plain transformers computes it, without any of our code."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from bert_judge import BERTJudge, Sample
from conftest import ARCHITECTURES, PARIS, MakeJudge

QUESTION = "What is the capital of France?"
ROWS = [(QUESTION, text, "Paris") for text, _ in PARIS] + [
    ("Какой город — столица России?", "Это Москва.", "Москва"),
    ("中国的首都是哪里？", "答案是北京。", "北京"),
    ("Add.", "It was 1,977 or so, déjà là. " * 3, "1,977 %"),
]


def plain_scores(folder: Path, rows: list[tuple[str | None, str, str]], max_length: int = 128) -> list[float]:
    """sigmoid(logit1 - logit0) of `<|question|>Q<|candidate|>C<|reference|>R`, one row at a time."""
    import torch
    from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, truncation_side="left")
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype="float32").eval()
    scores = []
    for question, candidate, reference in rows:
        text = f"<|candidate|>{candidate}<|reference|>{reference}"
        text = text if question is None else f"<|question|>{question}{text}"
        settings = {"truncation": True, "max_length": max_length, "return_token_type_ids": False}
        batch = tokenizer(text, return_tensors="pt", **settings)
        with torch.no_grad():
            logits = model(**batch).logits[0]
        scores.append(torch.sigmoid(logits[1] - logits[0]).item())
    return scores


def test_every_architecture(make_judge: MakeJudge, subtests: pytest.Subtests) -> None:
    for runtime, architecture in product(["torch", "openvino"], ARCHITECTURES):
        with subtests.test(runtime=runtime, architecture=architecture):
            if runtime == "openvino" and architecture == "deberta-v2":
                pytest.skip("DeBERTa runs on PyTorch unless asked for")
            folder = make_judge(architecture)
            judge = BERTJudge(str(folder), dtype="float32", runtime=runtime)
            questions, candidates, references = map(list, zip(*ROWS, strict=True))
            expected = plain_scores(folder, ROWS)
            assert judge.predict(questions, candidates, references) == pytest.approx(expected, abs=1e-5)
            assert judge.predict(questions, candidates, references, batch_size=1) == pytest.approx(expected, abs=1e-5)
            assert max(expected) - min(expected) > 0.01  # the weights do tell the rows apart


def test_eurobert_saved_through_its_remote_code(make_judge: MakeJudge, subtests: pytest.Subtests) -> None:
    for runtime, pooling in product(["torch", "openvino"], ["late", "mean", "bos", None]):
        with subtests.test(runtime=runtime, pooling=pooling):
            folder = make_judge("eurobert", fresh=True, classifier_pooling=pooling or "late")
            expected = plain_scores(folder, ROWS)
            config = json.loads((folder / "config.json").read_text())
            del config["classifier_pooling"]
            config |= {"clf_pooling": pooling} if pooling else {}
            code = "modeling_eurobert.EuroBertForSequenceClassification"
            config["auto_map"] = {"AutoModelForSequenceClassification": code}
            (folder / "config.json").write_text(json.dumps(config))
            judge = BERTJudge(str(folder), trust_remote_code=True, dtype="float32", runtime=runtime)
            questions, candidates, references = map(list, zip(*ROWS, strict=True))
            assert judge.predict(questions, candidates, references) == pytest.approx(expected, abs=1e-5)


def test_without_questions(make_judge: MakeJudge) -> None:
    folder = make_judge("eurobert")
    rows = [(None, candidate, reference) for _, candidate, reference in ROWS]
    judge = BERTJudge(str(folder), dtype="float32")
    with pytest.warns(UserWarning, match="trained with one"):
        scores = judge.predict([], [row[1] for row in rows], [row[2] for row in rows])
    assert scores == pytest.approx(plain_scores(folder, rows), abs=1e-5)


def test_left_truncation_is_the_papers(make_judge: MakeJudge) -> None:
    folder = make_judge("eurobert")
    row = (QUESTION, "so the sum is Paris and " * 60 + "London", "Paris " * 5)
    judge = BERTJudge(str(folder), dtype="float32", truncation="left")
    assert judge.predict([row[0]], [row[1]], [row[2]]) == pytest.approx(plain_scores(folder, [row]), abs=1e-5)
    fair = BERTJudge(str(folder), dtype="float32").predict([row[0]], [row[1]], [row[2]])
    assert fair != pytest.approx(plain_scores(folder, [row]), abs=1e-4)


def test_several_references_take_the_best_of_single_passes(make_judge: MakeJudge) -> None:
    folder = make_judge("eurobert")
    references = ["Paris", "London", "Berlin"]
    judge = BERTJudge(str(folder), dtype="float32")
    singles = plain_scores(folder, [(QUESTION, "It is Paris.", reference) for reference in references])
    [verdict] = judge.assess([Sample("It is Paris.", tuple(references), QUESTION)])
    assert verdict.score == pytest.approx(max(singles), abs=1e-5)
    assert verdict.matched_reference == singles.index(max(singles))
