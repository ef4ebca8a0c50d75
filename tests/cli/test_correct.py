"""`bert-judge correct` and `bert-judge label` as their user meets them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bert_judge.records import Sample, Verdict
from json_lines import EXAMPLES, read_rows, write_rows
from saved_runs import judged_rows, make_run, saved_run
from served import ask

ROWS = judged_rows(0, 400, 0.8, 0.1)


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(saved_run(tmp_path / "out", ROWS))


@pytest.fixture
def labels(tmp_path: Path) -> str:
    lines = [{"id": str(number), "label": row["truth"]} for number, row in enumerate(ROWS[:60], 1)]
    return write_rows(tmp_path / "labels.jsonl", lines)


def test_every_estimate_has_a_line_with_its_interval(run: str, labels: str, printed: Callable[..., str]) -> None:
    shown = printed("correct", run, "--labels", labels)
    for name in ("labels only", "judge as it is", r"PPI\+\+"):
        assert re.search(rf"^{name} +\d\d\.\d% \[\d\d\.\d, \d\d\.\d\] +\d+\.\d", shown, re.MULTILINE), shown
    assert "95 % interval" in shown
    assert "labels  60 of 400 rows, without probabilities, taken as drawn uniformly" in shown
    assert "judge  BERTJudge" in shown
    assert "note: there are under 300 labels" in shown


def test_json_has_the_same_numbers(run: str, labels: str, printed: Callable[..., str]) -> None:
    record = json.loads(printed("correct", run, "--labels", labels, "--format", "json", "--confidence", "0.9"))
    shown = printed("correct", run, "--labels", labels, "--confidence", "0.9")
    ppi = record["corrected"]
    assert f"{ppi['value']:.1%} [{100 * ppi['low']:.1f}, {100 * ppi['high']:.1f}]" in shown
    assert "90 % interval" in shown
    assert record["confusion"]["true_positive"] > 30
    assert record["signature"] == {"name": "BERTJudge", "settings": {"version": "1"}}


def test_labels_of_the_run_suffice(tmp_path: Path, printed: Callable[..., str]) -> None:
    run = saved_run(tmp_path / "out", [row | {"gold": row["truth"]} for row in ROWS])
    shown = printed("correct", str(run))
    assert "labels  400 of 400 rows, of the run itself" in shown
    assert re.search(r"^labels only .*<- take this one$", shown, re.MULTILINE)
    assert shown.count("take this one") == shown.count("note: all rows are labelled: the accuracy of these rows") == 1


def test_the_models_of_a_column_are_corrected_and_compared(tmp_path: Path, printed: Callable[..., str]) -> None:
    samples, verdicts = [], []
    for model, accuracy in (("a", 0.5), ("b", 0.9), ("new", 0.7)):
        for number, row in enumerate(judged_rows(3, 200, accuracy, 0.1, 0 if model == "new" else 60)):
            texts = (f"{model} says {number}", ("yes",), f"Question {number}?")
            samples.append(Sample(*texts, gold=row["gold"], meta={"model": model}))
            verdicts.append(Verdict(row["score"], row["label"]))
    make_run(tmp_path / "out", samples, verdicts)
    shown = printed("correct", str(tmp_path / "out"), "--by", "model")
    one = r"\d\d\.\d% \[\d\d\.\d, \d\d\.\d\]"
    assert re.search(rf"^b +200 +60 +{one} +{one}$", shown, re.MULTILINE), shown
    assert re.search(rf"^new +200 +0 +{one} +-$", shown, re.MULTILINE), shown
    assert re.search(
        r"^b minus a +200 +120 +60 +\+\d\d\.\d +\+\d\d\.\d \[\+\d+\.\d, \+\d\d\.\d\]$", shown, re.MULTILINE
    )
    assert "new: no row has a label; 10 or more were expected: label more" in shown
    record = json.loads(printed("correct", str(tmp_path / "out"), "--by", "model", "--format", "json"))
    (pair,) = record["groups"]["differences"]
    assert (pair["first"], pair["second"], pair["both"]) == ("a", "b", 60)
    assert f"{100 * pair['corrected']['value']:+.1f} [{100 * pair['corrected']['low']:+.1f}, " in shown
    assert [group["corrected"]["value"] is None for group in record["groups"]["accuracies"]] == [False, False, True]
    compared = printed("compare", str(tmp_path / "out"), "--by", "model", "--flips", "0")
    assert compared.count("b minus a") == 2
    compared = json.loads(printed("compare", str(tmp_path / "out"), "--by", "model", "--format", "json"))
    in_words = {(two["first"], two["second"]): two["sentence"] for two in compared["models"][0]["pairs"]}
    corrected = "; without the judge's errors, by 120 human labels: {:+.1f} points (95% CI {:+.1f} to {:+.1f}, PPI++"
    points = [100 * pair["corrected"][name] for name in ("value", "low", "high")]
    assert corrected.format(*points) in in_words["a", "b"]
    assert "human labels:" not in in_words["b", "new"]
    assert "groups" not in printed("correct", str(tmp_path / "out"))


def test_results_of_several_models_are_corrected_together(
    tmp_path: Path, printed: Callable[..., str], complaint: Callable[..., str]
) -> None:
    answers, suite, names = EXAMPLES.with_name("three_models.csv"), tmp_path / "models", ("model_a", "model_b")
    judging = ("score", answers, "--candidates", ",".join(names), "--judge", "containment", "--quiet")
    printed(*judging, "--output_dir", suite)
    rows = [[*read_rows(suite / name / "verdicts.jsonl")] for name in names]
    texts = [{name: row[name] for name in ("question", "references", "candidate")} for of in rows for row in of]
    labels = write_rows(
        tmp_path / "labels.jsonl", [text | {"label": n % 3 > 0} for n, text in enumerate(texts) if n % 2]
    )
    arguments = ("--labels", labels, "--by", "model", "--format", "json")
    record = json.loads(printed("correct", *(suite / name for name in names), *arguments))
    assert (record["rows"], record["confusion"]["true_positive"] > 5) == (72, True)
    assert [(pair["second"], pair["pairs"]) for pair in record["groups"]["differences"]] == [("model_b", 36)]
    assert json.loads(printed("correct", suite, *arguments)) == record
    for name, of in zip(names, rows, strict=True):  # as two files, which have no column model
        bare = [{name: row[name] for name in ("question", "references", "candidate")} for row in of]
        path = write_rows(tmp_path / f"{name}.jsonl", bare)
        printed("score", path, "--judge", "containment", "--quiet", "--output_dir", tmp_path / "files" / name)
    assert json.loads(printed("correct", tmp_path / "files", *arguments))["groups"] == record["groups"]
    ids = write_rows(tmp_path / "ids.jsonl", [{"id": str(n), "label": n % 2} for n in range(1, 20)])
    assert "several rows have the same id, as those of several models" in complaint("correct", suite, "--labels", ids)
    printed(*judging, "--judge", "exact_match", "--output_dir", tmp_path / "other")
    twice = tmp_path / "twice"
    printed("score", tmp_path / "model_a.jsonl", "--judge", "containment", "--quiet", "--output_dir", twice)
    for folders, sentence in [
        ((suite, tmp_path / "other"), "are by different judges (variant containment-none, not exact_match-none)"),
        ((tmp_path / "files" / "model_a", twice), "on the same answers, by the same judge; give one"),
    ]:
        assert sentence in complaint("correct", *folders, "--labels", labels)


def test_what_is_missing_is_said(run: str, labels: str, complaint: Callable[..., str]) -> None:
    for flags, sentence in [
        ([], "no labels are in"),
        (["--labels", "missing.jsonl"], "missing.jsonl does not exist"),
        (["--labels", "README.md"], r"README.md is neither .*; give .* a name that ends with \.csv"),
        (["--labels", labels, "--by", "model"], "no row has a column 'model'; there are no columns"),
        (["--labels", labels, "--confidence", "95"], r"the confidence is 95\.0"),
    ]:
        assert re.search(sentence, complaint("correct", run, *flags))


class Session:
    """`bert-judge label` in a process of its own, until Ctrl-C."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "bert_judge", "label", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.printed = [self.process.stdout.readline()]
        while "open http" not in self.printed[-1]:
            self.printed.append(self.process.stdout.readline())
            assert self.printed[-1], "it ended"
        self.address = urlsplit(self.printed[-1].split()[1])

    def decide(self, draw: int, label: object) -> int:
        origin = f"http://{self.address.netloc}"
        return ask(origin, f"{self.address.path}decide", {"draw": draw, "label": label}, Origin=origin)[0]

    def end(self) -> str:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=20)
        assert self.process.returncode == 0
        assert "Traceback" not in err
        return out


