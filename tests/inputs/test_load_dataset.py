"""Where a data set is found and in which layouts, and that what is broken is said and never downloaded instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from datasets import Dataset, DatasetDict

from bert_judge.errors import InputError
from bert_judge.inputs.datasets import find_dataset, load_dataset

Save = Callable[[Path, str], None]
TEST, TRAIN = "a test row", "a training row"


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """LOCAL_DATASETS_DIR, and a cache of its own."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path / "local"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "local"


def saved(place: Path, text: str) -> None:
    Dataset.from_list([{"text": text}]).save_to_disk(str(place))


def written(place: Path, content: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)


def lines(place: Path, text: str) -> None:
    written(place, json.dumps({"text": text}) + "\n")


def table(place: Path, text: str) -> None:
    written(place, f"text\n{text}\n")


def parquet(place: Path, text: str) -> None:
    written(place, "")
    pyarrow.parquet.write_table(pyarrow.table({"text": [text]}), place)


def texts(*arguments: object, **options: object) -> list[str]:
    return list(load_dataset(*arguments, **options)["text"])  # type: ignore[arg-type]


def both(folder: Path, save: Save, test: str, train: str) -> None:
    save(folder / test, TEST)
    save(folder / train, TRAIN)


LAYOUTS = {
    "saved": (saved, "main/test", "main/train"),
    "saved without configuration": (saved, "test", "train"),
    "parquet of the Hub": (parquet, "main/test-00000-of-00001.parquet", "main/train-00000-of-00001.parquet"),
    "parquet in data": (parquet, "data/test-00000-of-00001.parquet", "data/train-00000-of-00001-3f2a.parquet"),
    "lines": (lines, "test.jsonl", "train.jsonl"),
    "lines of a configuration": (lines, "main/test.jsonl", "main/train.jsonl"),
    "lines in split folders": (lines, "main/test/part-1.jsonl", "main/train/part-1.jsonl"),
    "lines in split folders alone": (lines, "test/rows.jsonl", "train/rows.jsonl"),
    "lines named after both": (lines, "gsm8k_test.jsonl", "gsm8k_train.jsonl"),
    "csv": (table, "test.csv", "train.csv"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(local: Path, layout: str) -> None:
    both(local / "data", *LAYOUTS[layout])
    assert texts("org/data", "main", "test") == [TEST]
    assert texts("org/data", "main", "train") == [TRAIN]
    assert texts("org/data", "main", ["train", "test"]) == [TRAIN, TEST]
    assert sorted(texts("org/data", "main")) == sorted([TEST, TRAIN])
    problem = "no data of the configuration 'main' and split 'validation'|Unknown split .validation.. Should be one of"
    with pytest.raises(InputError, match=problem):
        load_dataset("org/data", "main", "validation")


def test_a_saved_dictionary_of_splits(local: Path) -> None:
    splits = {name: Dataset.from_list([{"text": text}]) for name, text in (("test", TEST), ("train", TRAIN))}
    DatasetDict(splits).save_to_disk(str(local / "data" / "main"))
    assert texts("org/data", "main", "test") == [TEST]
    assert texts("org/data", "main") == [TEST, TRAIN]
    with pytest.raises(InputError, match="split 'dev'"):
        load_dataset("org/data", "main", "dev")


def test_splits_by_the_names_of_files(local: Path) -> None:
    lines(local / "data" / "rows.jsonl", TEST)
    written(local / "cells" / "test.csv", "text,other\n0.10,NA\n")
    assert load_dataset("cells", None, "test")[:] == {"text": ["0.10"], "other": ["NA"]}
    assert texts("org/data") == texts("org/data", ["algebra", "geometry"], "train") == [TEST]
    both(local / "other", lines, "dev.jsonl", "train.jsonl")
    assert texts("org/other", None, "validation") == [TEST]
    for shard in range(3):
        parquet(local / "shards" / f"test-{shard:05}-of-00003.parquet", str(shard))
    assert texts("shards", None, "test") == ["0", "1", "2"]


def test_a_copy_of_a_repository_is_read_by_its_card(local: Path) -> None:
    both(local / "data", lines, "files/a.jsonl", "files/b.jsonl")
    (local / "data" / "README.md").write_text(
        "---\nlicense: mit\nconfigs:\n- config_name: main\n  data_files:\n"
        "  - split: test\n    path: files/a.jsonl\n  - split: train\n    path: files/b.jsonl\n---\nA card.\n"
    )
    assert texts("org/data", "main", "test") == [TEST]
    assert texts("org/data", None, "train") == [TRAIN]
    with pytest.raises(InputError, match="no configuration 'other'; choose from main"):
        load_dataset("org/data", "other", "test")
    with pytest.raises(InputError, match='Unknown split "dev"'):
        load_dataset("org/data", "main", "dev")


def test_several_configurations_are_joined_unless_the_same_rows_stand_for_them(local: Path) -> None:
    for config in ("algebra", "geometry"):
        saved(local / "data" / config / "test", config)
    assert texts("org/data", ["geometry", "algebra"], "test") == ["geometry", "algebra"]
    with pytest.raises(InputError, match=r"'calculus'.*choose from algebra, geometry"):
        load_dataset("org/data", ["algebra", "calculus"], "test")
    saved(local / "alone" / "test", TEST)
    assert texts("org/alone", ["algebra", "geometry"], "test") == [TEST]


@pytest.mark.parametrize(
    ("name", "split", "problem"),
    [("other", None, "holds the configuration 'main'"), ("main", "test", "holds the split 'train'")],
)
def test_what_says_to_be_something_else_is_not_taken(local: Path, name: str, split: str | None, problem: str) -> None:
    saved(local / "data", TRAIN)
    for file, key, value in [("dataset_info.json", "config_name", "main"), ("state.json", "_split", "train")]:
        path = local / "data" / file
        path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    assert texts("org/data", "main", "train") == [TRAIN]
    with pytest.raises(InputError, match=problem):
        load_dataset("org/data", name, split)


def test_the_places_in_their_order(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "org" / "data", "here")
    assert texts("org/data") == ["here"]
    saved(local / "org" / "data", "whole path")
    assert texts("org/data") == ["whole path"]
    saved(local / "data", "last part")
    assert texts("org/data") == ["last part"]
    monkeypatch.delenv("LOCAL_DATASETS_DIR")
    assert texts("org/data") == ["here"]
    assert find_dataset("org/other") is None


def test_filter_and_process_write_nothing_beside_the_data(local: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written(local / "data" / "test.jsonl", '{"n": 1}\n{"n": 2}\n{"n": 3}\n')
    saved(local / "folder", TEST)
    before = sorted(local.rglob("*"))
    capfd.readouterr()
    dataset = load_dataset("data", None, "test", lambda row: row["n"] != 2, lambda row: {"double": 2 * row["n"]})
    assert capfd.readouterr() == ("", "")
    assert dataset[:] == {"n": [1, 3], "double": [2, 6]}
    load_dataset("folder", filter_fn=lambda row: True, process_fn=lambda row: {"question": "q"})
    assert sorted(local.rglob("*")) == before
    with pytest.raises(InputError, match="no 'problem'; its columns are n"):
        load_dataset("data", None, "test", process_fn=lambda row: {"question": row["problem"]})


@pytest.mark.parametrize(
    ("save", "file", "broken"),
    [
        (lines, "test.jsonl", "test.jsonl"),
        (parquet, "test.parquet", "test.parquet"),
        (saved, "", "data-00000-of-00001.arrow"),
        (saved, "", "state.json"),
    ],
)
def test_broken_data_is_an_error_and_never_another_place(local: Path, save: Save, file: str, broken: str) -> None:
    save(local / "data" / file, TEST)
    saved(local / "org" / "data", "not this one")
    path = local / "data" / broken
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match="can't be read as a data set") as error:
        load_dataset("org/data", None, "test")
    assert str(local / "data") in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "doesn't contain any data files"),
        ({"notes.txt": "x"}, r"""Unknown split "test"\. Should be one of \['train'\]"""),
        ({"test.jsonl": ""}, "a file is empty"),
    ],
)
def test_a_folder_without_rows(local: Path, files: dict[str, str], problem: str) -> None:
    (local / "data").mkdir(parents=True)
    for name, content in files.items():
        written(local / "data" / name, content)
    with pytest.raises(InputError, match=problem):
        load_dataset("org/data", None, "test")


@pytest.mark.parametrize("path", ["no-such-org/no-such-data", "no-such-data", "./no/such/folder"])
def test_a_data_set_that_is_nowhere(local: Path, path: str) -> None:
    with pytest.raises(InputError) as error:
        load_dataset(path, None, "test")
    assert f"the data set {path!r} was not found: there is no folder" in str(error.value)
    assert str(local) in str(error.value)
    assert "\n" not in str(error.value)
