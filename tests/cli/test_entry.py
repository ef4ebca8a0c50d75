"""Every way to start the program: `python -m bert_judge`, and the modules of the paper's commands."""

from __future__ import annotations

import subprocess
import sys

import pytest


def started(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `python -m module` prints, and the status with which it leaves."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_python_m_bert_judge_is_the_program() -> None:
    version = started("bert_judge", "--version")
    assert (version.returncode, version.stdout[:11]) == (0, "bert-judge ")
    wrong = started("bert_judge", "tasks", "--no_such_flag")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("bert-judge tasks: there is no flag --no_such_flag")


@pytest.mark.parametrize("command", ["generate", "judge", "train"])
def test_the_modules_of_the_paper_s_commands_are_these_commands(command: str) -> None:
    help_ = started(f"bert_judge.cli.{command}", "--help")
    assert help_.returncode == 0
    assert f"usage: bert-judge {command} " in help_.stdout
