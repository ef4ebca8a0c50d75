"""From task to candidates, from candidates to verdicts, from verdicts to rows for training; each on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from heapq import nsmallest
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from bert_judge.addresses import public_command
from bert_judge.artifacts import (
    CANDIDATES,
    PART_ROWS,
    RUN,
    SCORES,
    Identity,
    ResultFolder,
    candidates_written,
    read_explanations,
    read_list,
    verdict_record,
    write_candidates,
    write_explanations,
)
from bert_judge.artifacts.parts import Parts
from bert_judge.errors import InputError, ModelError, OutputError
from bert_judge.generators import Generator as LanguageModel
from bert_judge.generators import split_trace
from bert_judge.judges.base import Judge
from bert_judge.judges.occlusion import explain
from bert_judge.paths import find_folder, model_folder
from bert_judge.sources import BadRow, Source
from bert_judge.summary import Tally
from bert_judge.types import Reply, Sample, Signature, Verdict
from bert_judge.version import versions

if TYPE_CHECKING:
    from datasets import Dataset


Rows: TypeAlias = "Source | CandidateRows"
"""Samples that can be judged: a checked file, or a model's candidates for a task."""


def open_result(
    rows: Rows, judge: Judge, folder: Path, options: Mapping[str, Any], overwrite: bool = False
) -> tuple[Judge, ResultFolder]:
    """The judge for these rows (`Judge.fitted`), and the folder of its verdicts on them; `options` change the result.

    Raises OutputError as `ResultFolder` does, and InputError where the judge reads references that were left unread.
    """
    if isinstance(rows, Source) and judge.reads_references and "reference" not in rows.columns:
        raise InputError(
            f"{judge.variant} compares candidates with references, and those of {rows.path} are not read "
            "(--map reference=); name their column, or use a judge that reads none."
        )
    fitted = judge.fitted(rows)
    identity = Identity(Signature.of(fitted.signature), rows.sha256, options)
    return fitted, ResultFolder(folder, identity, overwrite)


def score_source(
    source: Rows,
    judge: Judge,
    folder: ResultFolder,
    *,
    texts: bool = True,
    command: Sequence[str] = (),
) -> Generator[int, None, None]:
    """Judge the samples of a source that are not in `folder` yet, and finish the result.

    Yields the number of finished rows after each row. Of a result with failed rows only these are judged again. Memory
    does not grow with the number of rows. A run that is stopped (by Ctrl-C, say) can be continued.
    """
    start = time.time()
    with folder.writing():
        before, had = judge.costs, folder.rows_done
        try:
            if folder.parts:
                yield from _score_parts(source, judge, folder, folder.parts, texts)
                tally, judged = Tally(folder.parts.earlier_records(Tally.COLUMNS)), folder.rows_done - had
            else:
                tally, done = Tally(() if folder.failed else folder.earlier_records()), had
                to_judge = _failed_again if folder.failed else _rest
                records = to_judge(source, judge, folder, texts)
                for done in folder.append(map(tally.counted, records)):
                    yield done
                judged = done - had
        except _UnevenVerdictsError:
            folder.discard()
            raise
        run = {
            "summary": asdict(tally.summary()),
            "scale": judge.scale,
            "input": dict(source.description),
            "command": public_command(command),
            **({"costs": asdict(judge.costs.since(before))} if judge.costs and before else {}),
            **_circumstances(start, time.time() - start, folder.failed or judged),
        }
        folder.finish(run, [row.record for row in source.bad_rows])


def uncertain_rows(folder: ResultFolder, threshold: float, most: int) -> list[int]:
    """The numbers of the decided rows of a finished result whose scores are nearest the threshold, nearest first."""
    decided = (
        (abs(record["score"] - threshold), row)
        for row, record in enumerate(folder.records())
        if record["score"] is not None
    )
    return [row for _, row in nsmallest(most, decided)]


def explain_result(source: Rows, judge: Judge, folder: ResultFolder, rows: Sequence[int]) -> Iterator[int]:
    """Explain rows of a finished result with the judge that made it, and write `explanations.jsonl` beside it.

    Yields the number of each row. Those that are explained already are kept, and no score changes.
    """
    explained = read_explanations(folder.folder)
    wanted = set(rows) - explained.keys()
    pairs = zip(source, folder.records(), strict=True)
    judged = {row: (sample, record["score"]) for row, (sample, record) in enumerate(pairs) if row in wanted}
    for row, explanation in zip(judged, explain(judge, judged.values()), strict=True):
        explained[row] = explanation
        yield row
    if wanted:
        write_explanations(folder.folder, {row: explained[row] for row in (*rows, *explained)})


