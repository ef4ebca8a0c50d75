"""Runs side by side: which rows are one answer, which runs one judge, and whose labels count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bert_judge import Sample
from bert_judge.errors import InputError
from bert_judge.records import Signature
from bert_judge.report import find_runs, left_out
from bert_judge.report.page import make_report
from bert_judge.studies.pairing import read_labels
from bert_judge.studies.table import VerdictTable, collect
from json_lines import write_rows
from saved_runs import LARGE, SIMILAR, STARTER, answers, make_run, says

THREE = answers("Paris", "London", "Rome", golds="10 ")


def unfinished(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "verdicts.jsonl.partial").touch()
    return folder


def scores(table: VerdictTable) -> list[list[float | None]]:
    return [[row and row.score for row in judge.verdicts] for judge in table.judges]


def test_runs_of_two_judges_are_columns_of_the_same_rows(tmp_path: Path):
    first = make_run(tmp_path / "a", THREE, says(0.9, 0.2, None))
    second = make_run(tmp_path / "b", THREE[::-1], says(0.7, 0.6, 0.8), LARGE, sha="2" * 64)
    table = collect([first, second])
    assert [row.candidate for row in table.rows] == ["Paris", "London", "Rome"]
    assert scores(table) == [[0.9, 0.2, None], [0.8, 0.6, 0.7]]
    signatures = [("a", "BERTJudge starter"), ("b", "BERTJudge large")]
    assert [(judge.name, judge.signature.short) for judge in table.judges] == signatures
    assert (table.labels, table.notes) == ("the input", [])
    (alone,) = collect([first]).judges  # is called what it is
    assert alone.name == "BERTJudge starter"


def test_two_thresholds_of_one_judge_are_told_apart(tmp_path: Path):
    strict = Signature.make("BERTJudge", model="starter", weights="12ab", threshold=0.9)
    runs = [
        make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1)),
        make_run(tmp_path / "b", THREE, says(0.9, 0.2, 0.1), strict),
        make_run(tmp_path / "c", THREE, says(0.9, 0.2, 0.1), LARGE),
    ]
    kinds = ["BERTJudge starter, threshold 0.5", "BERTJudge starter, threshold 0.9", "BERTJudge large"]
    assert [judge.kind for judge in make_report(collect(runs)).data("judges")] == kinds
    runs.append(make_run(tmp_path / "d", answers("Bonn"), says(0.4), sha="2" * 64))  # a judge on two inputs
    assert [judge.name for judge in collect(runs).judges] == kinds  # so that columns are called as what they are


def test_one_judge_on_two_inputs_is_one_column_even_where_some_answers_are_equal(tmp_path: Path):
    inputs = [{"input": {"path": f"data/{name}.jsonl", "format": "jsonl"}} for name in ("small", "big")]
    first = make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1), **inputs[0])
    other = answers("Paris", "Bonn", "Bern")  # of another model, which is right as well
    second = make_run(tmp_path / "b", other, says(0.8, 0.3, 0.2), sha="2" * 64, **inputs[1])
    table = collect([first, second])
    assert scores(table) == [[0.9, 0.2, 0.1, 0.8, 0.3, 0.2]]
    assert table.notes == []
    (facet,) = table.facets
    assert (facet.name, facet.levels, facet.codes) == ("input", ["big", "small"], [1, 1, 1, 0, 0, 0])


def test_answers_that_two_runs_of_one_judge_hold_count_once(tmp_path: Path):
    half = make_run(tmp_path / "half", answers("Paris", "Paris"), says(0.9, 0.8), sha="2" * 64)
    full = make_run(tmp_path / "full", answers("Paris", "Rome", "Paris", "Paris", golds="1 0 "), says(0.9, 0.1, 0.8, 1))
    table = collect([half, full])
    assert scores(table) == [[0.9, 0.8, 0.1, 1]]
    assert [row.gold for row in table.rows] == [1, 0, None, None]  # a label that only the later run has is kept
    (judge,) = make_report(table).data("judges")
    assert (judge.judged, judge.rows) == (4, 4)
    told = f"2 of the 4 answers of {full.folder} are those of {half.folder}, by the same judge: they are counted once."
    assert table.notes == [told]
    assert scores(collect([full, half])) == [[0.9, 0.1, 0.8, 1]]


def test_overlapping_runs_of_one_judge_stand_beside_another_judge(tmp_path: Path):
    few = make_run(tmp_path / "few", THREE[:2], says(0.9, 0.2), sha="2" * 64)
    all_ = make_run(tmp_path / "all", THREE, says(0.9, 0.2, 0.1))
    other = make_run(tmp_path / "other", THREE, says(0.5, 0.6, 0.7), LARGE)
    table = collect([few, all_, other])
    assert scores(table) == [[0.9, 0.2, 0.1], [0.5, 0.6, 0.7]]
    assert len(table.notes) == 1
    few = make_run(tmp_path / "two", THREE[1:], says(0.2, 0.1), sha="2" * 64)
    bare = make_run(tmp_path / "bare", THREE, says(0.5, 0.6, 0.7), LARGE, texts=False)
    table = collect([few, all_, bare])
    assert scores(table) == [[0.2, 0.1, 0.9], [0.6, 0.7, 0.5]]
    assert [row.candidate for row in table.rows] == ["London", "Rome", "Paris"]


def test_judges_models_and_answers_that_come_again_stay_apart(tmp_path: Path):
    runs = [make_run(tmp_path / name, THREE, says(*labels)) for name, labels in (("a", (1, 0, 0)), ("b", (0, 1, 0)))]
    assert scores(collect(runs)) == [[1, 0, 0], [0, 1, 0]]
    runs = [make_run(tmp_path / name, answers("a", "b", model=name), says(1, 0), sha=name) for name in ("m1", "m2")]
    assert scores(collect(runs)) == [[1, 0, 1, 0]]
    twice = answers("Paris", "Paris")
    small = make_run(tmp_path / "twice", twice, says(0.9, 0.8))
    large = make_run(tmp_path / "large", twice, says(0.7, 0.6), LARGE)
    assert scores(collect([small, large])) == [[0.9, 0.8], [0.7, 0.6]]


def test_other_rows_stand_below_and_are_told(tmp_path: Path):
    first = make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1))
    second = make_run(tmp_path / "b", answers("Bern", "Oslo"), says(0.5, 0.6), LARGE, sha="2" * 64)
    table = collect([first, second])
    assert scores(table) == [[0.9, 0.2, 0.1, None, None], [None, None, None, 0.5, 0.6]]
    assert make_report(table).notes == ["a judged 3 of the 5 answers.", "b judged 2 of the 5 answers."]


def test_runs_without_texts_are_matched_by_id_on_the_same_input(tmp_path: Path):
    bare = make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1), texts=False)
    full = make_run(tmp_path / "b", THREE[::-1], says(0.3, 0.4, 0.5), LARGE)
    other = make_run(tmp_path / "c", THREE, says(0, 0, 0), SIMILAR, sha="2" * 64)
    table = collect([bare, full])
    assert scores(table) == [[0.9, 0.2, 0.1], [0.5, 0.4, 0.3]]
    assert [row.candidate for row in table.rows] == ["Paris", "London", "Rome"]
    assert len(collect([bare, other]).rows) == 6
    assert "without texts" in make_report(collect([bare])).notes[0]


def test_task_and_model_of_candidates_are_in_their_path(tmp_path: Path):
    runs = [
        make_run(
            tmp_path / "scores" / task / model / "BERTJudge" / "starter",
            [Sample("Paris", ("Paris",), task)],
            says(1),
            sha=f"{task}{model}",
            input={"path": f"candidates/{task}/{model}/candidates.json", "format": "candidates"},
        )
        for task in ("arc", "mmlu")
        for model in ("m1", "m2")
    ]
    table = collect(find_runs([tmp_path / "scores"]))
    assert len(runs) == len(table.rows) == 4
    facets = [("task", ["arc", "mmlu"], [0, 0, 1, 1]), ("model", ["m1", "m2"], [0, 1, 0, 1])]
    assert [(facet.name, facet.levels, facet.codes) for facet in table.facets] == facets


def test_columns_with_few_values_are_kinds_and_others_are_not(tmp_path: Path):
    columns = [{"topic": "ab"[i % 2], "uid": f"u{i}", "same": "x", "part": i % 2 or None} for i in range(8)]
    samples = [Sample(f"c{i}", ("r",), "q", str(i), meta=meta) for i, meta in enumerate(columns)]
    run = make_run(tmp_path / "a", samples, says(*[0.5] * 8))
    assert [(facet.name, facet.levels) for facet in collect([run]).facets] == [("part", ["1"]), ("topic", ["a", "b"])]


@pytest.mark.parametrize("fields", [("question", "references", "candidate", "label"), ("id", "label")])
def test_labels_of_a_file_replace_those_of_the_input(tmp_path: Path, fields: tuple[str, ...]):
    rows = [{name: 0 if name == "label" else getattr(row, name) for name in fields} for row in THREE[:2]]
    path = write_rows(tmp_path / "human.jsonl", rows)
    table = collect([make_run(tmp_path / "a", THREE, says(1, 0, 0))], read_labels(path))
    assert [row.gold for row in table.rows] == [0, 0, None]
    assert table.labels == path


def test_what_is_no_result_is_told_in_a_sentence(tmp_path: Path):
    (tmp_path / "none").mkdir()
    (tmp_path / "file").write_text("")
    unfinished(tmp_path / "begun")
    sentences = {"none": "holds no result", "file": "is a file", "x": "is not there", "begun": "an unfinished run"}
    for name, told in sentences.items():
        with pytest.raises(InputError, match=told):
            find_runs([tmp_path / name])
    with pytest.raises(InputError, match="no results were given"):
        collect([])
    with pytest.raises(InputError, match="no row was judged"):
        collect([make_run(tmp_path / "empty", [], [])])


def test_unfinished_results_deeper_down_are_told(tmp_path: Path):
    begun = unfinished(tmp_path / "suite" / "boom")
    with pytest.raises(InputError, match=r"holds no result.*boom is unfinished"):
        find_runs([tmp_path])
    make_run(tmp_path / "suite" / "a", THREE, says(1, 0, 0))
    unfinished(tmp_path / "suite" / "a")  # being made anew: the older one is whole
    assert [run.folder.name for run in find_runs([tmp_path])] == ["a"]
    expected = [f"{begun} is unfinished and left out; start its command again to finish it."]
    assert left_out([tmp_path, tmp_path / "suite"]) == expected
    assert left_out([tmp_path / "suite" / "a"]) == []


def test_results_deeper_down_are_in_the_order_in_which_they_were_made(tmp_path: Path):
    for name, second in (("b", 1), ("c", 3), ("a", 2)):
        timings = {"started": f"2026-01-02T03:04:0{second}+0000", "seconds": 2.0, "rows": 3}
        make_run(tmp_path / name, THREE, says(1, 0, 0), Signature(name), timings=timings)
    assert [run.folder.name for run in find_runs([tmp_path])] == ["b", "a", "c"]

    for nanoseconds, name in ((10, "b"), (20, "c"), (20, "a")):  # in one second: as they were finished
        make_run(tmp_path / "later" / name, THREE, says(1, 0, 0), Signature(name))
        os.utime(tmp_path / "later" / name / "run.json", ns=(nanoseconds, nanoseconds))
    assert [run.folder.name for run in find_runs([tmp_path / "later"])] == ["b", "a", "c"]


def test_results_deeper_down_are_found_once(tmp_path: Path):
    for name in ("a", "b"):
        make_run(tmp_path / name, THREE, says(1, 0, 0), STARTER if name == "a" else LARGE)
    (tmp_path / "candidates").mkdir()
    (tmp_path / "candidates" / "run.json").write_text("{}")  # of generate: no verdicts beside it
    runs = find_runs([tmp_path, tmp_path / "a"])
    assert [run.folder.name for run in runs] == ["a", "b"]
