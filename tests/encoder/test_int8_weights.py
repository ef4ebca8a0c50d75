"""Int8 weights: a judge's copy in a quarter of the bytes is loaded like any other, and scores almost the same."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bert_judge import BERTJudge
from bert_judge.bertscore import BERTScorer
from bert_judge.encoder.models import STARTER_FOLDER, load_hf_encoder, model_hashes
from bert_judge.errors import ModelError, OutputError
from bert_judge.judges.quantize import quantize, write_int8_weights
from bert_judge.training import train
from conftest import MakeJudge, Refused
from trainable import CONFIG, FORM, rows

BIG = {"hidden_size": 64, "intermediate_size": 256}  # matrices that are large enough, rows of one group and of two
MATRIX = "bert.encoder.layer.0.intermediate.dense.weight"  # 256 rows of 64 numbers, one group
WIDE = "bert.encoder.layer.0.output.dense.weight"  # 64 rows of 256 numbers, two groups


@pytest.fixture(scope="module")
def marked(make_judge: MakeJudge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge with marks on MPNet, which has a class of its own for them; briefly trained."""
    folder = tmp_path_factory.mktemp("judges") / "marked"
    return train(str(make_judge("mpnet", **BIG)), rows(), folder, FORM, replace(CONFIG, num_train_epochs=1)).folder


