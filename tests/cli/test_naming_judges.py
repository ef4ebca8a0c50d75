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

from bert_judge.errors import BertJudgeError
from bert_judge.judges import Judge
from bert_judge.judges.naming import JudgeSpec, read_judges
from bert_judge.records import JudgeInfo, Sample, Verdict
from conftest import Command, Refused
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
BOTH = ("--candidates", "model_a,Model B/7")


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
    strict = "--judge_type RegexJudge --metric EM --pattern none"
    for number, (name, flags) in enumerate(
        [
            ("starter", "--judge_type BERTJudge --model_path starter"),
            ("tiny", "--model_path tiny"),
            ("containment", "--judge_type RegexJudge --metric containment --pattern none"),
            ("strict.yaml", strict),
            ("strict.json", strict),
            ("strict.yaml --metric containment", "--judge containment"),  # flags win
            ("bert_judge.judges.regex:RegexJudge", "--judge_type RegexJudge"),
        ]
    ):
        for folder, words in ((f"named{number}", f"--judge {name}"), (f"flags{number}", flags)):
            assert score(EXAMPLES, *words.split(), "--limit", 9, "--output_dir", folder, "--quiet")[0] == 0
        assert lines(f"named{number}") == lines(f"flags{number}"), name


def test_a_flag_is_for_the_judges_whose_name_does_not_say_it(score: Command) -> None:
    with endpoint(Answer("Final answer: True")) as server:
        flags = ("--model_path", "m", "--backend", "openai", "--base_url", server.base_url, "--store", "off")
        names = "starter,LLMJudge,containment"
        assert score(EXAMPLES, "--judge", names, *flags, "--limit", 3, "--output_dir", "out", "--quiet")[0] == 0
    identities = {path.parent.name: json.loads(path.read_text())["identity"] for path in Path("out").glob("*/run.json")}
    models = {name: identity["signature"]["settings"].get("model") for name, identity in identities.items()}
    assert models == {"starter": "starter", "LLMJudge": "m", "containment": None}
    status, _, err = score(EXAMPLES, "--judge", "starter,containment", "--model_path", "m")
    assert (status, "the model 'm' was not found" in err) == (1, True)  # which no other judge takes


def test_judges_have_short_names() -> None:
    Path("mine.yaml").write_text("judge_type: RegexJudge\nmetric: token_f1\npattern: none\nthreshold: 8e-1\n")
    mine = JudgeSpec.of("mine.yaml")
    settings = mine.make().info.signature.settings
    assert (mine.name, settings["variant"], settings["threshold"]) == ("mine", "token_f1-none", "0.8")
    assert JudgeSpec.of({"judge-type": "RegexJudge", "metric": "EM"}).name == "RegexJudge"
    specs = read_judges(["starter", "containment", "RegexJudge", "starter", FLAKY[1]])
    assert [spec.name for spec in specs] == ["starter", "containment", "RegexJudge", "starter-2", "Flaky"]
    Path("a_model").mkdir()
    assert JudgeSpec.of("./a_model/").name == "a_model"


def test_what_is_no_judge_is_told(refused: Refused) -> None:
    for spec, message in [
        ({"judge_type": "RegexJudge", "which": "middle"}, "one of last, first was expected"),
        ({"judge_type": "RegexJudge", "case_sensitive": 1}, "true or false was expected"),
        ({"threshold": "high"}, "a number was expected"),
        ({"judge_type": 3}, "sets judge_type to 3"),
        ("LLMJudge", "does not set model_path"),
        ("Starter", "did you mean starter"),
        ("", "an empty name"),
        ("none.yaml", "the judge none.yaml can't be read"),
        ("none.json", "the judge none.json can't be read"),
        ("org/nothing-of-this-kind", "the model 'org/nothing-of-this-kind' was not found"),
    ]:
        with refused(message, error=BertJudgeError, spec=spec):
            JudgeSpec.of(spec)


def test_a_file_that_holds_no_judge_is_told(complaint: Callable[..., str], subtests: pytest.Subtests) -> None:
    for text, message in [
        ("- starter", "bad.yaml holds a list; judge_type and flags by name were expected"),
        ("a: [", "bad.yaml is not valid YAML"),
        ("judge_type: Nobody", "there is no judge 'Nobody'"),
        ("judge_type: RegexJudge\nmetrics: EM", "bad.yaml sets 'metrics', which RegexJudge does not take; did you"),
        ("judge_type: RegexJudge\npattern: '('", "the judge bad: the pattern '(' is not a regular expression"),
    ]:
        with subtests.test(text=text, message=message):
            Path("bad.yaml").write_text(text)
            assert message in complaint("score", EXAMPLES, "--judge", "containment,bad.yaml", "--quiet")


# a column for each model


def test_a_column_for_each_model(score: Command) -> None:
    flags = ("--judge", "containment", "--output_dir", "out")
    status, out, _ = score(spreadsheet(), *BOTH, *flags)
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
    assert "was judged before" in score("answers.csv", *BOTH, *flags)[1]