@pytest.fixture
def begin() -> Iterator[Callable[..., Session]]:
    sessions: list[Session] = []

    def start(*arguments: str) -> Session:
        sessions.append(Session(*arguments))
        return sessions[-1]

    yield start
    for session in sessions:
        session.process.kill()
        session.process.communicate()


def test_one_labels_until_ctrl_c_and_goes_on_later(
    begin: Callable[..., Session], run: str, tmp_path: Path, printed: Callable[..., str]
) -> None:
    file = str(tmp_path / "new.jsonl")
    assert begin(run, "--labels", file).end() == f"no labels in {file} yet; the same command goes on.\n"
    session = begin(run, "--labels", file, "-n", "30")
    assert session.printed[0] == f"0 of 30 labels are in {file}; drawn with --strategy active.\n"
    assert session.address.hostname == "127.0.0.1"
    for draw in range(1, 15):
        assert session.decide(draw, draw % 3 > 0) == 422  # no truth values
        assert session.decide(draw, int(draw % 3 > 0)) == 200
    assert session.end() == f"14 labels in {file}; next: bert-judge correct {run} --labels {file}\n"
    assert begin(run, "--labels", file, "-n", "30").printed[0].startswith("14 of 30 labels are in")
    shown = printed("correct", run, "--labels", file)
    assert "labels  14 of 400 rows, drawn with different probabilities" in shown


def test_what_can_not_be_labelled_is_said(tmp_path: Path, run: str, complaint: Callable[..., str]) -> None:
    file = ["--labels", str(tmp_path / "labels.jsonl")]
    whole = saved_run(tmp_path / "whole", [row | {"gold": row["truth"]} for row in ROWS])
    bare = saved_run(tmp_path / "bare", ROWS, texts=False)
    for words, sentence in [
        ([whole], "has a label already; bert-judge correct"),
        ([tmp_path], "no result; a folder with"),
        ([bare], "made without texts"),
    ]:
        assert sentence in complaint("label", *words, *file)
    for flags in (["-n", "0"], ["--strategy", "best"]):
        complaint("label", run, *file, *flags, status=2)
    assert not (tmp_path / "labels.jsonl").exists()