def _rest(source: Rows, judge: Judge, folder: ResultFolder, texts: bool) -> Iterator[dict[str, Any]]:
    """The records of the rows that an interrupted run left."""
    return judged_rows(islice(source, folder.rows_done, None), judge, texts)


def _failed_again(source: Rows, judge: Judge, folder: ResultFolder, texts: bool) -> Iterator[dict[str, Any]]:
    """All records of a result, with new ones for the rows on which the judge failed."""
    rows = zip(source, folder.earlier_records(), strict=True)
    pairs = _with_verdicts((sample for sample, record in rows if record.get("failed")), judge)
    for record in folder.earlier_records():
        yield verdict_record(*next(pairs), texts) if record.get("failed") else record


Todo: TypeAlias = Mapping[int, Sequence[int]]
"""The parts that are to be judged, by number, and which rows of each, from 0."""


@runtime_checkable
class PartsJudge(Protocol):
    """A judge that judges parts by itself, in any order (`distributed`)."""

    def judged_parts(self, source: Rows, todo: Todo, texts: bool) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """The records of the rows, each with the number of its part and its own number in that."""


def _score_parts(source: Rows, judge: Judge, folder: ResultFolder, parts: Parts, texts: bool) -> Iterator[int]:
    """Judge the parts that are missing, and the rows of others on which the judge failed."""
    done, total = parts.rows_done, len(source)
    earlier = {number: dict(enumerate(parts.records(number))) for number in parts.done if parts.done[number].failed}
    todo = {
        number: [row for row, record in earlier[number].items() if record.get("failed")]
        if number in earlier
        else range(min(parts.rows, total - number * parts.rows))
        for number in parts.missing(total)
    }
    judged = judge.judged_parts(source, todo, texts) if isinstance(judge, PartsJudge) else None
    under_way: dict[int, dict[int, dict[str, Any]]] = {}
    for number, row, record in judged or _judged_here(source, judge, todo, texts):
        own = under_way.setdefault(number, {})
        own[row] = record
        if len(own) == len(todo[number]):
            whole = earlier.get(number, {}) | under_way.pop(number)
            folder.write_part(number, [whole[each] for each in sorted(whole)])
        done += number not in earlier
        yield done


def _judged_here(source: Rows, judge: Judge, todo: Todo, texts: bool) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """As `PartsJudge.judged_parts`, by a judge of this process: each part by itself, wherever a run stopped before."""
    for number, rows in todo.items():
        for row, record in zip(rows, judged_rows(rows_of_part(source, number, rows), judge, texts), strict=True):
            yield number, row, record


def judged_rows(samples: Iterable[Sample], judge: Judge, texts: bool) -> Iterator[dict[str, Any]]:
    """The record of each sample."""
    for sample, verdict in _with_verdicts(samples, judge):
        yield verdict_record(sample, verdict, texts)


def rows_of_part(source: Rows, number: int, rows: Sequence[int]) -> Iterator[Sample]:
    """Some of the samples of a part, in order."""
    wanted = set(rows)
    return (sample for row, sample in enumerate(source.part(number)) if row in wanted)


class _UnevenVerdictsError(InputError):
    """A judge gave too few verdicts, or too many: no verdict can be trusted to be that of its row."""


def _with_verdicts(samples: Iterable[Sample], judge: Judge) -> Iterator[tuple[Sample, Verdict]]:
    """Each sample with its verdict; only the window that the judge reads ahead is held in memory."""
    name, count = type(judge).__name__, 0
    kept, judged = tee(samples)
    given = judge.assess(judged)
    if not isinstance(given, Iterable):
        raise InputError(f"assess of {name} returned {given!r:.60}; one Verdict per sample was expected (use yield).")
    verdicts = iter(given)
    for sample in kept:
        verdict = next(verdicts, _END)
        if verdict is _END:
            raise _UnevenVerdictsError(f"{name} gave {count} verdicts for more samples than that; {_UNEVEN}")
        count += 1
        if not isinstance(verdict, Verdict):
            raise InputError(f"{name} gave {verdict!r:.60} for row {sample.id}; Verdict(score, label) was expected.")
        if judge.scale == "probability" and verdict.score is not None and not 0 <= verdict.score <= 1:
            raise InputError(
                f"{name} says that its scores are probabilities, but gave row {sample.id} {verdict.score!r}; a number "
                "between 0 and 1 was expected."
            )
        yield sample, verdict
    if next(verdicts, _END) is not _END:
        raise _UnevenVerdictsError(f"{name} gave more than {count} verdicts for {count} samples; {_UNEVEN}")


