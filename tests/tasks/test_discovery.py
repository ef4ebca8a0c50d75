"""Which functions are tasks: in the package's folder and in one of the user's; and what is wrong with a folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import bert_judge
from bert_judge.errors import InputError
from bert_judge.tasks import discover
from conftest import Refused

# As the README of the paper's package shows it.
PAPER_STYLE = """
from ..utils import load_dataset

def my_custom_task():
    def process_fn(ex):
        question = ex["question"].strip()
        reference = ex["answer"].strip()
        return {"question": question, "reference": reference}

    return load_dataset(path="my_org/my_dataset", name=None, split="test", process_fn=process_fn)
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a folder of tasks from the texts of its files."""

    def make(**files: str) -> Path:
        folder = tmp_path / "own tasks"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        return folder

    return make


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "my_dataset"
    folder.mkdir(parents=True)
    (folder / "test.jsonl").write_text('{"question": " Capital of France? ", "answer": " Paris "}\n')
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))


def added(folder: Path) -> set[str]:
    return set(discover(folder)) - set(discover())


@pytest.mark.usefixtures("own_data")
def test_a_task_of_the_papers_readme_works_outside_of_the_package(write: Write) -> None:
    dataset = discover(write(my_custom_task=PAPER_STYLE))["my_custom_task"]()
    assert dataset[0]["question"] == "Capital of France?"
    assert dataset[0]["reference"] == "Paris"


@pytest.mark.usefixtures("own_data")
def test_a_task_of_the_papers_readme_works_inside_of_the_package(tmp_path: Path, write: Write) -> None:
    package = Path(bert_judge.__file__).parent
    copy = shutil.copytree(package, tmp_path / "copy" / "bert_judge", ignore=shutil.ignore_patterns("starter"))
    shutil.copy(write(my_custom_task=PAPER_STYLE) / "my_custom_task.py", copy / "tasks")
    (copy / "tasks" / "asdiv.py").write_text("def of_my_asdiv(): ...")  # named as a module of the paper's package
    code = """if True:
        from bert_judge.tasks import discover
        print(discover()['my_custom_task']()[0]['reference'], 'of_my_asdiv' in discover())"""
    paths = {"PYTHONPATH": str(tmp_path / "copy"), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | paths)
    assert done.stdout == "Paris True\n", done.stderr


def test_private_imported_and_other_things_are_no_tasks(write: Write) -> None:
    text = """
    from functools import lru_cache
    from ..utils import load_dataset
    from ._shared import build

    SIZE = 3
    TASKS = 3

    class Rows:
        pass

    def one(): ...
    def two(size=3, *rest, **more): ...
    def _private(): ...
    def needs_something(path): ...

    @lru_cache
    def cached(): ...
    """
    folder = write(mine=text, _shared="def build(): ...\ndef hidden(): ...")
    assert added(folder) == {"one", "two", "cached"}


def test_families_of_ones_own_are_made_from_a_table(write: Write) -> None:
    text = """
    from bert_judge.tasks import Benchmark, Item, make_tasks

    TASKS = make_tasks(
        [Benchmark("facts", "me/facts", None, "test", "MIT", "facts")],
        lambda row: Item(row["q"], row["a"]),
        "the fact",
    )
    """
    assert added(write(facts=text)) == {"facts", "facts_soft", "facts_strict"}


@pytest.mark.usefixtures("own_data")
def test_the_command_lists_tasks_with_their_data(write: Write, tmp_path: Path, printed: Callable[..., str]) -> None:
    (tmp_path / "data" / "gsm8k").mkdir()
    (tmp_path / "data" / "gsm8k" / "test.jsonl").write_text('{"question": "q", "answer": "#### 1"}\n' * 3)
    folder = write(mine="def my_task(): ...")
    table = printed("tasks", "--tasks_dir", folder)
    lines = {line.split()[0]: line.split() for line in table.splitlines() if line}
    assert lines["gsm8k_test"] == ["gsm8k_test", "test", "yes", "openai/gsm8k", "(main)", "MIT", "math"]
    assert lines["aime24"][:4] == ["aime24", "test", "no", "math-ai/aime24"]
    assert "(7 configurations)" in table
    assert " ".join(lines["my_task"]) == f"my_task {folder / 'mine.py'}"
    assert not [name for name in lines if name.endswith(("_soft", "_strict"))]


def test_two_folders_with_files_of_one_name_do_not_mix(write: Write, tmp_path: Path) -> None:
    first = shutil.move(write(mine="def first(): ..."), tmp_path / "other")
    second = write(mine="def second(): ...")
    assert added(Path(first)) == {"first"}
    assert added(second) == {"second"}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mine", "own tasks/b.py"),
        ("gsm8k_test", "bert_judge/tasks/math_problems.py"),
        ("arc_easy_test_soft", "bert_judge/tasks/multiple_choice.py"),
    ],
)
def test_a_name_that_two_files_define(write: Write, refused: Refused, name: str, file: str) -> None:
    folder = write(a=f"def {name}(): ...", b="def mine(): ...")
    with refused(file, match=f"the task {name} is defined twice, in .*own tasks/a.py"):
        discover(folder)


def test_a_file_that_does_not_work_is_named_with_the_reason(write: Write, refused: Refused) -> None:
    for text, message in [
        ("def broken(:", "SyntaxError"),
        ("import no_such_module_of_mine", "ModuleNotFoundError: No module named 'no_such_module_of_mine'"),
        ("from ..utils import no_such_function", "ImportError: cannot import name 'no_such_function'"),
        ("raise RuntimeError('first\\nsecond')", "RuntimeError: first."),
    ]:
        file = write(broken=text) / "broken.py"
        with refused(message, match=re.escape(str(file)), text=text):
            discover(file.parent)


def test_a_folder_that_is_none(write: Write) -> None:
    folder = write(mine="def one(): ...")
    for place, message in [(folder / "missing", "not there"), (folder / "mine.py", "is a file")]:
        with pytest.raises(InputError, match=message):
            discover(place)
    with pytest.raises(InputError, match="has no tasks"):
        discover(shutil.move(write(mine="SIZE = 3"), folder.with_name("empty")))
