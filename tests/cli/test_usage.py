"""How commands are started, and what every one says of a wrong command line, and in its --help."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.cli import COMMANDS
from conftest import Command

pytestmark = pytest.mark.usefixtures("folder")


def test_a_wrong_command_line_is_one_sentence_and_status_2(
    complaint: Callable[..., str], subtests: pytest.Subtests
) -> None:
    for line, message in [
        ("score", "the following arguments are required: FILE"),
        ("score a --runtime magic", "invalid choice: 'magic'"),
        ("score a --judge_type", "expected one argument"),
        ("score a --judge LLMJudge", "LLMJudge needs --model_path"),
        ("generate --tasks arc_easy_test", "the following arguments are required: --model_path"),
        ("generate --model_path m --tasks arc_easy_test --backend magic", "invalid choice: 'magic'"),
        ("judge --judge_type LLMJudge --tasks arc_easy_test", "LLMJudge needs --model_path"),
        ("judge --judge_type RegexJudge --tasks arc_easy_test --dtipe float32", "did you mean --dtype?"),
        ("train --dataset_path rows.jsonl", "the following arguments are required: --model_path"),
        ("bertscore -c c.txt", "references (-r) and candidates (-c) are needed"),
        ("bertscore -r r.txt -c c.txt --langg en", "there is no flag --langg, did you mean --lang?"),
        ("bertscore -r r.txt -c c.txt -l two", "argument -l"),
        ("bertscore -c x --plot a.png", "--plot needs one text for -r and one for -c"),
        ("bertscore -c She died -r x --plot a.png", "died is one argument too many"),
        ("bertscore word -r r.txt -c c.txt", "word is one argument too many"),
        ("audit --items 0", "argument --items: 0 was given; a whole number of at least 1 was expected"),
        ("show out --limit -1", "-1 was given; a whole number of at least 0 was expected"),
        ("correct out --map label=ok", "--map names columns of the file of --labels"),
    ]:
        with subtests.test(line=line, message=message):
            assert message in complaint(*line.split(), status=2)


def test_every_help_has_an_example(command: Command, subtests: pytest.Subtests) -> None:
    for name in COMMANDS:
        with subtests.test(name=name):
            status, out, err = command(name, "--help")
            assert (status, err) == (0, "")
            assert f"\n  bert-judge {name}" in out
            assert "SUPPRESS" not in out
            assert "(default: ())" not in out
            assert not re.search(r"--\w+_(dir|path) TEXT", out)


def started(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m module`, when it has ended."""
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, encoding="utf-8")


def test_python_m_bert_judge_is_the_program() -> None:
    version = started("bert_judge", "--version")
    assert (version.returncode, version.stdout[:11]) == (0, "bert-judge ")
    wrong = started("bert_judge", "tasks", "--no_such_flag")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("bert-judge tasks: there is no flag --no_such_flag")


@pytest.mark.parametrize("command", ["generate", "judge", "train"])
def test_the_modules_of_the_paper_s_commands_are_these_commands(command: str) -> None:
    shown = started(f"bert_judge.cli.{command}", "--help")
    assert shown.returncode == 0
    assert f"usage: bert-judge {command} " in shown.stdout


def test_tab_completes_commands_flags_and_values(folder: Path, subtests: pytest.Subtests) -> None:
    pytest.importorskip("argcomplete")
    for line, expected in {
        "bert-judge ": [*COMMANDS],
        "bert-judge sc": ["score "],
        "bert-judge score --output": ["--output_dir", "--output_format"],
        "bert-judge score a --engine ": ["local", "ray"],
        "bert-judge score a --judge LLMJudge --base": ["--base_url "],
        "bert-judge score a --judge nothing_like_it --base": [],
    }.items():
        shell = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_IFS": "\n"}
        shell |= {"_ARGCOMPLETE_STDOUT_FILENAME": "out", "_ARGCOMPLETE_SHELL": "bash"}
        Path("out").write_text("")
        subprocess.run([sys.executable, "-m", "bert_judge"], env={**os.environ, **shell}, capture_output=True)
        with subtests.test(line=line):
            assert [word for word in Path("out").read_text().split("\n") if word] == expected
            assert not Path("bert-judge-out").exists()
