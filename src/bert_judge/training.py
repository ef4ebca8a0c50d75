"""Train a judge: any encoder and labelled rows in, a model folder out."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bert_judge.errors import InputError, MissingExtraError
from bert_judge.evidence import find_evidence, words
from bert_judge.prompt import InputForm, JudgeConfig, PromptEncoder
from bert_judge.stats import fit_temperature
from bert_judge.types import Sample
from bert_judge.utils import find_model, has_native_bf16, load_hf_encoder, max_input_tokens, quiet_transformers

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, TrainingArguments


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How a judge is trained. The defaults are the paper's, but for the batch: `batch_size` rows on each device.

    `dev_share` of the questions are held out, for choosing the best state and for calibration; `question_dropout` of
    the rows lose their question where the input form has one with and one without. `attention_dropout=0` lets a
    processor use its fast attention, about a third quicker; None keeps the encoder's own. `patience` evaluations
    without a lower loss end the training. `resume` continues from the last state of the same
    training (rows, form and settings), kept under `states` in the output folder.
    """

    epochs: float = 1.0
    batch_size: int = 32
    learning_rate: float = 2e-5
    warmup_share: float = 0.05
    weight_decay: float = 0.0
    schedule: str = "linear"
    freeze_embeddings: bool = False
    attention_dropout: float | None = None
    question_dropout: float = 0.1
    dev_share: float = 0.05
    max_dev_rows: int = 2_000
    evaluations: int = 5
    patience: int | None = None
    bf16: bool | None = None
    seed: int = 0
    resume: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What training gave: the folder of the judge, and what it does on the questions held out."""

    folder: Path
    train_rows: int
    dev_rows: int
    temperature: float
    dev_accuracy: float
    dev_loss: float


def split_by_question(samples: Iterable[Sample], share: float) -> tuple[list[Sample], list[Sample]]:
    """Two lists, training and development, such that no question stands on both sides.

    The side depends on the words of the question alone (on the references where there is none), so that it is the same
    in every run and for every source.
    """
    sides: tuple[list[Sample], list[Sample]] = ([], [])
    for sample in samples:
        text = sample.question if sample.question is not None else " ".join(sample.references)
        key = " ".join(word.key for word in words(text))
        digest = hashlib.sha256(key.encode()).digest()
        sides[int.from_bytes(digest[:8], "big") < share * 2**64].append(sample)
    return sides


def train(
    model_path: str,
    samples: Iterable[Sample],
    output_dir: str | Path,
    form: InputForm | None = None,
    config: TrainConfig | None = None,
) -> TrainResult:
    """Fine-tune an encoder on samples with a gold label and save it as a judge in `output_dir`.

    `model_path` is an encoder (a folder, a name on the Hub) with or without a head. The markers of the input form are
    added to its tokenizer, where they start as the mean of the words that name them. The result holds the weights
    (safetensors), the tokenizer and `judge.json` with the input form and the temperature fitted on the rows held out.
    Raises InputError where there are no labelled rows of both kinds.
    """
    if importlib.util.find_spec("accelerate") is None:
        raise MissingExtraError("training", "accelerate", "train")
    from transformers import AutoTokenizer, PrinterCallback, Trainer, set_seed
    from transformers.trainer_utils import get_last_checkpoint

    form, config = form or InputForm(), config or TrainConfig()
    train_rows, dev_rows = _labelled_split(samples, config)
    set_seed(config.seed)
    source, output = find_model(model_path), Path(output_dir)
    states = output / "states" / _identity(source, train_rows, form, config)
    if not config.resume:
        shutil.rmtree(states, ignore_errors=True)
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = load_hf_encoder(model_path, dtype="float32", new_head=True, attention_dropout=config.attention_dropout)
    if form.marks and getattr(model.config, "type_vocab_size", 0) < 2:
        raise InputError(f"{source} has no second token type to carry match marks; train it with marks=False.")
    _add_markers(model, tokenizer, form)
    if config.freeze_embeddings:
        model.get_input_embeddings().requires_grad_(False)
    encoder = PromptEncoder(tokenizer.backend_tokenizer, form, max_input_tokens(model.config.to_dict()))
    trainer = Trainer(
        model=model,
        args=_training_arguments(states, len(train_rows), config),
        train_dataset=_encode(encoder, _drop_questions(train_rows, form, config)),
        eval_dataset=_encode(encoder, dev_rows[: config.max_dev_rows]),
        data_collator=_make_collator(model.config.pad_token_id or 0),
        compute_metrics=_accuracy,
        callbacks=_callbacks(config),
    )
    if config.quiet:
        trainer.remove_callback(PrinterCallback)
    with quiet_transformers() if config.quiet else nullcontext():
        trainer.train(resume_from_checkpoint=get_last_checkpoint(str(states)) if states.exists() else None)
        predicted = trainer.predict(_encode(encoder, dev_rows))
        margins = predicted.predictions[:, 1] - predicted.predictions[:, 0]
        # The Trainer predicts in an order of its own, by length.
        temperature = round(fit_temperature(margins.tolist(), predicted.label_ids.tolist()), 4)
        model.save_pretrained(output)
        tokenizer.save_pretrained(output)
    JudgeConfig(form=encoder.form, temperature=temperature).save(output)
    metrics = predicted.metrics or {}
    return TrainResult(
        output, len(train_rows), len(dev_rows), temperature, metrics["test_accuracy"], metrics["test_loss"]
    )


def _labelled_split(samples: Iterable[Sample], config: TrainConfig) -> tuple[list[Sample], list[Sample]]:
    """The labelled rows in random order, some questions set apart."""
    labelled = [sample for sample in samples if sample.gold is not None]
    train_rows, dev_rows = split_by_question(labelled, config.dev_share)
    for name, rows in (("training", train_rows), ("development", dev_rows)):
        if len({row.gold for row in rows}) < 2:
            raise InputError(
                f"{len(rows)} labelled {name} rows of {len(labelled)} hold one label only; "
                "right (1) and wrong (0) answers to several questions are needed."
            )
    shuffle = random.Random(config.seed).shuffle
    shuffle(train_rows)
    shuffle(dev_rows)
    return train_rows, dev_rows


def _identity(encoder: Path, rows: Sequence[Sample], form: InputForm, config: TrainConfig) -> str:
    """A name for this training alone: another one's states must not be taken for its own."""
    digest = hashlib.sha256(repr((encoder.resolve(), form, replace(config, resume=False, quiet=False))).encode())
    for row in rows:
        digest.update(repr((row.question, row.candidate, row.references, row.gold)).encode())
    return digest.hexdigest()[:12]


