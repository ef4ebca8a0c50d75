"""FluencyJudge: the mean token log probability of a candidate, the same as a plain loop over rows gives."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge import Sample
from bert_judge.errors import ModelError
from bert_judge.judges import FluencyJudge
from conftest import Refused
from language_models import save_language_model

ROWS = [
    Sample("Paris.", ("Paris",), "What is the capital of France?"),
    Sample("The capital of France is Paris, of Germany Berlin.", ("Paris, of France", "Berlin"), "Capital?"),
    Sample("Überfluss, 答案是北京。", ("x",), "Reply with one line."),
    Sample("The candidate is right. " * 5, ("right", "The candidate is right."), "Is it right?"),
    Sample("Paris.", ("Paris",), "What is the capital of France?"),
    Sample("a", ("It is one letter.",), "?"),
]


def causal_loop(folder: Path, before: str | None, text: str) -> float:
    """log-softmax and gather, a row at a time: what one writes with transformers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    source = "" if before is None else before + "\n"
    context = [tokenizer.bos_token_id, *_plain(tokenizer, source)]
    own = _plain(tokenizer, text)
    with torch.no_grad():
        logits = model(torch.tensor([context + own])).logits[0].float()
    found = logits.log_softmax(-1)[len(context) - 1 : -1].gather(1, torch.tensor(own)[:, None])
    return found.mean().item()


