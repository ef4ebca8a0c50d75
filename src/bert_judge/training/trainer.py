"""The inputs of transformers' Trainer: a model with the markers, rows, a loss, and arguments."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.encoder.devices import fastest_dtype
from bert_judge.encoder.models import load_hf_encoder
from bert_judge.errors import InputError
from bert_judge.reading import InputForm, PromptEncoder, match
from bert_judge.records import Sample, Tokens
from bert_judge.training.config import TrainConfig

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, TrainingArguments

_SORTED_STEPS = 50  # steps whose rows are sorted by length together
_PLAIN_ATTENTION_TOKENS = 512  # with longer inputs, all attention weights of a layer would take much memory


def prepare_model(
    source: Path, tokenizer: Any, form: InputForm, config: TrainConfig, trust_remote_code: bool
) -> PreTrainedModel:
    """The encoder in float32, with a head of two outputs and the markers of the form."""
    model = load_hf_encoder(
        str(source),
        trust_remote_code,
        "float32",
        new_head=True,
        attention_dropout=config.attention_dropout,
        hidden_dropout=config.hidden_dropout,
    )
    if config.gradient_checkpointing and not model.supports_gradient_checkpointing:
        raise InputError(f"{source} does not support gradient_checkpointing; train it without, in smaller batches.")
    _add_markers(model, tokenizer, form)
    _add_token_types(model, form.token_types)
    model.config.id2label, model.config.label2id = {0: "wrong", 1: "right"}, {"wrong": 0, "right": 1}
    model.config.problem_type = "single_label_classification"
    if config.freeze_embeddings:
        model.get_input_embeddings().requires_grad_(False)
    return model


def _add_markers(model: PreTrainedModel, tokenizer: Any, form: InputForm) -> None:
    """Add the markers to tokenizer and model; each new one starts as the mean of the tokens of its name."""
    import torch

    # Tokenizer and model must agree on the padding token; a bare tokenizer.json names none.
    if tokenizer.pad_token_id is None and model.config.pad_token_id is not None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(model.config.pad_token_id)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    new = [marker for marker in form.markers if marker not in tokenizer.get_vocab()]
    names = {marker: tokenizer(marker.strip("<|>"), add_special_tokens=False).input_ids for marker in new}
    tokenizer.add_tokens(new)
    size = max(len(tokenizer), model.get_input_embeddings().weight.shape[0])
    model.resize_token_embeddings(size, mean_resizing=False)
    weight = model.get_input_embeddings().weight
    with torch.no_grad():
        for marker, ids in names.items():
            weight[tokenizer.convert_tokens_to_ids(marker)] = weight[ids].mean(dim=0)


def _add_token_types(model: PreTrainedModel, count: int) -> None:
    """Extend the token types to `count`; new ones start as the first, which most tokens have.

    Where that is zero, as in MPNet, to which types are added, they start at random: from zero, at the low learning rate
    of a pretrained encoder, a training would end before they say anything.
    """
    import torch

    for module in model.modules():
        old = getattr(module, "token_type_embeddings", None)
        if isinstance(old, torch.nn.Embedding) and old.num_embeddings < count:
            new = torch.nn.Embedding(count, old.embedding_dim)
            with torch.no_grad():
                new.weight[:] = old.weight[:1]
                if not old.weight.any():
                    new.weight.normal_(std=model.config.initializer_range)
                new.weight[: old.num_embeddings] = old.weight
            module.token_type_embeddings = new
            model.config.type_vocab_size = count


def speed_up(model: PreTrainedModel, arguments: TrainingArguments, max_tokens: int) -> None:
    """Make the model faster without changing its results, for inputs of at most `max_tokens`.

    On a processor PyTorch's fused attention takes longer than plain matrix products in bfloat16, mostly for the
    gradient. These hold all attention weights of a layer at once, whose number grows with the square of the length.
    """
    from bert_judge.encoder.torch_runtime import first_token_only

    first_token_only(model)
    slow = arguments.use_cpu and arguments.bf16 and model.config._attn_implementation == "sdpa"
    if slow and max_tokens <= _PLAIN_ATTENTION_TOKENS:
        model.set_attn_implementation("eager")


def encode(encoder: PromptEncoder, examples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Rows for the Trainer: the tokens of each prompt, with the best reference if a pass reads only one.

    `labels` are the label and the number of the row, which identifies it after an evaluation on several devices.
    """
    import numpy as np

    rows = []
    examples = [replace(encoder.form.answer_of(example).sample, gold=example.gold) for example in examples]
    encoded = encoder.encode(examples)
    for number, (prompts, example) in enumerate(zip(encoded, examples, strict=True)):
        best = match(example.candidate, example.references).best_reference if len(prompts) > 1 else 0
        tokens = prompts[best].tokens
        row: dict[str, Any] = {"input_ids": np.array(tokens.ids, np.int32), "labels": (example.gold, number)}
        if tokens.types is not None:
            row["token_type_ids"] = np.array(tokens.types, np.int8)
        rows.append(row)
    return rows


