"""Models of languages, layers and baselines: the figures are bert-score's, and what it does not know follows a rule."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from base_encoders import MakeBase, quietly

from bert_judge import BERTScorer
from bert_judge.bertscore.defaults import choose_layer, default_model, find_baseline, read_baseline
from bert_judge.encoder.models import STARTER_FOLDER
from bert_judge.errors import InputError, ModelError
from conftest import NO_RECORDS, Refused


@cache
def reference() -> ModuleType:
    with quietly():
        import bert_score.utils

    return bert_score.utils


def baseline_files() -> list[Path]:
    files = sorted(Path(reference().__file__).parent.glob("rescale_baseline/*/**/*.tsv"))
    assert len(files) > 60
    return files


@pytest.fixture
def make_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts the configuration of a model of some layers where a name of the Hub is looked for first."""
    monkeypatch.setenv("LOCAL_MODELS_DIR", str(tmp_path))

    def make(name: str, layers: int = 48) -> None:
        folder = tmp_path / name.split("/")[-1]
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"model_type": "bert", "num_hidden_layers": layers}))

    return make


def test_every_best_layer_is_that_of_bert_score(make_model: Callable[..., None]) -> None:
    layers = reference().model2layers
    assert len(layers) > 120
    for name, layer in layers.items():
        make_model(name)
        result = choose_layer(name, None)
        assert (result.number, result.chosen) == (layer, "bert-score"), name


def test_every_baseline_is_that_of_bert_score_and_every_such_language_has_a_model(
    make_model: Callable[..., None],
) -> None:
    for path in baseline_files():
        folder = next(parent for parent in path.parents if parent.parent.name == "rescale_baseline")
        model = str(path.relative_to(folder).with_suffix(""))
        with path.open() as file:
            rows = [[float(value) for value in row[1:]] for row in list(csv.reader(file))[1:]]
        make_model(model)
        result = find_baseline(model, folder.name, None)
        assert result.source == f"bert-score/{folder.name}"
        assert np.array_equal(np.array(result.rows, np.float32), np.array(rows, np.float32)), path

    languages = {path.parents[0].name for path in baseline_files() if path.parents[1].name == "rescale_baseline"}
    assert {"en", "zh", "de"} <= languages
    for lang in languages:
        make_model(default_model(lang))
        assert find_baseline(default_model(lang), lang, None).rows


def test_default_models_are_those_of_bert_score(subtests: pytest.Subtests) -> None:
    for lang in ["en", "EN", "zh", "tr", "en-sci", "de", "sw", "fr"]:
        with subtests.test(lang=lang):
            assert default_model(lang) == reference().lang2model[lang.lower()]
    assert default_model(None) == "starter"
    with pytest.raises(InputError, match=r"^there is no model for the language 'xx'; name a model, or .* en, zh, de"):
        default_model("xx")
    assert default_model("xx", any_language=True) == reference().lang2model["xx"]


def test_names_are_known_by_their_last_part(make_model: Callable[..., None], subtests: pytest.Subtests) -> None:
    for name, layer, chosen in [
        ("roberta-large", 17, "bert-score"),
        ("FacebookAI/roberta-large", 17, "bert-score"),  # as the Hub calls it since 2024
        ("google-bert/bert-base-uncased", 9, "bert-score"),
        ("someone/roberta-large-of-mine", 18, "rule"),
        ("mdeberta-v3-base", 10, "bert-score"),
        ("allenai/scibert_scivocab_uncased", 8, "bert-score"),
    ]:
        with subtests.test(name=name, layer=layer, chosen=chosen):
            make_model(name, 24)
            result = choose_layer(name, None)
            assert (result.number, result.chosen) == (layer, chosen)


def test_a_folder_is_known_by_its_name(make_model: Callable[..., None], tmp_path: Path) -> None:
    make_model("roberta-large", 24)
    for name in ("roberta-large", "roberta-large/"):
        assert choose_layer(f"{tmp_path}/{name}", None).number == 17
    assert find_baseline(str(tmp_path / "roberta-large"), "en", None).source == "bert-score/en"
    make_model("roberta-large", 12)  # another model of that name: there is no layer 17
    assert choose_layer(str(tmp_path / "roberta-large"), None).chosen == "rule"


def test_an_unknown_model_is_read_at_three_quarters(make_model: Callable[..., None], subtests: pytest.Subtests) -> None:
    for layers, rule in [(1, 1), (2, 2), (3, 3), (4, 3), (6, 5), (12, 9), (24, 18), (28, 21)]:
        with subtests.test(layers=layers, rule=rule):
            make_model("mine", layers)
            result = choose_layer("mine", None)
            assert (result.number, result.chosen) == (rule, "rule")


def test_the_starter_has_its_own_layer_and_baseline() -> None:
    figures = json.loads((STARTER_FOLDER / "bertscore.json").read_text())
    result = choose_layer("starter", None)
    assert (result.number, result.chosen) == (figures["num_layers"], "bertscore.json")
    baseline = find_baseline("starter", None, None)
    assert baseline.rows == figures["baseline"]
    layers = json.loads((STARTER_FOLDER / "config.json").read_text())["num_hidden_layers"]
    assert len(baseline.rows) == layers + 1
    assert choose_layer("starter", 2).chosen == "given"


@pytest.fixture
def own_model(make_base: MakeBase, tmp_path: Path) -> Path:
    return Path(shutil.copytree(make_base("bert"), tmp_path / "own"))


