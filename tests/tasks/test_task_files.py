"""A task out of a file: which columns are taken, and which rows are refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bert_judge.errors import InputError
from bert_judge.tasks import from_file

ROWS = [{"q": "Capital of France?", "gold": "Paris"}, {"q": "2 + 2?", "gold": "4"}]
MAP = {"question": "q", "reference": "gold"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: list[dict]) -> str:
    import pyarrow
    import pyarrow.parquet

    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), name)
    elif name.endswith(".csv"):
        Path(name).write_text("q,gold\n" + "".join(f"{row['q']},{row['gold']}\n" for row in rows))
    elif name.endswith(".gz"):
        Path(name).write_bytes(gzip.compress(lines.encode()))
    else:
        Path(name).write_text(json.dumps(rows) if name.endswith(".json") else lines)
    return name


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet", "a.jsonl.gz"])
def test_every_format_gives_the_same_dataset(name: str) -> None:
    dataset = from_file(write(name, ROWS), MAP)
    assert dataset.column_names == ["question", "reference"]
    assert dataset["question"][:] == ["Capital of France?", "2 + 2?"]
    assert dataset["reference"][:] == ["Paris", "4"]


def test_columns_that_are_called_so_need_no_map() -> None:
    dataset = from_file(write("a.jsonl", [{"question": "Why?", "reference": ["So", "Because"], "more": 1}]))
    assert dataset[:] == {"question": ["Why?"], "reference": [["So", "Because"]]}


def test_columns_are_recognised_and_references_may_be_several() -> None:
    """As in files of answers; what else stands in a row is not read."""
    rows = [{"prompt": "Why?", "answer": "So", "response": [1], "label": "?"}, {"prompt": "Who?", "answer": ["A", "B"]}]
    assert from_file(write("a.jsonl", rows))["reference"][:] == [["So"], ["A", "B"]]
    several = [{"q": "Why?", "a": "So", "b": "Because"}, {"q": "Who?", "a": "A", "b": None}]
    dataset = from_file(write("b.jsonl", several), {"question": "q", "reference": ("a", "b")})
    assert dataset["reference"][:] == [["So", "Because"], ["A"]]


def test_a_folder_of_files_is_read_in_the_order_of_their_names() -> None:
    from datasets import Dataset

    Path("files").mkdir()
    for name, part in (("files/b.jsonl", ROWS[:1]), ("files/a.csv", ROWS[1:])):
        write(name, part)
    assert from_file("files", MAP)["question"][:] == ["2 + 2?", "Capital of France?"]
    Dataset.from_list(ROWS).save_to_disk("saved")
    assert from_file("saved", MAP)["reference"][:] == ["Paris", "4"]


def test_a_map_may_point_into_objects() -> None:
    row = {"doc": {"q": "Why?", "a": {"text": "So"}}, "doc.x": "other"}
    assert from_file(write("a.jsonl", [row]), {"question": "doc.q", "reference": "doc.a.text"})[0]["reference"] == "So"
    assert from_file(write("b.jsonl", [row]), {"question": "doc.q", "reference": "doc.x"})[0]["reference"] == "other"


def test_cells_of_csv_stay_as_they_are_written() -> None:
    rows = [{"q": "How much?", "gold": "0.10"}, {"q": "Who?", "gold": "NA"}]
    assert from_file(write("a.csv", rows), MAP)["reference"][:] == ["0.10", "NA"]


def test_the_file_is_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path / "local"))
    (tmp_path / "local").mkdir()
    write("a.jsonl", ROWS)
    write("local/a.jsonl", ROWS * 2)
    assert len(from_file("a.jsonl", MAP)) == 2
    assert capfd.readouterr() == ("", "")  # and no progress bars


def test_a_file_is_read_anew_after_a_change() -> None:
    assert len(from_file(write("a.jsonl", ROWS), MAP)) == 2
    assert len(from_file(write("a.jsonl", ROWS * 2), MAP)) == 4


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        (ROWS, None, "no column for the question: found q, gold; name it with columns={'question': 'COLUMN'}"),
        (ROWS, {"question": "q", "reference": "answer"}, "no column 'answer', which was named for the reference"),
        (ROWS, {"question": "q", "candidate": "gold"}, "names 'candidate'"),
        ([*ROWS, {"q": " ", "gold": "x"}], MAP, "a.jsonl line 3 has no question in the column 'q'"),
        ([*ROWS, {"q": "Why?", "gold": None}], MAP, "a.jsonl line 3 has no reference: the column 'gold' holds null"),
        (
            [{"q": "How many?", "gold": 4}],
            MAP,
            "a.jsonl line 1 has the number 4 in the column 'gold', where text was expected (put it in quotation marks",
        ),
        (
            [{"q": "How many?", "gold": []}],
            MAP,
            "a.jsonl line 1 has no reference: the column 'gold' holds an empty list",
        ),
        ([{"q": "How many?", "gold": ["4", " "]}], MAP, "a.jsonl line 1 has an empty reference in the column 'gold'"),
        (
            [{"q": "How many?", "gold": {"n": "4"}}],
            MAP | {"reference": "gold.text"},
            "a.jsonl has no column 'gold.text'",
        ),
        ([], MAP, "is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_row(rows: list[dict], columns: dict | None, said: str) -> None:
    with pytest.raises(InputError) as error:
        from_file(write("a.jsonl", rows), columns)
    assert said in str(error.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"org/rows\.jsonl does not exist"):
        from_file("org/rows.jsonl")
    Path("rows.txt").write_text("x")
    with pytest.raises(InputError, match=r"rows\.txt is neither JSON lines nor a JSON list"):
        from_file("rows.txt")
