"""What people look at: saved results as one page that needs nothing else, with the same figures as Markdown and JSON.

`write_report(find_runs(["out"]), Path("out/report.html"))`

The other modules put what a command found into a document: evaluation, comparison, correction, cascades, results.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bert_judge.analysis.results import find_runs, left_out
    from bert_judge.analysis.table import VerdictTable, collect
    from bert_judge.report.figures import Figures, find_figures
    from bert_judge.report.writing import write_report

__all__ = ["Figures", "VerdictTable", "collect", "find_figures", "find_runs", "left_out", "write_report"]

_HOMES = {
    **dict.fromkeys(["find_runs", "left_out"], "analysis.results"),
    **dict.fromkeys(["VerdictTable", "collect"], "analysis.table"),
    **dict.fromkeys(["Figures", "find_figures"], "report.figures"),
    "write_report": "report.writing",
}


def __getattr__(name: str) -> object:
    """What a page needs is imported when it is asked for: a command that only prints a table does without."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"bert_judge.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bert_judge.report' has no attribute {name!r}")
