"""Which rows of runs belong together, and what is found of models and judges on them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from bert_judge.errors import InputError
from bert_judge.measures import BootstrapSettings, Estimate, wilson_interval
from bert_judge.records import Row, Scale, Verdict
from bert_judge.results.runs import Run
from bert_judge.studies.agree import agree, disagreement_records
from bert_judge.studies.compare import ACCURACY, HUMAN_LABELS, MEAN_SCORE, compare_models, differing, rankings
from bert_judge.studies.pairing import run_names
from bert_judge.studies.table import DIFFERENT, PlacedRun, VerdictTable, comparison_table, tabulate
from conftest import Refused

QUICK = BootstrapSettings(resamples=200)


def row(question: int, answer: str, label: int | None, gold: int | None = None, **more) -> Row:
    score = more.pop("score", None if label is None else 0.2 + 0.6 * label)
    return Row(f"r{question}-{answer}", Verdict(score, label), gold, f"Question {question}?", ("yes",), answer, **more)


def rows(answer: str, labels: Sequence[int | None], golds: Sequence[int | None] | None = None) -> list[Row]:
    pairs = zip(labels, golds or [None] * len(labels), strict=True)
    return [row(i, answer, label, gold) for i, (label, gold) in enumerate(pairs)]


def entry(model: str, labels: Sequence[int | None]) -> PlacedRun:
    return made("judge", "judge", model, rows(model, labels))


def made(judge: str, kind: str, model: str, answers: list[Row]) -> PlacedRun:
    scale: Scale = "score" if kind in ("BERTScore", "RegexJudge") else "probability"
    record = {"identity": {"signature": {"name": kind, "settings": {}}, "input_sha256": model}, "scale": scale}
    return PlacedRun(judge, model, Run(Path(f"{judge}-{model}"), answers, record))


def run(folder: str, answers: list[Row], judge: str = "J", sha256: str | None = None, **settings: str) -> Run:
    signature = {"name": judge, "settings": settings}
    return Run(Path(folder), answers, {"identity": {"signature": signature, "input_sha256": sha256 or folder}})


def pairs_of(first: list[Row], second: list[Row]) -> list[tuple[Row, Row]]:
    """The answers that a comparison of two models matches, as far as they differ."""
    (comparison,) = compare_models(tabulate([made("j", "j", "a", first), made("j", "j", "b", second)]), QUICK)
    return [(flip.first, flip.second) for flip in comparison.pairs[0].flips]


def test_rows_match_by_question_and_references_whatever_their_order():
    first, second = rows("a", [1, 0, 1, 1]), rows("b", [0, 1, 0, 0])[::-1]
    pairs = pairs_of(first, [*second, row(9, "b", 1)])
    assert [(a.question, b.question) for a, b in pairs] == [(r.question, r.question) for r in first]
    with pytest.raises(InputError, match="none match"):
        pairs_of(first, [replace(r, references=("no",)) for r in second])


def test_repeated_answers_match_in_their_order_and_rows_without_a_question_by_their_id():
    first = [row(1, "a", 1), row(1, "a again", 0), row(1, "a once more", 0)]
    second = [row(1, "b", 0), row(1, "b again", 1)]
    assert [(a.label, b.label) for a, b in pairs_of(first, second)] == [(1, 0), (0, 1)]
    first = [Row(str(i), Verdict(1.0, 1), references=("4",), candidate="4") for i in range(3)]
    second = [Row(str(i), Verdict(0.0, 0), references=("4",), candidate="5") for i in (2, 1)]
    assert [(a.id, b.id) for a, b in pairs_of(first, second)] == [("1", "1"), ("2", "2")]


def told(table: VerdictTable) -> list[tuple[str, str]]:
    """Each judge with each model whose answers it judged."""
    return [
        (judge.name, model)
        for judge in table.judges
        for model in dict.fromkeys(m for m, there in zip(table.models, judge.judged, strict=True) if there)
    ]


def test_runs_are_named_by_where_their_paths_differ(subtests: pytest.Subtests):
    for paths, names in [
        (["out1", "out2"], ["out1", "out2"]),
        (["s/arc/qwen/BERTJudge/starter", "s/arc/llama/BERTJudge/starter"], ["qwen", "llama"]),
        (["s/qwen/B/x", "s/qwen/R/y", "s/llama/B/x"], ["qwen/B/x", "qwen/R/y", "llama/B/x"]),
        (["out"], ["out"]),
    ]:
        with subtests.test(paths=paths, names=names):
            assert run_names([run(path, []) for path in paths]) == names


def test_what_differs_is_told_by_the_runs():
    a, b = rows("a", [1, 0, 1]), rows("b", [0, 1, 1])
    models = comparison_table([run("a", a), run("b", b)])
    assert told(models) == [("J", "a"), ("J", "b")]
    assert not models.notes
    judges = comparison_table([run("x", a, "J"), run("y", a, "K")])
    assert told(judges) == [("x", ""), ("y", "")]
    both = comparison_table([run("a_j", a, "J"), run("b_j", b, "J"), run("a_k", a, "K"), run("b_k", b, "K")])
    assert told(both) == [("J", "a"), ("J", "b"), ("K", "a"), ("K", "b")]


def test_one_judge_on_the_same_answers_in_another_file_and_order_is_a_repeat():
    answers = rows("a", [1, 0, 1, 0])
    more = [row(i, "b", 1) for i in range(4)]
    first, other = run("x", [*answers, *more]), run("y", [*more[::-1], *answers[::-1]])
    entries = comparison_table([first, other])
    assert told(entries) == [("x", ""), ("y", "")]
    assert not entries.notes
    panel = agree(entries, QUICK)
    assert (panel.rows, panel.disagreements) == (8, 0)
    assert panel.notes[0].startswith("x, y are of the same judge on the same answers: they only show how")


def test_a_part_of_one_judges_answers_is_no_other_model():
    answers = [row(i, answer, 1) for i in range(4) for answer in ("a", "b")]
    entries = comparison_table([run("half", answers[1::2]), run("whole", answers)])
    assert told(entries) == [("half", ""), ("whole", "")]
    changed = [*answers[:-1], row(3, "c", 1)]
    assert told(comparison_table([run("x", answers), run("y", changed)])) == [("J", "x"), ("J", "y")]


def test_what_differs_can_be_said():
    same = [run("a", rows("yes", [1, 1, 1])), run("b", rows("yes", [1, 1, 1]))]
    assert told(comparison_table(same, "models")) == [("J", "a"), ("J", "b")]
    twice = [run("a", rows("yes", [1, 1]), sha256="x"), run("b", rows("yes", [1, 0]), sha256="x")]
    assert told(comparison_table(twice)) == [("a", ""), ("b", "")]
    runs = [run("x", rows("a", [1, 0]), "J"), run("y", rows("a", [1, 1]), "K")]
    assert set(comparison_table(runs, "models").models) == {"x", "y"}
    assert set(comparison_table([run("x", rows("a", [1])), run("y", rows("b", [1]))], "judges").models) == {""}


def test_models_of_different_judges_are_compared_with_a_warning():
    runs = [run("a", rows("a", [1, 0]), dtype="float32"), run("b", rows("b", [1, 1]), dtype="bfloat16")]
    entries = comparison_table(runs)
    assert {judge.name for judge in entries.judges} == {DIFFERENT}
    assert "a by dtype float32, not bfloat16" in entries.notes[0]
    (comparison,) = compare_models(entries, QUICK)
    assert comparison.signature is None
    assert len(comparison.pairs) == 1
    runs = [run("a", rows("a", [1]), "J"), run("b", rows("b", [1]), "J"), run("c", rows("c", [1]), "K")]
    assert comparison_table(runs).notes == ["c has a judge of its own, so its model is compared with no other."]


def test_a_column_names_the_models():
    answers = [row(i, m, 1, meta={"model": m}) for i in range(4) for m in ("a", "b")] + [row(9, "c", 1)]
    entries = comparison_table([run("out", answers)], by="model")
    assert (told(entries), len(entries.rows)) == ([("out", "a"), ("out", "b")], 8)
    assert entries.notes == ["1 row of out has no model, and is left out."]
    a, b = ([row(i, "same", 1, meta={"model": m}) for i in range(4)] for m in ("a", "b"))
    entries = comparison_table([run("x", a), run("y", [*b, *a[2:]])], by="model")
    assert Counter(entries.models) == {"a": 4, "b": 4}
    assert entries.notes == ["2 of the 6 answers of y are those of x, by the same judge: they are counted once."]


def test_runs_that_can_not_be_compared(refused: Refused):
    one, other = run("a", rows("a", [1])), run("b", rows("b", [1]))
    for runs, column, message in [
        ([one], None, "a single run was given; .*by='COLUMN'"),
        ([one, replace(one, folder=Path("./a"))], None, "given twice"),
        ([one], "model", "no row has a column 'model'"),
        ([run("a", [row(1, "a", 1, meta={"model": "m"})])], "model", "holds a single model, m"),
        ([run("a", [Row(m, Verdict(1.0, 1), meta={"model": m}) for m in "ab"])], "model", "a has no texts"),
        ([one, other, replace(other, folder=Path("c"))], None, "two are of the same judge on the same answers"),
    ]:
        with refused(match=message):
            comparison_table(runs, by=column)


A, B, C = [1] * 60 + [0] * 40, [1] * 40 + [0] * 20 + [1] * 10 + [0] * 30, [1] * 59 + [0] * 41


def test_two_models():
    (comparison,) = compare_models(tabulate([entry("a", A), entry("b", B)]), QUICK)
    (pair,) = comparison.pairs
    assert [(m.name, m.value.value) for m in comparison.models] == [("a", 0.6), ("b", 0.5)]
    difference = pair.difference
    assert (difference.rows, difference.questions) == (100, 100)
    assert (difference.first_mean, difference.second_mean) == (0.6, 0.5)
    assert (difference.only_first, difference.only_second) == (20, 10)
    assert difference.value == pytest.approx(-0.1)
    assert difference.estimate.low < -0.1 < difference.estimate.high
    assert [difference.p_value, pair.p_holm] == pytest.approx([binomtest(20, 30).pvalue] * 2)


def test_flips_go_both_ways_with_the_surest_first():
    first = [row(0, "a", 1, score=0.6), row(1, "a", 1, score=0.9), row(2, "a", 0, score=0.1), row(3, "a", 1)]
    second = [row(0, "b", 0, score=0.4), row(1, "b", 0, score=0.1), row(2, "b", 1, score=0.7), row(3, "b", 1)]
    (comparison,) = compare_models(tabulate([made("j", "j", "a", first), made("j", "j", "b", second)]), QUICK)
    flips = [(flip.first.question, flip.better) for flip in comparison.pairs[0].flips]
    assert flips == [("Question 1?", 0), ("Question 2?", 1), ("Question 0?", 0)]


def test_several_models_are_corrected():
    (comparison,) = compare_models(tabulate([entry("a", A), entry("b", [0] * 80 + [1] * 20), entry("c", C)]), QUICK)
    pairs = {(p.first, p.second): p for p in comparison.pairs}
    assert [m.name for m in comparison.models] == ["a", "c", "b"]
    assert pairs["a", "b"].p_holm == pytest.approx(3 * pairs["a", "b"].difference.p_value)
    assert pairs["a", "c"].p_holm == 1.0


def test_undecided_rows_are_no_wrong_ones():
    (comparison,) = compare_models(tabulate([entry("a", [1, 1, 0, None]), entry("b", [1, None, 0, 1])]), QUICK)
    (pair,) = comparison.pairs
    difference = pair.difference
    assert (pair.matched, difference.rows, difference.only_first + difference.only_second) == (4, 2, 0)
    assert pair.difference.value == 0
    assert pair.difference_all == 0
    a = next(model for model in comparison.models if model.name == "a")
    assert (a.undecided, a.value.value, a.value_all) == (1, pytest.approx(2 / 3), 0.5)


def test_repeated_questions_are_one_draw():
    once = compare_models(tabulate([entry("a", A), entry("b", B)]), QUICK)[0]
    models = [made("j", "j", name, rows(name, labels) * 4) for name, labels in (("a", A), ("b", B))]
    often = compare_models(tabulate(models), QUICK)[0]
    difference = often.pairs[0].difference
    assert (difference.rows, difference.questions) == (400, 100)
    assert difference.p_value == pytest.approx(once.pairs[0].difference.p_value)
    assert any("questions are repeated" in note for note in often.notes)
    assert not any("questions are repeated" in note for note in once.notes)
    models = [made("j", "j", name, rows(name, [1] * 20) * 3) for name in ("a", "b")]
    (comparison,) = compare_models(tabulate(models), QUICK)
    assert (comparison.models[0].value.low, comparison.models[0].value.high) == wilson_interval(20, 20)


def test_scores_without_labels_are_compared_by_their_mean():
    def similar(name: str, shift: float) -> PlacedRun:
        answers = [row(i, name, None, score=0.5 + 0.01 * (i * 7 % 13) + shift * (1 + i % 3)) for i in range(50)]
        return made("j", "BERTScore", name, answers)

    (comparison,) = compare_models(tabulate([similar("a", 0.0), similar("b", 0.01)]), QUICK)
    assert comparison.measure == MEAN_SCORE
    (pair,) = comparison.pairs
    assert pair.difference.value == pytest.approx(0.0198)
    assert (pair.difference.p_value < 0.001, pair.difference.only_second) == (True, 50)


def test_people_are_one_more_judge_and_rankings_are_compared():
    def models(judge: str, labels: dict[str, list[int]], golds: dict[str, list[int]]) -> list[PlacedRun]:
        return [made(judge, judge, name, rows(name, labels[name], golds[name])) for name in labels]

    golds = {"a": [1, 1, 1, 1], "b": [1, 1, 1, 0], "c": [1, 0, 0, 0]}
    other = {"a": [1, 1, 1, 0], "b": [1, 1, 1, 1], "c": [1, 0, 0, 0]}
    comparisons = compare_models(tabulate([*models("same", golds, golds), *models("other", other, golds)]), QUICK)
    assert [comparison.judge for comparison in comparisons] == ["same", "other", HUMAN_LABELS]
    assert [comparison.measure for comparison in comparisons][:2] == [ACCURACY, ACCURACY]
    ranked = {(ranking.first, ranking.second): ranking for ranking in rankings(comparisons)}
    assert ranked["same", HUMAN_LABELS].tau.tau == pytest.approx(1)
    assert ranked["same", "other"].tau.tau == pytest.approx(1 / 3)
    assert ranked["same", "other"].turned == [("a", "b")]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([row(i + 50, "b", 1) for i in range(3)], "of the 3 rows of a and the 3 of b, none match; runs on the same"),
        ([Row(str(i), Verdict(1.0, 1)) for i in range(3)], r"none match \(one of them was saved without texts"),
        ([row(i, "b", None) for i in range(3)], "j gave the answers of b no labels and no scores"),
        ([row(i, "b", None, score=0.5) for i in range(3)], "scores of j and k can't be compared"),
    ],
)
def test_models_that_can_not_be_compared(second: list[Row], message: str):
    other = "k" if "k" in message else "j"
    with pytest.raises(InputError, match=message):
        compare_models(tabulate([made("j", "j", "a", rows("a", [1, 0, 1])), made("j", other, "b", second)]), QUICK)


def test_few_matching_rows_and_few_questions_are_told():
    (comparison,) = compare_models(
        tabulate([entry("a", [1] * 40), made("judge", "", "b", rows("b", [1] * 60)[28:])]), QUICK
    )
    assert any("only 12 of the 40 rows of a and the 32 of b match." in note for note in comparison.notes)
    for count, message in [(1, "is only 1 question:"), (5, "are only 5 questions:")]:
        (comparison,) = compare_models(tabulate([entry("a", [1] * count), entry("b", [0] * count)]), QUICK)
        assert any(message in note for note in comparison.notes)


@pytest.mark.parametrize(
    ("shared", "message"),
    [(1, "only 1 question matches"), (9, "only 9 questions match, too few to compare; 10 or more")],
)
def test_next_to_nothing_in_common_is_refused(shared: int, message: str):
    first, second = rows("a", [1] * 40), rows("b", [1] * 80)[40 - shared :]
    with pytest.raises(InputError, match=message):
        compare_models(tabulate([made("j", "j", "a", first), made("j", "j", "b", second)]), QUICK)
    other = rows("a", [1] * 80)[40 - shared :]
    judges = [made("x", "x", "", first), made("y", "y", "", other)]
    with pytest.raises(InputError, match=message):
        agree(tabulate(judges), QUICK)


def test_the_differing_answers_are_written_by_question():
    (record,) = differing(tabulate([entry("a", [1, 0]), entry("b", [1, 1]), entry("c", [1, None])]))
    record = json.loads(json.dumps(record))
    assert record["question"] == "Question 1?"
    assert {model: told["label"] for model, told in record["answers"].items()} == {"a": 0, "b": 1, "c": None}


def judged(name: str, labels: Sequence[int | None], golds: Sequence[int | None] | None = None) -> PlacedRun:
    return made(name, name, "", rows("a", labels, golds))


def test_two_judges():
    first, second, golds = [1] * 50 + [0] * 30 + [1] * 20, [1] * 50 + [0] * 40 + [1] * 10, [1] * 55 + [0] * 45
    entries = [judged("x", first, golds), judged("y", second, golds)]
    panel = agree(tabulate(entries), QUICK)
    (pair,) = panel.pairs
    assert (pair.both_right, pair.only_first, pair.only_second, pair.both_wrong) == (60, 10, 0, 30)
    assert pair.agreement.value == pytest.approx(0.9)
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(first, second))
    assert pair.kappa.low < pair.kappa.value < pair.kappa.high
    assert (panel.rows, panel.disagreements) == (100, 10)
    assert [judge.accuracy.value for judge in panel.judges] == pytest.approx([0.75, 0.85])


def test_three_judges_and_their_majority():
    entries = [judged("x", [1, 1, 0, 0], [1, 1, 1, 0]), judged("y", [1, 0, 0, 0]), judged("z", [1, 1, 1, None])]
    table = tabulate(entries)
    panel = agree(table, QUICK)
    assert [judge.alone for judge in panel.judges] == [0, 1, 1]
    assert [judge.undecided for judge in panel.judges] == [0, 0, 1]
    records = list(disagreement_records(table))
    labels = [[record["judges"][name]["label"] for name in "xyz"] for record in records]
    assert labels == [[1, 0, 1], [0, 0, 1]]
    assert [record["gold"] for record in records] == [1, 1]


def test_answers_of_which_one_judge_lacks_some():
    entries = [judged("x", [1, 0, 1, 0]), made("y", "y", "", rows("a", [1, 1, 1, 1, 1])[2:])]
    panel = agree(tabulate(entries), QUICK)
    assert (panel.rows, panel.pairs[0].rows, panel.pairs[0].only_second) == (2, 2, 1)
    entries = [judged("x", [1]), made("y", "y", "", rows("b", [1]))]
    with pytest.raises(InputError, match="of the 1 rows of x and the 1 of y, none match"):
        agree(tabulate(entries), QUICK)


def test_rows_without_texts_are_matched_within_their_model():
    models = {"a": [Row(i, Verdict(1.0, 1)) for i in "01"], "b": [Row(i, Verdict(0.0, 0)) for i in "01"]}
    entries = [
        made(judge, judge, model, models[model]) for judge, order in (("x", "ab"), ("y", "ba")) for model in order
    ]
    assert agree(tabulate(entries), QUICK).disagreements == 0


def test_scores_without_labels_are_compared_by_their_order():
    scored = made("s", "BERTScore", "", [row(i, "a", None, score=2.0 + i) for i in range(9)])
    panel = agree(tabulate([scored, judged("x", [0] * 5 + [1] * 4)]), QUICK)
    (pair,) = panel.pairs
    assert (pair.labelled, pair.agreement, pair.kappa) == (0, Estimate(None), Estimate(None))
    assert pair.scores.tau > 0.7
    assert panel.notes == ["s gives no labels: only the order of its scores is compared."]
