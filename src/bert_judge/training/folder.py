"""The output folder of a training: its states while it runs, then its result, whole or not at all; and its upload.

The result is what transformers saves, `judge.json`, the card `README.md`, and `metrics.json`, which is written last and
marks the result as complete. States are under `states`, in a folder for each training.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bert_judge.encoder.models import JUDGE_CONFIG, hash_files
from bert_judge.errors import InputError, OutputError, first_line
from bert_judge.reading import InputForm
from bert_judge.records import Sample, __version__
from bert_judge.results import check_folder, write_files
from bert_judge.training.config import TrainConfig
from bert_judge.training.held_out import HeldOutMeasures

METRICS, STATES, RUNS = "metrics.json", "states", "runs"
_RESULT = (METRICS, JUDGE_CONFIG, "config.json", "model.safetensors")
_PARTS = {"q": "question", "c": "candidate answer", "r": "reference answer"}
_COUNTED = {"task": "by_task", "model": "by_model", "label source": "by_label_source"}


@dataclass(frozen=True, slots=True)
class TrainResult:
    """A trained judge: its folder, and how good it is on the held-out questions.

    `undecided_rows` had no label and were dropped. `dev` are the measures over all held-out rows, after calibration,
    `tasks` those of each task; `dev_loss` is the mean cross-entropy before calibration.
    """

    folder: Path
    train_rows: int
    dev_rows: int
    undecided_rows: int
    temperature: float
    dev_loss: float
    dev: HeldOutMeasures
    tasks: Mapping[str, HeldOutMeasures] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, folder: Path, record: Mapping[str, Any]) -> TrainResult:
        """The result that a record (`metrics.json`) describes."""
        return cls(
            folder,
            train_rows=record["data"]["train"],
            dev_rows=record["data"]["dev"],
            undecided_rows=record["data"]["undecided"],
            temperature=record["temperature"],
            dev_loss=record["dev_loss"],
            dev=HeldOutMeasures(**record["dev"]),
            tasks={name: HeldOutMeasures(**values) for name, values in record["tasks"].items()},
        )

    @property
    def dev_accuracy(self) -> float | None:
        """The rate of held-out rows on which judge and label agree."""
        return self.dev.accuracy


class TrainingFolder:
    """The output folder as this training finds it. The constructor changes nothing on the disk.

    `finished` is the record of the result if this training is done. Raises OutputError where the folder holds another
    training's result or a model, unless `overwrite`; that stays until the new result is whole. A training resumes from
    its own states, unless it was finished and starts again.
    """

    def __init__(self, folder: Path, identity: str, overwrite: bool) -> None:
        check_folder(folder)
        self.folder = folder
        self.states = folder.absolute() / STATES / identity
        found = _read_json(folder / METRICS)
        ours = found is not None and found.get("identity") == identity
        self._stale = ours and overwrite
        self.finished = found if ours and not overwrite else None
        there = [name for name in _RESULT if (folder / name).exists()]
        interrupted = found is None and self.states.exists() and METRICS not in there
        if there and not (ours or interrupted or overwrite):
            raise OutputError(
                f"{folder} holds {'another training' if METRICS in there else 'a model'} ({there[0]}); choose another "
                "--output_dir, or pass --overwrite."
            )

    def begin(self) -> None:
        """Make the folder of the states, without those of a finished training that starts again."""
        if self._stale:
            self.open()  # so that this training can be resumed, too
            shutil.rmtree(self.states, ignore_errors=True)
        self.states.mkdir(parents=True, exist_ok=True)

    def last_state(self) -> str | None:
        """The newest whole state; a process that is killed while it writes one leaves part of it."""
        if self._stale:
            return None
        states = sorted(self.states.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
        return next((str(path) for path in reversed(states) if _read_json(path / "trainer_state.json")), None)

    def open(self) -> None:
        """Begin to write the result; an older one is no longer valid."""
        (self.folder / METRICS).unlink(missing_ok=True)

    def close(self, record: Mapping[str, Any]) -> None:
        """Write the record, which completes the result."""
        write_files(self.folder, {METRICS: json.dumps(record, ensure_ascii=False, indent=1) + "\n"})


def identity(encoder: Path, examples: Sequence[Sample], form: InputForm, config: TrainConfig) -> str:
    """A name for this training, so that it never takes the states or the result of another for its own."""
    files = [file for file in sorted(encoder.glob("*.json")) if file.name != METRICS]
    weights = hash_files([*files, *sorted(encoder.glob("*.safetensors"))])
    digest = hashlib.sha256(repr((__version__, form, config.settings(), weights)).encode())
    for example in examples:
        label = None if example.gold is None else float(example.gold)
        digest.update(repr((example.question, example.candidate, example.references, label)).encode(errors="replace"))
    return digest.hexdigest()[:12]


def _read_json(path: Path) -> dict[str, Any] | None:
    """A file's object; None where it is not there, or not whole."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def make_card(name: str, record: Mapping[str, Any]) -> str:
    """The card of the judge that a record (`metrics.json`) describes, in Markdown with a head in YAML."""
    from jinja2 import Environment, StrictUndefined

    template = Path(__file__).with_name("card.md.jinja").read_text(encoding="utf-8")
    page = Environment(undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True).from_string(template)
    forms = [[_PARTS[letter] for letter in form] for form in record["form"]["forms"]]
    return page.render(
        record,
        name=name,
        parts=[f"{', '.join(form[:-1])} and {form[-1]}" for form in forms],
        measured={**record["tasks"], "**all**": record["dev"]},
        counted={title: record["data"][key] for title, key in _COUNTED.items() if record["data"][key]},
        cell=lambda text: text.replace("|", "\\|").replace("\n", " "),
        count="{:,}".format,
        percent="{:.0%}".format,
        number=lambda value: "" if value is None else f"{value:.3f}",
        json=partial(json.dumps, ensure_ascii=False),
        shell=shlex.join,
    )


def check_hub(repository: str) -> None:
    """Raise InputError where an upload can't succeed, as far as that is known without a network."""
    from huggingface_hub import get_token

    if not re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", repository):
        raise InputError(f"push_to_hub is {repository!r}; ORGANISATION/NAME was expected.")
    if get_token() is None:
        raise InputError(
            f"push_to_hub names {repository}, but there is no token for the Hub; log in with `hf auth login`, or set "
            "HF_TOKEN."
        )


def push(folder: Path, repository: str, private: bool) -> None:
    """Upload a judge's folder, without states and logs. Raises OutputError where that fails."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError is of the client that it is built on
        HfHubHTTPError,
        HTTPError,
    )

    try:
        api = HfApi()
        name = api.create_repo(repository, private=private or None, exist_ok=True).repo_id
        api.upload_folder(
            repo_id=name,
            folder_path=folder,
            commit_message="A judge trained with bert-judge",
            ignore_patterns=[f"{STATES}/*", f"{RUNS}/*", f".{METRICS}.*"],
        )
    except (HfHubHTTPError, HTTPError, OSError, ValueError) as error:
        raise OutputError(
            f"the judge is whole in {folder}, but could not be uploaded to {repository} ({first_line(error)}); start "
            "the same training again, which uploads it without training."
        ) from error
