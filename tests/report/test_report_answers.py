"""Runs side by side: which rows are one answer, which runs one judge, and whose labels count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_runs import LARGE, SIMILAR, STARTER, answers, make_run, says

from bert_judge import Sample
from bert_judge.errors import InputError
from bert_judge.evaluation.labelled import read_labels
from bert_judge.report import AnswerTable, collect, find_runs

THREE = answers("Paris", "London", "Rome", golds="10 ")


def scores(table: AnswerTable) -> list[list[float | None]]:
    return [[row and row.score for row in judge.verdicts] for judge in table.judges]


def test_runs_of_two_judges_are_columns_of_the_same_rows(tmp_path: Path):
    first = make_run(tmp_path / "a", THREE, says(0.9, 0.2, None))
    second = make_run(tmp_path / "b", THREE[::-1], says(0.7, 0.6, 0.8), LARGE, sha="2" * 64)
    table = collect([first, second])
    assert [row.candidate for row in table.rows] == ["Paris", "London", "Rome"]
    assert scores(table) == [[0.9, 0.2, None], [0.8, 0.6, 0.7]]
    assert [(judge.name, judge.kind) for judge in table.judges] == [
        ("a", "BERTJudge starter"),
        ("b", "BERTJudge large"),
    ]
    assert (table.labels, table.notes) == ("the input", [])


def test_a_single_judge_is_called_what_it_is(tmp_path: Path):
    assert [judge.name for judge in collect([make_run(tmp_path / "out", THREE, says(1, 0, 0))]).judges] == [
        "BERTJudge starter"
    ]


def test_one_judge_on_two_inputs_is_one_column_even_where_answers_are_equal(tmp_path: Path):
    inputs = [{"input": {"path": f"data/{name}.jsonl", "format": "jsonl"}} for name in ("small", "big")]
    first = make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1), **inputs[0])
    second = make_run(tmp_path / "b", THREE, says(0.8, 0.3, 0.2), sha="2" * 64, **inputs[1])
    table = collect([first, second])
    assert scores(table) == [[0.9, 0.2, 0.1, 0.8, 0.3, 0.2]]
    (facet,) = table.facets
    assert (facet.name, facet.levels, facet.codes) == ("input", ["big", "small"], [1, 1, 1, 0, 0, 0])


def test_the_same_judge_twice_on_the_same_input_is_two_columns(tmp_path: Path):
    runs = [make_run(tmp_path / name, THREE, says(*own)) for name, own in (("a", (1, 0, 0)), ("b", (0, 1, 0)))]
    assert scores(collect(runs)) == [[1, 0, 0], [0, 1, 0]]


def test_answers_that_come_again_are_rows_of_their_own(tmp_path: Path):
    twice = answers("Paris", "Paris")
    runs = [
        make_run(tmp_path / "a", twice, says(0.9, 0.8)),
        make_run(tmp_path / "b", twice, says(0.7, 0.6), LARGE),
    ]
    assert scores(collect(runs)) == [[0.9, 0.8], [0.7, 0.6]]


def test_other_rows_stand_below_and_are_told(tmp_path: Path):
    first = make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1))
    second = make_run(tmp_path / "b", answers("Bern", "Oslo"), says(0.5, 0.6), LARGE, sha="2" * 64)
    table = collect([first, second])
    assert scores(table) == [[0.9, 0.2, 0.1, None, None], [None, None, None, 0.5, 0.6]]
    assert table.notes == ["a judged 3 of the 5 answers.", "b judged 2 of the 5 answers."]


def test_runs_without_texts_are_matched_by_id_on_the_same_input(tmp_path: Path):
    bare = make_run(tmp_path / "a", THREE, says(0.9, 0.2, 0.1), texts=False)
    full = make_run(tmp_path / "b", THREE[::-1], says(0.3, 0.4, 0.5), LARGE)
    other = make_run(tmp_path / "c", THREE, says(0, 0, 0), SIMILAR, sha="2" * 64)
    table = collect([bare, full])
    assert scores(table) == [[0.9, 0.2, 0.1], [0.5, 0.4, 0.3]]
    assert [row.candidate for row in table.rows] == ["Paris", "London", "Rome"]
    assert len(collect([bare, other]).rows) == 6
    assert "--no_texts" in collect([bare]).notes[0]


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
    assert [(facet.name, facet.levels, facet.codes) for facet in table.facets] == [
        ("task", ["arc", "mmlu"], [0, 0, 1, 1]),
        ("model", ["m1", "m2"], [0, 1, 0, 1]),
    ]


def test_columns_with_few_values_are_kinds_and_others_are_not(tmp_path: Path):
    samples = [
        Sample(
            f"c{i}",
            ("r",),
            "q",
            str(i),
            meta={"topic": "ab"[i % 2], "uid": f"u{i}", "same": "x", "part": i % 2 or None},
        )
        for i in range(8)
    ]
    run = make_run(tmp_path / "a", samples, says(*[0.5] * 8))
    assert [(facet.name, facet.levels) for facet in collect([run]).facets] == [("part", ["1"]), ("topic", ["a", "b"])]


@pytest.mark.parametrize("fields", [("question", "references", "candidate", "label"), ("id", "label")])
def test_labels_of_a_file_replace_those_of_the_input(tmp_path: Path, fields: tuple[str, ...]):
    rows = [
        {
            "id": row.id,
            "question": row.question,
            "references": list(row.references),
            "candidate": row.candidate,
            "label": 0,
        }
        for row in THREE[:2]
    ]
    path = tmp_path / "human.jsonl"
    path.write_text("".join(json.dumps({name: row[name] for name in fields}) + "\n" for row in rows), encoding="utf-8")
    table = collect([make_run(tmp_path / "a", THREE, says(1, 0, 0))], read_labels(path))
    assert [row.gold for row in table.rows] == [0, 0, None]
    assert table.labels == str(path)


def test_what_is_no_result_is_told_in_a_sentence(tmp_path: Path):
    (tmp_path / "none").mkdir()
    file = tmp_path / "file"
    file.write_text("")
    for path, told in ((tmp_path / "none", "holds no result"), (file, "is a file"), (tmp_path / "x", "is not there")):
        with pytest.raises(InputError, match=told):
            find_runs([path])
    with pytest.raises(InputError, match="no results were given"):
        collect([])
    with pytest.raises(InputError, match="no row was judged"):
        collect([make_run(tmp_path / "empty", [], [])])


def test_an_unfinished_run_is_told(tmp_path: Path):
    (tmp_path / "verdicts.jsonl.partial").write_text("")
    with pytest.raises(InputError, match="an unfinished run"):
        find_runs([tmp_path])


def test_results_deeper_down_are_found_once(tmp_path: Path):
    for name in ("b", "a"):
        make_run(tmp_path / name, THREE, says(1, 0, 0), STARTER if name == "a" else LARGE)
    (tmp_path / "candidates").mkdir()
    (tmp_path / "candidates" / "run.json").write_text("{}")  # of generate: no verdicts beside it
    found = find_runs([tmp_path, tmp_path / "a"])
    assert [run.folder.name for run in found] == ["a", "b"]
