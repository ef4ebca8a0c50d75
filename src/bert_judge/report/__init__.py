"""What people look at: saved results as one page that needs nothing else, with the same figures as Markdown and JSON.

`write_report(find_runs(["out"]), Path("out/report.html"))`
"""

from bert_judge.analysis.results import find_runs, left_out
from bert_judge.analysis.table import VerdictTable, collect
from bert_judge.report.figures import Figures, find_figures
from bert_judge.report.writing import write_report

__all__ = ["Figures", "VerdictTable", "collect", "find_figures", "find_runs", "left_out", "write_report"]
