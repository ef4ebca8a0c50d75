"""`bert-judge report --to inspect`: logs of inspect with our score beside the old ones."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bert_judge.judges import Judge
from bert_judge.records import JudgeInfo, Sample, Verdict
from conftest import Command
from json_lines import read_rows

pytestmark = pytest.mark.usefixtures("folder")
LOGS = Path(__file__).parents[1] / "logs" / "inspect"
BY_WORDS = ("--judge", "containment", "--quiet")


class Hesitant(Judge):
    """Decides nothing."""

    info = JudgeInfo("hesitant", "Hesitant")

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        return (Verdict(None, explanation="who knows") for _ in samples)


def members(path: Path) -> dict[str, Any]:
    """The members of an archive, which Python's own zipfile can read."""
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_an_archive_gets_the_score_in_every_place(command: Command) -> None:
    shutil.copytree(LOGS, "logs")
    before = {path.name: path.read_bytes() for path in Path("logs").iterdir()}
    assert command("score", "logs", *BY_WORDS, "--output_dir", "out")[0] == 0
    status, out, _ = command("report", "out", "--to", "inspect", "-o", "scored")
    assert status == 0
    assert "3 logs of inspect with the score bert_judge of 12 samples" in out
    assert {path.name: path.read_bytes() for path in Path("logs").iterdir()} == before
    parts = members(Path("scored/graded.eval"))
    labels = {
        f"samples/{row['id']}.json": "IC"[row["label"]]
        for row in read_rows(Path("out/verdicts.jsonl"))
        if row["file"] == "graded.eval"
    }
    scores = {name: value["scores"] for name, value in parts.items() if name.startswith("samples/")}
    assert {name: value["bert_judge"]["value"] for name, value in scores.items()} == labels
    score = scores["samples/0_epoch_1.json"]["bert_judge"]
    assert score["metadata"]["score"] == 1.0
    assert score["metadata"]["judge"].startswith("RegexJudge|variant:containment")
    (edit,) = score["history"]
    assert (edit["value"], edit["provenance"]["author"].split()[0]) == ("C", "bert-judge")
    assert scores["samples/0_epoch_1.json"].keys() == {"includes", "model_graded_qa", "bert_judge"}
    assert all("bert_judge" in summary["scores"] for summary in parts["summaries.json"])
    results = {result["name"]: result for result in parts["header.json"]["results"]["scores"]}
    assert list(results) == ["includes", "model_graded_qa", "bert_judge"]
    # Of the four questions two are right in both epochs: as inspect itself computes it.
    assert results["bert_judge"]["metrics"] == results["includes"]["metrics"]
    assert (results["bert_judge"]["scored_samples"], results["bert_judge"]["unscored_samples"]) == (4, 0)
    assert [(reduction["scorer"], len(reduction["samples"])) for reduction in parts["reductions.json"]] == [
        *[("includes", 4), ("model_graded_qa", 4), ("bert_judge", 4)]
    ]
    # An errored log has no verdicts.
    errored = members(Path("scored/errored.eval"))
    assert not any("bert_judge" in json.dumps(value) for value in errored.values())
    # Our own reader takes the score as one of the tool's.
    assert command("score", "scored/graded.eval", *BY_WORDS, "--output_dir", "again")[0] == 0
    assert all(row["harness:bert_judge"] == row["label"] for row in read_rows(Path("again/verdicts.jsonl")))


def test_a_log_of_json_stays_one_and_a_score_can_be_edited(command: Command) -> None:
    assert command("score", LOGS / "mc.json", *BY_WORDS, "--output_dir", "out")[0] == 0
    before = json.loads((LOGS / "mc.json").read_text())
    assert command("report", "out", "--to", "inspect", "--name", "choice", "-o", "edited", "--quiet") == (0, "", "")
    after = json.loads(Path("edited/mc.json").read_text())
    verdicts = {row["id"]: row for row in read_rows(Path("out/verdicts.jsonl"))}
    for old, new in zip(before["samples"], after["samples"], strict=True):
        score = new["scores"]["choice"]
        assert score["value"] == "IC"[verdicts[str(new["id"])]["label"]]
        assert [edit["value"] for edit in score["history"]] == [old["scores"]["choice"]["value"], score["value"]]
    (result,) = after["results"]["scores"]
    assert result["metrics"]["accuracy"]["value"] == sum(row["label"] for row in verdicts.values()) / 4
    assert {key: after[key] for key in after if key not in ("samples", "results", "reductions")} == {
        key: before[key] for key in before if key not in ("samples", "results", "reductions")
    }