def by_length(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, longest first, so that batches need little padding and lack of memory shows at once."""
    return sorted(rows, key=lambda row: -len(row["input_ids"]))


class RowsByEpoch:
    """Rows in a new order each epoch, with similar lengths in each step; the order depends only on seed and epoch.

    The Trainer's own order by length depends on the state of a random generator, so that a training resumed within an
    epoch would see some rows twice and others never.
    """

    def __init__(self, rows: Sequence[dict[str, Any]], rows_a_step: int, seed: int) -> None:
        self._rows = rows
        self._rows_a_step = rows_a_step
        self._seed = seed
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Switch to the order of an epoch; the data loader calls this."""
        chance = random.Random(f"{self._seed}-{epoch}")
        order = list(range(len(self._rows)))
        chance.shuffle(order)
        step, many = self._rows_a_step, _SORTED_STEPS * self._rows_a_step
        steps = []
        for start in range(0, len(order), many):
            alike = sorted(order[start : start + many], key=lambda i: len(self._rows[i]["input_ids"]))
            steps += [alike[i : i + step] for i in range(0, len(alike), step)]
        short = [rows for rows in steps if len(rows) < step]  # at most one, which must come last
        steps = [rows for rows in steps if len(rows) == step]
        chance.shuffle(steps)
        self._order = [i for rows in [*steps, *short] for i in rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self._rows[self._order[place]]


def make_collator(pad_id: int) -> Callable[[list[dict[str, Any]]], dict[str, torch.Tensor]]:
    """A function that pads rows to one length, a multiple of 8."""
    import torch

    from bert_judge.encoder.batching import pad

    def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        inputs = [Tokens(row["input_ids"], row.get("token_type_ids")) for row in rows]
        width = -(-max(len(tokens.ids) for tokens in inputs) // 8) * 8
        names = ["input_ids", "attention_mask", *(["token_type_ids"] if "token_type_ids" in rows[0] else [])]
        arrays = pad(tuple(range(len(rows))), inputs, width, pad_id).arrays(names)
        labels = torch.tensor([row["labels"] for row in rows], dtype=torch.float32)
        return {"labels": labels, **dict(zip(names, map(torch.from_numpy, arrays), strict=True))}

    return collate


def soft_cross_entropy(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
    """The cross-entropy of two logits against [1 - p, p], as a mean over the rows of a step.

    For hard labels it equals the loss of transformers, which takes soft ones for independent labels of the logits.
    `num_items_in_batch` is the count of numbers in the labels of the whole step, on all devices.
    """
    import torch

    p = labels[:, 0].to(outputs.logits.dtype)
    losses = torch.nn.functional.cross_entropy(outputs.logits, torch.stack([1 - p, p], -1), reduction="sum")
    if num_items_in_batch is None:
        return losses / len(labels)
    items = torch.as_tensor(num_items_in_batch, device=losses.device)
    # Several devices in one process each get a copy of the count, and the Trainer multiplies by their number.
    return losses * labels.shape[1] / items.flatten()[0] / items.numel()


def training_arguments(states: Path, name: str, config: TrainConfig) -> TrainingArguments:
    """The Trainer's arguments; it evaluates each state that it saves, to choose the best."""
    import torch
    from transformers import TrainingArguments

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    saves = config.save_strategy != "no"
    interval = config.save_steps or _fraction(config.evaluations)
    checkpointing = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
    return TrainingArguments(
        output_dir=str(states),
        run_name=name,
        num_train_epochs=config.num_train_epochs,
        max_steps=config.max_steps or -1,
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=4 * config.batch_size,
        gradient_accumulation_steps=config.gradient_accumulation_steps,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_ratio,
        weight_decay=config.weight_decay,
        lr_scheduler_type=config.lr_scheduler_type,
        train_sampling_strategy="sequential",  # of `RowsByEpoch`
        eval_strategy=config.save_strategy if saves else "steps",
        eval_steps=interval,
        save_strategy=config.save_strategy,
        save_steps=interval,
        save_total_limit=config.save_total_limit,
        load_best_model_at_end=saves,
        metric_for_best_model="loss",
        greater_is_better=False,
        restore_callback_states_from_checkpoint=True,
        logging_strategy=config.logging_strategy,
        logging_steps=config.logging_steps or _fraction(10 * config.evaluations),
        bf16=fastest_dtype(device) == "bfloat16" if config.bf16 is None else config.bf16,
        use_cpu=device.type == "cpu",
        report_to=[name for name in config.trackers if name != "tensorboard"] or "none",
        seed=config.seed,
        disable_tqdm=config.quiet,
        log_level="error" if config.quiet else "passive",
        **(checkpointing if config.gradient_checkpointing else {}),
    )


def _fraction(times: int) -> float:
    """An interval that occurs this many times, as the fraction of the steps (below 1) that the Trainer expects."""
    return min(1 / times, 1 - 1e-9)
