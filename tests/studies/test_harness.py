"""A tool's own scores beside a judge's labels, and several answers to a question."""

from __future__ import annotations

import pytest

from bert_judge.records import Row, Verdict
from bert_judge.studies.harness import beside_harness, differences_of, several_answers


def row(number: int, label: int | None, **meta: object) -> Row:
    meta = {"task": "t", "model": "m"} | {name.replace("__", ":"): value for name, value in meta.items()}
    verdict = Verdict(None if label is None else float(label), label)
    return Row(str(number), verdict, None, f"question {number}", ("r",), "c", meta=meta)


def test_scores_and_labels_are_counted_by_model_task_and_metric() -> None:
    rows = [
        row(1, 1, harness__em=0.0, harness__f1=0.5),
        row(2, 0, harness__em=1.0, harness__f1=1.0),
        row(3, 1, harness__em=1.0),
        row(4, None, harness__em=1.0),
        row(5, 1, harness__em=0.0, task="other"),
        row(6, 1, harness__bleu=31.0),
        row(7, 1, harness__em=1.0, repeat=1),
        row(8, 1),
    ]
    comparison = beside_harness(rows)
    lines = comparison.lines
    assert [line.metric[:3] for line in lines] == [("m", "t", "em"), ("m", "t", "f1"), ("m", "other", "em")]
    counts = [(e.difference.rows, e.only_judge, e.only_tool, e.partial, e.undecided) for e in lines]
    assert counts == [(3, 1, 1, 0, 1), (2, 0, 1, 1, 0), (1, 1, 0, 0, 0)]
    means = [(line.difference.first_mean, line.difference.second_mean) for line in lines]
    assert means == [(2 / 3, 2 / 3), (0.75, 0.5), (0.0, 1.0)]
    low, high = lines[0].difference.estimate.interval or (0, 0)
    assert -1 <= low < 0 < high <= 1
    assert (comparison.unscaled, comparison.repeats) == (["bleu"], 1)
    differences = [difference for row in rows for difference in differences_of(row)]
    expected = [("1", "em", 0.0, 1), ("2", "em", 1.0, 0), ("2", "f1", 1.0, 0), ("5", "em", 0.0, 1)]
    assert [(d.row.id, d.metric.name, d.tool_score, d.row.label) for d in differences] == expected

    twice = [row(1, 1, harness__em=0.0, file=file) for file in "ab"]
    comparison = beside_harness([*twice, row(2, 1, harness__em=1.0, file="c", task="alone")])
    metrics = [("m", "t", "em", "a"), ("m", "t", "em", "b"), ("m", "alone", "em", "")]
    assert [line.metric for line in comparison.lines] == metrics


def test_several_answers_to_a_question() -> None:
    labels = {1: [1, 1, 1, 1], 2: [1, 0, 0, 0], 3: [0, 0, None, 0], 4: [1, 1, 0, 1]}
    rows = [row(number, label, epoch=n) for number, epochs in labels.items() for n, label in enumerate(epochs)]
    (line,) = several_answers([*rows, row(9, 1), row(10, 1, epoch=1, task="once")])
    assert (line.task, line.questions, line.answers) == ("t", 4, 4)
    assert (line.accuracy.value, line.any_correct, line.majority, line.all_correct) == (0.5, 0.75, 0.5, 0.25)
    low, high = line.accuracy.interval or (0, 0)
    assert 0 <= low < 0.5 < high <= 1
    of_files = several_answers(row(1, 1, epoch=n, file=file) for file in "ab" for n in (1, 2))
    assert [line.file for line in of_files] == ["a", "b"]
    (fewer,) = several_answers([*rows, *(row(5, label, epoch=n) for n, label in enumerate([1, 0]))])
    # Of four answers with one right, two drawn have it half of the time.
    assert fewer.answers == 2
    assert fewer.any_correct == pytest.approx((1 + 1 / 2 + 0 + 1 + 1) / 5)
    assert fewer.all_correct == pytest.approx((1 + 0 + 0 + 1 / 2 + 0) / 5)
