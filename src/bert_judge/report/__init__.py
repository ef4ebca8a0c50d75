"""Saved results as one page that needs nothing else, with the same figures as Markdown and JSON.

`write_report(find_runs(["out"]), "out/report.html")`

`sections` holds a module for each section of the page. The other modules make the documents of commands: score,
evaluation, comparison, correction, cascade, audit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bert_judge.results.runs import find_runs, left_out

if TYPE_CHECKING:
    from bert_judge.report.page import write_report

__all__ = ["find_runs", "left_out", "write_report"]


def __getattr__(name: str) -> object:
    """The page is imported when it is needed: a command that prints one table starts faster without."""
    if name == "write_report":
        from bert_judge.report.page import write_report

        return write_report
    raise AttributeError(f"module 'bert_judge.report' has no attribute {name!r}")
