"""`bert-judge tasks` as its user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bert_judge.cli.tasks import main


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "gsm8k").mkdir()
    (tmp_path / "gsm8k" / "test.jsonl").write_text('{"question": "q", "answer": "#### 1"}\n' * 3)
    return tmp_path


def own_task(folder: Path) -> Path:
    (folder / "own").mkdir()
    (folder / "own" / "mine.py").write_text("def my_task(): ...\n")
    return folder / "own"


def test_the_table(local: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tasks_dir", str(own_task(local))]) == 0
    table, notes = capsys.readouterr()
    lines = {line.split()[0]: line.split() for line in table.splitlines() if line}
    assert lines["gsm8k_test"] == ["gsm8k_test", "test", "3", "openai/gsm8k", "(main)", "MIT", "math"]
    assert lines["aime24"][:4] == ["aime24", "test", "-", "math-ai/aime24"]
    assert "(7 configurations)" in table
    assert lines["my_task"] == ["my_task", str(local / "own" / "mine.py")]
    assert len([name for name in lines if name.endswith(("_soft", "_strict"))]) == 0
    assert "gsm8k_train" in notes  # what is there has no such split


def test_json_has_a_line_for_each_name(local: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--tasks-dir", str(own_task(local))]) == 0
    records = {record["name"]: record for record in map(json.loads, capsys.readouterr().out.splitlines())}
    assert len(records) == 67
    assert records["gsm8k_test_soft"] == {
        "name": "gsm8k_test_soft",
        "dataset": "openai/gsm8k",
        "config": "main",
        "split": "test",
        "rows": 3,
        "licence": "MIT",
        "family": "math",
    }
    assert records["gpqa"]["rows"] is None
    assert records["my_task"] == {"name": "my_task", "file": str(local / "own" / "mine.py")}


def test_data_that_can_not_be_read_is_a_note(local: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (local / "aime24").mkdir()
    (local / "aime24" / "test.jsonl").write_text("{")
    assert main([]) == 0
    table, notes = capsys.readouterr()
    assert re.search(r"^aime24 +test +- ", table, re.MULTILINE)
    assert "note: aime24: " in notes
    assert "can't be read" in notes