def _drop_questions(rows: Sequence[Sample], form: InputForm, config: TrainConfig) -> list[Sample]:
    """Some rows without their question, so that one judge learns both forms."""
    if not {"qcr", "cr"} <= set(form.forms):
        return list(rows)
    if not config.question_dropout and all(row.question is not None for row in rows):
        raise InputError("the forms 'qcr' and 'cr' need rows without a question, or a question_dropout above 0.")
    chance = random.Random(config.seed)
    return [replace(row, question=None) if chance.random() < config.question_dropout else row for row in rows]


def _add_markers(model: PreTrainedModel, tokenizer: Any, form: InputForm) -> None:
    """Teach tokenizer and model the markers; a new one starts as the mean of the words of its name."""
    import torch

    new = [marker for marker in form.markers if marker not in tokenizer.get_vocab()]
    names = {marker: tokenizer(marker.strip("<|>"), add_special_tokens=False).input_ids for marker in new}
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    tokenizer.add_tokens(new)
    model.resize_token_embeddings(
        max(len(tokenizer), model.get_input_embeddings().weight.shape[0]), mean_resizing=False
    )
    weight = model.get_input_embeddings().weight
    with torch.no_grad():
        for marker, ids in names.items():
            weight[tokenizer.convert_tokens_to_ids(marker)] = weight[ids].mean(dim=0)


def _training_arguments(output: Path, rows: int, config: TrainConfig) -> TrainingArguments:
    import torch
    from transformers import TrainingArguments

    steps = max(1, math.ceil(rows / config.batch_size * config.epochs))
    every = max(1, steps // config.evaluations)
    bf16 = config.bf16
    if bf16 is None:
        bf16 = torch.cuda.is_bf16_supported() if torch.cuda.is_available() else has_native_bf16()
    return TrainingArguments(
        output_dir=str(output),
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=4 * config.batch_size,
        learning_rate=config.learning_rate,
        warmup_steps=round(steps * config.warmup_share),
        weight_decay=config.weight_decay,
        lr_scheduler_type=config.schedule,
        train_sampling_strategy="group_by_length",
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="loss",
        logging_steps=max(1, every // 10),
        bf16=bf16,
        use_cpu=not torch.cuda.is_available(),
        report_to="none",
        seed=config.seed,
        disable_tqdm=config.quiet,
        log_level="error" if config.quiet else "passive",
    )


def _callbacks(config: TrainConfig) -> list[Any]:
    from transformers import EarlyStoppingCallback

    return [] if config.patience is None else [EarlyStoppingCallback(config.patience)]


def _encode(encoder: PromptEncoder, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Rows for the Trainer: the tokens of each sample's prompt, with its best reference where one is read a pass."""
    rows = []
    for prompts, sample in zip(encoder.encode(samples), samples, strict=True):
        best = find_evidence(sample.candidate, sample.references).best_reference if len(prompts) > 1 else 0
        tokens = prompts[best].tokens
        row: dict[str, Any] = {"input_ids": np.array(tokens.ids, np.int32), "labels": sample.gold}
        if tokens.types is not None:
            row["token_type_ids"] = np.array(tokens.types, np.int8)
        rows.append(row)
    return rows


def _make_collator(pad: int) -> Callable[[list[dict[str, Any]]], dict[str, torch.Tensor]]:
    """Pads rows to one length, a multiple of 8."""
    import torch

    def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        width = -(-max(len(row["input_ids"]) for row in rows) // 8) * 8
        batch = {
            "input_ids": torch.full((len(rows), width), pad),
            "attention_mask": torch.zeros(len(rows), width, dtype=torch.long),
            "labels": torch.tensor([row["labels"] for row in rows]),
        }
        if "token_type_ids" in rows[0]:
            batch["token_type_ids"] = torch.zeros(len(rows), width, dtype=torch.long)
        for i, row in enumerate(rows):
            n = len(row["input_ids"])
            batch["attention_mask"][i, :n] = 1
            for name in ("input_ids", "token_type_ids"):
                if name in row:
                    batch[name][i, :n] = torch.from_numpy(row[name])
        return batch

    return collate


def _accuracy(prediction: Any) -> dict[str, float]:
    logits, labels = prediction
    return {"accuracy": float(((logits[:, 1] > logits[:, 0]) == labels).mean())}
