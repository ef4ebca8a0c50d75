"""Int8 judges: made on some rows, compared on others, and used like any judge."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.bertscore import BERTScorer
from bert_judge.cli import main
from bert_judge.encoder.models import STARTER_FOLDER
from bert_judge.errors import InputError, ModelError, OutputError
from bert_judge.inputs import open_source
from bert_judge.judges.quantize import quantize
from bert_judge.reading import JudgeConfig
from bert_judge.training import TrainConfig, train
from conftest import MakeJudge
from json_lines import EXAMPLES

NOBODY_KNOWS = [Sample(f"It is {n} or so.", (f"{n + n % 2}",), f"What is the number {n}?") for n in range(160)]


@pytest.fixture(scope="module")
def int8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judges") / "starter-int8"
    quantize("starter", open_source(EXAMPLES), folder)
    return folder


def test_an_int8_judge_says_what_its_judge_says(int8: Path) -> None:
    samples = list(open_source(EXAMPLES))
    judge, exact = BERTJudge(str(int8)), BERTJudge(dtype="float32")
    pairs = [(a.score, b.score) for a, b in zip(judge.assess(samples), exact.assess(samples), strict=True)]
    assert 0 < sum(abs(a - b) for a, b in pairs) / len(samples) < 0.02
    assert sum((a >= 0.5) != (b >= 0.5) for a, b in pairs) <= 2
    assert judge.info.signature.settings["dtype"] == "int8"
    assert judge.info.signature.settings["model"] == "starter-int8"
    assert judge.info.signature != exact.info.signature


def test_it_is_a_judge_by_its_folder(int8: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(int8, tmp_path / "moved"))
    out = tmp_path / "out"
    assert main(["score", str(EXAMPLES), "--judge", str(moved), "--dtype", "int8", "--output_dir", str(out)]) == 0
    assert len(json.loads((out / "scores.json").read_text())) == 98
    assert main(["doctor", str(out)]) == 0


def test_it_is_compared_with_its_judge(tmp_path: Path) -> None:
    folder = tmp_path / "int8"
    made = quantize("starter", open_source(EXAMPLES), folder, calibration_rows=45)
    assert (made.calibration_rows, made.rows) == (45, 43)
    assert made.size == sum(path.stat().st_size for path in folder.glob("int8.*"))
    assert made.size < 0.6 * (STARTER_FOLDER / "model.safetensors").stat().st_size


@pytest.mark.parametrize("architecture", ["bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert", "eurobert"])
def test_every_architecture(make_judge: MakeJudge, tmp_path: Path, architecture: str) -> None:
    path = str(make_judge(architecture))
    quantized = quantize(path, NOBODY_KNOWS, tmp_path / "int8", max_flips=1)
    assert quantized.rows + quantized.calibration_rows == len(NOBODY_KNOWS)
    assert quantized.max_drift < 0.15  # of weights that learnt nothing, on a processor that may saturate
    exact = BERTJudge(path, dtype="float32").predict(["Where?"], ["In Rome"], ["Rome"])[0]
    assert BERTJudge(str(quantized.folder)).predict(["Where?"], ["In Rome"], ["Rome"])[0] == pytest.approx(
        exact, abs=0.15
    )


def test_a_judge_that_loses_too_much_is_not_written(make_judge: MakeJudge, tmp_path: Path) -> None:
    judge = Path(shutil.copytree(make_judge("bert"), tmp_path / "judge"))
    scores = sorted(verdict.score or 0 for verdict in BERTJudge(str(judge), dtype="float32").assess(NOBODY_KNOWS))
    replace(JudgeConfig.load(judge), threshold=scores[len(scores) // 2]).save(judge)
    (tmp_path / "int8").mkdir()
    with pytest.raises(InputError, match=r"labels of .* differ, more than max_flips \(0.0%\): nothing was written"):
        quantize(str(judge), NOBODY_KNOWS, tmp_path / "int8", max_flips=0)
    assert {*tmp_path.iterdir()} == {judge, tmp_path / "int8"}
    assert not any((tmp_path / "int8").iterdir())


def test_a_damaged_one_is_refused(int8: Path, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(int8, tmp_path / "damaged"))
    weights = bytearray((damaged / "int8.bin").read_bytes())
    weights[5_000_000] ^= 255
    (damaged / "int8.bin").write_bytes(weights)
    with pytest.raises(ModelError, match=r"the files of the weights in .* a file is damaged"):
        BERTJudge(str(damaged))


def test_what_it_can_not_do_is_said(int8: Path, tmp_path: Path, refused: Callable[..., object]) -> None:
    samples = list(open_source(EXAMPLES))
    name = str(int8)
    for option in ({"device": "cuda"}, {"runtime": "torch"}, {"dtype": "bfloat16"}):
        with refused("leave them out, or name the judge it was made of", option=option):
            BERTJudge(name, **option)
    with refused("make one from it with bert_judge.judges.quantize"):
        BERTJudge(dtype="int8")
    with refused("which has no hidden states", error=ModelError):
        BERTScorer(model_type=name, num_layers=1)
    with refused("can only be run as it is", error=ModelError):
        train(name, samples, tmp_path / "trained", config=TrainConfig(dev_share=0.3))
    with refused("is an int8 judge already", error=ModelError):
        quantize(name, samples, tmp_path / "again")
    with refused("holds an int8 judge; pass overwrite=True", error=OutputError):
        quantize("starter", samples, int8)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with refused("holds other files; choose another folder", error=OutputError):
        quantize("starter", samples, tmp_path / "mine", overwrite=True)
    with refused("max_flips is 7; a fraction of the labels"):
        quantize("starter", samples, tmp_path / "new", max_flips=7)
    with refused("at least 40 each were expected: give more answers"):
        quantize("starter", samples[:60], tmp_path / "few")
