"""`bert-judge score --judge NAME` and `--candidates A,B`: many judges, many models' answers, and judges that fail."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from bert_judge.cli import main
from bert_judge.judges import Judge
from bert_judge.records import JudgeInfo, Sample, Verdict
from conftest import Command
from json_lines import EXAMPLES, read_rows, write_rows
from scripted_endpoint import Answer, endpoint

pytestmark = pytest.mark.usefixtures("folder")
ROWS = read_rows(EXAMPLES)


class Flaky(Judge):
    """Right where a reference stands in the candidate; fails on every third row while there is a file `broken`."""

    info = JudgeInfo("flaky", "Flaky|version:1")
    asked = 0

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        for number, sample in enumerate(samples):
            Flaky.asked += 1
            if number % 3 == 0 and Path("broken").exists():
                yield Verdict(None, None, f"no reply: socket {number % 2}", failed=True)
            else:
                right = any(text.casefold() in sample.candidate.casefold() for text in sample.references)
                yield Verdict(float(right), int(right))


FLAKY = ("--judge", "test_naming_judges:Flaky")


def lines(folder: str) -> list[dict]:
    return read_rows(Path(folder, "verdicts.jsonl"))


def spreadsheet() -> str:
    """A column for each of two models: the second one always gives the reference."""
    with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "question", "reference", "model_a", "Model B/7", "label"])
        for row in ROWS:
            first = row["references"][0]
            table.writerow([row["id"], row["question"], first, row["candidate"], first, row["label"]])
    return "answers.csv"


# names of judges


def test_every_way_to_name_a_judge(score: Command, make_judge) -> None:
    Path("strict.yaml").write_text("judge_type: RegexJudge\nmetric: EM\npattern: none\n")
    Path("strict.json").write_text('{"judge_type": "RegexJudge", "metric": "EM", "pattern": "none"}')
    shutil.copytree(make_judge("bert"), "tiny")
    named = {
        "starter": ["--judge_type", "BERTJudge", "--model_path", "starter"],
        "tiny": ["--model_path", "tiny"],
        "containment": ["--judge_type", "RegexJudge", "--metric", "containment", "--pattern", "none"],
        "strict.yaml": ["--judge_type", "RegexJudge", "--metric", "EM", "--pattern", "none"],
        "strict.json": ["--judge_type", "RegexJudge", "--metric", "EM", "--pattern", "none"],
        "bert_judge.judges.regex:RegexJudge": ["--judge_type", "RegexJudge"],
    }
    for number, (name, flags) in enumerate(named.items()):
        assert score(EXAMPLES, "--judge", name, "--limit", 9, "--output_dir", f"named{number}", "--quiet")[0] == 0
        assert score(EXAMPLES, *flags, "--limit", 9, "--output_dir", f"flags{number}", "--quiet")[0] == 0
        assert lines(f"named{number}") == lines(f"flags{number}"), name


def test_flags_win_over_what_a_name_stands_for(score: Command) -> None:
    Path("em.yaml").write_text("judge_type: RegexJudge\nmetric: EM\npattern: none\n")
    assert score(EXAMPLES, "--judge", "em.yaml", "--metric", "containment", "--output_dir", "out", "--quiet")[0] == 0
    assert score(EXAMPLES, "--judge", "containment", "--output_dir", "same", "--quiet")[0] == 0
    assert lines("out") == lines("same")


def test_a_flag_is_for_the_judges_whose_name_does_not_say_it(score: Command) -> None:
    with endpoint(Answer("Final answer: True")) as server:
        flags = ("--model_path", "m", "--backend", "openai", "--base_url", server.base_url, "--store", "off")
        names = "starter,LLMJudge,containment"
        assert score(EXAMPLES, "--judge", names, *flags, "--limit", 3, "--output_dir", "out", "--quiet")[0] == 0
    identities = {path.parent.name: json.loads(path.read_text())["identity"] for path in Path("out").glob("*/run.json")}
    models = {name: each["signature"]["settings"].get("model") for name, each in identities.items()}
    assert models == {"starter": "starter", "LLMJudge": "m", "containment": None}
    status, _, err = score(EXAMPLES, "--judge", "starter,containment", "--model_path", "m")
    assert (status, "the model 'm' was not found" in err) == (1, True)  # which no other judge takes


def test_a_wrong_name_is_answered_in_a_sentence(complaint: Callable[..., str]) -> None:
    said = {
        ("--judge", "contaiment"): "did you mean containment?",
        ("--judge", "nobody/knows"): "the model 'nobody/knows' was not found",
        ("--judge", "missing.yaml"): "the judge missing.yaml can't be read",
        ("--judge", "missing.json"): "the judge missing.json can't be read",
    }
    for flags, sentence in said.items():
        assert sentence in complaint("score", EXAMPLES, *flags, "--output_dir", "out")
    assert not Path("out").exists()


# a column for each model


def test_a_column_for_each_model(score: Command) -> None:
    flags = ("--judge", "containment", "--output_dir", "out")
    status, out, _ = score(spreadsheet(), "--candidates", "model_a,Model B/7", *flags)
    assert status == 0
    assert {path.name for path in Path("out").iterdir()} == {"model_a", "Model_B_7"}
    assert [line["candidate"] for line in lines("out/model_a")] == [row["candidate"] for row in ROWS]
    assert {line["model"] for line in lines("out/Model_B_7")} == {"Model_B_7"}
    assert all(line["label"] == 1 for line in lines("out/Model_B_7"))
    assert all("gold" not in line for line in lines("out/model_a"))  # the label is of one candidate, none knows which
    right = sum(line["label"] for line in lines("out/model_a")) / len(ROWS)
    assert f"{right:.1%}" in out
    assert "Accuracy by containment" in out
    assert "Model_B_7 minus model_a" in out
    with Path("out-suite.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["id", "question", "gold", "model_a", "Model_B_7"]
    assert [row["model_a"] for row in table] == [str(line["label"]) for line in lines("out/model_a")]
    assert Path("out-suite.html").exists()
    assert "was judged before" in score("answers.csv", "--candidates", "model_a,Model B/7", *flags)[1]


def test_each_model_s_result_is_what_map_gives_and_compare_matches_them(score: Command, capsys) -> None:
    flags = ("--judge", "containment", "--quiet", "--no_report")
    assert score(spreadsheet(), "--candidates", "model_a,Model B/7", "--output_dir", "out", *flags)[0] == 0
    for column, name in (("model_a", "a"), ("Model B/7", "b")):
        arguments = ("--map", f"candidate={column},label=", "--output_dir", f"alone/{name}", *flags)
        assert score("answers.csv", *arguments)[0] == 0
    assert [line["label"] for line in lines("alone/a")] == [line["label"] for line in lines("out/model_a")]
    outputs = []
    for runs in (["alone/a", "alone/b"], ["out/model_a", "out/Model_B_7"]):
        assert main(["compare", *runs, "--resamples", "200"]) == 0
        outputs.append(capsys.readouterr().out)
    assert "b minus a" in outputs[0]
    assert "Model_B_7 minus model_a" in outputs[1]

    flags = ("--judge", "containment", "--quiet", "--no_texts")
    assert score("answers.csv", "--candidates", "model_a,Model B/7", "--output_dir", "bare", *flags)[0] == 0
    assert main(["compare", "bare/model_a", "bare/Model_B_7", "--resamples", "200"]) == 0
    assert "Model_B_7 minus model_a" in capsys.readouterr().out


def test_several_models_and_judges(score: Command) -> None:
    flags = ("--candidates", "model_a,Model B/7", "--judge", "containment,exact_match", "--output_dir", "out")
    status, out, _ = score(spreadsheet(), *flags)
    assert status == 0
    for model in ("model_a", "Model_B_7"):
        assert {path.name for path in Path("out", model).iterdir()} == {"containment", "exact_match"}
    assert "Accuracy by containment" in out
    assert "Accuracy by exact_match" in out
    assert "in out/CANDIDATES/JUDGE: " in out
    one = ("--candidates", "model_a", "--judge", "containment,exact_match", "--output_dir", "one")
    assert "in one/CANDIDATES/JUDGE: " in score("answers.csv", *one)[1]
    assert Path("one/model_a/exact_match/verdicts.jsonl").exists()


def test_wrong_columns_of_candidates(complaint: Callable[..., str]) -> None:
    file = spreadsheet()
    said = {
        ("--candidates", "model_a,nobody"): "answers.csv has no column 'nobody'",
        ("--candidates", "model_a", "--map", "candidate=model_a"): "both name columns of candidates",
    }
    for flags, sentence in said.items():
        assert sentence in complaint("score", file, *flags, "--judge", "containment", "--output_dir", "out")
    assert not Path("out").exists()


# judges that fail


def test_failed_rows_are_said_and_judged_again(score: Command) -> None:
    Path("broken").touch()
    failed = len(range(0, len(ROWS), 3))
    status, out, err = score(EXAMPLES, *FLAKY, "--output_dir", "out")
    assert status == 5
    assert f"{failed} as the judge failed" in out
    assert f"the judge failed on {failed} rows of out, {failed - failed // 2} of them with 'no reply: socket 0'" in err
    assert sum(line.get("failed", False) for line in lines("out")) == failed
    assert f"agreement with {len(ROWS) - failed} of the {len(ROWS)} labels" in out
    assert score(EXAMPLES, *FLAKY, "--output_dir", "out", "--quiet")[0] == 5
    failed = len(range(0, failed, 3))  # of those that were judged again

    Path("broken").unlink()
    Flaky.asked = 0
    status, out, err = score(EXAMPLES, *FLAKY, "--output_dir", "out")
    assert status == 0
    assert Flaky.asked == failed
    assert f"judging the {failed} rows of out again on which the judge failed" in err
    assert score(EXAMPLES, *FLAKY, "--output_dir", "whole", "--quiet")[0] == 0
    for name in ("verdicts.jsonl", "scores.json"):
        assert Path("out", name).read_bytes() == Path("whole", name).read_bytes()
    assert "was judged before" in score(EXAMPLES, *FLAKY, "--output_dir", "out")[1]


def test_an_endpoint_that_comes_back(score: Command) -> None:
    """Refused connections and 500s fail rows; the same command asks for these alone, and nothing is paid for twice."""
    with endpoint(lambda prompt, _: Answer(status=500) if len(prompt) % 2 else Answer()) as running:
        flags = ("--judge", "LLMJudge", "--model_path", "m", "--backend", "openai", "--base_url", running.base_url)
        arguments = (EXAMPLES, *flags, "--retries", 0, "--store", "off", "--output_dir", "out")
        status, _, err = score(*arguments)
        assert status == 5
        assert "answered 500 (scripted trouble)" in err.replace("\n", " ") or "answered 500" in err
        first = {line["id"]: line for line in lines("out")}
        failed = {line["id"] for line in first.values() if line.get("failed")}
        assert 0 < len(failed) < len(ROWS)
        running.script = lambda *_: Answer("Final answer: False")
        before = len(running.bodies)
        assert score(*arguments)[0] == 0
        assert len(running.bodies) - before <= len(failed)
    for line in lines("out"):
        assert "failed" not in line
        assert line["label"] == 0 if line["id"] in failed else line == first[line["id"]]


def test_evaluate_and_judge_say_it_too(capsys) -> None:
    Path("broken").touch()
    assert main(["evaluate", str(EXAMPLES), "--judge", "test_naming_judges:Flaky", "--resamples", "100"]) == 5
    assert "the judge failed on" in capsys.readouterr().err
    write_rows("rows.jsonl", [{"question": f"{n}?", "reference": str(n)} for n in range(9)])
    Path("c/rows/m").mkdir(parents=True)
    Path("c/rows/m/candidates.json").write_text(json.dumps([str(n) for n in range(9)]))
    task = ["--dataset", "rows.jsonl", "--candidates_dir", "c", "--output_dir", "s", "--quiet"]
    assert main(["judge", "--judge_type", "test_naming_judges:Flaky", *task]) == 5
    Path("broken").unlink()
    assert main(["judge", "--judge_type", "test_naming_judges:Flaky", *task]) == 0


# folders


def test_an_empty_name_of_a_folder_is_refused(score: Command) -> None:
    for command in (["score", str(EXAMPLES)], ["evaluate", str(EXAMPLES)], ["judge", "--tasks", "x"]):
        assert main([*command, "--output_dir", ""]) == 1
    assert list(Path().iterdir()) == []


def test_files_of_something_else_are_not_overwritten(score: Command) -> None:
    for name in ("verdicts.jsonl", "scores.json", "report.html"):
        Path("out").mkdir(exist_ok=True)
        Path("out", name).write_text("mine")
        status, _, err = score(EXAMPLES, "--judge", "containment", "--output_dir", "out")
        assert status == 1
        assert f"out holds {name} of something else" in err
        assert Path("out", name).read_text() == "mine"
        assert score(EXAMPLES, "--judge", "containment", "--output_dir", "out", "--overwrite", "--quiet")[0] == 0
        assert len(lines("out")) == len(ROWS)
        shutil.rmtree("out")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder is not locked there")
def test_a_second_run_does_not_say_that_it_goes_on(score: Command) -> None:
    import fcntl

    Path("broken").touch()
    assert score(EXAMPLES, *FLAKY, "--output_dir", "out", "--quiet")[0] == 5
    folder = os.open("out", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        status, out, err = score(EXAMPLES, *FLAKY, "--output_dir", "out")
    finally:
        os.close(folder)
    assert status == 1
    assert "is writing to out" in err
    assert "going on" not in out + err


EVIL = "import pathlib; pathlib.Path('ran').touch()\nfrom bert_judge.judges import RegexJudge as Judge\n"


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("j.json", '{"judge_type": "evil:Judge", "pattern": "none"}', "score a.jsonl --judge j.json"),
        ("j.yaml", "judge_type: evil:Judge\npattern: none", "score a.jsonl --judge j.yaml"),
        ("c.yaml", "judge_type: evil:Judge\npattern: none", "score a.jsonl --config c.yaml"),
        ("c.yaml", "judge_type: evil:Judge\ntrust_remote_code: true", "score a.jsonl --config c.yaml"),
        ("j.json", '{"judge_type": "evil:Judge", "pattern": "none"}', "evaluate a.jsonl --judge j.json"),
        ("j.yaml", "judge_type: evil:Judge", "cascade --judge containment,j.yaml --calibration a.jsonl"),
        ("j.yaml", "judge_type: evil:Judge", "serve --judge j.yaml --port 0"),
    ],
)
def test_a_file_runs_no_code(folder: Path, complaint: Callable[..., str], name: str, content: str, line: str) -> None:
    (folder / "evil.py").write_text(EVIL)
    (folder / "a.jsonl").write_text('{"question": "q", "reference": "r", "candidate": "r"}\n')
    (folder / name).write_text(content)
    message = complaint(*line.split())
    assert "names the class evil:Judge" in message
    assert "--trust_remote_code" in message
    assert not (folder / "ran").exists()


def test_a_file_that_is_trusted_may_name_a_class(folder: Path, command: Command) -> None:
    (folder / "kind_of_mine.py").write_text("from bert_judge.judges import RegexJudge as Judge\n")
    (folder / "a.jsonl").write_text('{"question": "q", "reference": "r", "candidate": "r"}\n')
    (folder / "j.json").write_text('{"judge_type": "kind_of_mine:Judge", "pattern": "none", "metric": "containment"}')
    line = "score a.jsonl --judge j.json --trust_remote_code --quiet"
    assert command(*line.split(), "--output_dir", "out")[0] == 0
    assert command(*line.split()[:2], "--judge_type", "kind_of_mine:Judge", "--pattern", "none", "--quiet")[0] == 0
