"""Training from any encoder: a judge's folder comes out, the same one every time."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
import yaml

from bert_judge import BERTJudge, Sample, __version__
from bert_judge.cli import main
from bert_judge.encoder.models import load_hf_encoder
from bert_judge.encoder.torch_runtime import first_token_only
from bert_judge.errors import InputError, MissingExtraError, ModelError, OutputError
from bert_judge.measures import Confusion, brier, expected_calibration_error, fit_temperature
from bert_judge.reading import InputForm, JudgeConfig
from bert_judge.training import TrainConfig, TrainResult, split_by_question, train
from bert_judge.training.trainer import soft_cross_entropy
from conftest import ARCHITECTURES, MARKERS, MakeJudge, Refused
from trainable import CONFIG, FORM, rows
from waiting import PATIENCE, wait_until


def judge_of(folder: Path) -> BERTJudge:
    return BERTJudge(str(folder), dtype="float32", runtime="torch")


def record_of(folder: Path) -> dict:
    return json.loads((folder / "metrics.json").read_text())


@pytest.fixture(scope="module")
def trained(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    return train(str(encoder), rows(), tmp_path_factory.mktemp("trained"), FORM, CONFIG)


def weights(folder: Path) -> dict[str, list[float]]:
    from safetensors.torch import load_file

    return {name: tensor.flatten().tolist() for name, tensor in load_file(folder / "model.safetensors").items()}


def test_the_result_is_a_judge(trained: TrainResult) -> None:
    judge, questions = judge_of(trained.folder), [f"What is the capital of {n}?" for n in range(9)]
    right, wrong = (judge.predict(questions, ["It is Wien."] * 9, [city] * 9) for city in ("Wien", "Oslo"))
    assert min(right) > max(wrong)  # it learnt what the marks mean
    assert trained.dev.accuracy > 0.9
    assert trained.train_rows + trained.dev_rows == 300
    assert trained.dev_loss > 0
    assert 30 <= trained.dev_rows <= 90
    names = {path.name for path in trained.folder.iterdir() if path.is_file()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "judge.json"} <= names
    assert not [name for name in names if name.endswith((".pt", ".pth", ".bin"))]
    assert json.loads((trained.folder / "config.json").read_text())["id2label"] == {"0": "wrong", "1": "right"}
    config = JudgeConfig.load(trained.folder)
    assert config.temperature == trained.temperature > 0
    budgets = config.form.question_tokens, config.form.candidate_tokens, config.form.reference_tokens
    assert None not in budgets
    assert sum(filter(None, budgets)) == 48 - 2 - 3
    assert replace(config.form, question_tokens=None, candidate_tokens=None, reference_tokens=None) == FORM


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
    [verdict] = judge_of(trained.folder).assess([Sample(candidate, (reference,), question)])
    assert verdict.details["logit"] == pytest.approx(yes - no, abs=1e-4)
    assert verdict.score == pytest.approx(1 / (1 + math.exp((no - yes) / trained.temperature)), abs=1e-5)


def test_new_markers_are_added_as_the_mean_of_their_names(encoder: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    frozen = replace(CONFIG, freeze_embeddings=True, num_train_epochs=0.1)
    folder = train(str(encoder), rows(), tmp_path, FORM, frozen).folder
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    old = load_file(encoder / "model.safetensors")["embeddings.word_embeddings.weight"]
    new = load_file(folder / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(new[: len(old)], old)  # frozen
    before = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    size = before.get_vocab_size()
    assert [before.token_to_id(marker) for marker in MARKERS] == [None] * 3
    assert [tokenizer.token_to_id(marker) for marker in MARKERS] == [size, size + 1, size + 2]
    assert json.loads((folder / "config.json").read_text())["vocab_size"] == size + 3
    for marker in MARKERS:
        ids = tokenizer.encode(marker.strip("<|>"), add_special_tokens=False).ids
        assert len(ids) > 1
        assert torch.allclose(new[tokenizer.token_to_id(marker)], old[ids].mean(dim=0))


def test_the_temperature_is_fitted_on_what_the_judge_says(encoder: Path, tmp_path: Path) -> None:
    chance = random.Random(5)
    longer = [replace(row, candidate=row.candidate + " So it is." * chance.randrange(3)) for row in rows(500)]
    noisy = [replace(row, gold=int(chance.random() < 0.2) ^ row.gold) for row in longer]
    result = train(str(encoder), noisy, tmp_path, FORM, CONFIG)
    assert 0.1 < result.temperature < 9  # not at an end of what is searched
    held_out = split_by_question(noisy, CONFIG.dev_share)[1]
    verdicts = list(judge_of(tmp_path).assess(held_out))
    gold = [row.gold for row in held_out]
    expected = fit_temperature([verdict.details["logit"] for verdict in verdicts], gold)
    assert result.temperature == pytest.approx(expected, rel=1e-2)
    correct = [verdict.label == row.gold for verdict, row in zip(verdicts, held_out, strict=True)]
    assert result.dev.accuracy == pytest.approx(sum(correct) / len(correct))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_bfloat16_on_a_processor_learns_the_same(make_judge: MakeJudge, architecture: str, tmp_path: Path) -> None:
    """Its attention is computed in another way, of which no trace is left."""
    config = replace(CONFIG, num_train_epochs=1, attention_dropout=0.0, hidden_dropout=0.0, save_strategy="no")
    encoder, form = str(make_judge(architecture)), replace(FORM, marks=False)
    exact = train(encoder, rows(), tmp_path / "exact", form, config)
    short = train(encoder, rows(), tmp_path / "short", form, replace(config, bf16=True))
    assert short.dev_loss == pytest.approx(exact.dev_loss, abs=0.02)
    assert (short.folder / "config.json").read_text() == (exact.folder / "config.json").read_text()


def test_the_same_seed_gives_the_same_weights(encoder: Path, trained: TrainResult, tmp_path: Path) -> None:
    again = train(str(encoder), rows(), tmp_path / "again", FORM, CONFIG)
    assert weights(again.folder) == weights(trained.folder)
    assert replace(again, folder=trained.folder) == trained
    other = train(str(encoder), rows(), tmp_path / "other", FORM, replace(CONFIG, seed=4))
    assert weights(other.folder) != weights(trained.folder)


def test_a_training_that_is_done_is_not_done_again(encoder: Path, tmp_path: Path) -> None:
    short = replace(CONFIG, max_steps=4)
    first = train(str(encoder), rows(), tmp_path, FORM, short)
    written = (tmp_path / "model.safetensors").stat().st_mtime_ns
    assert train(str(encoder), rows(), tmp_path, FORM, replace(short, save_total_limit=1)) == first
    assert (tmp_path / "model.safetensors").stat().st_mtime_ns == written
    assert train(str(encoder), rows(), tmp_path, FORM, replace(short, overwrite=True)) == first
    assert (tmp_path / "model.safetensors").stat().st_mtime_ns > written


def test_another_result_is_not_overwritten_unasked(
    encoder: Path, trained: TrainResult, tmp_path: Path, refused: Refused
) -> None:
    folder = Path(shutil.copytree(trained.folder, tmp_path / "there"))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for change in [
        {"data": rows()[:-1]},
        {"data": [replace(row, gold=0.9 * row.gold) for row in rows()]},
        {"form": replace(FORM, max_tokens=47)},
        {"config": replace(CONFIG, learning_rate=1e-3)},
        {"model_path": str(trained.folder)},
    ]:
        message = "holds another training.*choose another folder, or set overwrite=True"
        with refused(match=message, error=OutputError, change=[*change]):
            arguments = {"model_path": str(encoder), "data": rows(), "form": FORM, "config": CONFIG} | change
            train(output_dir=folder, **arguments)
        assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    folder = Path(shutil.copytree(encoder, tmp_path / "encoder"))
    with refused("holds a model", error=OutputError):
        train(str(encoder), rows(), folder, FORM, CONFIG)
    assert not (folder / "judge.json").exists()


_KILLED = """
import sys
from trainable import CONFIG, FORM, rows
from bert_judge.training import train
train(sys.argv[1], rows(), sys.argv[2], FORM, CONFIG)
"""


def whole_states(folder: Path) -> list[Path]:
    """The states of a training, oldest first, without one that is only written in part."""
    complete = []
    for path in folder.glob("states/*/checkpoint-*/trainer_state.json"):
        with contextlib.suppress(json.JSONDecodeError):
            json.loads(path.read_text())
            complete.append(path.parent)
    return sorted(complete, key=lambda path: int(path.name.split("-")[1]))


def test_a_killed_training_goes_on(encoder: Path, trained: TrainResult, tmp_path: Path) -> None:
    """Killed while it writes a state, which is left in parts: the result is that of a training in one go."""
    from transformers import Trainer

    folder = tmp_path / "killed"
    command = [sys.executable, "-c", _KILLED, str(encoder), str(folder)]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[1], stderr=subprocess.PIPE)
    try:
        wait_until(lambda: whole_states(folder) or process.poll() is not None, "a state is complete")
        assert process.poll() is None, process.stderr.read()
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not (folder / "metrics.json").exists()
    [states] = folder.glob("states/*")
    last = whole_states(folder)[-1]
    broken = states / "checkpoint-9999"
    shutil.copytree(last, broken, ignore=shutil.ignore_patterns("trainer_state.json"))
    (broken / "trainer_state.json").write_text('{"epoch"')

    began = []
    with pytest.MonkeyPatch.context() as patch:
        real = Trainer.train

        def recording(self: Trainer, resume_from_checkpoint: str | None = None) -> object:
            began.append(resume_from_checkpoint)
            return real(self, resume_from_checkpoint)

        patch.setattr(Trainer, "train", recording)
        resumed = train(str(encoder), rows(), folder, FORM, CONFIG)
    assert Path(began[0]).name == last.name  # the newest whole state
    assert weights(folder) == weights(trained.folder)
    assert replace(resumed, folder=trained.folder) == trained
    assert (folder / "metrics.json").read_text() == (trained.folder / "metrics.json").read_text()


def test_two_processes_train_one_judge(encoder: Path, tmp_path: Path) -> None:
    """`torchrun` on processors (gloo): each step takes rows from both, and one process writes."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\nfrom dataclasses import replace\nfrom pathlib import Path\n"
        "from trainable import CONFIG, FORM, rows\n"
        "from bert_judge.training import train\n"
        "result = train(sys.argv[1], rows(), sys.argv[2], FORM, replace(CONFIG, batch_size=8))\n"
        "Path(sys.argv[2] + '.' + os.environ['RANK']).write_text(repr(result))\n"
        "import torch.distributed\n"
        "torch.distributed.destroy_process_group()\n"  # its threads may abort a process that ends with them
    )
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(script)]
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    out = tmp_path / "out"
    run += [str(encoder), str(out)]
    done = subprocess.run(run, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    # A file each: what two processes print may be one line inside the other.
    first, second = (Path(f"{out}.{rank}").read_text() for rank in (0, 1))
    assert first == second
    record = record_of(out)
    assert record["settings"]["processes"] == 2
    assert record["steps"]["all"] == 6 * math.ceil(record["data"]["train"] / 16)
    # Rows that were given to both processes to fill the last batch are counted once, and none is lost.
    assert record["dev"]["rows"] == record["data"]["dev"]
    assert record["dev"] == pytest.approx(measured(out, record["temperature"]), abs=1e-5)


def measured(folder: Path, temperature: float, data: Sequence[Sample] | None = None) -> dict[str, float]:
    """The measures of a judge on the rows held out, from what it says of them."""
    held_out = split_by_question(rows() if data is None else data, CONFIG.dev_share)[1]
    verdicts = list(judge_of(folder).assess(held_out))
    scores, golds = [verdict.score for verdict in verdicts], [row.gold for row in held_out]
    confusion = Confusion.count(zip(golds, [verdict.label for verdict in verdicts], strict=True))
    assert JudgeConfig.load(folder).temperature == temperature
    return {
        "rows": len(golds),
        "right": round(sum(golds) / len(golds), 4),
        "accuracy": confusion.accuracy,
        "f1": confusion.f1,
        "kappa": confusion.kappa,
        "brier": brier(scores, golds),
        "ece": expected_calibration_error(scores, golds),
    }


def test_evaluations_measure_what_the_judge_does(trained: TrainResult) -> None:
    record = record_of(trained.folder)
    assert record["dev"] == pytest.approx(measured(trained.folder, trained.temperature), abs=1e-5)
    assert asdict(trained.dev) == record["dev"]
    assert [entry["step"] for entry in record["history"]] == sorted({entry["step"] for entry in record["history"]})
    assert len(record["history"]) == CONFIG.evaluations
    for entry in record["history"]:
        assert {"loss", "accuracy", "f1", "brier", "ece"} <= set(entry)
    assert record["steps"]["best"] == min(record["history"], key=lambda entry: entry["loss"])["step"]


def test_tasks_are_measured_alone(encoder: Path, tmp_path: Path) -> None:
    samples = [replace(row, meta={"task": "even" if n % 4 < 2 else "odd"}) for n, row in enumerate(rows())]
    result = train(str(encoder), samples, tmp_path, FORM, replace(CONFIG, max_steps=8))
    assert set(result.tasks) == {"even", "odd"}
    assert sum(measures.rows for measures in result.tasks.values()) == result.dev_rows
    for name, measures in result.tasks.items():
        expected = measured(tmp_path, result.temperature, [row for row in samples if row.meta["task"] == name])
        assert asdict(measures) == pytest.approx(expected, abs=1e-5)


def test_soft_labels_of_two_kinds_are_told_apart(encoder: Path, tmp_path: Path) -> None:
    samples = [replace(row, gold=0.9 if row.gold else 0.2) for row in rows()]
    result = train(str(encoder), samples, tmp_path, FORM, CONFIG)
    texts = ["What is the capital of 3?"] * 2, ["It is Wien.", "It is Oslo."], ["Wien"] * 2
    right, wrong = judge_of(tmp_path).predict(*texts)
    assert (right, wrong) == (pytest.approx(0.9, abs=0.1), pytest.approx(0.2, abs=0.1))
    assert result.dev.accuracy > 0.9
    # The best that can be: a row that is right with probability p is p (1 - p) away from p.
    assert 0.09 < result.dev.brier < 0.17


def test_the_loss_of_hard_labels_is_that_of_transformers() -> None:
    import torch
    from transformers.modeling_outputs import SequenceClassifierOutput

    logits = torch.tensor([[0.3, -1.2], [2.0, 0.1], [-0.5, 0.4]])
    outputs = SequenceClassifierOutput(logits=logits)
    labels = torch.tensor([[1.0, 0], [0, 1], [1, 2]])
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([1, 0, 1]))
    assert soft_cross_entropy(outputs, labels) == pytest.approx(expected.item())
    # One of two batches of a step, which has 6 rows in all.
    assert soft_cross_entropy(outputs, labels, torch.tensor(12)) == pytest.approx(expected.item() / 2)