def test_each_model_s_result_is_what_map_gives_and_compare_matches_them(score: Command, printed) -> None:
    flags = ("--judge", "containment", "--quiet", "--no_report")
    assert score(spreadsheet(), *BOTH, "--output_dir", "out", *flags)[0] == 0
    for column, name in (("model_a", "a"), ("Model B/7", "b")):
        arguments = ("--map", f"candidate={column},label=", "--output_dir", f"alone/{name}", *flags)
        assert score("answers.csv", *arguments)[0] == 0
    assert [line["label"] for line in lines("alone/a")] == [line["label"] for line in lines("out/model_a")]
    assert "b minus a" in printed("compare", "alone/a", "alone/b", "--resamples", 200)
    assert "Model_B_7 minus model_a" in printed("compare", "out/model_a", "out/Model_B_7", "--resamples", 200)


def test_several_models_and_judges(score: Command) -> None:
    status, out, _ = score(spreadsheet(), *BOTH, "--judge", "containment,exact_match", "--output_dir", "out")
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
    for flags, message in [
        ("--candidates model_a,nobody", "answers.csv has no column 'nobody'"),
        ("--candidates model_a --map candidate=model_a", "both name columns of candidates"),
    ]:
        assert message in complaint("score", file, *flags.split(), "--judge", "containment", "--output_dir", "out")
    assert "with --map candidate=COLUMN, or columns of several models with --candidates a,b." in complaint(
        "score", file
    )
    assert not Path("out").exists()


def test_columns_with_a_comma_in_their_names(score: Command) -> None:
    with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["answer", "A, 7B", 'the "B", 8B'], ["Lima", "Lima", "Cusco"]])
    Path("names.yaml").write_text('candidates:\n  - A, 7B\n  - the "B", 8B\n')
    for number, flags in enumerate([("--candidates", '"A, 7B" , "the ""B"", 8B"'), ("--config", "names.yaml")]):
        status, out, err = score("answers.csv", *flags, "--judge", "containment", "--output_dir", f"out{number}")
        assert status == 0, err
        assert 'read   candidate from A, 7B, the "B", 8B, reference from answer' in out
        folders = [f"out{number}/A_7B", f"out{number}/the_B_8B"]
        assert [lines(folder)[0]["label"] for folder in folders] == [1, 0]


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
        assert "answered 500" in err
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


def test_evaluate_and_judge_say_it_too(command: Command) -> None:
    Path("broken").touch()
    status, _, err = command("evaluate", EXAMPLES, *FLAKY, "--resamples", "100")
    assert (status, "the judge failed on" in err) == (5, True)
    write_rows("rows.jsonl", [{"question": f"{n}?", "reference": str(n)} for n in range(9)])
    Path("c/rows/m").mkdir(parents=True)
    Path("c/rows/m/candidates.json").write_text(json.dumps([str(n) for n in range(9)]))
    task = "--dataset rows.jsonl --candidates_dir c --output_dir s --quiet --judge_type test_naming_judges:Flaky"
    assert command("judge", *task.split())[0] == 5
    Path("broken").unlink()
    assert command("judge", *task.split())[0] == 0


# folders


def test_an_empty_name_of_a_folder_is_refused(complaint: Callable[..., str]) -> None:
    for words in (["score", EXAMPLES], ["evaluate", EXAMPLES], ["judge", "--tasks", "x"]):
        complaint(*words, "--output_dir", "")
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


# files that name a class


@pytest.fixture
def named_class(folder: Path) -> Iterator[str]:
    """A file of answers, and a module with a judge that tells when it is imported; the name of the judge."""
    judge = "import pathlib; pathlib.Path('ran').touch()\nfrom bert_judge.judges import RegexJudge as Judge\n"
    (folder / "of_a_stranger.py").write_text(judge)
    write_rows("a.jsonl", [{"question": "q", "reference": "r", "candidate": "r"}])
    yield "of_a_stranger:Judge"
    sys.modules.pop("of_a_stranger", None)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("j.json", '{"judge_type": "CLASS", "pattern": "none"}', "score a.jsonl --judge j.json"),
        ("j.yaml", "judge_type: CLASS\npattern: none", "score a.jsonl --judge j.yaml"),
        ("c.yaml", "judge_type: CLASS\npattern: none", "score a.jsonl --config c.yaml"),
        ("c.yaml", "judge_type: CLASS\ntrust_remote_code: true", "score a.jsonl --config c.yaml"),
        ("j.json", '{"judge_type": "CLASS", "pattern": "none"}', "evaluate a.jsonl --judge j.json"),
        ("j.yaml", "judge_type: CLASS", "cascade --judge containment,j.yaml --calibration a.jsonl"),
        ("j.yaml", "judge_type: CLASS", "serve --judge j.yaml --port 0"),
    ],
)
def test_a_file_runs_no_code(
    named_class: str, complaint: Callable[..., str], name: str, content: str, line: str
) -> None:
    Path(name).write_text(content.replace("CLASS", named_class))
    message = complaint(*line.split())
    assert f"names the class {named_class}" in message
    assert "--trust_remote_code" in message
    assert not Path("ran").exists()


def test_a_file_that_is_trusted_and_a_flag_may_name_a_class(named_class: str, command: Command) -> None:
    Path("j.json").write_text(json.dumps({"judge_type": named_class, "pattern": "none", "metric": "containment"}))
    Path("c.yaml").write_text(f"judge_type: {named_class}\noutput-dir: there\nquiet: true\n")
    for flags in ("--judge j.json --trust_remote_code", f"--judge_type {named_class} --pattern none"):
        assert command("score", "a.jsonl", *flags.split(), "--overwrite", "--quiet")[0] == 0
    assert command("score", "a.jsonl", "--config", "c.yaml", "--trust_remote_code") == (0, "", "")
    assert len(lines("there")) == 1