def test_a_model_brings_its_own_figures_of_layers_that_are_there(own_model: Path) -> None:
    rows = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.3, 0.4, 0.5], [0.4, 0.5, 0.6]]
    (own_model / "bertscore.json").write_text(json.dumps({"num_layers": 2, "baseline": rows}))
    plain = BERTScorer(str(own_model), dtype="float32", runtime="torch")
    rescaled = BERTScorer(str(own_model), rescale_with_baseline=True, dtype="float32", runtime="torch")
    assert plain.num_layers == rescaled.num_layers == 2
    assert rescaled.baseline_vals.tolist() == pytest.approx(rows[2])
    pair = ["It was Paris"], ["London it was"]
    for raw, result, mean in zip(plain.score(*pair), rescaled.score(*pair), rows[2], strict=True):
        assert result.item() == pytest.approx((raw.item() - mean) / (1 - mean), abs=1e-6)

    (own_model / "bertscore.json").write_text('{"num_layers": 9, "baseline": []}')
    with pytest.raises(InputError, match="num_layers is 9"):
        BERTScorer(str(own_model))
    (own_model / "bertscore.json").write_text('{"num_layers": 2, "baseline": [[0.1, 0.1, 0.1]]}')
    with pytest.raises(InputError, match=r"but layer 2 is read; give a baseline file of this model\.$"):
        BERTScorer(str(own_model), rescale_with_baseline=True)
    with pytest.raises(InputError, match="layer 3 is read"):
        BERTScorer(str(own_model), rescale_with_baseline=True, all_layers=True)


def test_broken_figures_of_a_model_are_an_error(own_model: Path, refused: Refused) -> None:
    bad = [f'{{"num_layers": 2, "baseline": {baseline}}}' for baseline in ("7", "[[0.1, 0.2]]", '[["a", "b", "c"]]')]
    bad += ['{"num_layers": 2}', '{"baseline": [[0, 0, 0]]}', '{"num_layers": "two", "baseline": []}']
    for content in [*NO_RECORDS, *bad]:
        (own_model / "bertscore.json").write_text(content)
        expected = r"bertscore\.json can't be read \(.*\); num_layers and baseline were expected"
        with refused(match=expected, error=ModelError, content=content):
            BERTScorer(str(own_model))


def test_the_language_of_a_baseline_counts(make_model: Callable[..., None], refused: Refused) -> None:
    for model, lang, message in [
        ("roberta-large", None, r"^roberta-large has rescaling baselines for .*en.*, but no language was given"),
        ("roberta-large", "de", r"^roberta-large has rescaling baselines for .*en.*, but none for 'de'"),
        ("starter", "de", r"^the baseline of starter is for the language 'en', not 'de'; give a file as baseline_path"),
        ("mine", "en", r"^there is no rescaling baseline for mine; give a file as baseline_path"),
    ]:
        make_model(model)
        with refused(match=message, model=model, lang=lang):
            find_baseline(model, lang, None)

    name = "bert-base-multilingual-cased"
    make_model(name)
    german, french, shouted = (find_baseline(name, lang, None) for lang in ("de", "fr", "DE"))
    assert german.rows == shouted.rows != french.rows


def test_a_baseline_file_wins_and_may_be_one_of_bert_score(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.4,0.5,0.6\n")
    result = find_baseline("starter", "en", str(path))
    assert result.rows == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    assert result.of(1, 2).tolist() == [pytest.approx([0.4, 0.5, 0.6])]
    assert result.of(None, 2).shape == (2, 3)
    path = next(path for path in baseline_files() if path.stem == "roberta-large")
    assert len(read_baseline(path).rows) == 25


def test_a_baseline_file_that_is_broken_missing_or_no_text_is_an_error(tmp_path: Path, refused: Refused) -> None:
    for content, reason in [
        ("", "its first line is ''"),
        ("0,0.1,0.2,0.3\n", "its first line is '0,0.1,0.2,0.3'"),
        ("LAYER,P,R\n0,0.1,0.2\n", "its first line is 'LAYER,P,R'"),
        ("LAYER,P,R,F\n1,0.1,0.2,0.3\n", "its rows are not the layers 0, 1, 2 …"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3\n2,0.1,0.2,0.3\n", "its rows are not the layers 0, 1, 2 …"),
        ("LAYER,P,R,F\n0,0.1,0.2\n", "each with three numbers"),
        ("LAYER,P,R,F\n0,0.1,0.2,high\n", "could not convert string to float: 'high'"),
        ("LAYER,P,R,F\n0,0.1,0.2,nan\n", "a mean that is not from -1 to below 1"),
        ("LAYER,P,R,F\n0,0.1,0.2,1.0\n", "a mean that is not from -1 to below 1"),
        ("LAYER\tP\tR\tF\n0\t0.1\t0.2\t0.3\n", "its first line is"),
        ("LAYER,P,R,F\n", "layer 0 is read"),
    ]:
        path = tmp_path / "own.csv"
        path.write_text(content)
        with refused(reason, match=r"own\.csv", content=content):
            BERTScorer("starter", baseline_path=str(path), rescale_with_baseline=True, num_layers=0)
    with refused(match=r"^the baseline file \S+gone\.csv can't be read \(No such file or directory\)"):
        read_baseline(tmp_path / "gone.csv")
    (tmp_path / "odd.csv").write_bytes(b"\xff\xfe\x00")
    with refused("odd.csv is not a baseline file"):
        read_baseline(tmp_path / "odd.csv")
