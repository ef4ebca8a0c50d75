"""From labelled rows to a judge's folder: checks first, then the training, then calibration and the card."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.addresses import public_command
from bert_judge.errors import InputError, OutputError
from bert_judge.evidence import Combiner, find_signals
from bert_judge.models import find_model, max_input_tokens, quiet_transformers
from bert_judge.prompt import InputForm, JudgeConfig, PromptEncoder
from bert_judge.training.card import make_card, versions
from bert_judge.training.config import TrainConfig
from bert_judge.training.data import TrainingRows, check_form, describe, drop_questions, read_rows
from bert_judge.training.hub import check_hub, push
from bert_judge.training.measures import Measures, calibrate, measure
from bert_judge.training.mix import Mix
from bert_judge.training.model import (
    RowsByEpoch,
    by_length,
    encode,
    make_collator,
    prepare_model,
    soft_cross_entropy,
    training_arguments,
)
from bert_judge.training.rows import Example, grouped, labels_of
from bert_judge.training.state import CARD, RUNS, TrainingFolder, TrainResult, identity, result_of

if TYPE_CHECKING:
    from transformers import Trainer, TrainingArguments

_MAX_NAMES = 40  # tasks of which an evaluation during the training logs measures of their own


def train(
    model_path: str,
    data: Any,
    output_dir: str | Path,
    form: InputForm | None = None,
    config: TrainConfig | None = None,
    *,
    training_mix: Mix | None = None,
    trust_remote_code: bool = False,
    command: Sequence[str] = (),
) -> TrainResult:
    """Fine-tune an encoder on labelled rows and save it as a judge in `output_dir`.

    `model_path` is an encoder (a folder, a name on the Hub) with or without a head, or a judge to train further. `data`
    is whatever `read_examples` reads; rows without label are dropped and counted. `form` is how the judge reads a row
    (default: as `model_path` does, for an encoder the paper's). The markers of the form are added to the tokenizer,
    where they start as the mean of the words that name them. The loss is the cross-entropy of two logits, against
    [1 - p, p] where a label is a probability p. `training_mix` chooses rows by task and model; `command` is told in the
    card.

    The folder gets weights (safetensors), tokenizer, `judge.json` with the form and the temperature fitted on the
    questions held out, a card, and `metrics.json`. A training that was stopped goes on from its last state when it is
    started again with the same rows and settings; one that is done already is not done again. Under `accelerate
    launch` or `torchrun`, every process calls this; the first one writes.

    Raises InputError where rows or settings are not fit to learn from, OutputError where the folder holds another
    result, ModelError where `model_path` is not an encoder, MissingExtraError where a package is missing; all before
    the encoder's weights are read.
    """
    config = config or TrainConfig()
    config.check_packages()
    rows = read_rows(data, training_mix, config)
    source = find_model(model_path, trust_remote_code)
    form = form or JudgeConfig.load(source).form
    check_form(source, form, rows, config, trust_remote_code)
    if config.push_to_hub:
        check_hub(config.push_to_hub)
    name = identity(source, [*rows.train, *rows.dev], form, config)
    folder = TrainingFolder(Path(output_dir), name, config.overwrite)
    if folder.finished is not None:
        result = result_of(folder.folder, folder.finished)
    else:
        told = {"identity": name, "base_model": _base_name(model_path, source), "command": public_command(command)}
        result = _Training(model_path, source, rows, form, config, folder, told).run(trust_remote_code)
    if config.push_to_hub and _is_first():
        push(folder.folder, config.push_to_hub, config.hub_private)
    return result


@dataclass(frozen=True, slots=True)
class _Training:
    """One training, all of which was checked."""

    model_path: str
    source: Path
    rows: TrainingRows
    form: InputForm
    config: TrainConfig
    folder: TrainingFolder
    told: Mapping[str, Any]

    def run(self, trust_remote_code: bool) -> TrainResult:
        """Train, calibrate, and write the result; every process gets it."""
        from accelerate.utils import broadcast_object_list
        from transformers import AutoTokenizer, set_seed

        set_seed(self.config.seed)
        arguments = training_arguments(self.folder.states, self.folder.folder.name, self.config)
        tokenizer = AutoTokenizer.from_pretrained(self.source, trust_remote_code=trust_remote_code)
        model = prepare_model(self.model_path, tokenizer, self.form, self.config, trust_remote_code)
        encoder = PromptEncoder(tokenizer.backend_tokenizer, self.form, max_input_tokens(model.config.to_dict()))
        if arguments.should_save:
            self.folder.begin()
        trainer = self._trainer(model, arguments, encoder)
        trainer.accelerator.wait_for_everyone()
        with quiet_transformers() if self.config.quiet else nullcontext():
            trainer.train(resume_from_checkpoint=self.folder.last_state())
            trainer.compute_metrics = None
            found = trainer.predict(by_length(encode(encoder, self.rows.dev)))
            margins = _in_order(found)
            if not all(map(math.isfinite, margins)):
                raise InputError(
                    f"the training diverged, and the judge returns no numbers; try a learning_rate below "
                    f"{self.config.learning_rate:g}, or more warm-up."
                )
            record = self._save(trainer, tokenizer, encoder.form, margins, found.metrics["test_loss"])
        records = broadcast_object_list([record])
        return result_of(self.folder.folder, records[0])

    def _trainer(self, model: Any, arguments: TrainingArguments, encoder: PromptEncoder) -> Trainer:
        from transformers import EarlyStoppingCallback, PrinterCallback, Trainer

        rows = encode(encoder, drop_questions(self.rows.train, self.form, self.config))
        rows_a_step = arguments.train_batch_size * arguments.gradient_accumulation_steps * arguments.world_size
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=RowsByEpoch(rows, rows_a_step, self.config.seed),
            eval_dataset=by_length(encode(encoder, self.rows.dev[: self.config.max_dev_rows])),
            data_collator=make_collator(model.config.pad_token_id or 0),
            compute_loss_func=soft_cross_entropy,
            compute_metrics=_measurer(self.rows.dev),
        )
        if self.config.patience is not None:
            trainer.add_callback(EarlyStoppingCallback(self.config.patience))
        if "tensorboard" in self.config.trackers and trainer.is_world_process_zero():
            trainer.add_callback(_tensorboard(self.config.logging_dir or self.folder.folder / RUNS))
        if self.config.quiet:
            trainer.remove_callback(PrinterCallback)
        return trainer

    def _save(self, trainer: Trainer, tokenizer: Any, form: InputForm, margins: list[float], loss: float) -> Any:
        """Write the result, the record last, and return that. All processes take part, as weights may be shared out."""
        first = trainer.args.should_save
        record = self._record(trainer, form, margins, loss) if first else {}
        path = self.folder.folder
        try:
            if first:
                self.folder.open()
            trainer.save_model(str(path))
            if first:
                (path / "training_args.bin").unlink(missing_ok=True)  # a pickle, which no one reads
                tokenizer.save_pretrained(path)
                combiner = Combiner(**record["combiner"]) if record["combiner"] else None
                JudgeConfig(form=form, temperature=record["temperature"], combiner=combiner).save(path)
                (path / CARD).write_text(make_card(path.resolve().name, record), encoding="utf-8")
                self.folder.close(record)
        except OSError as error:
            raise OutputError(
                f"{path} can't be written ({error.strerror or error}); the training's states are kept there: mend that "
                "and start the same training again."
            ) from error
        return record

    def _record(self, trainer: Trainer, form: InputForm, margins: list[float], loss: float) -> dict[str, Any]:
        """What `metrics.json` holds."""
        labels = labels_of(self.rows.dev)
        combiner = None
        if self.config.combine_evidence:
            samples = [row.sample for row in self.rows.dev]
            signals = [find_signals(s.candidate, s.references, s.question) for s in samples]
            combiner = Combiner.fit(margins, signals, labels)
            margins = [combiner.combine(margin, told) for margin, told in zip(margins, signals, strict=True)]
        temperature = calibrate(margins, labels)
        return {
            **self.told,
            "combiner": asdict(combiner) if combiner else None,
            "temperature": temperature,
            "dev_loss": loss,
            "dev": asdict(measure(margins, labels, temperature)),
            "tasks": {n: asdict(m) for n, m in _by_task(self.rows.dev, margins, temperature).items()},
            "data": describe(self.rows),
            "steps": {"all": trainer.state.global_step, "best": trainer.state.best_global_step},
            "history": [_without_times(entry) for entry in trainer.state.log_history if "eval_loss" in entry],
            "form": asdict(form),
            "settings": self.config.settings() | {"bf16": trainer.args.bf16, "processes": trainer.args.world_size},
            "versions": versions(),
        }


def _measurer(dev: Sequence[Example]) -> Callable[[Any], dict[str, float]]:
    """What an evaluation during the training logs: the measures of all rows, and of each task if there are several."""

    def measures_of(prediction: Any) -> dict[str, float]:
        margins = _in_order(prediction)
        if not all(map(math.isfinite, margins)):
            return {}  # the Trainer logs the loss, which says so
        rows = dev[: len(margins)]
        tasks = _by_task(rows, margins, 1.0)
        tasks = tasks if 1 < len(tasks) <= _MAX_NAMES else {}
        named = [("", measure(margins, labels_of(rows))), *((f"{name}/", found) for name, found in tasks.items())]
        values = {f"{name}{key}": value for name, found in named for key, value in asdict(found).items()}
        return {
            key: value for key, value in values.items() if value is not None and not key.endswith(("rows", "right"))
        }

    return measures_of


def _in_order(prediction: Any) -> list[float]:
    """The margins (right minus wrong) in the order of the rows: they come sorted by length, some twice."""
    logits, (_, numbers) = prediction.predictions, prediction.label_ids.T
    margins = dict(zip(numbers.astype(int).tolist(), (logits[:, 1] - logits[:, 0]).tolist(), strict=True))
    return [margins[number] for number in range(len(margins))]


def _by_task(rows: Sequence[Example], margins: Sequence[float], temperature: float) -> dict[str, Measures]:
    """The measures of each task that rows name."""
    return {
        name: measure([margins[i] for i in places], labels_of(rows[i] for i in places), temperature)
        for name, places in grouped(rows, "task").items()
    }


def _without_times(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An evaluation without how long it took, which is another one every time."""
    kept = {name.removeprefix("eval_"): value for name, value in sorted(entry.items())}  # a state sorts them
    return {name: value for name, value in kept.items() if not name.endswith(("runtime", "per_second"))}


def _base_name(model_path: str, source: Path) -> str:
    """What the card calls the encoder: its name on the Hub, or that of its folder."""
    return source.resolve().name if Path(model_path).expanduser().is_dir() else model_path


def _tensorboard(folder: str | Path) -> Any:
    """Tensorboard in a folder of the user's choice; the Trainer itself takes it from the environment alone."""
    from torch.utils.tensorboard import SummaryWriter
    from transformers.integrations import TensorBoardCallback

    return TensorBoardCallback(SummaryWriter(str(folder)))


def _is_first() -> bool:
    """Whether this is the process that writes."""
    from accelerate import PartialState

    return bool(PartialState().is_main_process)