def test_neither_accumulating_nor_checkpointing_changes_a_number(encoder: Path, tmp_path: Path) -> None:
    plain_encoder = Path(shutil.copytree(encoder, tmp_path / "encoder"))
    config = json.loads((plain_encoder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # whose chance depends on the batches
    (plain_encoder / "config.json").write_text(json.dumps(config))
    steps = replace(CONFIG, max_steps=6)
    halves = replace(steps, batch_size=8, gradient_accumulation_steps=2)
    once = train(str(plain_encoder), rows(), tmp_path / "once", FORM, replace(steps, batch_size=16))
    twice = train(str(plain_encoder), rows(), tmp_path / "twice", FORM, halves)
    assert twice.dev_loss == pytest.approx(once.dev_loss, abs=1e-4)
    expected, actual = weights(once.folder), weights(twice.folder)
    assert all(actual[name] == pytest.approx(values, abs=2e-4) for name, values in expected.items())
    computed_again = replace(halves, gradient_checkpointing=True)
    computed = train(str(plain_encoder), rows(), tmp_path / "again", FORM, computed_again)
    assert computed.dev_loss == pytest.approx(twice.dev_loss, abs=1e-6)


def test_patience_ends_a_training_that_does_not_get_better(encoder: Path, tmp_path: Path) -> None:
    stuck = replace(CONFIG, learning_rate=1e-30, evaluations=10, patience=2)
    train(str(encoder), rows(), tmp_path, FORM, stuck)
    record = record_of(tmp_path)
    assert len(record["history"]) == 3  # the first is the best, and two more are waited for
    assert record["steps"]["all"] < 6 * record["data"]["train"] / 16 / 2


def test_a_training_that_diverges_says_so(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"diverged.*a learning_rate below 1e\+30"):
        train(str(encoder), rows(), tmp_path, FORM, replace(CONFIG, max_steps=8, learning_rate=1e30))
    assert not (tmp_path / "metrics.json").exists()


def test_steps_and_states_are_as_asked_for_and_quiet_is_quiet(
    encoder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = replace(CONFIG, max_steps=7, save_steps=3, save_total_limit=1)
    capfd.readouterr()
    train(str(encoder), rows(), tmp_path, FORM, config)
    assert capfd.readouterr() == ("", "")
    record = record_of(tmp_path)
    assert [entry["step"] for entry in record["history"]] == [3, 6, 7]
    kept = {int(path.name.split("-")[1]) for path in tmp_path.glob("states/*/checkpoint-*")}
    assert kept == {record["steps"]["best"]}


def test_no_states_are_kept_where_none_are_wanted(encoder: Path, tmp_path: Path) -> None:
    train(str(encoder), rows(), tmp_path, FORM, replace(CONFIG, max_steps=4, save_strategy="no"))
    assert not list(tmp_path.glob("states/*/*"))
    assert record_of(tmp_path)["steps"] == {"all": 4, "best": None}


def test_enough_is_held_out_of_few_rows_by_default(encoder: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    config = replace(CONFIG, dev_share=None, max_steps=1, evaluations=1, save_strategy="no")
    for questions, answers, share in [(1500, 1, 0.05), (600, 1, 0.1), (300, 1, 0.2), (60, 1, 0.2), (6, 50, None)]:
        with subtests.test(questions=questions, answers=answers):
            data = []
            for n in range(questions * answers):
                question = f"Which digit has town number {n // answers}?"
                data.append(Sample(f"It is {n}.", (str(n * n % 2),), question, gold=n % 2))
            result = train(str(encoder), data, tmp_path / f"{questions}", FORM, config)
            record = record_of(result.folder)["data"]
            assert record["dev_share"] == share or share is None
            assert record["train"] + record["dev"] == len(data)
            held_out = split_by_question(data, record["dev_share"])[1]
            assert len(held_out) == record["dev"]
            assert {sample.gold for sample in held_out} == {0, 1}


def test_settings_are_checked_at_once(refused: Refused):
    for settings, sentence in [
        ({"num_train_epochs": 0}, "num_train_epochs is 0; a number above 0"),
        ({"max_steps": 0}, "max_steps is 0; a number of at least 1"),
        ({"batch_size": 0}, "batch_size is 0; a number of at least 1"),
        ({"warmup_ratio": 1.0}, r"warmup_ratio is 1\.0; a fraction"),
        ({"lr_scheduler_type": "step"}, "lr_scheduler_type is 'step'; one of linear, cosine"),
        ({"save_strategy": "best"}, "save_strategy is 'best'; one of steps, epoch, no"),
        ({"dev_share": 0.0}, r"dev_share is 0\.0"),
        ({"patience": 2, "save_strategy": "no"}, "patience needs states"),
        ({"report_to": ("mlflow",)}, r"report_to is \('mlflow',\); one or more of tensorboard, wandb, trackio"),
    ]:
        with refused(match=sentence, settings=settings):
            TrainConfig(**settings)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    for tracker in ("tensorboard", "wandb", "trackio"):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, none=tracker: None if name == none else object())
        message = rf"report_to={tracker} needs the package {tracker}.*\[{tracker}\]"
        with refused(match=message, error=MissingExtraError):
            train("no-such-model", rows(), tmp_path, FORM, replace(CONFIG, report_to=(tracker,)))


def test_logs_for_tensorboard(encoder: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    config = replace(CONFIG, max_steps=4, report_to=("tensorboard",), logging_dir=str(tmp_path / "logs"))
    train(str(encoder), rows(), tmp_path / "out", FORM, config)
    [events] = (tmp_path / "logs").glob("events.*")
    assert b"eval/brier" in events.read_bytes()


def test_the_card_tells_what_a_person_needs(encoder: Path, tmp_path: Path) -> None:
    meta = {"task": "cities|x", "label_source": "people"}
    samples = [replace(row, meta={**meta, "model": f"m{n % 2}"}) for n, row in enumerate(rows())]
    config = replace(CONFIG, max_steps=4)
    data = [*samples, *(replace(row, gold=None) for row in rows(7))]
    mix = {"cities|x": {"m0": 1.0, "m1": 100}}
    command = ["bert-judge", "train", "--model_path", "an encoder"]
    result = train(str(encoder), data, tmp_path / "judge", FORM, config, training_mix=mix, command=command)
    card = (tmp_path / "judge" / "README.md").read_text()
    _, head, text = card.split("---\n", 2)
    header = {"library_name": "bert-judge", "pipeline_tag": "text-classification", "base_model": encoder.name}
    assert yaml.safe_load(head) == header | {"tags": ["bert-judge", "evaluation"]}
    assert result.train_rows + result.dev_rows == 250
    assert f"{result.train_rows} rows. Dropped: 7 undecided rows, and 50 that the training mix leaves out." in text
    dev = result.dev
    assert f"| **all** | {dev.rows} | {dev.right:.0%} | {dev.accuracy:.3f} |" in text
    for part in ("| cities\\|x |", "| m0 | 150 | 0% |", "| m1 | 100 | 100% |", "| people | 250 |"):
        assert part in text
    for part in ("bert-judge train --model_path 'an encoder'", f"bert-judge {__version__}", '"learning_rate": 0.003'):
        assert part in text
    assert f"a temperature of {result.temperature:g}" in text


def test_marks_add_token_types_that_are_learnt_and_kept_in_a_further_training(
    trained: TrainResult, tmp_path: Path
) -> None:
    types = weights(trained.folder)["bert.embeddings.token_type_embeddings.weight"]
    assert len(types) == 10 * 32
    assert types[32:64] != types[:32]  # it began as the first one
    short = replace(CONFIG, num_train_epochs=0.2, learning_rate=1e-6)
    further = train(str(trained.folder), rows(), tmp_path, FORM, short)
    assert further.dev.accuracy == pytest.approx(trained.dev.accuracy, abs=0.05)  # the head was kept
    before, after = (json.loads((f / "config.json").read_text()) for f in (trained.folder, further.folder))
    assert before["vocab_size"] == after["vocab_size"]
    assert before["type_vocab_size"] == after["type_vocab_size"] == 10


def test_an_architecture_without_token_types_gets_them_for_marks(make_judge: MakeJudge, tmp_path: Path) -> None:
    encoder = make_judge("mpnet")
    config = replace(CONFIG, num_train_epochs=1, learning_rate=1e-2)
    folder = train(str(encoder), rows(), tmp_path / "marked", FORM, config).folder
    types = weights(folder)["mpnet.embeddings.token_type_embeddings.weight"]
    assert len(types) == 10 * 32
    assert any(types[32:64])
    samples = rows(8)
    by_runtime = [
        [verdict.score for verdict in BERTJudge(str(folder), dtype="float32", runtime=runtime).assess(samples)]
        for runtime in ("torch", "openvino")
    ]
    assert by_runtime[0] == pytest.approx(by_runtime[1], abs=1e-4)
    model = load_hf_encoder(str(folder), dtype="float32")
    ids = torch.tensor([[0, 9, 8, 7, 2]])
    [whole] = model(ids, torch.ones_like(ids), ids % 3).logits.tolist()
    [first] = first_token_only(model)(ids, torch.ones_like(ids), ids % 3).logits.tolist()
    assert first == pytest.approx(whole, abs=1e-6)
    plain, typed = (model(ids, torch.ones_like(ids), kinds).logits for kinds in (torch.zeros_like(ids), ids % 3))
    assert not torch.allclose(plain, typed)
    untouched = load_hf_encoder(str(encoder), dtype="float32", new_head=True)  # types that add nothing yet
    original = load_hf_encoder(str(encoder), dtype="float32")
    assert torch.equal(untouched(ids, torch.ones_like(ids)).logits, original(ids, torch.ones_like(ids)).logits)


@pytest.mark.parametrize("architecture", ["roberta", "eurobert"])
def test_other_architectures_are_trained_without_marks(make_judge: MakeJudge, tmp_path: Path, architecture: str):
    encoder, short = str(make_judge(architecture)), replace(CONFIG, num_train_epochs=0.2, patience=1)
    with pytest.raises(InputError, match="token type"):
        train(encoder, rows(), tmp_path / "out", FORM, CONFIG)
    assert not (tmp_path / "out").exists()
    with pytest.raises(ModelError, match="was not found"):
        train("no-such-model", rows(), tmp_path / "out", FORM, CONFIG)
    result = train(encoder, rows(), tmp_path, InputForm(), short)
    [score] = BERTJudge(str(result.folder), dtype="float32").predict(["q"], ["Paris it is"], ["Paris"])
    assert 0 < score < 1
    assert JudgeConfig.load(tmp_path).form.references == "best"


@pytest.mark.parametrize(("forms", "dropped"), [(("qcr", "cr"), True), (("qcr",), False)])
def test_questions_are_dropped_only_where_both_forms_are_trained(
    encoder: Path, tmp_path: Path, forms: tuple[str, ...], dropped: bool
) -> None:
    """Seen in the result: without questions in training, the marker of questions never gets a gradient."""
    from safetensors.torch import load_file

    config = replace(CONFIG, num_train_epochs=0.5, question_dropout=1.0)
    form = replace(FORM, forms=forms)
    folder = train(str(encoder), rows(), tmp_path, form, config).folder
    still = replace(config, num_train_epochs=0.1, freeze_embeddings=True)
    frozen = train(str(encoder), rows(), tmp_path / "frozen", form, still).folder
    name = "bert.embeddings.word_embeddings.weight"
    moved = (load_file(folder / "model.safetensors")[name] - load_file(frozen / "model.safetensors")[name])[-3:]
    assert [bool(row.abs().max() > 0) for row in moved] == [not dropped, True, True]


def test_another_trainings_states_are_not_taken(encoder: Path, tmp_path: Path) -> None:
    short = replace(CONFIG, max_steps=8)
    train(str(encoder), rows(), tmp_path, FORM, short)
    changed = [replace(row, question=f"Well, {row.question}") for row in rows()]
    expected = train(str(encoder), changed, tmp_path / "fresh", FORM, short)
    retrained = train(str(encoder), changed, tmp_path, FORM, replace(short, overwrite=True))
    assert replace(retrained, folder=expected.folder) == expected
    assert weights(tmp_path) == weights(tmp_path / "fresh")


PROJECT = Path(__file__).parents[2]


def test_the_page_on_distilling_runs(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every Python command of it, in their order, with a tiny encoder in the place of a real one."""
    shutil.copytree(PROJECT / "examples", tmp_path / "examples")
    shutil.copytree(encoder, tmp_path / "encoders" / "ModernBERT-base")
    monkeypatch.setenv("LOCAL_MODELS_DIR", str(tmp_path / "encoders"))
    monkeypatch.chdir(tmp_path)
    page = (PROJECT / "docs" / "distil.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    (command,) = re.findall(r"^bert-judge (train .*--dataset_path labelled\.jsonl .*)$", page, re.MULTILINE)
    assert main(shlex.split(command)) == 0
    assert Path("models/from-a-file/metrics.json").exists()
    teacher, pupil = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("teacher", "pupil"))]
    assert float(teacher.split()[1]) > 0.5
    assert 0 <= float(pupil.split()[1]) <= 1
    record = record_of(Path("models/my-judge"))
    assert record["data"]["by_label_source"] == {"starter": {"rows": 98, "right": pytest.approx(0.5, abs=0.2)}}
    assert len(record["tasks"]) > 3
    assert 'base_model: "answerdotai/ModernBERT-base"' in Path("models/my-judge/README.md").read_text()
