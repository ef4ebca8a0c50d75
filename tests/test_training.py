"""Training from any encoder: a judge's folder comes out, the same one every time."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.errors import InputError, ModelError
from bert_judge.prompt import InputForm, JudgeConfig
from bert_judge.stats import fit_temperature
from bert_judge.training import TrainConfig, TrainResult, split_by_question, train
from conftest import CORPUS, MARKERS, make_tokenizer

CITIES = "Paris London Berlin Moskau Madrid Rom Wien Bern Oslo Riga".split()
FORM = InputForm(forms=("qcr", "cr"), marks=True, references="joined", max_tokens=48)
CONFIG = TrainConfig(
    epochs=6, batch_size=16, learning_rate=3e-3, dev_share=0.2, evaluations=4, bf16=False, quiet=True, seed=3
)


def rows(count: int = 300) -> list[Sample]:
    """Answers that are right if they name the reference: what match marks show."""
    chance = random.Random(0)
    made = []
    for n in range(count):
        right, said = chance.sample(CITIES, 2)
        gold = n % 2
        made.append(
            Sample(f"It is {right if gold else said}.", (right,), f"What is the capital of {n % 60}?", gold=gold)
        )
    return made


def save_encoder(folder: Path) -> Path:
    """A BERT as it comes from pretraining: no head, no markers."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer = make_tokenizer("bert")
    pieces = "quest candi refer".split()  # the markers' names are several tokens
    tokenizer.train_from_iterator([*CORPUS[:2], *CITIES, *pieces], _trainer())
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(fast),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        pad_token_id=fast.pad_token_id,
    )
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def _trainer():
    from tokenizers import trainers

    return trainers.WordPieceTrainer(vocab_size=500, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"])


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def trained(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    return train(str(encoder), rows(), tmp_path_factory.mktemp("trained"), FORM, CONFIG)


def weights(folder: Path) -> dict[str, list[float]]:
    from safetensors.torch import load_file

    return {name: tensor.flatten().tolist() for name, tensor in load_file(folder / "model.safetensors").items()}


def test_the_result_is_a_judge(trained: TrainResult) -> None:
    judge = BERTJudge(str(trained.folder), dtype="float32", runtime="torch")
    right, wrong = (
        judge.predict([f"What is the capital of {n}?" for n in range(9)], ["It is Wien."] * 9, [city] * 9)
        for city in ("Wien", "Oslo")
    )
    assert min(right) > max(wrong)  # it learnt what the marks mean
    assert trained.dev_accuracy > 0.9
    assert (trained.train_rows + trained.dev_rows, trained.dev_loss > 0) == (300, True)
    assert 30 <= trained.dev_rows <= 90


def test_the_result_is_a_model_of_plain_transformers(trained: TrainResult) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(trained.folder)
    model = AutoModelForSequenceClassification.from_pretrained(trained.folder).eval()
    # Nothing is shared here, so that no mark is missing in what plain transformers reads.
    question, candidate, reference = "What is the capital of 3?", "It is Wien.", "Oslo"
    text = f"<|question|>{question}<|candidate|>{candidate}<|reference|>{reference}"
    with torch.no_grad():
        batch = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        no, yes = model(**batch).logits[0].tolist()
    judge = BERTJudge(str(trained.folder), dtype="float32", runtime="torch")
    [verdict] = judge.assess([Sample(candidate, (reference,), question)])
    assert verdict.details["logit"] == pytest.approx(yes - no, abs=1e-4)
    assert verdict.score == pytest.approx(
        torch.sigmoid(torch.tensor((yes - no) / trained.temperature)).item(), abs=1e-5
    )


def test_markers_were_added_as_the_mean_of_their_names(encoder: Path, trained: TrainResult) -> None:
    from tokenizers import Tokenizer

    before = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    after = Tokenizer.from_file(str(trained.folder / "tokenizer.json"))
    size = before.get_vocab_size()
    assert [before.token_to_id(marker) for marker in MARKERS] == [None] * 3
    assert [after.token_to_id(marker) for marker in MARKERS] == [size, size + 1, size + 2]
    assert json.loads((trained.folder / "config.json").read_text())["vocab_size"] == size + 3


def test_new_markers_start_as_the_mean_of_their_names(encoder: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    frozen = replace(CONFIG, freeze_embeddings=True, epochs=0.1)
    folder = train(str(encoder), rows(), tmp_path, FORM, frozen).folder
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    old = load_file(encoder / "model.safetensors")["embeddings.word_embeddings.weight"]
    new = load_file(folder / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(new[: len(old)], old)  # frozen
    for marker in MARKERS:
        ids = tokenizer.encode(marker.strip("<|>"), add_special_tokens=False).ids
        assert len(ids) > 1
        assert torch.allclose(new[tokenizer.token_to_id(marker)], old[ids].mean(dim=0))


def test_form_and_temperature_are_stored(trained: TrainResult) -> None:
    config = JudgeConfig.load(trained.folder)
    assert config.temperature == trained.temperature > 0
    budgets = config.form.question_tokens, config.form.candidate_tokens, config.form.reference_tokens
    assert None not in budgets
    assert sum(filter(None, budgets)) == 48 - 2 - 3
    assert replace(config.form, question_tokens=None, candidate_tokens=None, reference_tokens=None) == FORM


def test_the_temperature_is_fitted_on_what_the_judge_says(encoder: Path, tmp_path: Path) -> None:
    chance = random.Random(5)
    noisy = [
        replace(
            row,
            candidate=row.candidate + " So it is." * chance.randrange(3),
            gold=int(chance.random() < 0.2) ^ row.gold,
        )
        for row in rows(500)
    ]
    result = train(str(encoder), noisy, tmp_path, FORM, CONFIG)
    assert 0.1 < result.temperature < 9  # not at an end of what is searched
    held_out = split_by_question(noisy, CONFIG.dev_share)[1]
    verdicts = list(BERTJudge(str(tmp_path), dtype="float32", runtime="torch").assess(held_out))
    gold = [row.gold for row in held_out]
    expected = fit_temperature([verdict.details["logit"] for verdict in verdicts], gold)
    assert result.temperature == pytest.approx(expected, rel=1e-2)
    correct = [verdict.label == row.gold for verdict, row in zip(verdicts, held_out, strict=True)]
    assert result.dev_accuracy == pytest.approx(sum(correct) / len(correct))


def test_only_safetensors_are_written_as_the_result(trained: TrainResult) -> None:
    names = {path.name for path in trained.folder.iterdir() if path.is_file()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "judge.json"} <= names
    assert not [name for name in names if name.endswith((".pt", ".pth")) or name == "pytorch_model.bin"]


def test_the_same_seed_gives_the_same_weights(encoder: Path, trained: TrainResult, tmp_path: Path) -> None:
    again = train(str(encoder), rows(), tmp_path / "again", FORM, CONFIG)
    assert weights(again.folder) == weights(trained.folder)
    assert replace(again, folder=trained.folder) == trained
    other = train(str(encoder), rows(), tmp_path / "other", FORM, replace(CONFIG, seed=4))
    assert weights(other.folder) != weights(trained.folder)


def test_a_training_that_was_stopped_goes_on(encoder: Path, tmp_path: Path) -> None:
    """Stopped after its first epoch: that state is left, and nothing of the result."""
    config = replace(CONFIG, batch_size=15, evaluations=2)  # 225 rows: the state is that of a whole epoch
    whole = train(str(encoder), rows(), tmp_path, FORM, config)
    expected = weights(tmp_path)
    first, last = sorted(tmp_path.glob("states/*/checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    shutil.rmtree(last)
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()
    written = (first / "model.safetensors").stat().st_mtime_ns
    resumed = train(str(encoder), rows(), tmp_path, FORM, replace(config, resume=True))
    assert weights(tmp_path) == expected
    assert (first / "model.safetensors").stat().st_mtime_ns == written  # not trained again
    assert last.exists()
    assert resumed == whole


def test_resuming_takes_the_state_that_is_there(encoder: Path, trained: TrainResult, tmp_path: Path) -> None:
    """All steps were done: nothing is trained again, and the result is the same."""
    stopped = Path(shutil.copytree(trained.folder, tmp_path / "stopped"))
    for path in stopped.iterdir():
        if path.is_file():
            path.unlink()
    resumed = train(str(encoder), rows(), stopped, FORM, replace(CONFIG, resume=True))
    assert weights(resumed.folder) == weights(trained.folder)


def test_resuming_without_a_state_begins(encoder: Path, trained: TrainResult, tmp_path: Path) -> None:
    begun = train(str(encoder), rows(), tmp_path / "new", FORM, replace(CONFIG, resume=True))
    assert weights(begun.folder) == weights(trained.folder)


def test_a_judge_can_be_trained_further(trained: TrainResult, tmp_path: Path) -> None:
    short = replace(CONFIG, epochs=0.2, learning_rate=1e-6)
    further = train(str(trained.folder), rows(), tmp_path, FORM, short)
    assert further.dev_accuracy == pytest.approx(trained.dev_accuracy, abs=0.05)  # the head was kept
    before, after = (json.loads((f / "config.json").read_text()) for f in (trained.folder, further.folder))
    assert before["vocab_size"] == after["vocab_size"]


def test_quiet_is_quiet(encoder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    train(str(encoder), rows(), tmp_path, FORM, replace(CONFIG, epochs=0.2))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("architecture", ["roberta", "eurobert"])
def test_marks_need_an_encoder_that_reads_them(
    make_judge: Callable[..., Path], tmp_path: Path, architecture: str
) -> None:
    with pytest.raises(InputError, match="token type"):
        train(str(make_judge(architecture)), rows(), tmp_path / "out", FORM, CONFIG)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("architecture", ["roberta", "eurobert"])
def test_other_architectures(make_judge: Callable[..., Path], tmp_path: Path, architecture: str) -> None:
    short = replace(CONFIG, epochs=0.2, patience=1)
    result = train(str(make_judge(architecture)), rows(), tmp_path, InputForm(), short)
    [score] = BERTJudge(str(result.folder), dtype="float32").predict(["q"], ["Paris"], ["Paris"])
    assert 0 < score < 1
    assert JudgeConfig.load(tmp_path).form.references == "best"


def test_no_question_stands_on_both_sides() -> None:
    made = [Sample(str(n), ("x",), f"Question {n % 90}?", gold=n % 2) for n in range(900)]
    training, development = split_by_question(made, 0.3)
    assert not {row.question for row in training} & {row.question for row in development}
    assert len(training) + len(development) == 900
    assert 0.1 < len(development) / 900 < 0.5
    order = made[:]
    random.Random(1).shuffle(order)
    for again, first in zip(split_by_question(order, 0.3), (training, development), strict=True):
        assert {row.candidate for row in again} == {row.candidate for row in first}
    alone = [split_by_question([row], 0.3)[1] == [row] for row in made]
    assert [row for row, held in zip(made, alone, strict=True) if held] == development


def test_the_side_depends_on_the_questions_words() -> None:
    for n in range(50):
        spellings = [f"What is {n}, really?", f"what IS {n} really", f"  What is {n}.0 — really?!"]
        sides = {len(split_by_question([Sample("a", ("b",), text)], 0.5)[1]) for text in spellings}
        assert len(sides) == 1
    without = [Sample("a", (f"reference {n}",)) for n in range(200)]
    training, development = split_by_question(without, 0.5)
    assert min(len(training), len(development)) > 50  # without a question, the references decide
    moved = [replace(row, candidate="another") for row in development]
    assert split_by_question(moved, 0.5) == ([], moved)


def test_a_share_of_nothing_and_of_everything() -> None:
    made = rows(50)
    assert split_by_question(made, 0.0) == (made, [])
    assert split_by_question(made, 1.0) == ([], made)


@pytest.mark.parametrize(
    "made",
    [
        [],
        [replace(row, gold=1) for row in rows()],
        [replace(row, gold=None) for row in rows()],
        [replace(row, question="the same") for row in rows()],  # one side gets them all
    ],
)
def test_rows_of_both_kinds_are_needed(tmp_path: Path, made: list[Sample]) -> None:
    with pytest.raises(InputError, match=r"labelled (training|development) rows .* hold one label only"):
        train("no-such-model", made, tmp_path / "out", FORM, CONFIG)  # said before a model is looked for
    assert not (tmp_path / "out").exists()


def test_an_encoder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="was not found"):
        train("no-such-model", rows(), tmp_path / "out", FORM, CONFIG)


def test_rows_without_label_are_left_out(encoder: Path, trained: TrainResult, tmp_path: Path) -> None:
    more = [*rows(), *(replace(row, gold=None) for row in rows(40))]
    result = train(str(encoder), more, tmp_path, FORM, replace(CONFIG, epochs=0.1))
    assert (result.train_rows, result.dev_rows) == (trained.train_rows, trained.dev_rows)


@pytest.mark.parametrize(
    ("forms", "share", "without"),
    [(("qcr", "cr"), 1.0, 1), (("qcr",), 1.0, 0)],
)
def test_questions_are_dropped_only_where_both_forms_are_trained(
    encoder: Path, tmp_path: Path, forms: tuple[str, ...], share: float, without: int
) -> None:
    """Seen in the result: without questions in training, the marker of questions never gets a gradient."""
    from safetensors.torch import load_file

    config = replace(CONFIG, epochs=0.5, question_dropout=share)
    folder = train(str(encoder), rows(), tmp_path, replace(FORM, forms=forms), config).folder
    frozen = train(
        str(encoder),
        rows(),
        tmp_path / "frozen",
        replace(FORM, forms=forms),
        replace(config, epochs=0.1, freeze_embeddings=True),
    ).folder
    name = "bert.embeddings.word_embeddings.weight"
    moved = (load_file(folder / "model.safetensors")[name] - load_file(frozen / "model.safetensors")[name])[-3:]
    assert [bool(row.abs().max() > 0) for row in moved] == [not without, True, True]


def test_another_trainings_states_are_not_taken(encoder: Path, tmp_path: Path) -> None:
    train(str(encoder), rows(), tmp_path, FORM, CONFIG)
    changed = [replace(row, question=f"Well, {row.question}") for row in rows()]
    expected = train(str(encoder), changed, tmp_path / "fresh", FORM, CONFIG)
    resumed = train(str(encoder), changed, tmp_path, FORM, replace(CONFIG, resume=True))
    assert replace(resumed, folder=expected.folder) == expected
    assert weights(tmp_path) == weights(tmp_path / "fresh")
