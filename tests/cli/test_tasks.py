"""`bert-judge tasks` as its user meets it."""

from __future__ import annotations

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
    table = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in table.splitlines() if line}
    assert lines["gsm8k_test"] == ["gsm8k_test", "test", "yes", "openai/gsm8k", "(main)", "MIT", "math"]
    assert lines["aime24"][:4] == ["aime24", "test", "no", "math-ai/aime24"]
    assert "(7 configurations)" in table
    assert lines["my_task"] == ["my_task", str(local / "own" / "mine.py")]
    assert len([name for name in lines if name.endswith(("_soft", "_strict"))]) == 0
