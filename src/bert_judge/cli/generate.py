"""`bert-judge generate`: let a language model answer the questions of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from bert_judge.artifacts import check_folder, settings_suffix
from bert_judge.cli import log_shown, note, progress_bar, run, say
from bert_judge.cli.flags import Parser, add_flags, read_config
from bert_judge.cli.tasking import TaskOptions, read_tasks
from bert_judge.generators import KeptGenerator, Options, make_generator, open_store
from bert_judge.pipeline import generate_candidates
from bert_judge.types import Reply, Sampling

if TYPE_CHECKING:
    from tqdm import tqdm

_EXAMPLES = """examples:
  bert-judge generate --model_path meta-llama/Llama-3.2-1B-Instruct --tasks arc_easy_test,mmlu_test
  bert-judge generate --model_path Qwen/Qwen3-0.6B --backend hf --dataset rows.jsonl --map question=q,reference=gold
  bert-judge generate --model_path my-model --backend openai --base_url http://localhost:8000/v1 --tasks gsm8k_test

Candidates are written to OUTPUT_DIR/TASK/MODEL/candidates.json. A run that was stopped goes on where it stopped; what
is there already is not made again.
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """What `generate` takes besides the flags of tasks, sampling and backends."""

    model_path: Annotated[str, "the model: a name on the Hub, a folder, or its name at the endpoint"]
    backend: Annotated[Literal["vllm", "hf", "openai"], "what runs the model"] = "vllm"
    output_dir: Annotated[str, "folder for candidates"] = "artifacts/candidates"
    model_name: Annotated[str | None, "the model's name in paths (default: the last part of model_path)"] = None
    store: Annotated[str, "file of kept replies; auto: in the user's cache folder; off: none"] = "auto"
    overwrite: Annotated[bool, "replace candidates that are there"] = False
    quiet: Annotated[bool, "no progress bar and no summary"] = False


def main(arguments: Sequence[str]) -> int:
    """Check the tasks, load the model once, answer task by task."""
    values = _parse(arguments)
    options, sampling, own = _made(GenerateOptions, values), _made(Sampling, values), _made(Options, values)
    output_dir = check_folder(options.output_dir)
    for name, backends in own.unused_by(options.backend).items():
        note(f"--{name} belongs to the backend {' and '.join(backends)} and is not used by {options.backend}.")
    tasks = list(read_tasks(_made(TaskOptions, values)))  # before the model: it takes longer to load
    with log_shown(not options.quiet):
        generator = make_generator(options.backend, options.model_path, sampling, own)
    kept = KeptGenerator(generator, open_store(options.store))
    model = options.model_name or options.model_path.rstrip("/") + settings_suffix(sampling, own.enable_thinking)
    for task in tasks:
        with progress_bar(len(task.questions), task.name, options.quiet, unit="answer") as bar:
            folder = generate_candidates(
                task,
                kept,
                output_dir,
                model,
                think_token=own.think_token,
                overwrite=options.overwrite,
                command=["bert-judge", "generate", *arguments],
                progress=partial(_one_more, bar),
            )
        if not options.quiet:
            say(f"{len(task.questions)} candidates in {folder}")
    return 0


def _one_more(bar: tqdm[Any], _: Reply) -> None:
    bar.update()


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    first = Parser("bert-judge generate", add_help=False)
    first.add_argument("--config")
    config = first.parse_known_args(arguments)[0].config
    parser = Parser(
        "bert-judge generate",
        "--model_path MODEL --tasks TASKS [flags]",
        "Let a language model answer the questions of tasks.",
        _EXAMPLES,
    )
    general = parser.add_argument_group("what is answered, by what")
    add_flags(general, GenerateOptions)
    add_flags(general, TaskOptions)
    general.add_argument("--config", metavar="FILE", help="YAML with names and values of flags; flags win")
    add_flags(parser.add_argument_group("sampling"), Sampling)
    add_flags(parser.add_argument_group("the backend"), Options)
    if config:
        parser.set_config(read_config(config), config)
    return parser.parse(arguments)


def _made(kind: type[T], values: Mapping[str, Any]) -> T:
    return kind(**{field.name: values[field.name] for field in fields(kind)})  # type: ignore[arg-type]


if __name__ == "__main__":
    run("generate")
