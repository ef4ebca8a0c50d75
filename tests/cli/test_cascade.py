"""`bert-judge cascade`, and `bert-judge score` with what it wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from bert_judge.cli import score
from bert_judge.cli.cascade import main
from bert_judge.errors import BertJudgeError, ModelError
from bert_judge.judges.cascade import Cascade
from bert_judge.judges.naming import JudgeSpec
from bert_judge.records import JudgeInfo, Sample, Verdict
from bert_judge.server.running import warm_up
from conftest import Refused
from failing_judges import EndpointJudge
from json_lines import read_rows, write_rows
from scripted_endpoint import Answer, endpoint

pytestmark = pytest.mark.usefixtures("folder")
CASCADE = [
    *"--judge_type bert_judge.judges.cascade:Cascade --model_path cascade.json".split(),
    *"--trust_remote_code --output_dir out".split(),
]
ORACLE = "test_cascade:Oracle"
TOWNS = "Paris Rome Berlin Madrid Vienna Lisbon Athens Dublin Oslo Prague".split()


class Oracle(EndpointJudge):
    """Knows that a candidate with an exclamation mark is wrong."""

    info = JudgeInfo("oracle", "Oracle|version:1")
    fail_at = 5

    def verdict(self, number: int, sample: Sample) -> Verdict:
        return Verdict(1.0, 1) if "!" not in sample.candidate else Verdict(0.0, 0)


def write(name: str, count: int, seed: int, labels: bool = True) -> str:
    """Answers that hold the reference, and are right then but for some with "!"; or do not, and are wrong mostly."""
    chance, rows = random.Random(seed), []
    for row in range(count):
        town, other = chance.sample(TOWNS, 2)
        holds, odd = chance.random() < 0.6, chance.random()
        if holds:
            candidate, label = (f"It is {town}!", 0) if odd < 0.01 else (f"It is {town}", 1)
        else:
            candidate, label = (f"The seat of government, {town[:3]}", 1) if odd < 0.15 else (f"It is {other}!", 0)
        record = {"question": f"{seed}: town {row}?", "reference": town, "candidate": candidate}
        rows.append(record | ({"label": label} if labels else {}))
    return write_rows(name, rows)


def stages(*names: str) -> list[str]:
    return ["--judge", ",".join(names), "--calibration", "labelled.jsonl"]


@pytest.fixture
def calibrated(printed: Callable[..., str]) -> Callable[..., str]:
    """Writes labelled.jsonl and makes a cascade with it; gives what is printed."""

    def run(*names: str, rows: int = 400, labels: bool = True, flags: Iterable[object] = ()) -> str:
        write("labelled.jsonl", rows, 1, labels)
        return printed("cascade", *stages(*(names or ("containment", ORACLE))), *flags)

    return run


def table(out: str) -> dict[str, list[str]]:
    """The words of the printed lines by their first one."""
    return {line.split()[0]: line.split() for line in out.splitlines() if line.split()}


def test_calibrate_and_score(calibrated, printed) -> None:
    report = calibrated("exact_match", "containment", ORACLE, rows=500, flags=("-o", "cascade.json"))
    lines = [" ".join(line.split()) for line in report.splitlines()]
    assert lines[0].startswith("calibrated on 500 labelled rows to 500 questions in labelled.jsonl; ")
    assert "promise: at least 95% of the rows decided before the last stage agree with human labels," in lines
    assert any(line.startswith("containment correct 500 >= 1 ") for line in lines)
    assert "note: exact_match decides nothing: leave it out, or lower target_agreement" in lines
    assert any(line.startswith("note: containment judges nothing incorrect: lower") for line in lines)
    assert any(line.startswith("Oracle the rest ") for line in lines)
    plan = json.loads(Path("cascade.json").read_text())
    assert [stage["name"] for stage in plan["stages"]] == ["exact_match", "containment", "Oracle"]
    assert plan["stages"][1]["high"]["at_least"] >= 0.95

    out = printed("score", write("answers.jsonl", 200, 2), *CASCADE)
    counts = table(out)
    verdicts = read_rows("out/verdicts.jsonl")
    early = sum("It is" in v["candidate"] and v["references"][0] in v["candidate"] for v in verdicts)
    assert counts["exact_match"][1:3] == ["200", "0"]
    assert counts["containment"][1:3] == ["200", str(early)]
    assert counts["Oracle"][1:3] == [str(200 - early)] * 2
    assert counts["Oracle"][4] == "100.0%"
    assert f"{early} of 200 rows ({early / 200:.1%}) never reached Oracle; alone it would have taken about" in out
    assert "note:" not in out
    assert {v["explanation"] for v in verdicts} == {"decided by containment", "decided by Oracle"}
    again = printed("score", "answers.jsonl", *CASCADE)
    assert "was judged before" in again
    assert table(again)["containment"][1:3] == ["200", str(early)]


def test_the_file_names_the_judge(calibrated, printed) -> None:
    calibrated(rows=300)
    answers = write("answers.jsonl", 60, 2)
    printed("score", answers, *CASCADE)
    out = printed("score", answers, "--judge", "cascade.json", "--trust_remote_code", "--output_dir", "named")
    assert read_rows("named/verdicts.jsonl") == read_rows("out/verdicts.jsonl")
    assert "never reached Oracle" in out
    several = "--judge cascade.json,containment --trust_remote_code --output_dir both"
    out = printed("score", answers, *several.split())
    assert out.startswith("cascade\nstage ")
    assert "never reached Oracle" in out
    assert {path.name for path in Path("both").iterdir() if path.is_dir()} == {"cascade", "containment"}
    assert "cascade" in printed("evaluate", answers, "--judge", "cascade.json", "--trust_remote_code")
    assert JudgeSpec.of("cascade.json").kind is Cascade


def test_rows_of_another_kind_are_noticed(calibrated, printed) -> None:
    calibrated()
    rows = read_rows(write("answers.jsonl", 100, 3))
    write_rows("answers.jsonl", [{**row, "label": 0} for row in rows])
    out = printed("score", "answers.jsonl", *CASCADE)
    assert "note: 0.0% of the" in out
    assert "were decided early agree, not 95%; the cascade was calibrated on rows of another kind" in out


def test_what_no_stage_is_sure_of_stays_undecided(calibrated, printed) -> None:
    report = calibrated("containment", flags=("--abstain", "--target_agreement", 0.9))
    assert "decided before the end: " in report
    out = printed("score", write("answers.jsonl", 100, 2, labels=False), *CASCADE)
    scores = json.loads(Path("out/scores.json").read_text())
    undecided = scores.count(None)
    assert 0 < undecided < 100
    assert f"undecided: {undecided} of 100 rows ({undecided / 100:.1%}), on which no stage was certain" in out


def test_a_stage_that_dies_midway_loses_nothing(calibrated, printed) -> None:
    calibrated()
    write("answers.jsonl", 60, 2)
    Path("gone").touch()
    with pytest.raises(ModelError, match="the stage Oracle of the cascade failed: the endpoint is gone"):
        score.main(["answers.jsonl", *CASCADE, "--quiet"])
    kept = Path("out/verdicts.jsonl.partial").read_text()
    assert kept.count("decided by Oracle") == 5
    Path("gone").unlink()
    printed("score", "answers.jsonl", *CASCADE, "--quiet")
    whole = Path("out/verdicts.jsonl").read_text()
    assert whole.startswith(kept)
    assert whole.count("\n") == 60


@pytest.mark.parametrize("kind", ["LLMJudge", "DecisionJudge"])
def test_what_a_paid_stage_cost_is_said_with_a_store_too(kind: str, calibrated, printed) -> None:
    model = {"model_path": "org/m", "backend": "openai"} if kind == "LLMJudge" else {"model": "org/m"}
    rows = read_rows(write("answers.jsonl", 60, 2, labels=False))
    late = sum(row["reference"] not in row["candidate"] for row in rows)
    with endpoint(
        lambda text, _: Answer(f"Final answer: {'!' not in text}", probability=float("!" not in text))
    ) as server:
        llm = {"judge_type": kind, **model, "base_url": server.base_url}
        Path("llm.yaml").write_text(json.dumps({**llm, "store": "off", "price_in": 1, "price_out": 1}))
        assert calibrated("containment", "llm.yaml", flags=["--quiet"]) == ""
        asked = len(server.bodies)
        warm_up({"cascade": Cascade("cascade.json", trust_remote_code=True)})
        assert len(server.bodies) == asked
        for folder, requests in (("first", late), ("second", 0)):
            out = printed("score", "answers.jsonl", *CASCADE[:-1], folder, "--store", "kept.sqlite")
            costs = json.loads(Path(folder, "run.json").read_text())["costs"]
            assert costs["requests"] == costs["stages"][1]["requests"] == requests
            assert [stage["rows"] for stage in costs["stages"]] == ([60, late] if requests else [0, 0])
            assert (costs["money"] > 0) == (requests > 0)
            assert table(out)["containment"][1:3] == ["60", str(60 - late)]
            assert table(out)["llm"][1:3] == [str(late)] * 2
    assert len(server.bodies) == asked + late


def test_what_is_promised_is_said_and_stored(calibrated, printed) -> None:
    flags = ("--agree_with", "last", "--target-agreement", 0.9)
    assert "agree with Oracle,\n" in calibrated(rows=300, labels=False, flags=flags)
    assert "people" not in Path("cascade.json").read_text()
    promise = "agree with human labels,\n         in 90% of calibrations"
    assert promise in calibrated()
    assert promise in printed("score", write("answers.jsonl", 50, 2), *CASCADE)


def test_an_encoder_in_yaml_as_a_stage_and_settings_in_a_file(calibrated, printed, make_judge) -> None:
    folder = str(make_judge("bert"))
    Path("small.yaml").write_text(f"model_path: {folder}\nruntime: torch\ndtype: float32\n")
    Path("settings.yaml").write_text("target_agreement: 0.8\ndelta: 0.2\nlimit: 200\n")
    report = calibrated("containment", "small.yaml", ORACLE, rows=300, flags=("--config", "settings.yaml"))
    assert any(line.split()[:2] == ["small", "correct"] for line in report.splitlines())
    plan = json.loads(Path("cascade.json").read_text())
    assert (plan["target"], plan["delta"], plan["calibration"]["questions"]) == (0.8, 0.2, 200)
    stage = plan["stages"][1]
    assert stage["judge"] == {"judge_type": "BERTJudge", "model_path": folder, "runtime": "torch", "dtype": "float32"}
    assert stage["signature"]["settings"]["runtime"].startswith("torch")
    assert printed("score", "labelled.jsonl", *CASCADE)


def test_bad_input_is_told_in_a_sentence(refused: Refused) -> None:
    write("labelled.jsonl", 700, 1)
    for arguments, message in [
        ("--judge containment", "1 stage was named; two or more were expected"),
        ("--judge containment,startr", "did you mean starter?"),
        ("--judge ,", "no stages were named"),
        ("--limit 20", "there are 20 labelled questions"),
        ("--target_agreement 0.999", "needs at least 2995"),
        ("--target_agreement 95", "the target is 95.0"),
        ("--map label=", "has a label; name its column (label=COLUMN)"),
        ("-o nowhere/cascade.json", "there is no folder for nowhere"),
        ("-o .", "is a folder; a file for the cascade was expected"),
        ("--calibration nowhere.jsonl", "nowhere.jsonl"),
        ("--target_agreement 0.995", "can be certified for no stage on these 700 questions"),
    ]:
        with refused(message, error=BertJudgeError, arguments=arguments):
            main([*stages("containment", ORACLE), *arguments.split()])
        assert not Path("cascade.json").exists()
