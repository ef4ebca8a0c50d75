"""Of large results rows are drawn: whole questions, and the same ones from every result."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.cli import main
from bert_judge.cli.label import LabelOptions, open_labelling
from bert_judge.results.runs import find_runs, load_run, open_run
from bert_judge.studies.correct import correct
from bert_judge.studies.pairing import read_labels, relabelled
from conftest import Command
from json_lines import write_rows

ROWS = [
    {"id": n, "question": f"Question {n // 3}?", "reference": "Paris", "candidate": text, "label": int(text != "Rome")}
    for n, text in enumerate(["Paris", "Rome", "It is Paris"] * 1000)
]
SCORE = "score {} --judge {} --output_dir {} --quiet --no_report"


@pytest.fixture
def results(command: Command, folder: Path) -> Path:
    write_rows("rows.jsonl", ROWS)
    for name, judge in (("a", "containment"), ("b", "exact_match")):
        assert command(*SCORE.format("rows.jsonl", judge, name).split())[0] == 0
    return folder


def test_whole_questions_are_drawn_and_the_same_of_every_result(results: Path) -> None:
    first, second = load_run("a", 600), load_run("b", 600)
    assert 400 < len(first.rows) < 800
    assert first.left == 3000 - len(first.rows)
    assert [row.id for row in first.rows] == [row.id for row in second.rows]
    questions = {row.question for row in first.rows}
    assert len(first.rows) == 3 * len(questions)
    assert [len(run.rows) for run in find_runs(["a", "b"], 600)] == [len(first.rows)] * 2
    for sample in (None, 3000, 10_000):
        whole = load_run("a", sample)
        assert (len(whole.rows), whole.left) == (3000, 0)


def test_commands_say_what_was_drawn(results: Path, command: Command, complaint: Callable[..., str]) -> None:
    drawn = len(load_run("a", 600).rows)
    note = f"{drawn:,} of the 3,000 rows of a were drawn, whole questions at random."
    for words in ("compare a b", "evaluate a --output_dir e", "report a -o r.html"):
        status, out, _ = command(*words.split(), "--sample", 600)
        assert status == 0
        assert f"note: {note}" in out.replace("\n", " ").replace("  ", " ") or note in out
        assert "were drawn" not in command(*words.split(), "--sample", 0)[1]
        assert "--sample: -1 was given" in complaint(*words.split(), "--sample", -1, status=2)


@pytest.mark.usefixtures("results")
def test_the_page_of_score_shows_a_sample(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bert_judge.cli.score.PAGE_ROWS", 900)
    status, out, _ = command("score", "rows.jsonl", "--judge", "containment", "--output_dir", "c")
    assert status == 0
    assert "report.html" in out
    assert "rows        3000" in out  # the table counts all
    assert "of the 3,000 rows of c" in Path("c/report.md").read_text()
    suite = ("score", "rows.jsonl", "--judge", "containment,exact_match", "--output_dir", "s", "--quiet")
    assert command(*suite)[0] == 0
    assert list(Path().glob("s*.html"))


def test_rows_that_stay_in_their_files_are_the_same_rows(results: Path) -> None:
    opened, loaded = open_run("a"), load_run("a")
    assert list(opened.rows) == list(opened.rows) == list(loaded.rows)
    assert len(opened.rows) == 3000
    assert next(iter(loaded.rows)) in opened.rows
    assert (opened.record, opened.left) == (loaded.record, 0)
    records = [{**row, "label": int(row["id"] < 30)} for row in ROWS[:300]]
    labels = read_labels(write_rows("labels.jsonl", records))
    assert list(relabelled(opened.rows, labels)) == list(relabelled(loaded.rows, labels))
    for source in (None, labels):
        assert repr(correct(opened, source)) == repr(correct(loaded, source))


def test_correct_and_show_keep_no_rows(command: Command, folder: Path) -> None:
    text = "word " * 800
    write_rows("rows.jsonl", [{**row, "candidate": f"{row['candidate']} {row['id']} {text}"} for row in ROWS])
    assert command(*SCORE.format("rows.jsonl", "containment", "a").split())[0] == 0
    held = {}
    for name, words in {"correct": "correct a", "show": "show a --wrong"}.items():
        command(*words.split())  # what is imported
        tracemalloc.start()
        assert command(*words.split())[0] == 0
        held[name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert max(held.values()) < 0.8 * (folder / "a" / "verdicts.jsonl").stat().st_size, held


@pytest.mark.usefixtures("folder")
def test_people_label_a_sample(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows("unlabelled.jsonl", [{**row, "label": None} for row in ROWS])
    assert main(SCORE.format("unlabelled.jsonl", "containment", "c").split()) == 0
    monkeypatch.setattr("bert_judge.cli.label.SAMPLE", 600)
    drawn = load_run("c", 600).rows
    for _ in range(2):  # the same rows when one goes on
        with open_labelling(LabelOptions(run="c", labels="people.jsonl")) as labelling:
            assert labelling.state()["total"] == len({row.key for row in drawn})
    message = "of the 3,000 rows of c can be drawn: whole questions, chosen at random."
    assert f"{len(drawn)} {message}" in capsys.readouterr().out
