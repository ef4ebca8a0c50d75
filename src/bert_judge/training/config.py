"""The settings of a training, each of which is a flag of `bert-judge train`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from bert_judge.errors import InputError, require_extra

SCHEDULES = tuple("linear cosine cosine_with_restarts polynomial constant constant_with_warmup inverse_sqrt".split())
"""The learning rate schedules of transformers that need no further settings."""

STRATEGIES = ("steps", "epoch", "no")
TRACKERS = ("tensorboard", "wandb", "trackio")

# Settings that don't change the weights.
_COSMETIC = frozenset("logging_strategy logging_steps logging_dir report_to save_total_limit overwrite quiet".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The settings of a training. The defaults are the paper's, except that the paper used 8 devices (32 rows a step).

    Raises InputError for a setting that is out of range.
    """

    num_train_epochs: Annotated[float, "how often each row is seen"] = 1.0
    max_steps: Annotated[int | None, "stop after this many steps, whatever num_train_epochs is"] = None
    batch_size: Annotated[int, "rows in a batch on each device"] = 4
    gradient_accumulation_steps: Annotated[int, "batches per step: more rows a step in the same memory"] = 1
    learning_rate: Annotated[float, "the highest learning rate"] = 2e-5
    warmup_ratio: Annotated[float, "fraction of the steps in which the learning rate rises"] = 0.05
    lr_scheduler_type: Annotated[str, f"how the learning rate falls: {', '.join(SCHEDULES)}"] = "linear"
    weight_decay: Annotated[float, "decay of the weights (AdamW)"] = 0.0
    freeze_embeddings: Annotated[bool, "don't train the token embeddings"] = False
    hidden_dropout: Annotated[float | None, "replaces the encoder's own rate; 0 is a tenth faster"] = None
    attention_dropout: Annotated[
        float | None, "replaces the encoder's own rate; on a processor 0 is about a third faster"
    ] = None
    question_dropout: Annotated[
        float, "fraction of the rows that lose their question, if the judge learns to read with and without one"
    ] = 0.1
    dev_share: Annotated[
        float | None,
        "fraction of the questions held out, to choose the best state and calibrate (default: 0.05, more for few rows)",
    ] = None
    evaluations: Annotated[int, "evaluations during the training, evenly spread"] = 5
    patience: Annotated[int | None, "stop after this many evaluations without a lower loss"] = None
    bf16: Annotated[bool | None, "compute in bfloat16 (default: if the device does so natively)"] = None
    gradient_checkpointing: Annotated[bool, "compute activations twice instead of keeping them: less memory"] = False
    logging_strategy: Annotated[str, "when the loss is logged: steps, epoch or no"] = "steps"
    logging_steps: Annotated[int | None, "log every N steps (default: ten times per evaluation)"] = None
    logging_dir: Annotated[str | None, "folder for tensorboard (default: runs in the output folder)"] = None
    report_to: Annotated[tuple[str, ...] | None, f"where else logs go: {', '.join(TRACKERS)} (default: nowhere)"] = None
    save_strategy: Annotated[
        str, "when the judge is evaluated and a state is saved to resume from: steps, epoch or no (never saved)"
    ] = "steps"
    save_steps: Annotated[int | None, "evaluate and save a state every N steps (default: at each evaluation)"] = None
    save_total_limit: Annotated[int | None, "most saved states to keep; the best is always kept"] = 2
    seed: Annotated[int, "seed of all random choices"] = 0
    overwrite: Annotated[bool, "replace the result of another training in the output folder, or train again"] = False
    quiet: Annotated[bool, "print nothing"] = False

    def __post_init__(self) -> None:
        for name, within, expected in _limits(self):
            if not within:
                raise InputError(f"{name} is {getattr(self, name)!r}; {expected} was expected.")
        if self.patience is not None and self.save_strategy == "no":
            raise InputError("patience needs states to choose from, but save_strategy is 'no'; drop one of the two.")

    @property
    def trackers(self) -> tuple[str, ...]:
        """The names in `report_to`, without "none"."""
        return tuple(name for name in self.report_to or () if name != "none")

    def settings(self) -> dict[str, Any]:
        """The settings that change the weights, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _COSMETIC}

    def check_packages(self) -> None:
        """Raise MissingExtraError if a package that these settings need is missing."""
        require_extra("accelerate", "training", "accelerate", "train")
        for name in self.trackers:
            require_extra(name, f"report_to={name}", name, name)


def _limits(c: TrainConfig) -> list[tuple[str, bool, str]]:
    """The name of each limited setting, whether it is within its limits, and what was expected."""
    counts = "batch_size gradient_accumulation_steps evaluations".split()
    optional = "max_steps patience logging_steps save_steps save_total_limit".split()
    counts += [name for name in optional if getattr(c, name) is not None]
    return [
        ("num_train_epochs", c.num_train_epochs > 0, "a number above 0"),
        ("learning_rate", c.learning_rate > 0, "a number above 0"),
        ("warmup_ratio", 0 <= c.warmup_ratio < 1, "a fraction from 0 to below 1"),
        ("weight_decay", c.weight_decay >= 0, "0 or more"),
        ("hidden_dropout", 0 <= (c.hidden_dropout or 0) < 1, "a fraction from 0 to below 1"),
        ("attention_dropout", 0 <= (c.attention_dropout or 0) < 1, "a fraction from 0 to below 1"),
        ("question_dropout", 0 <= c.question_dropout <= 1, "a fraction from 0 to 1"),
        ("dev_share", c.dev_share is None or 0 < c.dev_share < 1, "a fraction between 0 and 1"),
        *((name, getattr(c, name) >= 1, "a number of at least 1") for name in counts),
        ("logging_strategy", c.logging_strategy in STRATEGIES, f"one of {', '.join(STRATEGIES)}"),
        ("save_strategy", c.save_strategy in STRATEGIES, f"one of {', '.join(STRATEGIES)}"),
        ("lr_scheduler_type", c.lr_scheduler_type in SCHEDULES, f"one of {', '.join(SCHEDULES)}"),
        ("report_to", set(c.trackers) <= {*TRACKERS}, f"one or more of {', '.join(TRACKERS)}"),
    ]
