"""Every way to start the program: `python -m bert_judge`, and a command's own module."""

from __future__ import annotations

import runpy
import sys

import pytest

from bert_judge.cli import COMMANDS


def started(module: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The status with which `python -m module` leaves; the module is run as Python runs it."""
    monkeypatch.setattr(sys, "argv", [module, *arguments])
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(SystemExit) as end:
        runpy.run_module(module, run_name="__main__")
    return int(end.value.code or 0)


def test_python_m_bert_judge_is_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("bert_judge", "bert_judge.cli"):
        assert started(module, monkeypatch, "--version") == 0
        assert capsys.readouterr().out.startswith("bert-judge ")
        assert started(module, monkeypatch, "tasks", "--no_such_flag") == 2
        assert capsys.readouterr().err.startswith("bert-judge tasks: there is no flag --no_such_flag")


def test_the_module_of_a_command_is_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for command in sorted(COMMANDS):
        with subtests.test(command=command):
            assert started(f"bert_judge.cli.{command.replace('-', '_')}", monkeypatch, "--help") == 0
            assert f"usage: bert-judge {command} " in capsys.readouterr().out