def copied(folder: Path, target: Path, **options: int) -> Path:
    return write_int8_weights(folder, target, **options)


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    return {name: value for path in folder.glob("*.safetensors") for name, value in load_file(path).items()}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_number_moves_by_half_a_step_at_most(make_judge: MakeJudge, tmp_path: Path, dtype: str) -> None:
    judge = make_judge("bert", fresh=True, **BIG)
    exact = {name: value.to(getattr(torch, dtype)) for name, value in tensors(judge).items()}
    exact[MATRIX][3] = 0
    exact[MATRIX][4, 5] = 1_000  # of this row the other numbers are lost, not those of the other rows
    exact[WIDE][4, 5] = 1_000  # the other half of this row keeps its numbers
    exact["bert.pooler.dense.bias"][0] = 1e6 if dtype != "float16" else 1  # more than float16 holds
    save_file(exact, judge / "model.safetensors", {"format": "pt"})
    stored = tensors(copied(judge, tmp_path / "small"))
    matrices = [name for name in exact if f"{name}.scale" in stored]
    assert MATRIX in matrices
    assert {stored[name].dtype for name in matrices} == {torch.int8}
    assert all(stored[name].shape == exact[name].shape for name in exact)
    assert not stored[MATRIX][3].any()
    assert stored[f"{MATRIX}.scale"][3] == 0
    assert (stored[f"{MATRIX}.scale"].shape, stored[f"{WIDE}.scale"].shape) == ((256, 1), (64, 2))
    assert stored[f"{WIDE}.scale"][4, 1] < 1 < stored[f"{WIDE}.scale"][4, 0]
    assert stored["bert.pooler.dense.bias"].dtype == (torch.float16 if dtype == "float16" else torch.float32)
    assert stored["bert.encoder.layer.0.output.LayerNorm.weight"].dtype == torch.float16
    loaded = load_hf_encoder(str(tmp_path / "small"), dtype="float32").state_dict()
    for name, value in exact.items():
        step = 2**-9 * value.float().abs()
        if name in matrices:
            scale = stored[f"{name}.scale"]
            step = scale.repeat_interleave(value.shape[1] // scale.shape[1], dim=1)
        assert ((loaded[name] - value.float()).abs() <= step * 0.5001).all(), name


def test_weights_with_one_scale_a_row_are_read(make_judge: MakeJudge, tmp_path: Path) -> None:
    small = copied(make_judge("bert", **BIG), tmp_path / "small")
    [path] = small.glob("*.safetensors")
    stored = load_file(path)
    stored[f"{WIDE}.scale"] = torch.linspace(0.001, 0.002, 64)
    save_file(stored, path, {"format": "pt"})
    (small / "judge.json").unlink(missing_ok=True)  # it has the hash of the weights
    loaded = load_hf_encoder(str(small), dtype="float32").state_dict()
    assert torch.equal(loaded[WIDE], stored[WIDE].float() * stored[f"{WIDE}.scale"][:, None])


@pytest.mark.parametrize("architecture", ["bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert", "eurobert"])
def test_every_architecture_scores_almost_the_same(make_judge: MakeJudge, tmp_path: Path, architecture: str) -> None:
    judge = make_judge(architecture, **BIG)
    small = copied(judge, tmp_path / "small")
    questions, candidates, references = ["Where?", "Who?"], ["In Rome, I would say", "Ada"], ["Rome", "Grace"]
    for runtime in ("torch", "openvino"):
        before, after = (
            BERTJudge(str(folder), dtype="float32", runtime=runtime).predict(questions, candidates, references)
            for folder in (judge, small)
        )
        assert after == pytest.approx(before, abs=0.03)
        assert after != before


def test_marks_hashes_and_settings_are_kept(marked: Path, tmp_path: Path) -> None:
    small = copied(marked, tmp_path / "small")
    before, after = (json.loads((folder / "judge.json").read_text()) for folder in (marked, small))
    assert after.pop("hashes") == model_hashes(small) != before.pop("hashes")
    assert before == after
    assert (small / "README.md").exists() and not (small / "metrics.json").exists()
    judges = [BERTJudge(str(folder), dtype="float32") for folder in (marked, small)]
    exact, scores = ([verdict.score for verdict in judge.assess(rows(40))] for judge in judges)
    assert scores == pytest.approx(exact, abs=0.02)
    assert judges[0].info.signature != judges[1].info.signature


def test_it_is_trained_further_and_made_into_a_graph(marked: Path, tmp_path: Path) -> None:
    small = copied(marked, tmp_path / "small")
    short = replace(CONFIG, num_train_epochs=0.1, learning_rate=1e-9)
    further = BERTJudge(str(train(str(small), rows(), tmp_path / "further", FORM, short).folder), dtype="float32")
    scores, exact = (
        [verdict.details["logit"] for verdict in judge.assess(rows(20)) if verdict.details]
        for judge in (further, BERTJudge(str(small), dtype="float32"))
    )
    assert scores == pytest.approx(exact, abs=1e-3)
    graph = quantize(str(small), rows(300), tmp_path / "graph", max_flips=1)
    assert BERTJudge(str(graph.folder)).info.signature.settings["dtype"] == "int8"


def test_bertscore_reads_its_hidden_states(starter_folder: Path, tmp_path: Path) -> None:
    small = copied(starter_folder, tmp_path / "small")
    texts = (["It is in Paris."], ["Paris is the place."])
    exact, scores = (
        BERTScorer(str(folder), num_layers=4).score(*texts)[2].tolist() for folder in (starter_folder, small)
    )
    assert scores == pytest.approx(exact, abs=0.01)
    size = sum(path.stat().st_size for path in small.glob("*.safetensors"))
    assert size < 0.52 * (starter_folder / "model.safetensors").stat().st_size  # which is float16


def test_its_files_keep_to_their_size_and_none_may_be_missing(
    make_judge: MakeJudge, tmp_path: Path, refused: Refused
) -> None:
    judge = make_judge("bert", **BIG)
    most = 20_000
    small = copied(judge, tmp_path / "small", most=most)
    names = sorted(path.name for path in small.glob("*.safetensors"))
    count = len(names)
    assert count > 3
    assert names == [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    assert all(path.stat().st_size <= most for path in small.glob("*.safetensors"))
    assert BERTJudge(str(small)).predict(["Where?"], ["Rome"], ["Rome is it"]) != [None]
    for runtime in ("torch", "openvino"):
        cut = Path(shutil.copytree(small, tmp_path / f"cut-{runtime}"))
        (cut / names[1]).unlink()
        with refused(f"lacks some of its weights, {names[1]}; fetch the model again", error=ModelError):
            BERTJudge(str(cut), runtime=runtime)
    with refused("lacks some of its weights", error=ModelError):
        load_hf_encoder(str(cut), new_head=True)
    with refused("bytes in int8, but a file may have 1,000; allow more"):
        write_int8_weights(judge, tmp_path / "tiny", most=1_000)
    assert not (tmp_path / "tiny").exists()


def test_damage_is_said(make_judge: MakeJudge, tmp_path: Path, refused: Refused) -> None:
    small = copied(make_judge("bert", **BIG), tmp_path / "small")
    [path] = small.glob("*.safetensors")
    whole = load_file(path)
    wrong = (torch.ones(3), torch.ones(256, 0), torch.ones(256, 3), None)
    for damage in ({f"{MATRIX}.scale": scale} for scale in wrong):
        kept = {name: value for name, value in (whole | damage).items() if value is not None}
        save_file(kept, path, {"format": "pt"})
        with refused(f"the matrix {MATRIX} lacks a scale for each row", error=ModelError, damage=str(damage)):
            BERTJudge(str(small), runtime="torch")
    path.write_bytes(path.read_bytes()[:2_000])
    with refused("can't be loaded", error=ModelError):
        BERTJudge(str(small), runtime="torch")


def test_what_can_not_be_written_is_said(
    make_judge: MakeJudge, encoder: Path, tmp_path: Path, refused: Refused
) -> None:
    judge = make_judge("bert", fresh=True, **BIG)
    small = copied(judge, tmp_path / "small")
    with refused("has int8 weights already", error=ModelError):
        write_int8_weights(small, tmp_path / "again")
    with refused("holds other files; choose another folder", error=OutputError):
        write_int8_weights(judge, small)
    with refused("was not found", error=ModelError):
        write_int8_weights(tmp_path / "nowhere", tmp_path / "new")
    with refused("has no matrix of 4,096 numbers or more", error=ModelError):
        write_int8_weights(encoder, tmp_path / "new")
    damaged = Path(shutil.copytree(STARTER_FOLDER, tmp_path / "damaged"))
    (damaged / "model.safetensors").write_bytes((judge / "model.safetensors").read_bytes())
    with refused("a file is damaged, or was changed", error=ModelError):
        write_int8_weights(damaged, tmp_path / "new")
    broken = tensors(judge)
    broken[MATRIX][0, 0] = float("nan")
    save_file(broken, judge / "model.safetensors", {"format": "pt"})
    with refused(f"{MATRIX} of {judge} holds a number that is not finite", error=ModelError):
        write_int8_weights(judge, tmp_path / "new")
    (judge / "model.safetensors").unlink()
    with refused("has no weights as safetensors", error=ModelError):
        write_int8_weights(judge, tmp_path / "new")
    assert {path.name for path in tmp_path.iterdir()} == {"small", "damaged"}
