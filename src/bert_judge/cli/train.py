"""`bert-judge train`: a judge of your own from candidates and another judge's scores, or from any labelled rows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from bert_judge.artifacts import check_folder, model_folder
from bert_judge.cli import log_shown, run, say
from bert_judge.cli.flags import Parser, made
from bert_judge.cli.tasking import TaskOptions, read_tasks
from bert_judge.errors import InputError, OutputError
from bert_judge.models import find_model
from bert_judge.pipeline import labelled_rows
from bert_judge.prompt import InputForm, JudgeConfig
from bert_judge.sources import open_source
from bert_judge.training import Example, Measures, Mix, TrainConfig, TrainResult
from bert_judge.utils import find_dataset, get_dataset_config_names, load_dataset_dict

_EXAMPLES = """examples:
  bert-judge train --model_path EuroBERT/EuroBERT-210m --dataset_path labelled.jsonl --output_dir my-judge
  bert-judge train --model_path EuroBERT/EuroBERT-210m --dataset_path artifacts/dataset --output_dir my-judge \\
                   --tasks arc_easy_train,mmlu_train --candidates_dir artifacts/candidates \\
                   --candidate_models Llama-3.2-1B-Instruct,Qwen3-0.6B --label_source LLMJudge/Qwen3-32B

A dataset that is there is read: a file of labelled rows (question, reference, candidate, label; any format that score
reads), or a folder that this command has made. Otherwise it is built from candidates and scores and kept there. A
training that was stopped goes on from its last state. On several devices: accelerate launch -m bert_judge.cli.train …
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What `train` takes besides the settings of the training."""

    model_path: Annotated[str, "the encoder, or a judge to train on: a name on the Hub or a folder"]
    dataset_path: Annotated[str, "labelled rows: read if it is there, else built and written"]
    output_dir: Annotated[str, "folder for the judge"]
    tasks: Annotated[tuple[str, ...], "tasks to take candidates from: a,b or a b"] = ()
    tasks_dir: Annotated[str | None, "folder with files of tasks of your own"] = None
    candidates_dir: Annotated[str, "folder of candidates"] = "artifacts/candidates"
    candidate_models: Annotated[tuple[str, ...], "models whose candidates are taken"] = ()
    label_source: Annotated[str | None, "whose scores are the labels: JUDGE/VARIANT, such as LLMJudge/Qwen3-32B"] = None
    scores_dir: Annotated[str | None, "folder of scores (default: found beside the candidates)"] = None
    soft_labels: Annotated[bool, "learn labels as they are; --no-soft_labels: only whether they reach 0.5"] = True
    include_question: Annotated[bool, "the judge reads the question"] = True
    training_mix: Annotated[str | None, "JSON file {task: {model: rows}} of what is taken"] = None
    marks: Annotated[bool, "mark the words that candidate and reference share (encoders with two token types)"] = False
    contrast: Annotated[bool, "mark the words that they do not share, too, with a third token type"] = False
    options: Annotated[bool, "read a reference that names an option which the question lists as letter and words"] = (
        False
    )
    max_tokens: Annotated[int | None, "the longest input in tokens (default: the encoder's limit)"] = None
    trust_remote_code: Annotated[bool, "run the model's own code if transformers lacks its architecture"] = False
    dtype: Annotated[str, "accepted; --bf16 says how it is computed"] = "auto"


def main(arguments: Sequence[str]) -> int:
    """Check everything, read or build the dataset, train, and print how good the judge is."""
    options, config = _parse(arguments)
    check_folder(options.output_dir)
    mix = _read_mix(options.training_mix)
    from bert_judge.training import read_examples, train

    examples = read_examples(_read_data(options))
    if not options.soft_labels:
        examples = [_hardened(example) for example in examples]
    with log_shown(not config.quiet):
        result = train(
            options.model_path,
            examples,
            options.output_dir,
            _form(options),
            config,
            training_mix=mix,
            trust_remote_code=options.trust_remote_code,
            command=["bert-judge", "train", *arguments],
        )
    if not config.quiet:
        say(_report(result))
    return 0


def _parse(arguments: Sequence[str]) -> tuple[TrainOptions, TrainConfig]:
    takes = "--model_path ENCODER --dataset_path DATA --output_dir FOLDER [flags]"
    parser = Parser("bert-judge train", takes, "Train a judge of your own.", _EXAMPLES)
    parser.flags("data and model", TrainOptions)
    parser.flags("the training", TrainConfig)
    values = parser.parse(arguments)
    return made(TrainOptions, values), made(TrainConfig, values)


def _hardened(example: Example) -> Example:
    """A row whose label is 1 or 0, if it has one."""
    return example if example.label is None else replace(example, label=float(example.label >= 0.5))


def _form(options: TrainOptions) -> InputForm:
    """How the judge reads a row: as the model does already, or as the options say."""
    form = JudgeConfig.load(find_model(options.model_path, options.trust_remote_code)).form
    if not options.include_question:
        form = replace(form, forms=("cr",))
    if options.marks or options.contrast:
        form = replace(form, marks=True, contrast=form.contrast or options.contrast)
    form = replace(form, options=form.options or options.options)
    return form if options.max_tokens is None else form.resized(options.max_tokens)


def _read_mix(path: str | None) -> Mix | None:
    if path is None:
        return None
    try:
        mix: Mix = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the training mix {path} can't be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(f"the training mix {path} is not valid JSON ({error}).") from error
    if not isinstance(mix, dict):
        raise InputError(
            f"the training mix {path} holds a {type(mix).__name__}; {{task: {{model: rows}}}} was expected."
        )
    return mix


def _read_data(options: TrainOptions) -> Any:
    """The rows of the dataset, which is built first where it is not there.

    Where there is nothing to build it of, it is one in `LOCAL_DATASETS_DIR` or on the Hub.
    """
    path = Path(options.dataset_path)
    name = str(path.absolute())  # which is looked for nowhere else
    if not path.exists():
        if options.label_source is not None or not _may_be_published(options.dataset_path):
            return _build(options, path)
        name = options.dataset_path
    elif not any(path.glob("*/dataset_dict.json")):
        return open_source(path, soft_labels=True)
    there = get_dataset_config_names(name)
    asked = [task for task in there if not options.tasks or task in options.tasks]
    data = {str(task): dict(models) for task, models in load_dataset_dict(name, asked).items()}
    wanted = {model_folder(model) for model in options.candidate_models}
    data = {task: {m: rows for m, rows in models.items() if not wanted or m in wanted} for task, models in data.items()}
    if not any(data.values()):
        raise InputError(f"{path} has no rows of the tasks and models that were named; there is {', '.join(there)}.")
    return data


def _may_be_published(name: str) -> bool:
    """Whether a data set of the name is in `LOCAL_DATASETS_DIR`, or the Hub may have one."""
    return find_dataset(name) is not None or re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name) is not None


def _build(options: TrainOptions, path: Path) -> dict[str, dict[str, Any]]:
    """Bring candidates and scores together, and keep them as one dataset a task with a split a model."""
    for name in ("tasks", "candidate_models", "label_source"):
        if not getattr(options, name):
            raise InputError(
                f"there is no dataset {path}; to build it, --tasks, --candidate_models and --label_source are needed, "
                f"and --{name} was not given."
            )
    from datasets import Dataset, DatasetDict

    scores_dir = Path(options.scores_dir) if options.scores_dir else None
    data: dict[str, dict[str, Any]] = {}
    for task in read_tasks(TaskOptions(tasks=options.tasks, tasks_dir=options.tasks_dir)):
        for model in options.candidate_models:
            rows = labelled_rows(task, Path(options.candidates_dir), scores_dir, model, str(options.label_source))
            data.setdefault(task.name, {})[model_folder(model)] = Dataset.from_list(rows)
    try:
        for name, models in data.items():
            DatasetDict(models).save_to_disk(str(path / name))
    except OSError as error:
        raise OutputError(f"the dataset {path} can't be written ({error.strerror}).") from error
    return data


def _report(result: TrainResult) -> str:
    """What a person wants to know of a new judge."""
    lines = [
        f"{'':24}{'rows':>8}{'accuracy':>10}{'F1':>8}{'kappa':>8}{'Brier':>8}{'ECE':>8}",
        _line("held out", result.dev),
        *(_line(f"  {name}", measures) for name, measures in result.tasks.items()),
        "",
        (
            f"trained on {result.train_rows} rows; {result.undecided_rows} without a label were dropped; "
            f"temperature {result.temperature:.3f}"
        ),
        f"judge in {result.folder}: bert-judge score answers.jsonl --model_path {result.folder}",
    ]
    return "\n".join(lines)


def _line(name: str, m: Measures) -> str:
    values = (m.accuracy, m.f1, m.kappa, m.brier, m.ece)
    shown = "".join(
        f"{'-' if value is None else format(value, '.3f'):>{width}}"
        for value, width in zip(values, (10, 8, 8, 8, 8), strict=True)
    )
    return f"{name:24}{m.rows:8}{shown}"


if __name__ == "__main__":
    run("train")
