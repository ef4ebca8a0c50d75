"""Copies of a BERTJudge in eight bits: int8 weights, which are small, and the int8 graph, which may be fast.

| | int8 weights: `write_int8_weights` | int8 graph: `quantize` |
|---|---|---|
| what is in eight bits | the matrices on the disk | weights and activations, while it computes |
| needs | nothing | rows like those that are judged, and the extra [int8] |
| runs on | any runtime and device, in any dtype, and can be trained further | OpenVINO on processors |
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bert_judge.encoder.engine import load_model
from bert_judge.encoder.models import INT8, JUDGE_CONFIG, checked_hashes, find_model, is_int8, load_config
from bert_judge.errors import InputError, ModelError, OutputError
from bert_judge.judges.bert import BERTJudge
from bert_judge.reading import JudgeConfig, PromptEncoder
from bert_judge.records import Sample, Verdict
from bert_judge.results import check_folder
from bert_judge.training import split_by_question

MAX_FLIPS = 0.01
_LEAST = 40  # rows, on either side
_FILES = ("config.json", "tokenizer*.json", "vocab.*", "merges.txt", "*.model", "README.md")


@dataclass(frozen=True, slots=True)
class Quantized:
    """An int8 judge beside the one that it was made of, in float32, on the same processor and rows.

    `calibration_rows` chose its ranges; the rest is of `rows` others. `flips` labels differ, scores by `mean_drift` and
    at most `max_drift`, in [0, 1]. `speed` and `exact_speed` are rows a second. `size` is in bytes.
    """

    folder: Path
    calibration_rows: int
    rows: int
    flips: int
    mean_drift: float
    max_drift: float
    speed: float
    exact_speed: float
    size: int


def write_int8_weights(model_path: str | Path, output_dir: str | Path, most: int = 48_000_000) -> Path:
    """Write a copy of a judge with int8 weights (`encoder.weights`), a quarter of its size in float32.

    The judge may be in any float type; `output_dir`, which is returned, must be new or empty. The weights are in files
    of at most `most` bytes. A number moves by at most 1/254 of the greatest of its group of 128: compare the two
    judges on labelled rows before you use the copy.

    Raises ModelError where `model_path` is not a whole model with weights in floats that transformers has a class for,
    InputError where a tensor alone takes more than `most`, OutputError where `output_dir` can't be written.
    """
    source = find_model(str(model_path))
    load_config(source)  # one with its own code could not be loaded again
    checked_hashes(source)
    if not any(source.glob("*.safetensors")):
        raise ModelError(f"{source} has no weights as safetensors, of which a copy could be made; name another judge.")
    from bert_judge.encoder.weights import write_int8_tensors

    target = check_folder(output_dir).absolute()
    if target.exists() and any(target.iterdir()):
        raise OutputError(f"{target} holds other files; choose another folder.")
    with _new_folder(target, source) as copy:
        write_int8_tensors(source, copy, most)
        if (source / JUDGE_CONFIG).exists():
            JudgeConfig.load(source).save(copy)
    return target


def quantize(
    model_path: str,
    rows: Iterable[Sample],
    output_dir: str | Path,
    *,
    calibration_rows: int = 300,
    test_rows: int = 4_000,
    max_flips: float = MAX_FLIPS,
    overwrite: bool = False,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
) -> Quantized:
    """Make an int8 graph of a BERTJudge, for processors that multiply eight-bit integers (VNNI, AMX, Arm's DotProd).

    Rows of half of the questions choose the ranges of its activations, at most `calibration_rows`; of the other half,
    at most `test_rows` compare the two judges. They need no labels, and should be of the kind that is judged. Where
    more than the fraction `max_flips` of the labels differ, nothing is written.

    Raises InputError where rows are too few or the judge loses too much, ModelError where `model_path` is not a judge
    with weights, OutputError where the folder holds something else, MissingExtraError where a package is missing.
    """
    if not 0 <= max_flips <= 1:
        raise InputError(f"max_flips is {max_flips}; a fraction of the labels, between 0 and 1, was expected.")
    folder = check_folder(output_dir).absolute()
    _check_free(folder, overwrite)
    source = find_model(model_path, trust_remote_code, allow_pickle)
    if is_int8(source):
        raise ModelError(f"{source} is an int8 judge already; name the judge that it was made of.")
    chosen, others = _sides(rows, calibration_rows, test_rows)
    model = load_model(str(source), trust_remote_code=trust_remote_code, dtype="float32", runtime="openvino")
    from bert_judge.encoder.openvino_runtime import write_int8

    config = JudgeConfig.load(source)
    answers = [config.form.answer_of(sample).sample for sample in chosen]
    prompts = PromptEncoder(model.tokenizer, config.form, model.max_tokens).encode(answers)
    with _new_folder(folder, source) as copy:
        write_int8(model, [prompt.tokens for group in prompts for prompt in group], copy, trust_remote_code)
        config.save(copy)
        exact = BERTJudge(str(source), trust_remote_code, "float32", runtime="openvino")
        size = sum((copy / name).stat().st_size for name in INT8)
        comparison = _compared(folder, size, len(chosen), others, exact, BERTJudge(str(copy)))
        if comparison.flips > max_flips * comparison.rows:
            raise InputError(
                f"in int8 {comparison.flips} of {comparison.rows:,} labels of {model_path} differ, more than "
                f"max_flips ({max_flips:.1%}): nothing was written. Calibrate it on more rows like "
                "those that are judged, or keep it as it is."
            )
    return comparison


@contextmanager
def _new_folder(folder: Path, source: Path) -> Iterator[Path]:
    """A folder with a judge's files but its weights, which takes the place of `folder` if nothing is raised."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as beside:
            copy = Path(beside) / folder.name
            copy.mkdir()
            for path in (path for pattern in _FILES for path in source.glob(pattern)):
                shutil.copy(path, copy)
            yield copy
            shutil.rmtree(folder, ignore_errors=True)
            copy.rename(folder)
    except OSError as error:
        if isinstance(error, ModelError | OutputError):
            raise
        raise OutputError(f"{folder} can't be written ({error.strerror or error}); choose another folder.") from error


def _check_free(folder: Path, overwrite: bool) -> None:
    """Raise OutputError unless the folder is new or empty, or, to overwrite, holds an int8 judge."""
    if folder.exists() and any(folder.iterdir()) and not (overwrite and is_int8(folder)):
        hint = "pass overwrite=True to replace it" if is_int8(folder) else "choose another folder"
        raise OutputError(f"{folder} holds {'an int8 judge' if is_int8(folder) else 'other files'}; {hint}.")


def _sides(rows: Iterable[Sample], calibration_rows: int, test_rows: int) -> tuple[list[Sample], list[Sample]]:
    """Rows that choose and rows that compare, with no question in both, in random order."""
    usable = [row for row in rows if row.candidate.strip()]
    random.Random(0).shuffle(usable)
    sides = split_by_question(usable, 0.5)
    if min(map(len, sides)) < _LEAST:
        raise InputError(
            f"of {len(usable):,} answers, split by their questions, {len(sides[0])} are left to calibrate on and "
            f"{len(sides[1])} to compare on; at least {_LEAST} each were expected: give more answers."
        )
    return sides[0][:calibration_rows], sides[1][:test_rows]


def _compared(
    folder: Path, size: int, calibration_rows: int, rows: Sequence[Sample], exact: BERTJudge, int8: BERTJudge
) -> Quantized:
    # What was read of the rows is remembered: the int8 judge, which reads them first, is not flattered.
    (after, speed), (before, exact_speed) = (_judged(judge, rows) for judge in (int8, exact))
    drifts = [abs((b.score or 0) - (a.score or 0)) for b, a in zip(before, after, strict=True)]
    return Quantized(
        folder=folder,
        calibration_rows=calibration_rows,
        rows=len(rows),
        flips=sum(b.label != a.label for b, a in zip(before, after, strict=True)),
        mean_drift=sum(drifts) / len(drifts),
        max_drift=max(drifts),
        speed=speed,
        exact_speed=exact_speed,
        size=size,
    )


def _judged(judge: BERTJudge, rows: Sequence[Sample]) -> tuple[list[Verdict], float]:
    """Verdicts, and how many a second."""
    start = time.perf_counter()
    verdicts = list(judge.assess(rows))
    return verdicts, len(rows) / (time.perf_counter() - start)
