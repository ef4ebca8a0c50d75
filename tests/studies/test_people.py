"""Judges against people, from rows to findings: measures and intervals, slices, disagreements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from bert_judge.errors import InputError
from bert_judge.measures import Confusion, Difference, Estimate
from bert_judge.records import Row, Scale, Verdict
from bert_judge.results.runs import Run
from bert_judge.studies.evaluate import (
    MOST_LEVELS,
    Evaluation,
    EvaluationSettings,
    evaluate,
    is_small,
    labelled_part,
    slices,
)
from bert_judge.studies.pairing import read_labels, relabelled
from bert_judge.studies.table import PlacedRun, VerdictTable, collect, tabulate
from conftest import Refused
from json_lines import write_rows

SETTINGS = EvaluationSettings(resamples=200)


def judged_as(row: Row, **verdict: Any) -> Row:
    return replace(row, verdict=replace(row.verdict, **verdict))


def labelled(count: int = 240, seed: int = 0) -> list[Row]:
    """Rows of people: several candidates a question, two models, now and then another script."""
    chance = np.random.default_rng(seed)
    return [
        Row(
            str(i),
            gold=int(chance.random() < 0.6),
            question="сколько их" if i % 12 == 0 else f"how many {i // 3}?",
            references=("two",),
            candidate=f"{i} " + "." * int(chance.integers(0, 120)),
            meta={"model": f"m{i % 2}", "topic": "a" if i % 4 else "b"},
        )
        for i in range(count)
    ]


def judged(rows: Sequence[Row], name: str = "judge", noise: float = 0.3, scale: Scale = "probability") -> Run:
    """A judge of probabilities that is wrong at times."""
    chance = np.random.default_rng(int(noise * 100))
    scores = [float(np.clip(0.25 + 0.5 * row.gold + chance.normal(0, noise), 0, 1)) for row in rows]
    answers = [judged_as(row, score=s, label=int(s >= 0.5)) for row, s in zip(rows, scores, strict=True)]
    return saying(answers, name, scale)


def saying(rows: Sequence[Row], name: str = "judge", scale: Scale = "probability", sha256: str = "x") -> Run:
    """A run with these verdicts."""
    identity = {"signature": {"name": name, "settings": {}}, "input_sha256": sha256}
    return Run(Path(sha256) / name, rows, {"identity": identity, "scale": scale})


def side_by_side(*runs: Run) -> VerdictTable:
    return tabulate([PlacedRun(run.name, "", run) for run in runs])


def found_of(*runs: Run, settings: EvaluationSettings = SETTINGS) -> Evaluation:
    return evaluate(labelled_part(side_by_side(*runs)), settings)


def accuracy(evaluation: Evaluation) -> float:
    return evaluation.judges[0].agreement.accuracy.value


def test_undecided_rows_are_counted_and_not_wrong():
    rows = labelled()
    judge = judged(rows)
    doubts = [judged_as(row, score=None, label=None) if i < 60 else row for i, row in enumerate(judge.rows)]
    evaluation = found_of(replace(judge, rows=doubts))
    decided = np.mean([row.label == gold.gold for row, gold in zip(doubts[60:], rows[60:], strict=True)])
    agreement = evaluation.judges[0].agreement
    assert agreement.undecided == 60
    assert agreement.accuracy.value == pytest.approx(decided)
    assert agreement.accuracy_all.value == pytest.approx(decided * 180 / 240)
    assert any("60 of 240 rows are undecided" in note for note in evaluation.notes)

    rows = labelled(60)
    nothing = saying([judged_as(row, score=None, label=None) for row in rows], "mute")
    evaluation = found_of(judged(rows), nothing)
    agreement = evaluation.judges[1].agreement
    assert (agreement.counts, agreement.undecided, agreement.accuracy_all.value) == (Confusion(), 60, 0.0)
    assert agreement.accuracy == agreement.kappa == Estimate(None)
    assert (agreement.f1.value, agreement.brier, agreement.auroc) == (None, None, None)
    assert evaluation.judges[1].curve is None and evaluation.comparisons[0].difference.only_second == 0


def test_a_similarity_has_no_calibration_and_gets_labels_from_other_rows():
    rows = labelled()
    judge = judged(rows, scale="score")
    unlabelled = replace(judge, rows=[judged_as(row, label=None) for row in judge.rows])
    evaluation = found_of(unlabelled)
    agreement = evaluation.judges[0].agreement
    assert (agreement.brier, agreement.ece, evaluation.judges[0].bins) == (None, None, ())
    assert "chosen on other rows" in evaluation.judges[0].labels
    best = evaluation.judges[0].thresholds[0]
    assert accuracy(evaluation) == best.held_out.accuracy < best.threshold.confusion.accuracy + 1e-9


def test_a_threshold_replaces_labels_and_has_to_be_on_the_scale():
    rows = labelled()
    judge = judged(rows)
    evaluation = found_of(judge, settings=replace(SETTINGS, threshold=0.8))
    expected = np.mean([int(answer.score >= 0.8) == row.gold for answer, row in zip(judge.rows, rows, strict=True)])
    assert accuracy(evaluation) == pytest.approx(expected)
    grades = replace(judge, rows=[judged_as(row, score=row.score * 4 + 1) for row in judge.rows])
    with pytest.raises(InputError, match=r"threshold 0\.5 is outside the scores of judge, which are on another scale"):
        found_of(grades, settings=replace(SETTINGS, threshold=0.5))


def test_judges_are_compared_row_by_row():
    rows = labelled()
    good, bad = judged(rows, "good", 0.2), judged(rows, "bad", 0.6)
    comparison, again = found_of(good, bad, replace(bad, folder=Path("again"))).comparisons
    difference = comparison.difference
    assert again == replace(comparison, name="again") and comparison.p_holm == pytest.approx(2 * difference.p_value)
    right = [[a.label == row.gold for a, row in zip(run.rows, rows, strict=True)] for run in (good, bad)]
    first, second = (sum(a and not b for a, b in zip(*pair, strict=True)) for pair in (right, right[::-1]))
    assert (difference.only_first, difference.only_second) == (first, second)
    assert difference == Difference.of(*right, [row.cluster for row in rows], SETTINGS)
    assert difference.p_value != pytest.approx(binomtest(first, first + second).pvalue)
    alone = [replace(row, question=f"{row.id}?") for row in rows]
    good, bad = (judged(alone, *told) for told in (("good", 0.2), ("bad", 0.6)))
    (single,) = found_of(good, bad).comparisons
    assert single.difference.p_value == pytest.approx(binomtest(first, first + second).pvalue)
    assert difference.value == pytest.approx((second - first) / 240)
    assert difference.estimate.low < difference.value < difference.estimate.high < 0


def test_slices_hold_every_row_once_and_small_ones_say_so():
    rows = labelled()
    evaluation = found_of(judged(rows), settings=replace(SETTINGS, by=("topic",)))
    kinds: dict[str, dict[str, int]] = {}
    for part in evaluation.slices:
        kinds.setdefault(part.kind, {})[part.level] = part.rows
    assert kinds.keys() == {"length", "candidate model", "topic"}
    assert all(sum(levels.values()) == 240 for levels in kinds.values())
    assert kinds["topic"] == {"a": 180, "b": 60}
    assert list(kinds["length"]) == ["1–20 characters", "21–80", "81–300"]
    assert all(part.small == (part.rows < 50) for part in evaluation.slices)
    assert not is_small([0, 1] * 25) and is_small([1] * 95 + [0] * 5)


def test_too_many_levels_become_one_and_an_unknown_column_is_told():
    rows = [Row(str(i), meta={"tag": i % 25}) for i in range(100)]
    levels = list(slices(rows, ["tag"]))
    assert len(levels) == MOST_LEVELS + 1 and levels[-1].level == "(others, 5)" and len(levels[-1].rows) == 20
    with pytest.raises(InputError, match="no row has a column 'tga'; the columns are tag"):
        list(slices(rows, ["tga"]))


def test_the_worst_disagreements_are_the_surest_one_a_question():
    rows = labelled()
    judge = judged(rows)
    figures = found_of(judge, settings=replace(SETTINGS, worst=5)).judges[0]
    sure = [abs(row.score - row.gold) for row in figures.worst]
    assert len(figures.worst) == 5 and sure == sorted(sure, reverse=True) and min(sure) > 0.5
    assert sure[0] == max(abs(answer.score - row.gold) for answer, row in zip(judge.rows, rows, strict=True))
    assert len({row.cluster for row in figures.worst}) == 5
    assert figures.worst[0].candidate and figures.worst[0].meta["topic"]
    assert figures.disagreements == sum(answer.label != row.gold for answer, row in zip(judge.rows, rows, strict=True))


def test_labels_of_several_people_become_the_one_of_most(tmp_path: Path):
    votes = {"1": [1, 1, 0], "2": [0, 1], "3": [0]}
    records = [{"id": i, "label": v, "who": "p"} for i, labels in votes.items() for v in labels]
    path = write_rows(tmp_path / "l.jsonl", records)
    rows = [Row(i, Verdict(0.5, 1), gold=1, candidate="x") for i in "1234"]
    merged = relabelled(rows, read_labels(path), columns=True)
    assert [(row.id, row.gold, row.meta) for row in merged] == [
        ("1", 1, {"who": "p"}),
        ("2", None, {"who": "p"}),
        ("3", 0, {"who": "p"}),
        ("4", None, {}),
    ]


def test_labels_are_matched_by_texts_before_ids(tmp_path: Path):
    texts = {"question": "q", "reference": "r"}
    records = [{"id": 1, **texts, "candidate": "b", "label": 1}, {"id": 2, **texts, "candidate": "a", "label": 0}]
    labels = read_labels(write_rows(tmp_path / "l.jsonl", records))
    rows = [Row(i, Verdict(0.5, 1), question="q", references=("r",), candidate=c) for i, c in (("1", "a"), ("2", "b"))]
    assert [row.gold for row in relabelled(rows, labels)] == [0, 1]
    without = [Row("1", Verdict(0.5, 1)), Row("2", Verdict(0.5, 1))]
    assert [row.gold for row in relabelled(without, labels)] == [1, 0]
    other = [Row("1", Verdict(0.5, 1), question="q", references=("r",), candidate="c")]
    with pytest.raises(InputError, match="belong to none of the 1 judged rows"):
        relabelled(other, labels)


def test_files_that_are_no_labels_are_told(tmp_path: Path, refused: Refused):
    for records, message in [
        ([{"id": 1, "other": 1}], "holds no labels yet; label some answers with bert-judge label, or map"),
        ([], "holds no labels yet; label some answers"),
        ([{"reference": "r", "candidate": "c"}, {"reference": "r"}], "l.jsonl line 2 has no candidate.*; fix it.$"),
        ([{"label": 1, "other": 1}], "neither texts nor ids"),
        ([{"id": 1, "label": "maybe"}], "line 1 has 'maybe' in the column 'label'"),
    ]:
        with refused(match=message, records=records):
            read_labels(write_rows(tmp_path / "l.jsonl", records))


def test_judges_are_compared_on_the_rows_that_all_have():
    rows = labelled(30)
    twice = [*rows, replace(rows[0], gold=1 - rows[0].gold)]
    one, other = judged(twice, "one"), judged(rows[10:], "other")
    table = labelled_part(side_by_side(replace(one, rows=one.rows[::-1]), other))
    assert sorted(row.id for row in table.rows) == sorted(row.id for row in rows[10:])
    assert all([verdict.id for verdict in judge.verdicts] == [row.id for row in table.rows] for judge in table.judges)
    assert table.notes == ["11 of 31 labelled rows were not judged by all and are left out."]
    bare = saying([Row(row.id, Verdict(row.score, row.label)) for row in one.rows[:30]], "bare")
    assert len(labelled_part(side_by_side(judged(rows, "one"), bare)).rows) == 30  # a result without texts
    with pytest.raises(InputError, match="no labelled row was judged by all of one, other"):
        labelled_part(side_by_side(replace(one, rows=one.rows[:5]), other))


def test_labels_and_settings_that_make_no_sense_are_told(refused: Refused):
    run = judged(labelled(10))
    with pytest.raises(InputError, match="none of the 10 rows has a label"):
        labelled_part(side_by_side(replace(run, rows=[replace(row, gold=None) for row in run.rows])))
    with pytest.raises(InputError, match=r"all 10 labels are 1; both correct \(1\) and incorrect \(0\)"):
        labelled_part(side_by_side(replace(run, rows=[replace(row, gold=1) for row in run.rows])))
    for name, value in [("min_precision", 0), ("min_recall", 1.2), ("worst", -1), ("resamples", 5)]:
        with refused(match=f"{name} is {value}", name=name, value=value):
            EvaluationSettings(**{name: value})


def test_results_of_one_judge_on_several_files_are_one_judge():
    rows = labelled(4)
    of_runs = [(rows[:2], "J1", "x"), (rows[2:], "J1", "y"), (rows[2:], "J2", "x"), (rows[2:], "J1", "x")]
    runs = [saying(some, judge, sha256=sha) for some, judge, sha in of_runs]
    judges = collect(runs, names=["a", "b", "c", "d"]).judges
    assert [(judge.name, int(judge.judged.sum())) for judge in judges] == [("a", 4), ("c", 2), ("d", 2)]


def test_answers_that_an_earlier_run_of_the_judge_holds_count_once():
    rows = [judged_as(row, score=1.0, label=1) for row in labelled(6)]
    half, whole = [rows[0], *rows[:3]], [*rows[::-1], rows[0], rows[0]]

    def rows_of(second: Sequence[Row], first: Sequence[Row] = half) -> list[Row | None]:
        table = collect([saying(first, "J1", sha256="x"), saying(second, "J1", sha256="y")], names=["half", "whole"])
        (judge,) = table.judges
        assert len(table.notes) == (len(judge.verdicts) < len(first) + len(second))
        return list(judge.verdicts)

    assert sorted(row.id for row in rows_of(whole)) == ["0", "0", "0", "1", "2", "3", "4", "5"]  # as often as in a run
    assert len(rows_of([replace(row, meta={**row.meta, "model": "another"}) for row in whole])) == 12
    same = [replace(row, meta={**row.meta, "file": "b.csv", "seconds": 2}) for row in whole]
    assert len(rows_of(same)) == 8  # what says nothing of the answer
    bare = ([Row(row.id, Verdict(1.0, 1)) for row in rows] for rows in (whole, half))
    assert len(rows_of(*bare)) == 12
