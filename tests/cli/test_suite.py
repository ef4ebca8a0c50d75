"""`bert-judge score --judge A,B`: several judges in one run, a folder and a column each."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.cli.score import main
from bert_judge.errors import ModelError, OutputError
from bert_judge.inputs import open_source
from bert_judge.records import JudgeInfo, Sample, Verdict
from failing_judges import EndpointJudge
from json_lines import EXAMPLES, read_rows, write_rows

ROWS = read_rows(EXAMPLES)
JUDGES = {
    "contained": "judge_type: RegexJudge\npattern: none\nmetric: containment\n",
    "overlap": "judge_type: 'test_suite:Overlap'\n",
    "short": "judge_type: bert_judge.judges.rules:RuleJudge\nmax_words: 8\n",
}
NAMES = [*JUDGES]
FLAGS = ("--judge", ",".join(f"{name}.yaml" for name in NAMES), "--trust_remote_code", "--output_dir", "out")


class Overlap(EndpointJudge):
    """A similarity: a score without a label; undecided on the second row."""

    info = JudgeInfo("overlap", "Overlap|version:1")
    fail_at = 7

    def verdict(self, number: int, sample: Sample) -> Verdict:
        return Verdict(None if number == 1 else len(sample.candidate) / 1000)


@pytest.fixture(autouse=True)
def judges(folder: Path) -> None:
    for name, text in JUDGES.items():
        (folder / f"{name}.yaml").write_text(text)


@pytest.fixture
def score(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs the judges over the examples; gives the output."""

    def run(*arguments: str) -> str:
        assert main([str(EXAMPLES), *FLAGS, *arguments]) == 0
        return capsys.readouterr().out

    return run


def lines(name: str) -> list[dict]:
    return read_rows(f"out/{name}/verdicts.jsonl")


def test_a_folder_and_a_column_for_each_judge(score) -> None:
    out = score()
    assert sorted(path.name for path in Path("out").iterdir()) == NAMES  # out/* are results
    for name in NAMES:
        there = {path.name for path in Path(f"out/{name}").iterdir()}
        assert there == {"verdicts.jsonl", "scores.json", "run.json"}
        assert [line["candidate"] for line in lines(name)] == [row["candidate"] for row in ROWS]
    with Path("out-suite.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["id", "question", "candidate", "gold", *NAMES]
    assert [row["contained"] for row in table] == [str(line["label"]) for line in lines("contained")]
    assert [row["short"] for row in table] == [str(int(0 < len(row["candidate"].split()) <= 8)) for row in table]
    assert [row["gold"] for row in table] == [str(row["label"]) for row in ROWS]
    assert table[1]["overlap"] == ""
    assert float(table[2]["overlap"]) == len(ROWS[2]["candidate"]) / 1000
    found = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    right = sum(line["label"] for line in lines("contained"))
    assert found["contained"][1:5] == [str(len(ROWS)), "0", f"{right / len(ROWS):.3f}", f"{right / len(ROWS):.1%}"]
    assert found["overlap"][2] == "1"
    assert found["overlap"][4] == "-"
    both = sum(row["contained"] == row["short"] == "1" for row in table)
    assert f"correct by all 2 with labels: {both} of {len(ROWS)} rows" in out


def test_a_judge_that_fails_is_named_and_what_is_done_stays(score) -> None:
    Path("gone").touch()
    with pytest.raises(ModelError, match=r"^the judge overlap: the endpoint is gone"):
        score("--quiet")
    before = Path("out/contained/run.json").read_text()
    assert Path("out/overlap/verdicts.jsonl.partial").read_text().count("\n") == 7
    assert not Path("out/short").exists()
    Path("gone").unlink()
    out = score()
    assert "out/contained holds this result already" in out
    assert Path("out/contained/run.json").read_text() == before
    assert len(lines("overlap")) == len(ROWS)
    assert Path("out-suite.csv").exists()
    assert not list(Path().rglob("*.partial"))


def test_results_of_another_judge_are_not_touched(score) -> None:
    score("--quiet")
    Path("short.yaml").write_text(JUDGES["short"].replace("max_words: 8", "max_words: 9"))
    with pytest.raises(OutputError, match=r"^the judge short: out/short holds a result of another judge"):
        score("--quiet")
    with pytest.raises(OutputError, match="other options"):
        score("--quiet", "--limit", "5")
    score("--quiet", "--overwrite")
    assert sum(line["label"] for line in lines("short")) == sum(0 < len(row["candidate"].split()) <= 9 for row in ROWS)


def test_without_texts_and_quiet_and_in_a_config_file(score, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--no_texts", "--quiet", "--limit", "4") == ""
    header, *rows = Path("out-suite.csv").read_text().splitlines()
    assert header == "id,question,candidate,gold,contained,overlap,short"
    assert len(rows) == 4
    assert rows[0].startswith("short_facts-1,,,1,")

    Path("settings.yaml").write_text("judge: [contained.yaml, short.yaml]\nlimit: 3\noutput_dir: elsewhere\n")
    assert main([str(EXAMPLES), "--config", "settings.yaml", "--trust_remote_code"]) == 0
    assert "elsewhere-suite.csv" in capsys.readouterr().out


def test_a_cascade_among_several_tells_of_its_stages(capsys: pytest.CaptureFixture[str]) -> None:
    from bert_judge.judges import RegexJudge
    from bert_judge.judges.cascade import CascadePlan, Certificate, Stage

    def stage(metric: str, high: Certificate | None) -> Stage:
        spec = {"judge_type": "RegexJudge", "pattern": "none", "metric": metric}
        return Stage(metric, spec, RegexJudge("none", metric).info.signature, high)

    stages = stage("exact_match", Certificate(1.0, 80, 80, 0.95)), stage("containment", None)
    CascadePlan(stages, 0.95, 0.1).save("cascade.json")
    assert main([str(EXAMPLES), "--judge", "cascade.json,containment", "--output_dir", "out"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("cascade\nstage ")
    assert "never reached containment" in out


FORMULAS = ["=1+1", "+cmd", "-x", "@sum", "\t=1", "'=1", "''-x", "-5", "+3.5", "-1e-3", "'quoted'", "plain", "- one"]


def test_no_text_of_a_csv_file_is_a_formula() -> None:
    rows = [{"id": f"={n}", "question": "q", "reference": text, "candidate": text} for n, text in enumerate(FORMULAS)]
    write_rows("rows.jsonl", rows)
    assert main(["rows.jsonl", "--judge", "containment,exact_match", "--output_dir", "two", "--quiet"]) == 0
    path = Path("two-suite.csv")
    with path.open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    cells = [cell for line in lines for cell in line[:4]]
    assert not [cell for cell in cells if cell[:1] in "=@\t\r" and cell]
    assert {cell for cell in cells if cell[:1] in tuple("+-")} == {"-5", "+3.5", "-1e-3"}
    again = open_source(path, columns={"candidate": "candidate", "reference": "candidate"})
    assert [sample.candidate for sample in again] == FORMULAS
    assert [sample.id for sample in again] == [f"={n}" for n in range(len(FORMULAS))]
