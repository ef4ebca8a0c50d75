"""A result in one sentence with what a reviewer asks for: rows, values, intervals, tests, and how good the judge is."""

from __future__ import annotations

from collections.abc import Callable

from bert_judge.measures import Estimate
from bert_judge.records import Signature
from bert_judge.results.summary import Summary
from bert_judge.studies.compare import ACCURACY, MEAN_SCORE, TRUE_ACCURACY, ModelComparison, ModelPair
from bert_judge.studies.evaluate import Evaluation, JudgeEvaluation
from bert_judge.wording import counted, number, p_value, percent, points

_VERBS = {ACCURACY: "is judged correct in", TRUE_ACCURACY: "is correct by human labels in", MEAN_SCORE: "scores"}


def result_sentence(summary: Summary, judge: Signature) -> str:
    """One model by one judge."""
    value = f"Of {summary.rows:,} answers {_estimate(summary.accuracy, unit=' are judged correct')}"
    if summary.accuracy.value is None:
        value = f"{summary.rows:,} answers have the mean score {number(summary.mean_score)}"
    agreement = summary.agreement.accuracy if summary.agreement else Estimate(None)
    return f"{value}{_left_out(summary.undecided)}{_judge(judge.short, agreement)}."


def pair_sentence(models: ModelComparison, pair: ModelPair) -> str:
    """Two models by one judge, or by human labels."""
    difference, (first, second) = pair.difference, (pair.first, pair.second)
    by_people = models.measure == TRUE_ACCURACY
    rows = "" if difference.rows == difference.questions else f" ({difference.rows:,} answers of each)"
    shown, of_difference, unit = (percent, points, " points") if models.measure != MEAN_SCORE else (number, number, "")
    values = f"{first} {_VERBS[models.measure]} {shown(difference.first_mean)} and {second} "
    values += ("in " if unit else "") + shown(difference.second_mean)
    change = f"{second} minus {first}: {_estimate(difference.estimate, of_difference, unit)}"
    test = f"{paired_test(models)}, p = {p_value(difference.p_value)}".replace("= <", "<")
    if len(models.pairs) > 1:
        test += f" ({p_value(pair.p_holm)} with Holm's correction for {len(models.pairs)} pairs)"
    test += _left_out(pair.matched - difference.rows, "without both labels" if by_people else "undecided")
    for of in models.corrected.differences if models.corrected else ():
        if (of.first, of.second) == (first, second):
            by_labels = f"without the judge's errors, by {counted(of.labels, 'human label')}"
            test += f"; {by_labels}: {_estimate(of.corrected, points, ' points')}"
    judge = models.signature.short if models.signature else models.judge
    by = "" if by_people else _judge(judge, models.agreement)
    return f"On {counted(difference.questions, 'question')}{rows} {values}; {change}, {test}{by}."


def judge_sentence(evaluation: Evaluation, judge: JudgeEvaluation) -> str:
    """A judge against human labels."""
    agreement, answers = judge.agreement, counted(evaluation.rows, "answer")
    return (
        f"On {answers} to {counted(evaluation.questions, 'question')} ({percent(evaluation.right)} correct by "
        f"human labels), {judge.name} ({judge.signature.short}) agrees with "
        f"{_estimate(agreement.accuracy, unit=' of the labels')}, Cohen's kappa {_estimate(agreement.kappa, number)}"
        f"{_left_out(agreement.undecided)}."
    )


def exact_test(single: bool) -> str:
    """The name of the test of two series of labels (`Differences.p_value`); `single`: no question is repeated."""
    return "McNemar's exact test" if single else "exact sign-flip test by question"


def paired_test(models: ModelComparison) -> str:
    """The name of the test of each pair."""
    single = all(pair.difference.questions == pair.difference.rows for pair in models.pairs)
    if models.measure == MEAN_SCORE:
        return "t-test of paired differences" + ("" if single else ", clustered by question")
    return exact_test(single)


def _estimate(estimate: Estimate, shown: Callable[[float | None], str] = percent, unit: str = "") -> str:
    """`66.7% (95% CI 20.8 to 93.9, Wilson interval)`."""
    if estimate.interval is None:
        return f"{shown(estimate.value)}{unit}"
    low, high = (shown(end).removesuffix("%") for end in estimate.interval)
    method = f", {estimate.method.replace(' (', ', ').rstrip(')')}" if estimate.method else ""
    return f"{shown(estimate.value)}{unit} (95% CI {low} to {high}{method})"


def _left_out(rows: int, cause: str = "undecided") -> str:
    return f"; {rows:,} {cause} and left out" if rows else ""


def _judge(name: str, agreement: Estimate) -> str:
    labels = f", agreement with {counted(agreement.n, 'human label')} {_estimate(agreement)}" if agreement.n else ""
    return f"; judge: {name}{labels}"
