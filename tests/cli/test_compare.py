"""`bert-judge compare` as its user meets it: what it prints, writes and refuses, on results of `score`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.cli import main as bert_judge
from bert_judge.cli.compare import main
from bert_judge.errors import BertJudgeError
from conftest import Refused
from json_lines import EXAMPLES, write_rows
from saved_runs import saved_run

pytestmark = pytest.mark.usefixtures("folder")
CONTAINMENT = ("--judge", "containment")
EXACT = ("--judge", "exact_match")
QUICK = ("--resamples", "200")


@pytest.fixture
def compare(printed: Callable[..., str]) -> Callable[..., str]:
    return lambda *arguments: printed("compare", *arguments, *QUICK)


def answers(name: str, candidates: list[str], **more) -> str:
    """A file of answers to the questions 0, 1, …, whose right answers are `yes`."""
    row = {"reference": "yes", **more}
    return write_rows(name, [row | {"question": f"Is {i}?", "candidate": text} for i, text in enumerate(candidates)])


def score(file: object, output_dir: str, *judge: str) -> str:
    assert bert_judge(["score", str(file), "--output_dir", output_dir, "--quiet", *(judge or CONTAINMENT)]) == 0
    return output_dir


def line(text: str, start: str) -> list[str]:
    return next(row for row in text.splitlines() if row.startswith(start)).split()


def test_two_models(compare):
    score(answers("a.jsonl", ["yes, it is"] * 60 + ["no"] * 40), "a")
    score(answers("b.jsonl", ["yes"] * 45 + ["no way"] * 15 + ["well, yes"] * 2 + ["never"] * 38), "b")
    out = compare("a", "b", "--flips", 1, "--output_dir", "c")
    assert line(out, "a ")[2] == "60.0%"
    assert line(out, "b minus a")[3:5] == ["100", "-13.0"]
    assert line(out, "b minus a")[7:10] == ["15", "2", "0.0023"]
    assert "a better than b in 15:" in out
    assert "b better than a in 2:" in out
    assert out.count("(14 more; --flips shows more") == out.count("(1 more; --flips shows more") == 1
    assert "McNemar's exact test" in out
    assert "judge  RegexJudge: RegexJudge containment" in out
    comparison = json.loads(Path("c/compare.json").read_text())
    (pair,) = comparison["models"][0]["pairs"]
    assert (pair["first"], pair["second"], pair["significant"]) == ("a", "b", True)
    assert pair["difference"]["only_first"] == 15
    assert [run["folder"] for run in comparison["runs"]] == ["a", "b"]
    records = [json.loads(row) for row in Path("c/disagreements.jsonl").read_text().splitlines()]
    assert len(records) == 17
    assert records[0]["answers"]["b"]["candidate"] == "no way"
    assert "| b minus a |" in Path("c/compare.md").read_text()
    Path("c.yaml").write_text("resamples: 200\nflips: 0\n")
    assert "better than" not in compare("a", "b", "--config", "c.yaml")
    assert compare("a", "b", "--quiet") == ""


def test_the_models_of_a_column_judged_by_two(compare):
    out = compare(score(EXAMPLES, "part"), score(EXAMPLES, "whole", *EXACT), "--by", "model", "--output_dir", "c")
    comparison = json.loads(Path("c/compare.json").read_text())
    assert [models["judge"] for models in comparison["models"]] == ["part", "whole", "human labels"]
    assert comparison["judges"]["rows"] == len(EXAMPLES.read_text().splitlines())
    assert "Accuracy by human labels" in out
    assert "part, whole" in out
    (pair,) = comparison["judges"]["pairs"]
    assert pair["only_first"] + pair["only_second"] > 0
    assert 0 < pair["kappa"]["value"] < 1


def test_two_judges_and_a_text_that_a_terminal_can_not_show(compare):
    file = answers("a.jsonl", ["yes", "yes \x1b[31m it is", "no"])
    out = compare(score(file, "part"), score(file, "whole", *EXACT))
    assert "3 answers to 3 questions, 1 with different labels" in out
    assert "\x1b" not in out
    assert "yes [31m it is" in out
    assert line(out, "part, whole")[2:7] == ["3", "1", "1", "0", "1"]
    assert "Accuracy by " in compare("part", "whole", "--what", "models")


def test_runs_without_texts(compare):
    for name, texts in (("a", ["yes", "yes", "no"]), ("b", ["yes", "no", "no"])):
        score(answers(f"{name}.jsonl", texts), name, *CONTAINMENT, "--no_texts")
    out = compare("a", "b")
    assert line(out, "b minus a")[3] == "3"
    assert "id 2" in out


def test_a_sentence_for_a_paper(compare):
    labelled = {"label": 1}
    score(answers("a.jsonl", ["yes, it is"] * 30 + ["no"] * 10, **labelled), "a")
    score(answers("b.jsonl", ["yes"] * 20 + ["no way"] * 20, **labelled), "b")
    out = compare("a", "b", "--format", "json")
    by_judge, by_people = json.loads(out)["models"]
    (pair,) = by_judge["pairs"]
    ends = pair["difference"]["estimate"]
    low, high = f"{ends['low'] * 100:+.1f}", f"{ends['high'] * 100:+.1f}"
    assert pair["sentence"] == (
        "On 40 questions a is judged correct in 75.0% and b in 50.0%; b minus a: -25.0 points (95% CI "
        f"{low} to {high}, Bonett and Price), McNemar's exact test, p = 0.0020; judge: "
        "RegexJudge containment-none, agreement with 80 human labels 62.5% (95% CI "
        f"{by_judge['agreement']['low']:.1%}"[:-1]
        + f" to {by_judge['agreement']['high'] * 100:.1f}, interval by question, 40 questions)."
    )
    assert by_people["pairs"][0]["sentence"].startswith("On 40 questions a is correct by human labels in 100.0% and b")
    assert "judge:" not in by_people["pairs"][0]["sentence"]
    assert pair["sentence"] in compare("a", "b")
    assert pair["sentence"] in compare("a", "b", "--format", "markdown")


def test_answers_without_a_label_are_not_called_undecided(compare):
    for name, text in (("a", "yes"), ("b", "no")):
        rows = [
            {"score": float(text == "yes"), "label": int(text == "yes"), "gold": n % 2 if n < 24 else None}
            for n in range(40)
        ]
        saved_run(Path(name), rows, scale="score")
    by_people = json.loads(compare("a", "b", "--what", "models", "--format", "json"))["models"][-1]
    assert by_people["pairs"][0]["sentence"].endswith("; 16 without both labels and left out.")


def test_sentences_of_scores_of_undecided_rows_and_of_many_models(compare):
    scores = [0.9, 0.8, 0.7, None] * 10
    for name, lower in (("a", 0.0), ("b", 0.5)):
        rows = [{"score": None if value is None else value - lower, "label": None} for value in scores]
        saved_run(Path(name), rows, scale="score")
    (models,) = json.loads(compare("a", "b", "--what", "models", "--format", "json"))["models"]
    sentence = models["pairs"][0]["sentence"]
    assert sentence.startswith("On 30 questions a scores 0.800 and b 0.300; b minus a: -0.500")
    assert "t-test of paired differences, p < 0.0001; 10 undecided and left out; judge: BERTJudge." in sentence
    for m in range(3):
        answers(f"m{m}.jsonl", ["yes"] * (5 + 5 * m) + ["no"] * (15 - 5 * m), model=f"m{m}")
    Path("all.jsonl").write_text("".join(path.read_text() for path in Path().glob("m?.jsonl")))
    out = compare(score("all.jsonl", "out"), "--by", "model")
    best = [part for part in out.splitlines() if part.startswith("On ")]
    assert len(best) == 1 and "m2" in best[0] and "m1" in best[0] and "with Holm's correction for 3 pairs)" in best[0]


def test_many_models_show_neighbours_and_write_all(compare):
    for m in range(7):
        answers(f"m{m}.jsonl", ["yes"] * (5 + 2 * m) + ["no"] * (15 - 2 * m), model=f"m{m}")
    Path("all.jsonl").write_text("".join(path.read_text() for path in Path().glob("m?.jsonl")))
    out = compare(score("all.jsonl", "out"), "--by", "model", "--output_dir", "c")
    assert len(re.findall(r"^m\d minus m\d ", out, re.MULTILINE)) == 6
    assert "15 more pairs" in out
    assert "there are only 20 questions" in out
    assert len(json.loads(Path("c/compare.json").read_text())["models"][0]["pairs"]) == 21
    assert Path("c/compare.md").read_text().count("| m") == 7 + 21


def test_what_is_wrong_is_said_in_a_sentence(refused: Refused):
    score(answers("a.jsonl", ["yes", "no", "no"]), "a")
    score(answers("b.jsonl", ["yes", "yes", "never"]), "b")
    score(write_rows("other.jsonl", [{"question": "What?", "reference": "that", "candidate": "this"}]), "other")
    for arguments, message in [
        (["a"], "a single run was given; give two or more, or the column"),
        (["a", "nothing"], "nothing holds no result"),
        (["a", "other"], "of the 3 rows of a and the 1 of other, none match"),
        (["a", "--by", "model"], "no row has a column 'model'"),
        (["a", "b", "--resamples", "5"], "resamples is 5"),
        (["a", "b", "--output_dir", "a.jsonl"], "a.jsonl is a file"),
    ]:
        with refused(message, error=BertJudgeError, arguments=arguments):
            main(arguments)


def test_white_space_around_texts_does_not_matter(compare):
    a = [{"question": f"Is {i}?\nYes or no.", "reference": "yes", "candidate": "yes"} for i in range(40)]
    b = [{"question": f" Is {i}?\r\nYes or no. \r\n", "reference": "yes ", "candidate": "no"} for i in range(40)]
    runs = [score(write_rows(f"{name}.jsonl", rows), name) for name, rows in (("a", a), ("b", b))]
    assert line(compare(*runs), "b minus a")[3] == "40"
    texts = ["yes", "no", "yes, it is"] * 10
    spaced = answers("d.jsonl", [f" {text}\n" for text in texts])
    assert "30 answers to 30 questions" in compare(score(answers("c.jsonl", texts), "c"), score(spaced, "d", *EXACT))
