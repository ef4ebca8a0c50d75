"""`bert-judge report` to every_eval_ever and rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bert_judge.inputs import open_source
from bert_judge.judges import Judge
from bert_judge.measures import rate_interval
from bert_judge.records import JudgeInfo, Sample, Verdict
from json_lines import read_rows, write_rows

pytestmark = pytest.mark.usefixtures("folder")
LOGS = Path(__file__).parents[1] / "logs"
BY_WORDS = ("--judge", "containment", "--quiet")
Command = Callable[..., tuple[int, str, str]]


class OddOnes(Judge):
    """Decides each second row."""

    info = JudgeInfo("odd", "OddOnes")

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        return (Verdict(None) if number % 2 else Verdict(0.75, 1) for number, _ in enumerate(samples))


class Unlabelled(Judge):
    """Gives scores that mean nothing more."""

    info = JudgeInfo("unlabelled", "Unlabelled")

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        return (Verdict(0.5) for _ in samples)


def answers(path: str = "answers.jsonl", **more: object) -> None:
    rows = [{"id": n, "q": f"Question {n}?", "reference": str(n), "candidate": str(n % 3), **more} for n in range(4)]
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_record_of_every_eval_ever_for_each_task_and_model(command: Command) -> None:
    assert command("score", LOGS / "inspect", *BY_WORDS, "--output_dir", "out")[0] == 0
    status, out, _ = command("report", "out", "--to", "every_eval_ever", "-o", "records")
    assert status == 0
    assert "2 records of every_eval_ever, with 12 answers" in out
    (path,) = Path("records/data/local_graded/canned/m").glob("*-????????????.json")
    record = json.loads(path.read_text())
    (result,) = record["evaluation_results"]
    assert (record["schema_version"], record["model_info"]["id"]) == ("0.3.0", "canned/m")
    assert (result["evaluation_name"], result["score_details"]["score"]) == ("local_graded", 0.5)
    uncertainty = result["score_details"]["uncertainty"]
    assert uncertainty["num_samples"] == 8
    interval = uncertainty["confidence_interval"]  # of four questions that are asked twice
    assert (interval["lower"], interval["upper"]) == pytest.approx(rate_interval([2, 2, 0, 0], [2] * 4))
    assert interval["method"] == "wilson, clustered by question"
    detailed = record["detailed_evaluation_results"]
    lines = Path("records", detailed["file_path"]).read_bytes()
    assert hashlib.sha256(lines).hexdigest() == detailed["checksum"]
    samples = [json.loads(line) for line in lines.splitlines()]
    assert len(samples) == detailed["total_rows"] == 8
    assert {sample["evaluation_result_id"] for sample in samples} == {result["evaluation_result_id"]}
    assert samples[0]["evaluation"] == {"score": 1.0, "is_correct": True}
    # Our own reader takes them for what they are.
    source = open_source(Path("records", detailed["file_path"]))
    assert [sample.meta["harness:is_correct"] for sample in source] == [1, 1, 0, 0] * 2
    assert source.format == "every_eval_ever"


def test_what_is_undecided_is_left_out_and_said(command: Command) -> None:
    answers()
    command("score", "answers.jsonl", "--judge", f"{__name__}:OddOnes", "--output_dir", "out", "--quiet")
    export = ("report", "out", "--model", "org/m", "--to", "every_eval_ever")
    status, _, err = command(*export, "-o", "records")
    assert status == 0
    assert "note: 2 undecided answers are left out, as a record is correct or incorrect." in err
    (path,) = Path("records/data/answers/org/m").glob("*-????????????.json")
    details = json.loads(path.read_text())["evaluation_results"][0]["score_details"]
    assert (details["score"], details["details"]) == (1.0, {"undecided": "2"})


def test_what_records_refuse(command: Command, complaint: Callable[..., str]) -> None:
    answers()
    score = ("score", "answers.jsonl", "--quiet", "--output_dir")
    assert command(*score, "out", "--judge", "containment")[0] == 0
    records = ("--to", "every_eval_ever")
    assert "does not say whose answers it has; name the model, as in --model NAME" in complaint(
        "report", "out", *records
    )
    assert command(*score, "bare", "--judge", "containment", "--no_texts")[0] == 0
    assert "bare has no texts, which the records need" in complaint("report", "bare", *records, "--model", "m")
    assert command(*score, "scores", "--judge", f"{__name__}:Unlabelled")[0] == 0
    message = complaint("report", "scores", *records, "--model", "m")
    assert "has no answer that is judged correct or incorrect; judge again with a threshold" in message
    assert command("report", "out", *records, "--model", "../../m|x", "-o", "safe")[0] == 0
    assert {str(path.parent) for path in Path().rglob("*_samples.jsonl")} == {"safe/data/answers/_/.._m_x"}


def test_rows_keep_all_columns(command: Command, complaint: Callable[..., str]) -> None:
    more = {"long": "x" * 500, "nested": {"n": [1, 2.5, None]}, "ä": True}
    answers(**more)
    with Path("answers.jsonl").open("a") as file:
        file.write('{"id": 9, "reference": "", "candidate": "c"}\n')
    command("score", "answers.jsonl", *BY_WORDS, "--skip_bad_rows", "--map", "question=q", "--output_dir", "out")
    assert command("report", "out", "--to", "rows", "-o", "with", "--name", "judge")[0] == 0
    rows = read_rows(Path("with/rows.jsonl"))
    verdicts = read_rows(Path("out/verdicts.jsonl"))
    assert rows == [
        {"id": n, "q": f"Question {n}?", "reference": str(n), "candidate": str(n % 3), **more}
        | {"judge_score": verdicts[n]["score"], "judge_label": verdicts[n]["label"]}
        | {"judge_explanation": verdicts[n].get("explanation")}
        for n in range(4)
    ]
    Path("answers.jsonl").write_text("{}\n")
    assert "answers.jsonl is not what was judged in out, as its content is" in complaint(
        "report", "out", "--to", "rows"
    )
    answers(bert_judge_label=1)
    assert command("score", "answers.jsonl", *BY_WORDS, "--output_dir", "taken")[0] == 0
    message = complaint("report", "taken", "--to", "rows", "-o", "other")
    assert "has a column bert_judge_label; choose another name for ours" in message


def test_rows_of_a_table_several_files_and_a_saved_run(command: Command) -> None:
    table = pa.table({"reference": ["a", "b"], "candidate": ["a", "c"], "number": [1, 2]})
    pq.write_table(table, "answers.parquet")
    Path("files").mkdir()
    for name in "ab":
        answers(f"files/{name}.jsonl")
    for number, (path, count) in enumerate({"answers.parquet": 2, "files": 8, LOGS: 20}.items()):
        assert command("score", path, *BY_WORDS, "--output_dir", f"out{number}")[0] == 0
        assert command("report", f"out{number}", "--to", "rows", "-o", f"rows{number}")[0] == 0
        rows = read_rows(Path(f"rows{number}/rows.jsonl"))
        assert len(rows) == count
        verdicts = read_rows(Path(f"out{number}/verdicts.jsonl"))
        assert [row["bert_judge_label"] for row in rows] == [row["label"] for row in verdicts]
    assert rows[0]["candidate"] == verdicts[0]["candidate"]


def test_candidates_of_a_task_have_its_name_and_the_model_s(command: Command, complaint: Callable[..., str]) -> None:
    write_rows("quiz.jsonl", [{"question": f"{n}?", "reference": str(n)} for n in range(4)])
    Path("c/quiz/m").mkdir(parents=True)
    Path("c/quiz/m/candidates.json").write_text(json.dumps(["0", "1", "2", "no"]))
    task = ("--dataset", "quiz.jsonl", "--candidates_dir", "c", "--output_dir", "s")
    assert command("judge", "--judge", "containment", *task, "--quiet")[0] == 0
    (folder,) = Path("s/quiz/m/RegexJudge").iterdir()
    export = ("report", folder, "--to", "every_eval_ever", "-o", "records")
    assert command(*export, "--dataset", "org/quiz")[0] == 0
    (path,) = Path("records/data/quiz/unknown/m").glob("*-????????????.json")
    (result,) = json.loads(path.read_text())["evaluation_results"]
    assert result["source_data"] == {"dataset_name": "quiz", "source_type": "hf_dataset", "hf_repo": "org/quiz"}
    assert result["score_details"]["score"] == 0.75
    assert "has no task gsm8k; its tasks: quiz" in complaint(*export, "--task", "gsm8k")
    for form in ("rows", "inspect"):
        assert "judged the candidates of a task, which are no rows of a file" in complaint(
            "report", folder, "--to", form
        )