_END: Any = object()
_UNEVEN = "one per sample, in their order, was expected. None of this run is kept, as they may be those of other rows."


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Questions and their references; `as_in_paper` makes the task of the paper's package where that differs."""

    name: str
    questions: Sequence[str]
    references: Sequence[tuple[str, ...]]
    as_in_paper: Callable[[], Task] | None = None

    @classmethod
    def of(cls, name: str, dataset: Dataset) -> Task:
        """The task of a dataset. Raises InputError where it lacks `question` or `reference`."""
        if not hasattr(dataset, "column_names"):
            raise InputError(
                f"the task {name} returned a {type(dataset).__name__}; a dataset with question and reference was "
                "expected."
            )
        lacking = [column for column in ("question", "reference") if column not in dataset.column_names]
        if lacking:
            raise InputError(
                f"the task {name} has no column {' or '.join(lacking)} (it has {', '.join(dataset.column_names)}); "
                "a task returns a dataset with question and reference."
            )
        references = [(value,) if isinstance(value, str) else tuple(value) for value in dataset["reference"]]
        return cls(name, list(dataset["question"]), references)

    @property
    def sha256(self) -> str:
        """The digest of its questions, in order."""
        return _digest(self.questions)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateRows:
    """A model's candidates for a task, as `sources.Source` has the answers of a file."""

    task: Task
    candidates: Sequence[str]
    path: str
    part_rows: int = PART_ROWS

    @classmethod
    def read(cls, task: Task, directory: Path, model: str) -> CandidateRows:
        """Read `candidates.json` of a model; without `run.json` beside it, as candidates of the paper's package.

        Raises InputError where it is missing, broken, or of another length.
        """
        path = find_folder(directory / task.name, model) / CANDIDATES
        if not path.exists():
            there = sorted(folder.parent.name for folder in (directory / task.name).glob(f"*/{CANDIDATES}"))
            hint = f"there are those of {', '.join(there)}" if there else "run bert-judge generate first"
            raise InputError(f"there are no candidates of {model} for {task.name} at {path}; {hint}.")
        if task.as_in_paper is not None and not (path.parent / RUN).exists():
            said = f"{path} has no {RUN} beside it: it is read with the rows and options of the paper's package."
            warnings.warn(said, stacklevel=2)
            task = task.as_in_paper()
        candidates = read_list(path, "candidates")
        if len(candidates) != len(task.questions):
            raise InputError(
                f"{path} holds {len(candidates)} candidates, but the task {task.name} has {len(task.questions)} rows; "
                "they are of another version of the task: generate them again."
            )
        for row, text in enumerate(candidates):
            if not isinstance(text, str):
                raise InputError(f"{path} holds {text!r} in row {row + 1}; a text was expected.")
        return cls(task, candidates, str(path))

    @property
    def sha256(self) -> str:
        """The digest of questions, references and candidates."""
        return _digest(list(zip(self.task.questions, self.task.references, self.candidates, strict=True)))

    @property
    def description(self) -> Mapping[str, Any]:
        """What `run.json` says of them."""
        return {"path": self.path, "format": "candidates", "columns": {}}

    @property
    def bad_rows(self) -> Sequence[BadRow]:
        """None: a candidate is never set aside."""
        return ()

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Sample]:
        return self._samples(0, len(self))

    def part(self, number: int) -> Iterator[Sample]:
        """The samples of a part, from 0: `part_rows` of them, or what is left of them at the end."""
        start = number * self.part_rows
        return self._samples(start, min(start + self.part_rows, len(self)))

    def _samples(self, start: int, end: int) -> Iterator[Sample]:
        for row in range(start, end):
            yield Sample(self.candidates[row], self.task.references[row], self.task.questions[row], id=str(row))


