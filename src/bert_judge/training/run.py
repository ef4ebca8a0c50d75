"""From labelled rows to a judge's folder: checks, training, calibration, card."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.encoder.models import find_model, max_input_tokens, quiet_transformers
from bert_judge.errors import InputError, OutputError
from bert_judge.reading import InputForm, JudgeConfig, PromptEncoder
from bert_judge.records import Sample, versions
from bert_judge.training.config import TrainConfig
from bert_judge.training.result import TrainingFolder, TrainResult, calibrate, identity, make_card, measure
from bert_judge.training.rows import (
    Mix,
    TrainingRows,
    check_form,
    choose_rows,
    describe,
    drop_questions,
    grouped,
    labels_of,
)
from bert_judge.training.trainer import (
    RowsByEpoch,
    by_length,
    encode,
    make_collator,
    prepare_model,
    soft_cross_entropy,
    speed_up,
    training_arguments,
)
from bert_judge.wording import public_command

if TYPE_CHECKING:
    from transformers import Trainer, TrainingArguments

_EVALUATED = 2_000  # held-out rows that an evaluation during the training reads


def train(
    model_path: str,
    data: Any,
    output_dir: str | Path,
    form: InputForm | None = None,
    config: TrainConfig | None = None,
    *,
    training_mix: Mix | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    command: Sequence[str] = (),
) -> TrainResult:
    """Fine-tune an encoder on labelled rows and save it as a judge in `output_dir`.

    `model_path` is an encoder (a folder or a name on the Hub) with or without a head, or a judge to train further.
    `data` is anything that `read_examples` reads; rows without a label are dropped and counted. `form` is how the judge
    reads a row (default: the form of `model_path`; for an encoder, the paper's). The form's markers are added to the
    tokenizer and start as the mean of the tokens of their names. The loss is the cross-entropy of two logits, against
    [1 - p, p] if a label is a probability p. `training_mix` selects rows by task and model; the card shows `command`.

    The folder gets the weights (safetensors), the tokenizer, `judge.json` (form, temperature fitted on the held-out
    questions, and scope of `model_path`), a card, and `metrics.json`. An interrupted training resumes from its last
    state if it is run again with the same rows and settings; a finished one is not repeated. `allow_pickle` converts
    pickled weights. Under `accelerate launch` or `torchrun` every process calls this, and the first one writes.

    Raises InputError for unusable rows or settings, OutputError if the folder holds another result, ModelError if
    `model_path` is not an encoder, MissingExtraError if a package is missing; all before the weights are read.
    """
    config = config or TrainConfig()
    config.check_packages()
    rows = choose_rows(data, training_mix, config)
    source = find_model(model_path, trust_remote_code, allow_pickle)
    form = form or JudgeConfig.load(source).form
    check_form(source, form, rows, config, trust_remote_code)
    name = identity(source, [*rows.train, *rows.dev], form, config)
    folder = TrainingFolder(Path(output_dir), name, config.overwrite)
    record = folder.finished
    if record is None:
        base = source.resolve().name if Path(model_path).expanduser().is_dir() else model_path
        about = {"identity": name, "base_model": base, "command": public_command(command)}
        record = _Training(source, rows, form, config, folder, about).run(trust_remote_code)
    return TrainResult.of(folder.folder, record)


@dataclass(frozen=True, slots=True)
class _Training:
    """A training whose inputs are checked. `about` is the first part of its record."""

    source: Path
    rows: TrainingRows
    form: InputForm
    config: TrainConfig
    folder: TrainingFolder
    about: Mapping[str, Any]

    def run(self, trust_remote_code: bool) -> dict[str, Any]:
        """Train, calibrate and write the result; returns its record in every process."""
        from accelerate.utils import broadcast_object_list
        from transformers import AutoTokenizer, set_seed

        set_seed(self.config.seed)
        arguments = training_arguments(self.folder.states, self.folder.folder.name, self.config)
        tokenizer = AutoTokenizer.from_pretrained(self.source, trust_remote_code=trust_remote_code)
        model = prepare_model(self.source, tokenizer, self.form, self.config, trust_remote_code)
        encoder = PromptEncoder(tokenizer.backend_tokenizer, self.form, max_input_tokens(model.config.to_dict()))
        speed_up(model, arguments, encoder.form.max_tokens or 0)
        if arguments.should_save:
            self.folder.begin()
        trainer = self._trainer(model, arguments, encoder)
        trainer.accelerator.wait_for_everyone()
        with quiet_transformers() if self.config.quiet else nullcontext():
            trainer.train(resume_from_checkpoint=self.folder.last_state())
            trainer.compute_metrics = None
            prediction = trainer.predict(by_length(encode(encoder, self.rows.dev)))
            margins = _in_order(prediction)
            if not all(map(math.isfinite, margins)):
                raise InputError(
                    "the training diverged: the judge returns no numbers; try a learning_rate below "
                    f"{self.config.learning_rate:g}, or more warm-up."
                )
            record = self._save(trainer, tokenizer, encoder.form, margins, prediction.metrics["test_loss"])
        return broadcast_object_list([record])[0]  # type: ignore[no-any-return]

    def _trainer(self, model: Any, arguments: TrainingArguments, encoder: PromptEncoder) -> Trainer:
        from transformers import EarlyStoppingCallback, PrinterCallback, Trainer
        from transformers.integrations import TensorBoardCallback

        rows = encode(encoder, drop_questions(self.rows.train, self.form, self.config))
        rows_a_step = arguments.train_batch_size * arguments.gradient_accumulation_steps * arguments.world_size
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=RowsByEpoch(rows, rows_a_step, self.config.seed),
            eval_dataset=by_length(encode(encoder, self.rows.dev[:_EVALUATED])),
            data_collator=make_collator(model.config.pad_token_id or 0),
            compute_loss_func=soft_cross_entropy,
            compute_metrics=partial(_measures, self.rows.dev),
        )
        if self.config.patience is not None:
            trainer.add_callback(EarlyStoppingCallback(self.config.patience))
        if "tensorboard" in self.config.trackers:
            tensorboard = TensorBoardCallback()  # which would only read its folder from the environment
            tensorboard.logging_dir = str(self.config.logging_dir or self.folder.folder / "runs")
            trainer.add_callback(tensorboard)
        if self.config.quiet:
            trainer.remove_callback(PrinterCallback)
        return trainer

    def _save(self, trainer: Trainer, tokenizer: Any, form: InputForm, margins: list[float], loss: float) -> Any:
        """Write the result, its record last; returns the record. All processes take part: each may hold weights."""
        first = trainer.args.should_save
        record = self._record(trainer, form, margins, loss) if first else {}
        path = self.folder.folder
        try:
            if first:
                self.folder.invalidate()
            trainer.save_model(str(path))
            if first:
                (path / "training_args.bin").unlink(missing_ok=True)  # a pickle that nobody reads
                tokenizer.save_pretrained(path)
                scope = JudgeConfig.load(self.source).scope
                JudgeConfig(form=form, temperature=record["temperature"], scope=scope).save(path)
                (path / "README.md").write_text(make_card(path.resolve().name, record), encoding="utf-8")
                self.folder.complete(record)
        except OSError as error:
            raise OutputError(
                f"{path} can't be written ({error.strerror or error}); the training's states are kept there: fix this "
                "and run the same training again."
            ) from error
        return record

    def _record(self, trainer: Trainer, form: InputForm, margins: list[float], loss: float) -> dict[str, Any]:
        """The content of `metrics.json`."""
        labels = labels_of(self.rows.dev)
        temperature = calibrate(margins, labels)
        return {
            **self.about,
            "temperature": temperature,
            "dev_loss": loss,
            "dev": asdict(measure(margins, labels, temperature)),
            "tasks": {
                name: asdict(measure([margins[row] for row in rows], [labels[row] for row in rows], temperature))
                for name, rows in grouped(self.rows.dev, "task").items()
            },
            "data": describe(self.rows),
            "steps": {"all": trainer.state.global_step, "best": trainer.state.best_global_step},
            "history": [_without_times(entry) for entry in trainer.state.log_history if "eval_loss" in entry],
            "form": asdict(form),
            "settings": self.config.settings() | {"bf16": trainer.args.bf16, "processes": trainer.args.world_size},
            "versions": versions("torch", "transformers", "tokenizers", "accelerate", "numpy"),
        }


def _measures(dev: Sequence[Sample], prediction: Any) -> dict[str, float]:
    """The measures of an evaluation during the training, which may have read the first of the rows alone."""
    margins = _in_order(prediction)
    if not all(map(math.isfinite, margins)):
        return {}  # the logged loss shows the divergence
    measures = asdict(measure(margins, labels_of(dev[: len(margins)])))
    return {name: value for name, value in measures.items() if value is not None and name not in ("rows", "right")}


def _in_order(prediction: Any) -> list[float]:
    """The margins (correct minus incorrect) in the order of the rows; the Trainer sorts by length and repeats some."""
    logits, (_, numbers) = prediction.predictions, prediction.label_ids.T
    margins = dict(zip(numbers.astype(int).tolist(), (logits[:, 1] - logits[:, 0]).tolist(), strict=True))
    return [margins[number] for number in range(len(margins))]


def _without_times(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An evaluation without its duration, which differs from run to run."""
    names = sorted(name for name in entry if not name.endswith(("runtime", "per_second")))  # as in a resumed state
    return {name.removeprefix("eval_"): entry[name] for name in names}
