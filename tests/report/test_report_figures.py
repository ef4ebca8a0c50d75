"""The numbers of a report, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_runs import LARGE, SIMILAR, answers, make_run, says

from bert_judge import Sample
from bert_judge.measures import rate_interval
from bert_judge.records import Signature, Verdict
from bert_judge.report.figures import find_figures
from bert_judge.studies.table import collect

FIVE = answers("a", "b", "c", "d", "e", golds="1100 ")
OWN = says(0.9, 0.4, 0.6, 0.1, None)


def test_what_a_judge_says_on_the_whole(tmp_path: Path):
    verdicts = [*OWN[:3], Verdict(0.1, 0, truncated={"candidate": 4}, outside="in German"), OWN[4]]
    found = find_figures(collect([make_run(tmp_path / "a", FIVE, verdicts, bad_rows=3)]))
    (judge,) = found.judges
    assert (judge.rows, judge.judged, judge.undecided, judge.truncated, judge.bad_rows) == (5, 4, 1, 1, 3)
    assert judge.outside == {"in German": 1}
    assert judge.mean_score == pytest.approx(0.5)
    assert (judge.right.value, judge.right.low, judge.right.high) == (0.5, *rate_interval([2], [4]))
    assert (judge.right_all.value, judge.right_all.rows) == (0.4, 5)
    assert (judge.seconds, judge.timed_rows, judge.commands) == (2.0, 5, [["bert-judge", "score", "my answers.jsonl"]])
    assert (found.gold.value, found.gold.rows, found.rows) == (0.5, 4, 5)


def test_agreement_with_people(tmp_path: Path):
    (judge,) = find_figures(collect([make_run(tmp_path / "a", FIVE, OWN)])).judges
    counts = judge.agreement.confusion
    assert (counts.true_positive, counts.false_negative, counts.false_positive, counts.true_negative) == (1, 1, 1, 1)
    assert (judge.agreement.share.value, judge.agreement.kappa) == (0.5, 0)
    assert judge.agreement.brier == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    assert [(each.rows, each.right) for each in judge.agreement.bins] == [(1, 0), (1, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("golds", ["11111", "00000"])
def test_labels_of_one_class_are_no_trouble(tmp_path: Path, golds: str):
    run = make_run(tmp_path / "a", answers(*"abcde", golds=golds), OWN)
    (judge,) = find_figures(collect([run])).judges
    assert judge.agreement.share.value == 0.5
    assert sum(each.rows for each in judge.agreement.bins) == 4


def test_the_histogram_counts_every_score_once_by_label(tmp_path: Path):
    (judge,) = find_figures(collect([make_run(tmp_path / "a", FIVE, says(0, 0.05, 0.5, 1, 0.999))])).judges
    assert [
        (i, bar.right, bar.wrong, bar.other)
        for i, bar in enumerate(judge.histogram)
        if bar.right + bar.wrong + bar.other
    ] == [
        (0, 1, 0, 0),
        (1, 1, 0, 0),
        (10, 0, 1, 0),
        (19, 0, 1, 1),
    ]


@pytest.mark.parametrize(
    ("scores", "ends"),
    [((-0.4, 0.2), (-0.4, 0.2)), ((12.0, 95.0), (10, 100)), ((7, 7), (7, 7.000001)), ((0.2, 0.2), (0, 1))],
)
def test_scores_of_any_scale_have_a_histogram(tmp_path: Path, scores: tuple[float, float], ends: tuple[float, float]):
    verdicts = [Verdict(float(score)) for score in scores]
    (judge,) = find_figures(collect([make_run(tmp_path / "a", answers("a", "b"), verdicts, SIMILAR)])).judges
    assert (judge.histogram[0].low, judge.histogram[-1].high) == pytest.approx(ends)
    assert sum(bar.other for bar in judge.histogram) == 2


def test_a_similarity_is_no_probability_and_no_label(tmp_path: Path):
    similar = make_run(tmp_path / "a", FIVE, [Verdict(0.7)] * 5, SIMILAR)
    labelled = make_run(tmp_path / "b", FIVE, OWN, Signature.make("BERTScore", model="starter", threshold=0.5))
    bare, threshold = find_figures(collect([similar, labelled])).judges
    assert (bare.right, bare.agreement, bare.mean_score) == (None, None, pytest.approx(0.7))
    assert (list(threshold.agreement.bins), threshold.agreement.ece) == ([], None)


def test_judges_among_each_other(tmp_path: Path):
    runs = [
        make_run(tmp_path / "a", FIVE, OWN),
        make_run(tmp_path / "b", FIVE, says(0.9, 0.9, 0.9, 0.1, 0.9), LARGE),
        make_run(tmp_path / "c", FIVE, [Verdict(0.7)] * 5, SIMILAR),
    ]
    found = find_figures(collect(runs))
    (pair,) = found.pairs  # the third gives no labels
    assert (pair.first, pair.second, pair.share.rows, pair.share.value) == ("a", "b", 4, 0.75)
    assert found.disagreements == 1


def test_kinds_and_the_cross_of_task_and_model(tmp_path: Path):
    samples = [
        Sample(f"c{i}", ("r",), f"q{i}", str(i), i % 2, {"task": "ab"[i // 4], "model": "xy"[i // 2 % 2]})
        for i in range(8)
    ]
    found = find_figures(collect([make_run(tmp_path / "a", samples, says(1, 1, 1, 0, 0, 0, None, 1))]))
    task, model = found.kinds
    assert [(level.name, level.rows, level.judges[0].value, level.gold.value) for level in task.levels] == [
        ("a", 4, 0.75, 0.5),
        ("b", 4, pytest.approx(1 / 3), 0.5),
    ]
    assert (model.name, [level.judges[0].value for level in model.levels]) == ("model", [0.5, pytest.approx(2 / 3)])
    (cross,) = found.crosses
    assert [[cell.value for cell in line] for line in cross.cells] == [[1, 0.5], [0, 1]]


def test_the_smallest_of_many_levels_are_left_out(tmp_path: Path):
    samples = [Sample(f"c{i}", ("r",), "q", str(i), meta={"task": f"t{i % 30:02}"}) for i in range(61)]
    (kind,) = find_figures(collect([make_run(tmp_path / "a", samples, says(*[1.0] * 61))])).kinds
    assert (len(kind.levels), kind.left_out, kind.levels[0].name) == (25, 5, "t00")


def test_tokens_and_costs_are_added_up(tmp_path: Path):
    verdicts = [Verdict(1.0, 1, details={"prompt_tokens": 100, "completion_tokens": 7})] * 5
    run = make_run(tmp_path / "a", FIVE, verdicts, Signature("LLMJudge"), costs={"money": 0.25})
    (judge,) = find_figures(collect([run])).judges
    assert (judge.tokens_in, judge.tokens_out, judge.money) == (500, 35, 0.25)
