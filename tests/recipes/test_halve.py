"""The small starter: what `halve.py` begins with, and what ships."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes" / "starter"))

import halve

from bert_judge import BERTJudge, Sample
from bert_judge.models import SHIPPED, STARTER, STARTER_FOLDER, STARTER_SMALL, read_config
from bert_judge.sources import open_source

EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"


def test_some_layers_of_a_judge_are_a_judge(tmp_path: Path) -> None:
    halve.keep_layers(STARTER_FOLDER, tmp_path / "half", (0, 2, 4))
    whole, half = (load_file(folder / "model.safetensors") for folder in (STARTER_FOLDER, tmp_path / "half"))
    name = "bert.encoder.layer.{}.output.dense.weight"
    assert all(np.array_equal(half[name.format(new)], whole[name.format(old)]) for new, old in enumerate((0, 2, 4)))
    assert name.format(3) not in half
    assert half.keys() < whole.keys()
    assert read_config(tmp_path / "half")["num_hidden_layers"] == 3
    [score] = BERTJudge(str(tmp_path / "half")).predict(["Capital of Peru?"], ["Lima"], ["Lima"])
    assert score is not None
    halve.keep_layers(STARTER_FOLDER, tmp_path / "all", range(6))
    assert load_file(tmp_path / "all" / "model.safetensors").keys() == whole.keys()


def test_rows_are_taught_with_the_mean_of_label_and_score() -> None:
    rows = [Sample("Lima", ("Lima",), "Capital of Peru?", gold=gold) for gold in (0, 1)]
    wrong, right = (row.gold for row in halve.distilled(rows))
    assert wrong is not None and right is not None
    assert right - wrong == 0.5
    assert right > 0.95


def test_what_ships_has_the_starters_embeddings_and_says_nearly_the_same(starter: BERTJudge) -> None:
    whole, half = (load_file(SHIPPED[each] / "model.safetensors") for each in (STARTER, STARTER_SMALL))
    assert np.array_equal(*(each["bert.embeddings.word_embeddings.weight"] for each in (whole, half)))
    rows = list(open_source(str(EXAMPLES)))
    labels = [[verdict.label for verdict in judge.assess(rows)] for judge in (starter, BERTJudge(STARTER_SMALL))]
    assert sum(one == other for one, other in zip(*labels, strict=True)) >= 90
    assert sum(said == row.gold for said, row in zip(labels[1], rows, strict=True)) >= 80
    assert BERTJudge(STARTER_SMALL).variant == STARTER_SMALL
