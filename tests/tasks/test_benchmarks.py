"""Each task of the paper on rows in its data set's own schema: what is asked, and which reference comes out."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import Dataset
from original_rows import ASDIV, SUBJECTS, save_all

from bert_judge.errors import InputError
from bert_judge.tasks import FORMS, BenchmarkTask, discover, lettered, shuffled
from conftest import Refused

NAMES = (
    "aime24 aime25 arc_easy_train arc_easy_test arc_challenge_train arc_challenge_test asdiv coqa_test drop_test gpqa "
    "gsm8k_train gsm8k_test hendrycks_math_train hendrycks_math_test hotpot_qa_train hotpot_qa_test mmlu_train "
    "mmlu_test mmlu_pro squad_v2_train squad_v2_test truthful_qa_mc"
).split()
CHOICE = ("arc", "mmlu", "gpqa", "truthful")
TASKS = discover()


@pytest.fixture(scope="module")
def saved_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    save_all(folder)
    return folder


@pytest.fixture
def local_data(saved_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(saved_data))
    return saved_data


@pytest.fixture
def rows(local_data: Path):
    def load(name: str) -> list[tuple[str, str]]:
        dataset = TASKS[name]()
        return list(zip(dataset["question"], dataset["reference"], strict=True))

    return load


def test_the_names_are_those_of_the_paper_in_three_forms() -> None:
    assert sorted(TASKS) == sorted(name + form for name in NAMES for form in ("", "_soft", "_strict"))


def test_every_module_of_the_paper_holds_its_tasks(rows) -> None:
    for name in NAMES:
        module = importlib.import_module(f"bert_judge.tasks.{name}")
        assert [getattr(module, name + form).name for form in FORMS] == [name + form for form in FORMS]
    from bert_judge.tasks.gpqa import gpqa_soft
    from bert_judge.tasks.hendrycks_math_test import hendrycks_math_test_strict

    from bert_judge.tasks import gsm8k_test

    assert gsm8k_test.gsm8k_test()["reference"][0] == rows("gsm8k_test")[0][1]
    assert gpqa_soft()["question"][0] == rows("gpqa_soft")[0][0]
    assert hendrycks_math_test_strict.name == "hendrycks_math_test_strict"
    for name in ("bert_judge.tasks.gsm8k_tset", "bert_judge.tasks.gsm8k_test_soft.x", "bert_judge.tasks._math_test"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


def test_every_task_gives_questions_and_references(local_data: Path, subtests: pytest.Subtests) -> None:
    for name, task in TASKS.items():
        with subtests.test(name=name):
            dataset = task()
            assert isinstance(dataset, Dataset)
            assert dataset.column_names == ["question", "reference"]
            assert len(dataset) > 0
            assert all(text == text.strip() != "" for column in ("question", "reference") for text in dataset[column])


def test_soft_concludes_and_strict_says_that_alone(rows, subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(name=name):
            check_forms(name, *(rows(name + form) for form in ("", "_soft", "_strict")))


def check_forms(name: str, free: list, soft: list, strict: list) -> None:
    assert [row[1] for row in free] == [row[1] for row in soft] == [row[1] for row in strict]
    for (plain, _), (concluding, _), (bare, _) in zip(free, soft, strict, strict=True):
        assert "Final answer" not in plain
        assert concluding.startswith(plain + "\n\n")
        assert bare.startswith(plain + "\n\n")
        soft_instruction, strict_instruction = concluding[len(plain) :], bare[len(plain) :]
        assert '"Final answer: X"' in soft_instruction
        assert '"Final answer: X"' in strict_instruction
        assert re.search(r"conclude\b", soft_instruction, re.IGNORECASE)
        assert not re.search(r"\bonly\b|nothing else", soft_instruction)
        assert re.search(r"\bonly\b.*nothing else", strict_instruction)
        assert ("letter" in soft_instruction and "letter" in strict_instruction) == name.startswith(CHOICE)


REFERENCES = {
    "arc_easy_test": ["B) stones", "D) a rope"],  # options with letters, and with numbers
    "mmlu_test": ["C) three"],
    "mmlu_pro": ["J) j"],
    "gsm8k_train": ["1,500"],
    "gsm8k_test": ["2,000"],
    "squad_v2_test": ["1871", "Unanswerable"],
    "hotpot_qa_test": ["Portugal"],
    "coqa_test": ["her hat"],
    "drop_test": ["2", "3"],  # questions with one answer alone
    "hendrycks_math_test": [
        *(r"\frac{9}{7}", r"-\frac{1}{\sqrt{2^{3}}}", r"\left\{ 1, 2 \right\}", "2"),
        *["8"] * (len(SUBJECTS) - 1),  # a problem without a box is left out
    ],
    "hendrycks_math_train": ["7"] * len(SUBJECTS),
    "aime24": ["073"],
    "aime25": ["588"],
    "asdiv": [reference for _, reference in ASDIV],  # without units, and whole else
}
QUESTIONS = {
    "arc_easy_train": "ARC-Easy train",
    "arc_easy_test": "ARC-Easy test",
    "arc_challenge_train": "ARC-Challenge train",
    "arc_challenge_test": "ARC-Challenge test",
    "mmlu_train": "trained on",
    "mmlu_test": "tested",
    "squad_v2_train": "Alda",
    "squad_v2_test": "Bern",
    "squad_v2_test_soft": '"Unanswerable"',
    "hotpot_qa_train": "The Mill",
    "hotpot_qa_test": "The Well",
    "asdiv": "Some things are there. How many (",
}


def test_what_each_task_reads(rows, subtests: pytest.Subtests) -> None:
    for name, references in REFERENCES.items():
        with subtests.test(name=name):
            assert [reference for _, reference in rows(name)] == references
    for name, text in QUESTIONS.items():
        with subtests.test(name=name, text=text):
            assert all(text in question for question, _ in rows(name))


def test_what_questions_leave_out(rows) -> None:
    [(hotpot, _)], [(coqa, _)] = rows("hotpot_qa_test"), rows("coqa_test")
    assert "It was written by Ana Reis." in hotpot
    assert "She was born in Portugal." in hotpot
    assert "Tin" not in hotpot  # an article that supports nothing
    assert "What did Mira lose?" in coqa
    assert "Where was it?" not in coqa
    assert "A) a lens\nB) a hammer\nC) a map\nD) a rope" in rows("arc_easy_test")[1][0]


def test_options_are_shuffled_into_a_fixed_order(rows) -> None:
    for name, options, right in [
        ("gpqa", ["A) electron", "B) positron", "C) proton", "D) neutron"], 3),
        ("truthful_qa_mc", ["A) A tree grows in you", "B) Nothing happens", "C) You fall asleep"], 1),
    ]:
        question, answer = rows(name)[0]
        assert question.split("Options:\n")[1].split("\n") == options
        assert answer == options[right]


def test_the_order_of_options_is_that_of_every_process_and_seed() -> None:
    options = ["one", "two", "three", "four", "five"]
    assert shuffled(options, "Which?") == shuffled(options[::-1], "Which?")
    orders = {tuple(shuffled(options, f"Which {number}?")) for number in range(200)}
    firsts = [order[0] for order in orders]
    assert all(firsts.count(option) > 15 for option in options)
    assert len({tuple(shuffled(options, "Which?", seed)) for seed in range(5)}) > 1
    code = f"from bert_judge.tasks import shuffled; print(shuffled({options!r}, 'Which?'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    golden = "['four', 'two', 'three', 'one', 'five']"
    assert done.stdout.strip() == str(shuffled(options, "Which?")) == golden


def test_too_many_options_have_no_letters() -> None:
    assert lettered(["x"] * 26)[-1] == "Z) x"
    with pytest.raises(InputError, match="27 options"):
        lettered(["x"] * 27)


def test_rows_of_another_kind_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path))
    keyless = {"question": "q", "choices": {"text": ["a"], "label": ["A"]}, "answerKey": "E"}
    for name, dataset, row, message in [
        ("gsm8k_test", "gsm8k/main/test", {"question": "q", "answer": "It is 4."}, "no '#### result'"),
        ("aime24", "aime24/test", {"problem": "q", "solution": "It is 4."}, "no \\boxed{result}"),
        ("aime25", "aime25/test", {"text": "q", "answer": "4"}, "no 'problem'; its columns are text, answer"),
        ("arc_easy_test", "ai2_arc/ARC-Easy/test", keyless, "the key 'E', which is not one of its options A"),
    ]:
        Dataset.from_list([row]).save_to_disk(str(tmp_path / dataset))
        with refused(message, name=name):
            TASKS[name]()


def test_math_without_configurations_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_DATASETS_DIR", str(tmp_path))
    row = {"problem": "q", "solution": r"$\boxed{1}$"}
    Dataset.from_list([row]).save_to_disk(str(tmp_path / "hendrycks_math" / "test"))
    assert len(TASKS["hendrycks_math_test"]()) == 1


def test_benchmarks_say_where_their_data_is_from() -> None:
    for task in TASKS.values():
        assert isinstance(task, BenchmarkTask)
        source = task.benchmark
        assert source.dataset.count("/") == 1
        assert source.licence
        assert source.family in ("multiple choice", "context extraction", "math")
