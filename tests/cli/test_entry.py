"""Every way to start the program: `python -m bert_judge`, and a command's own module."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bert_judge.cli import COMMANDS


def started(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `python -m module` prints, and the status with which it leaves."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_python_m_bert_judge_is_the_program(subtests: pytest.Subtests) -> None:
    for module in ("bert_judge", "bert_judge.cli"):
        with subtests.test(module=module):
            version = started(module, "--version")
            assert (version.returncode, version.stdout[:11]) == (0, "bert-judge ")
            wrong = started(module, "tasks", "--no_such_flag")
            assert wrong.returncode == 2
            assert wrong.stderr.startswith("bert-judge tasks: there is no flag --no_such_flag")


def test_the_module_of_a_command_is_the_command(subtests: pytest.Subtests) -> None:
    for command in sorted(COMMANDS):
        with subtests.test(command=command):
            help_ = started(f"bert_judge.cli.{command.replace('-', '_')}", "--help")
            assert help_.returncode == 0
            assert f"usage: bert-judge {command} " in help_.stdout
