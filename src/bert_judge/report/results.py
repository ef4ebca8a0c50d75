"""What `score` and `judge` made, as parts of a document: one result, results side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bert_judge.artifacts import BAD_ROWS, ResultFolder
from bert_judge.document import Content, Facts, Table
from bert_judge.pipeline import Summary, summarise
from bert_judge.wording import bracketed, number, percent

_WILSON = "in brackets: 95 % Wilson intervals"


def result_facts(summary: Summary, bad_rows: int) -> list[Facts]:
    """The figures of one result, and its agreement with the labels of the input, if there are any."""
    facts = [
        ("rows", f"{summary.rows}" + (f", {bad_rows} set aside in {BAD_ROWS}" if bad_rows else "")),
        ("judged", f"{summary.judged}"),
        ("undecided", f"{summary.undecided}" + (f", {summary.failed} as the judge failed" if summary.failed else "")),
        ("truncated", f"{summary.truncated}" + (", inputs longer than the judge reads" if summary.truncated else "")),
        ("mean score", number(summary.mean_score)),
        ("accuracy", _with_wilson(summary.accuracy, summary.accuracy_interval)),
    ]
    if summary.undecided:
        facts.append(("", f"{percent(summary.accuracy_all)} with undecided rows as incorrect"))
    agreement = summary.agreement
    if agreement is None:
        return [Facts(facts)]
    labels = f"{agreement.labels} labels of the file"
    title = f"agreement with the {labels}"
    if agreement.rows < agreement.labels:
        title = f"agreement with {agreement.rows} of the {labels}; the other rows are undecided"
    found = [
        ("accuracy", _with_wilson(agreement.accuracy, agreement.accuracy_interval)),
        ("F1", number(agreement.f1)),
        ("Cohen's kappa", number(agreement.kappa)),
    ]
    return [Facts(facts), Facts(found, title)]


def suite_table(results: Mapping[str, ResultFolder], what: str = "judge") -> Table:
    """A line for each result, and how many rows all of them judge correct."""
    summaries = {name: summarise(folder.records()) for name, folder in results.items()}
    body = [
        [name, *_said(summary), percent(summary.agreement.accuracy if summary.agreement else None)]
        for name, summary in summaries.items()
    ]
    labelling = [results[name] for name, summary in summaries.items() if summary.accuracy is not None]
    return Table("", [what, *_SAID, "agreement with labels"], body, _together(labelling))


def task_table(results: Sequence[tuple[str, str, str, Summary]]) -> Table:
    """A line for each task, model, judge, and what the judge says of that model's candidates."""
    body = [[task, model, judge, *_said(summary)] for task, model, judge, summary in results]
    labels = any(summary.accuracy is not None for *_, summary in results)
    return Table("", ["task", "model", "judge", *_SAID], body, _WILSON if labels else "", left=(0, 1, 2))


_SAID = ("rows", "undecided", "score", "judged correct")


def _said(summary: Summary) -> list[Content]:
    """What a judge says on the whole."""
    correct = bracketed(summary.accuracy, summary.accuracy_interval)
    return [summary.rows, summary.undecided, number(summary.mean_score), correct]


def _together(results: Sequence[ResultFolder]) -> str:
    if len(results) < 2:
        return _WILSON if results else ""
    rows = correct = 0
    for records in zip(*(result.records() for result in results), strict=True):
        rows += 1
        correct += all(record["label"] == 1 for record in records)
    return f"{_WILSON}\ncorrect by all {len(results)} with labels: {correct} of {rows} rows ({percent(correct / rows)})"


def _with_wilson(value: float | None, ends: tuple[float, float] | None) -> str:
    return bracketed(value, ends) + (", 95 % Wilson interval" if value is not None and ends else "")
