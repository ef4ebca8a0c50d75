"""A task from a file: which columns are read, and which rows are refused. tests/inputs has the formats and values."""

from __future__ import annotations

from pathlib import Path

import pytest

from bert_judge.tasks import from_file
from conftest import Refused
from json_lines import write_rows

ROWS = [{"q": "Capital of France?", "gold": "Paris"}, {"q": "2 + 2?", "gold": "4"}]
MAP = {"question": "q", "reference": "gold"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder; data sets are cached in it."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_columns_of_a_dataset() -> None:
    Path("a.csv").write_text("q,gold\nCapital of France?,Paris\n2 + 2?,4\n")
    for name in (write_rows("a.jsonl", ROWS), "a.csv"):
        assert from_file(name, MAP)[:] == {"question": ["Capital of France?", "2 + 2?"], "reference": ["Paris", "4"]}


def test_columns_are_recognised_and_references_may_be_several() -> None:
    """As in files of answers; candidates and labels are not read."""
    dataset = from_file(write_rows("a.jsonl", [{"question": "Why?", "reference": ["So", "Because"], "more": 1}]))
    assert dataset[:] == {"question": ["Why?"], "reference": [["So", "Because"]]}
    rows = [{"prompt": "Why?", "answer": "So", "response": [1], "label": "?"}, {"prompt": "Who?", "answer": ["A", "B"]}]
    assert from_file(write_rows("a.jsonl", rows))["reference"][:] == [["So"], ["A", "B"]]
    several = [{"q": "Why?", "a": "So", "b": "Because"}, {"q": "Who?", "a": "A", "b": None}]
    dataset = from_file(write_rows("b.jsonl", several), {"question": "q", "reference": ("a", "b")})
    assert dataset["reference"][:] == [["So", "Because"], ["A"]]


def test_a_path_is_not_looked_for_among_local_data_sets(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(folder / "local"))
    (folder / "local").mkdir()
    write_rows("local/a.jsonl", ROWS * 2)
    assert len(from_file(write_rows("a.jsonl", ROWS), MAP)) == 2
    assert capfd.readouterr() == ("", "")  # no progress bars either
    assert len(from_file(write_rows("a.jsonl", ROWS * 3), MAP)) == 6  # nor is it cached


def test_rows_that_are_refused(refused: Refused):
    for rows, columns, message in [
        (ROWS, None, "no column for the question: found q, gold; name it with columns={'question': 'COLUMN'}"),
        (ROWS, {"question": "q", "reference": "answer"}, "no column 'answer', which was named for the reference"),
        (ROWS, {"question": "q", "candidate": "gold"}, "names 'candidate'"),
        ([*ROWS, {"q": " ", "gold": "x"}], MAP, "a.jsonl line 3 has no question in the column 'q'"),
        ([*ROWS, {"q": "Why?", "gold": None}], MAP, "a.jsonl line 3 has no reference: the column 'gold' holds null"),
        ([{"q": "How many?", "gold": 4}], MAP, "a.jsonl line 1 has the number 4 in the column 'gold', where text was"),
        ([], MAP, "is empty"),
    ]:
        with refused(message, rows=rows, columns=columns):
            from_file(write_rows("a.jsonl", rows), columns)
    with refused("org/rows.jsonl does not exist"):
        from_file("org/rows.jsonl")