def test_an_edited_score_keeps_its_place_and_a_packed_log_is_written_as_inspect_reads_it(command: Command) -> None:
    assert command("score", LOGS / "graded.eval", *BY_WORDS, "--output_dir", "out")[0] == 0
    assert command("report", "out", "--to", "inspect", "--name", "includes", "-o", "edited", "--quiet")[0] == 0
    parts = members(Path("edited/graded.eval"))
    assert [result["name"] for result in parts["header.json"]["results"]["scores"]] == ["includes", "model_graded_qa"]
    assert [reduction["scorer"] for reduction in parts["reductions.json"]] == ["includes", "model_graded_qa"]

    Path("mc.json.gz").write_bytes(gzip.compress((LOGS / "mc.json").read_bytes()))
    assert command("score", "mc.json.gz", *BY_WORDS, "--output_dir", "packed")[0] == 0
    assert command("report", "packed", "--to", "inspect", "-o", "scored", "--quiet")[0] == 0
    assert "bert_judge" in json.loads(Path("scored/mc.json").read_text())["samples"][0]["scores"]


def test_an_undecided_sample_is_unscored(command: Command) -> None:
    command("score", LOGS / "mc.json", "--judge", f"{__name__}:Hesitant", "--output_dir", "out", "--quiet")
    assert command("report", "out", "--to", "inspect", "-o", "scored")[0] == 0
    log = json.loads(Path("scored/mc.json").read_text())
    score = log["samples"][0]["scores"]["bert_judge"]
    assert score["value"] != score["value"]
    assert (score["reason"], score["explanation"]) == ("grader_failed", "who knows")
    result = log["results"]["scores"][-1]
    assert (result["scored_samples"], result["unscored_samples"]) == (0, 4)
    accuracy = result["metrics"]["accuracy"]["value"]
    assert accuracy != accuracy


def test_what_is_refused(complaint: Callable[..., str], command: Command) -> None:
    shutil.copytree(LOGS, "logs")
    assert command("score", "logs/mc.json", *BY_WORDS, "--output_dir", "out")[0] == 0
    export = ("report", "out", "--to", "inspect")
    message = complaint(*export, "-o", "logs")
    assert "logs/mc.json is what was judged, which is never replaced; choose another folder" in message
    assert "is never replaced" in complaint(*export, "-o", "logs", "--overwrite")
    assert command(*export, "-o", "scored", "--quiet")[0] == 0
    said = "scored/mc.json exists already; choose another folder, or replace it with"
    assert said in complaint(*export, "-o", "scored")
    assert command(*export, "-o", "scored", "--overwrite", "--quiet")[0] == 0
    assert "the name is 'a b'; letters, digits and _, a letter first" in complaint(*export, "--name", "a b")
    Path("logs").rename("moved")
    assert "logs/mc.json does not exist; name what was judged as input" in complaint(*export)
    assert command(*export, "--input", "moved/mc.json", "-o", "from-moved", "--quiet")[0] == 0
    assert "moved/errored.eval is not what was judged in out" in complaint(*export, "--input", "moved/errored.eval")
    Path("plain.jsonl").write_text('{"question": "q", "reference": "r", "candidate": "c"}\n')
    assert command("score", "plain.jsonl", *BY_WORDS, "--output_dir", "plain")[0] == 0
    assert "plain is no result of logs of inspect, but of jsonl" in complaint("report", "plain", "--to", "inspect")
    assert "invalid choice: 'magic'" in complaint("report", "out", "--to", "magic", status=2)
    assert "nothing holds no result" in complaint("report", "nothing", "--to", "inspect")