def generate_candidates(
    task: Task,
    generator: LanguageModel,
    output_dir: Path,
    model: str,
    *,
    think_token: str = "</think>",
    overwrite: bool = False,
    command: Sequence[str] = (),
    progress: Callable[[Reply], None] = lambda _: None,
) -> Path:
    """Let a model answer the questions of a task; returns the folder with `candidates.json`.

    Candidates that are there already are kept, unless `overwrite`. A reasoning trace is cut off; one that never ends
    leaves an empty candidate. `progress` is called with each reply. Raises ModelError where prompts have no reply; a
    `KeptGenerator` keeps the other replies for the next call.
    """
    folder = output_dir / task.name / model_folder(model)
    identity = Identity(generator.signature, task.sha256, {"think_token": think_token})
    if not overwrite and candidates_written(folder, identity):
        return folder
    start, replies = time.time(), dict[int, Reply]()
    for index, reply in generator.replies(task.questions):
        replies[index] = reply
        progress(reply)
    failed = [reply.error for reply in replies.values() if reply.error is not None]
    if failed:
        raise ModelError(
            f"{len(failed)} of {len(replies)} prompts of {task.name} have no reply (the first: {failed[0]}); "
            "the others are kept, and the same command asks for these again."
        )
    ordered = [replies[index] for index in range(len(replies))]
    answers = [split_trace(reply.text, think_token)[1] for reply in ordered]
    asked = [reply for reply in ordered if not reply.cached]
    run = {
        "summary": {
            "prompts": len(ordered),
            "from_the_store": len(ordered) - len(asked),
            "prompt_tokens": sum(reply.prompt_tokens for reply in ordered),
            "completion_tokens": sum(reply.completion_tokens for reply in ordered),
            "cut_at_max_tokens": sum(reply.finish_reason == "length" for reply in ordered),
            "unfinished_reasoning": sum(answer is None for answer in answers),
            "truncated_prompts": sum(reply.truncated > 0 for reply in ordered),
        },
        "command": public_command(command),
        **_circumstances(start, time.time() - start, len(asked)),
    }
    write_candidates(folder, (answer or "" for answer in answers), identity, run)
    return folder


def build_training_data(
    tasks: Iterable[Task],
    models: Sequence[str],
    label_source: str,
    candidates_dir: Path,
    scores_dir: Path | None,
    path: Path,
) -> dict[str, dict[str, Dataset]]:
    """Models' candidates with a judge's scores: question, reference, candidate, label, task and model.

    Saved in `path` as well: a data set for each task, a split for each model. A label is the judge's score, None where
    it was undecided. `label_source` is JUDGE/VARIANT; the beginning of a variant's name is enough. Without `scores_dir`
    scores are looked for beside the candidates and in a folder `scores` beside theirs. Raises InputError where
    candidates or scores are missing or don't fit together, OutputError where the data set can't be written.
    """
    from datasets import Dataset, DatasetDict

    data = {}
    for task in tasks:
        rows = {model: _labelled_rows(task, candidates_dir, scores_dir, model, label_source) for model in models}
        data[task.name] = DatasetDict({model_folder(model): Dataset.from_list(own) for model, own in rows.items()})
    try:
        for name, splits in data.items():
            splits.save_to_disk(str(path / name))
    except OSError as error:
        raise OutputError(f"the dataset {path} can't be written ({error.strerror}).") from error
    return data


def _labelled_rows(
    task: Task, candidates_dir: Path, scores_dir: Path | None, model: str, label_source: str
) -> list[dict[str, Any]]:
    rows = CandidateRows.read(task, candidates_dir, model)
    path = _find_scores(candidates_dir, scores_dir, task.name, model, label_source)
    scores = read_list(path, "scores")
    if len(scores) != len(rows):
        raise InputError(f"{path} holds {len(scores)} scores for {len(rows)} candidates; judge them again.")
    return [
        {
            "question": sample.question,
            "reference": list(sample.references),
            "candidate": sample.candidate,
            "label": score,
            "task": task.name,
            "model": model_folder(model),
        }
        for sample, score in zip(rows, scores, strict=True)
    ]


def _find_scores(candidates_dir: Path, scores_dir: Path | None, task: str, model: str, label_source: str) -> Path:
    judge, _, variant = label_source.strip("/").partition("/")
    places = [scores_dir] if scores_dir else [candidates_dir, candidates_dir.parent / "scores"]
    folders = [find_folder(place / task, model) for place in places]
    there = {path.parent: path for folder in folders for path in sorted(folder.glob(f"*/*/{SCORES}"))}
    ours = {folder: path for folder, path in there.items() if folder.parent.name == judge}
    exact = [path for folder, path in ours.items() if model_folder(folder.name) == model_folder(variant)]
    near = [path for folder, path in ours.items() if model_folder(folder.name).startswith(model_folder(variant))]
    if exact or len(near) == 1:
        return (exact or near)[0]
    found = ", ".join(f"{folder.parent.name}/{folder.name}" for folder in there)
    raise InputError(
        f"there are no scores of {label_source} for {task}, {model} in {' or '.join(map(str, folders))}; "
        + (f"there is {found}." if found else "run bert-judge judge first.")
    )


def _circumstances(start: float, seconds: float, rows: int) -> dict[str, Any]:
    """When a run was made, how fast, with which versions and on what machine."""
    return {
        "timings": {
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(start)),
            "seconds": round(seconds, 3),
            "rows": rows,
            "rows_per_second": round(rows / seconds, 1) if seconds else None,
        },
        "versions": versions("torch", "transformers", "tokenizers", "openvino", "numpy"),
        "machine": {"platform": platform.platform(), "cores": os.cpu_count()},
    }


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