def sequence_loop(folder: Path, before: str, text: str) -> float:
    """As BARTScore does: the target's tokens, those that the tokenizer puts around it too."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    source, target = (tokenizer(each, return_tensors="pt").input_ids for each in (before, text))
    with torch.no_grad():
        logits = model(input_ids=source, labels=target).logits[0].float()
    return logits.log_softmax(-1).gather(1, target[0][:, None]).mean().item()


def _plain(tokenizer: object, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False).input_ids if text else []


def scores(judge: FluencyJudge, rows: list[Sample] = ROWS) -> list[float | None]:
    return [verdict.score for verdict in judge.assess(rows)]


def test_a_causal_model_scores_the_candidate_alone(plain_model: Path) -> None:
    judge = FluencyJudge(str(plain_model), dtype="float32")
    verdicts = list(judge.assess(ROWS))
    expected = [causal_loop(plain_model, None, row.candidate) for row in ROWS]
    assert [verdict.score for verdict in verdicts] == pytest.approx(expected, abs=1e-4)
    assert len({round(score, 3) for score in expected}) == 5
    assert [verdict.label for verdict in verdicts] == [None] * len(ROWS)
    assert verdicts[-1].details == {"tokens": 1}
    assert (judge.info.scale, judge.info.threshold, judge.info.reads_references) == ("score", None, False)


def test_a_causal_model_reads_a_question_before(plain_model: Path) -> None:
    found = scores(FluencyJudge(str(plain_model), dtype="float32", source="question"))
    assert found == pytest.approx([causal_loop(plain_model, row.question, row.candidate) for row in ROWS], abs=1e-4)


def test_a_sequence_model_writes_the_candidate_after_the_question(sequence_model: Path) -> None:
    found = scores(FluencyJudge(str(sequence_model), dtype="float32", source="question"))
    assert found == pytest.approx([sequence_loop(sequence_model, r.question, r.candidate) for r in ROWS], abs=1e-4)


def test_the_reference_after_which_the_candidate_is_likeliest_counts(sequence_model: Path) -> None:
    judge = FluencyJudge(str(sequence_model), dtype="float32", source="reference")
    assert judge.info.reads_references
    assert judge.info.name == f"{sequence_model.name}-reference"
    for verdict, row in zip(judge.assess(ROWS), ROWS, strict=True):
        each = [sequence_loop(sequence_model, reference, row.candidate) for reference in row.references]
        assert verdict.score == pytest.approx(max(each), abs=1e-4)
        assert verdict.matched_reference == each.index(max(each))


@pytest.mark.parametrize("batch_tokens", [1, 100, 100_000])
def test_batches_change_nothing(plain_model: Path, sequence_model: Path, batch_tokens: int) -> None:
    for model, source in ((plain_model, None), (sequence_model, "question")):
        judge = FluencyJudge(str(model), dtype="float32", source=source, batch_tokens=batch_tokens)
        alone = [scores(judge, [row])[0] for row in ROWS]
        assert scores(judge) == pytest.approx(alone, abs=1e-5)


def test_a_threshold_labels(plain_model: Path) -> None:
    low, *_, high = sorted({score for score in scores(FluencyJudge(str(plain_model), "float32")) if score})
    judge = FluencyJudge(str(plain_model), dtype="float32", threshold=(low + high) / 2)
    verdicts = list(judge.assess(ROWS))
    assert [verdict.label for verdict in verdicts] == [
        int(verdict.score >= judge.info.threshold) for verdict in verdicts
    ]
    assert {verdict.label for verdict in verdicts} == {0, 1}
    assert judge.info.signature != FluencyJudge(str(plain_model), dtype="float32").info.signature


def test_long_texts_lose_their_end_and_say_so(plain_model: Path, sequence_model: Path) -> None:
    long = "The capital of France is Paris. " * 200
    (verdict,) = FluencyJudge(str(plain_model), dtype="float32").assess([Sample(long, ("x",))])
    assert verdict.details == {"tokens": 255}  # one of 256 positions is the first token's
    kept = len(long) - verdict.truncated["candidate"]
    assert verdict.score == pytest.approx(causal_loop(plain_model, None, long[:kept]), abs=1e-4)

    for model in (plain_model, sequence_model):
        judge = FluencyJudge(str(model), dtype="float32", source="question", max_tokens=40)
        both, candidate, question = judge.assess(
            [Sample(long, ("x",), long), Sample(long, ("x",), "Where?"), Sample("A.", ("x",), long)]
        )
        assert set(both.truncated) == {"candidate", "question"}
        assert set(candidate.truncated) == {"candidate"}
        assert set(question.truncated) == {"question"}


def test_special_tokens_in_texts_are_plain_text(plain_model: Path) -> None:
    (verdict,) = FluencyJudge(str(plain_model), dtype="float32").assess([Sample("<|end|>", ("x",))])
    assert verdict.details["tokens"] > 1


def test_undecided_without_a_candidate_or_a_source(plain_model: Path, sequence_model: Path) -> None:
    rows = [Sample(" \n", ("x",), "Where?"), Sample("Paris.", ("Paris",)), Sample("Paris.", ("Paris",), "Where?")]
    for model in (plain_model, sequence_model):
        empty, without, whole = FluencyJudge(str(model), source="question").assess(rows)
        assert (empty.score, empty.explanation) == (None, "the candidate is empty")
        assert without.score is None
        assert "no question" in without.explanation
        assert whole.score < 0


def test_bad_input_is_told_in_a_sentence(
    plain_model: Path, sequence_model: Path, make_judge: Callable[..., Path], tmp_path: Path, refused: Refused
) -> None:
    for arguments, said in (
        ({"source": "answer"}, "source is 'answer'; 'question', 'reference' or None was expected"),
        ({"threshold": math.nan}, "threshold is nan; a number was expected"),
        ({"max_tokens": 4}, "max_tokens is 4; a number from 8 to 256"),
        ({"max_tokens": 300}, "max_tokens is 300; a number from 8 to 256"),
        ({"batch_tokens": 0}, "batch_tokens is 0; a number of at least 1"),
        ({"dtype": "int8"}, "dtype is 'int8'"),
    ):
        with refused(said):
            FluencyJudge(str(plain_model), **arguments)
    with refused("a sequence-to-sequence model, which reads one text and writes another: set source"):
        FluencyJudge(str(sequence_model))
    with refused("is not a language model", error=ModelError):
        FluencyJudge(str(make_judge("bert")))
    filler = save_language_model(tmp_path / "filler", template=None)
    config = json.loads((filler / "config.json").read_text())
    (filler / "config.json").write_text(json.dumps(config | {"architectures": ["BertForMaskedLM"]}))
    with refused("trained to fill in masked words", error=ModelError):
        FluencyJudge(str(filler))


def test_score_with_fluency(plain_model: Path, folder: Path, command: Callable[..., tuple[int, str, str]]) -> None:
    row = {"question": "Where?", "reference": "Paris", "candidate": "In Paris."}
    Path("rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row | {"candidate": ""}) + "\n")
    flags = ("--judge", "FluencyJudge", "--model_path", plain_model, "--dtype", "float32", "-o", "out")
    status, out, _ = command("score", "rows.jsonl", *flags)
    assert status == 0
    assert "undecided   1" in out
    records = [json.loads(line) for line in Path("out/verdicts.jsonl").read_text().splitlines()]
    assert records[0]["score"] == pytest.approx(causal_loop(plain_model, None, "In Paris."), abs=1e-4)
    assert records[1]["score"] is None
