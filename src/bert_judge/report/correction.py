"""A correction as a document: the accuracy of a run without the judge's error."""

from __future__ import annotations

from bert_judge.records import Signature
from bert_judge.report.document import Document, Facts, Table
from bert_judge.studies.correct import Correction
from bert_judge.wording import interval

_BEST = "<- take this one"


def correction_document(correction: Correction, signature: Signature, confidence: float, of_a_file: bool) -> Document:
    """Every estimate with its interval, and the labels behind it; `of_a_file`: a file of labels was given."""
    estimates = [
        ("labels only", correction.labels_only, _BEST if correction.complete else ""),
        ("judge as it is", correction.judge, "its errors are not removed"),
        ("PPI++", correction.corrected, "" if correction.complete else _BEST),
    ]
    body = [[name, interval(estimate), f"{100 * estimate.width:.1f}", remark] for name, estimate, remark in estimates]
    level = f"{confidence:.0%}".replace("%", " %")
    counts = correction.confusion
    labels = [("labels", f"{counts.n:,} of {correction.rows:,} rows, {correction.drawn}")]
    if of_a_file:
        labels.append(("from", f"the file: {correction.of_file:,}, the run itself: {correction.of_run:,}"))
    labels.append(("errors", f"{counts.false_positive} false positives, {counts.false_negative} false negatives"))
    below = f"in brackets: {level} intervals, by question where questions have several answers; width: in points"
    table = Table("", ["", "accuracy", "width", ""], body, below, left=(0, 3))
    return Document("Corrected accuracy", [table, Facts(labels)], correction.notes, [("", signature)])
