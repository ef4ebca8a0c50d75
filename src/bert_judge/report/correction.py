"""What `correct` found, as a document: the accuracy of a run without the judge's error."""

from __future__ import annotations

from bert_judge.records import Signature
from bert_judge.report.document import Document, Facts, Table
from bert_judge.studies.correct import Corrected
from bert_judge.wording import interval

_BEST = "<- take this one"


def correction_document(found: Corrected, signature: Signature, confidence: float, of_a_file: bool) -> Document:
    """Every estimate with its interval, and the labels behind it; `of_a_file`: a file of labels was given."""
    estimates = [
        ("labels only", found.labels_only, _BEST if found.complete else ""),
        ("judge as it is", found.judge, "its errors are not removed"),
        ("PPI++", found.corrected, "" if found.complete else _BEST),
    ]
    body = [[name, interval(estimate), f"{100 * estimate.width:.1f}", remark] for name, estimate, remark in estimates]
    level = f"{confidence:.0%}".replace("%", " %")
    counts = found.confusion
    labels = [("labels", f"{counts.n:,} of {found.rows:,} rows, {found.drawn}")]
    if of_a_file:
        labels.append(("from", f"the file: {found.of_file:,}, the run itself: {found.of_run:,}"))
    labels.append(("errors", f"{counts.false_positive} false positives, {counts.false_negative} false negatives"))
    below = f"in brackets: {level} intervals, by question where questions have several answers; width: in points"
    table = Table("", ["", "accuracy", "width", ""], body, below, left=(0, 3))
    return Document("Corrected accuracy", [table, Facts(labels)], found.notes, [("", signature)])
